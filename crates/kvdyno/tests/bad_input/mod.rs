//! Input that cannot be followed is refused before anything is touched, with what would be right.

mod adapters;
mod engines;
mod folders;
mod keys;
mod mixes;
mod numbers;
mod words;

use crate::support::{Lab, Ran};

/// Exit code 2, nothing touched, and what it said.
#[track_caller]
fn refused_in<const N: usize>(lab: &Lab, arguments: [&str; N]) -> Ran {
    let before = lab.tree();
    let ran = lab.run(arguments);
    ran.exits(2);
    assert_eq!(lab.tree(), before, "something was touched: {}", ran.stderr);
    assert_eq!(ran.stdout, "");
    ran
}

#[track_caller]
fn refused<const N: usize>(arguments: [&str; N]) -> Ran {
    refused_in(&Lab::new(), arguments)
}

/// An experiment file that is refused.
#[track_caller]
fn refused_file(text: &str) -> Ran {
    let lab = Lab::new();
    lab.write("experiment.toml", text);
    refused_in(&lab, ["run", "experiment.toml"])
}

/// The file, with the line and the column of what is wrong in it.
#[track_caller]
fn refused_at(location: &str, text: &str) -> Ran {
    let ran = refused_file(text);
    ran.says(&format!("experiment.toml:{location}"));
    ran
}

#[test]
fn a_file_that_is_none() {
    let lab = Lab::new();
    std::fs::write(lab.path("latin.toml"), b"engines = [\"lmdb\"] # Gr\xf6\xdfe\n").unwrap();
    refused_in(&lab, ["run", "latin.toml"]).says("latin.toml is not UTF-8, and so no experiment file");
    std::fs::create_dir(lab.path("folder")).unwrap();
    refused_in(&lab, ["run", "folder"])
        .says("folder is a folder; give an experiment file, or continue an interrupted run");
    lab.write("file", "a letter");
    let compare = lab.compare(["lmdb"]).workload("readrandom").operations(10).with("out", "file");
    compare.run().exits(2).says("file cannot be a results folder");
    assert_eq!(std::fs::read_to_string(lab.path("file")).unwrap(), "a letter");
}

/// One is one, and none is none.
#[test]
fn numbers_of_things_are_told_as_people_do() {
    let one = Lab::new().compare(["lmdb"]).workload("readrandom").operations(10).arguments(["--dry-run"]).run();
    one.exits(0).says("2 trials: 1 load of about a second in all, 1 run as long as their operations take");
    let text = "engines = [\"null\"]\n[lab]\nmin_free = \"900TiB\"\n[[run]]\nworkload = \"readrandom\"\n";
    let lab = Lab::with_null();
    lab.write("experiment.toml", text);
    refused_in(&lab, ["run", "experiment.toml"]).says("free; no database and min_free = 921600.0GiB need");
    lab.write("experiment.toml", &text.replace("null", "lmdb"));
    refused_in(&lab, ["run", "experiment.toml"]).says("free; a database of about 111MiB and min_free = 921600.0GiB");
}
