//! A process's side of its task: it is done here, and its verdict left for the parent.

use std::fs;
use std::io;

use kvdyno_engine::guarded;

use crate::bench::Relaunch;
use crate::checks::{checks, refusals, syncs};
use crate::finding::{CheckVerdict, During, Finding};
use crate::flushed_device::FlushedDevice;
use crate::process::{Task, TaskKind, VERDICT};
use crate::small_filesystem;

/// Why a child could not do its task.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The parent did not hand over a task.
    #[error("not a task of the conformance suite: {0}")]
    Task(#[from] serde_json::Error),
    /// There is no such check.
    #[error("there is no check `{0}`")]
    Check(String),
    /// The verdict could not be left.
    #[error("cannot leave a verdict: {0}")]
    Io(#[from] io::Error),
}

/// Does what a parent started this process for, and leaves the verdict where the parent looks for it.
///
/// # Errors
/// If `task` is not one, or the verdict cannot be left. Failures of the engine are in the verdict.
pub fn child(task: &str, relaunch: Relaunch) -> Result<(), ChildError> {
    let task: Task = serde_json::from_str(task)?;
    let result = guarded(|| work(&task, relaunch));
    fs::write(task.folder.join(VERDICT), serde_json::to_vec(&CheckVerdict::from(result?))?)?;
    Ok(())
}

fn work(task: &Task, relaunch: Relaunch) -> Result<Result<(), Finding>, ChildError> {
    Ok(match &task.kind {
        TaskKind::Check(name) => {
            let check = checks().iter().find(|check| check.name == name).ok_or(ChildError::Check(name.clone()))?;
            task.bench(relaunch).and_then(|bench| match check.needs.missing(&bench.choice) {
                Some(reason) => Err(Finding::NotApplicable(reason)),
                None => check.run.run(&bench),
            })
        }
        TaskKind::Write(writing) => task.bench(relaunch).and_then(|bench| writing.run(&bench)),
        TaskKind::Read(reading) => task.bench(relaunch).and_then(|bench| reading.run(&bench)),
        // The adapter is loaded only afterwards, so that every thread of its engine sees the filesystem.
        TaskKind::Fill => small_filesystem::mount(&task.folder)
            .and_then(|()| task.bench(relaunch))
            .and_then(|bench| refusals::fill(&bench)),
        TaskKind::Sync(level) => FlushedDevice::mount(&task.folder)
            .and_then(|device| task.bench(relaunch).and_then(|bench| syncs::sync(&bench, &device, *level))),
        TaskKind::Refused(refused) => task.bench(relaunch).and_then(|bench| refused.run(&bench)),
        TaskKind::Reopen(refused) => task.bench(relaunch).and_then(|bench| refused.reopen(&bench)),
        TaskKind::Destroy(database) => {
            task.bench(relaunch).and_then(|bench| bench.choice.destroy(database).during("destroy"))
        }
    })
}
