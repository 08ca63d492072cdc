//! Folders and files.

use std::fs;

use super::{refused, refused_in};
use crate::support::Lab;

#[test]
fn a_results_folder_that_is_not_new() {
    let lab = Lab::new();
    fs::create_dir(lab.path("taken")).unwrap();
    lab.write("taken/thesis.tex", "years of work");
    let ran = refused_in(&lab, ["compare", "lmdb", "--out", "taken"]);
    ran.says("taken is not empty; choose another --out");
    assert!(!ran.stderr.contains("--resume"), "there is nothing to go on with");
}

#[test]
fn a_results_folder_that_is_a_file() {
    let lab = Lab::new();
    lab.write("taken", "years of work");
    for out in ["taken", "taken/below"] {
        refused_in(&lab, ["compare", "lmdb", "--out", out]).says("taken is not a folder; choose another --out");
    }
    assert_eq!(fs::read_to_string(lab.path("taken")).unwrap(), "years of work");
}

#[test]
fn a_folder_without_results() {
    let words = "is not a results folder: it has no experiment.toml";
    refused(["run", "--resume", "."]).says(words);
    refused(["run", "--resume", "nowhere"]).says(words);
    refused(["report", "."]).says(words);
    refused(["run", "experiment.toml", "--resume", "."]).says("cannot be used with");
}

/// A typing error in a count should not leave a folder behind.
#[test]
fn databases_that_cannot_fit() {
    let lab = Lab::new();
    let ran = refused_in(&lab, ["compare", "faulty", "lmdb", "--records", "400G"]);
    ran.says("2 databases").says("choose another --dir, fewer records");
}
