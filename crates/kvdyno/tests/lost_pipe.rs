//! Whoever reads what is printed may go away: the run goes on to its end and saves what it found.

use std::io::{PipeWriter, pipe};
use std::process::ExitStatus;

use crate::support::Lab;

/// A pipe that nobody reads.
fn lost() -> PipeWriter {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer
}

/// Both of its streams lead to nobody.
fn run_unread(lab: &Lab, arguments: &[&str]) -> ExitStatus {
    lab.kvdyno().args(arguments).stdout(lost()).stderr(lost()).status().unwrap()
}

#[test]
fn a_run_that_nobody_reads_ends_with_its_results_and_page() {
    let lab = Lab::new();
    let command = ["compare", "lmdb", "--records", "2000", "--readers", "1", "--duration", "100ms", "--warmup", "0s"];
    let status = run_unread(&lab, &[&command[..], &["--repeat", "1", "--out", "results"]].concat());
    assert_eq!(status.code(), Some(0));
    assert_eq!(lab.result_files().len(), 2);
    assert!(lab.path("results/report/index.html").is_file());
    assert!(!lab.path("results/databases").exists());
    lab.has_no_workers();

    // The page does not wait for a reader of the tables.
    std::fs::remove_file(lab.path("results/report/index.html")).unwrap();
    assert_eq!(run_unread(&lab, &["report", "results"]).code(), Some(0));
    assert!(lab.path("results/report/index.html").is_file());
}

#[test]
fn what_is_wrong_is_told_by_the_exit_code_alone() {
    assert_eq!(run_unread(&Lab::new(), &["compare", "no-such-engine"]).code(), Some(2));
    assert_eq!(run_unread(&Lab::new(), &["workloads"]).code(), Some(0));
}
