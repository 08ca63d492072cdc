//! `kvdyno-gates [ARGUMENT…]`: runs all tests with `cargo nextest run`, with further arguments of the build such as
//! `--features NAME`, then each that failed once more, alone. One that then passes is flaky: it is named with the
//! output of its failure, and [`MOST_FLAKY`] of them are let pass.
//!
//! It ends with the tests that passed over what they may not do (`KVDYNO_TEST_PASSED_OVER`), and with the names of what
//! failed, their messages, and the command that runs each alone. The names are also left in `target/gate/tests.failed`
//! and `tests.flaky`, a line each, for `scripts/stages.sh`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use kvdyno_gates::failures::{TestFailure, failures};
use kvdyno_gates::repository;

/// More flaky tests than this in one run have a common cause, and fail it.
const MOST_FLAKY: usize = 2;

/// More failures than this have a common cause, too: nothing is run again.
const MOST_RUN_AGAIN: usize = 40;

/// Lines of a test's output that are shown at the end, the last ones.
const LINES: usize = 40;

/// The folder of what a run leaves.
const LEFT: &str = "target/gate";

/// The file in it in which tests name themselves that pass over what they may not do.
const PASSED_OVER: &str = "tests.passed-over";

/// The arguments of the build, which is the same for any selection of them.
const BUILT: [&str; 2] = ["--release", "--locked"];

/// The status by which the runner says that a test failed; any other means that tests could not be run.
const TESTS_FAILED: i32 = 100;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "kvdyno-gates: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the tests are sound.
fn run(arguments: &[String]) -> Fallible<bool> {
    let top = repository::top();
    let folder = top.join(LEFT);
    fs::create_dir_all(&folder)?;
    let passed_over = folder.join(PASSED_OVER);
    fs::write(&passed_over, "")?;
    // Tests also wait: for the disk, and for engines that hang on purpose.
    let threads = std::thread::available_parallelism()?.get() * 2;
    let side_by_side = [arguments, &[format!("--test-threads={threads}")]].concat();
    let first = failing(&top, "default", &side_by_side)?;
    let still =
        if first.is_empty() || first.len() > MOST_RUN_AGAIN { first.clone() } else { again(&top, arguments, &first)? };
    let failed = |failure: &&TestFailure| still.iter().any(|one| one.is_of_same_test(failure));
    let (failed, flaky): (Vec<&TestFailure>, Vec<&TestFailure>) = first.iter().partition(failed);

    leave(&folder.join("tests.flaky"), &flaky, arguments)?;
    leave(&folder.join("tests.failed"), &failed, arguments)?;
    let mut out = io::stdout().lock();
    for failure in &flaky {
        writeln!(out, "\n---- flaky: {failure}\nIt failed, and passed when it ran alone.")?;
        tell(&mut out, failure, arguments)?;
    }
    for failure in &failed {
        writeln!(out, "\n---- failed: {failure}")?;
        tell(&mut out, failure, arguments)?;
    }
    let passed_over = fs::read_to_string(&passed_over)?;
    let passed_over: BTreeSet<&str> = passed_over.lines().collect();
    for line in &passed_over {
        writeln!(out, "{line}")?;
    }
    let (failures, flakes, passed_over) = (failed.len(), flaky.len(), passed_over.len());
    writeln!(out, "\n{failures} tests failed, {flakes} are flaky, {passed_over} were passed over")?;
    for failure in &failed {
        writeln!(out, "test {failure} ... FAILED")?;
    }
    if flakes > MOST_FLAKY {
        writeln!(out, "more than {MOST_FLAKY} flaky tests are a failure")?;
    }
    Ok(failures == 0 && flakes <= MOST_FLAKY)
}

/// The failures of a run with this profile of the runner.
fn failing(top: &Path, profile: &str, arguments: &[String]) -> Fallible<Vec<TestFailure>> {
    let report = report_of(top, profile);
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let runner = top.join("target/tools/cargo-nextest");
    let mut command = Command::new(&runner);
    command.args(["nextest", "run", "--profile", profile]).args(BUILT).args(arguments).current_dir(top);
    command.env("KVDYNO_TEST_PASSED_OVER", top.join(LEFT).join(PASSED_OVER));
    let status = command.status().map_err(|error| format!("{} (scripts/tools.sh): {error}", runner.display()))?;
    let read = match fs::read_to_string(&report) {
        Ok(text) => failures(&text).map_err(|error| format!("{}: {error}", report.display()))?,
        Err(error) if status.success() => return Err(format!("{}: {error}", report.display()).into()),
        Err(_) => Vec::new(),
    };
    match status.code() {
        Some(0) if read.is_empty() => Ok(read),
        Some(TESTS_FAILED) if !read.is_empty() => Ok(read),
        _ => Err(format!("the tests were not run to their end: {status}, {} failures", read.len()).into()),
    }
}

fn report_of(top: &Path, profile: &str) -> PathBuf {
    top.join("target/nextest").join(profile).join("junit.xml")
}

/// Those of `failed` that fail again when each runs alone.
fn again(top: &Path, arguments: &[String], failed: &[TestFailure]) -> Fallible<Vec<TestFailure>> {
    let filter: Vec<String> = failed.iter().map(TestFailure::filter).collect();
    failing(top, "again", &[arguments, &["-E".to_owned(), filter.join(" | ")]].concat())
}

fn tell(out: &mut impl Write, failure: &TestFailure, arguments: &[String]) -> io::Result<()> {
    let lines: Vec<&str> = failure.output.lines().collect();
    writeln!(out, "{}", failure.message)?;
    if lines.len() > LINES {
        writeln!(out, "[{} lines before]", lines.len() - LINES)?;
    }
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "alone: {}", command(failure, arguments))
}

/// The command that runs this test alone.
fn command(failure: &TestFailure, arguments: &[String]) -> String {
    let built = [&BUILT.map(str::to_owned), arguments].concat().join(" ");
    format!("target/tools/cargo-nextest nextest run {built} -E '{}'", failure.filter())
}

fn leave(file: &Path, failures: &[&TestFailure], arguments: &[String]) -> io::Result<()> {
    let lines: Vec<String> =
        failures.iter().map(|failure| format!("{failure}\t{}\n", command(failure, arguments))).collect();
    fs::write(file, lines.concat())
}
