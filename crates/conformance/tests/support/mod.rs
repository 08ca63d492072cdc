//! Runs the suite from a test: the program that is started again for each check is the test itself.

// Helpers of tests are tests: a failure there is a failed test. Each file of tests uses a part of them.
#![allow(clippy::unwrap_used, dead_code)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use kvdyno_conformance::{CheckOutcome, CheckVerdict, Effort, Subject, Suite};

/// The environment variable of the task for which a test process was started. Such a process runs only the test
/// `child`, which carries out the task.
pub const TASK: &str = "KVDYNO_CONFORMANCE_TASK";

/// Starts this test program again.
pub fn relaunch(task: &str) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["child", "--exact", "--nocapture"]).env(TASK, task);
    Ok(command)
}

/// To be called by a test of the name `child`, which does nothing when all tests are run.
pub fn do_task() {
    if let Ok(task) = env::var(TASK) {
        kvdyno_conformance::child(&task, relaunch).unwrap();
    }
}

/// The folder of the adapters: `KVDYNO_ENGINES`, or where `make adapters` puts them.
pub fn adapters() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/engines");
    env::var_os("KVDYNO_ENGINES").map_or(built, PathBuf::from)
}

/// The adapter of that name, and a preset after a colon.
pub fn subject(name: &str) -> Subject {
    let (name, preset) = name.split_once(':').map_or((name, None), |(name, preset)| (name, Some(preset.to_owned())));
    let adapter = adapters().join(format!("libkvdyno_{name}.so"));
    Subject { adapter, preset, options: Vec::new(), library: None }
}

/// Kills in a check that kills, as in the rest of what must pass before a change lands, and always at the same moments:
/// `make docs-tables` has more, and others.
const KILLS: u32 = 5;
const SEED: u64 = 1;

/// Runs the checks of these names, or all.
pub fn run(subject: Subject, only: &[&str], patience: Duration) -> Vec<CheckOutcome> {
    let folder = tempfile::tempdir().unwrap();
    let only = only.iter().map(|name| (*name).to_owned()).collect();
    let (folder, logs) = (folder.path().to_owned(), folder.path().join("logs"));
    let effort = Effort { patience, kills: KILLS, seed: SEED };
    let (patience, known) = (HashMap::new(), HashMap::new());
    let suite = Suite { subject, folder, logs, relaunch, effort, patience, known, only, watch: |_| () };
    suite.run(|_| ()).unwrap()
}

/// The names of the checks that failed, with how they did.
pub fn failures(outcomes: &[CheckOutcome]) -> Vec<(&'static str, String)> {
    let failure = |outcome: &CheckOutcome| match &outcome.verdict {
        CheckVerdict::Failed(how) => Some((outcome.check.name, how.clone())),
        _ => None,
    };
    outcomes.iter().filter_map(failure).collect()
}
