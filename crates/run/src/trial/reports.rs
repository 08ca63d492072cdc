//! The reports of a worker's processes on themselves at their orderly end, put together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_environment::observed;
use kvdyno_results::{ClientKind, Window};
use kvdyno_worker::{WorkerReport, of_process};

use super::context::TrialContext;

/// The reports of a trial's processes.
pub(super) struct Reports {
    /// Path of the report of a single process; for several see [`of_process`].
    pub(super) file: PathBuf,
    files: Vec<PathBuf>,
}

impl Reports {
    /// The reports of a trial that is about to begin, without those of an earlier try.
    pub(super) fn none_in(context: &TrialContext<'_>) -> io::Result<Reports> {
        let (key, file) = (&context.planned.key, context.folder.join("worker.json"));
        let files = match key.clients {
            ClientKind::Threads => vec![file.clone()],
            ClientKind::Processes => (0..key.processes() as usize).map(|number| of_process(&file, number)).collect(),
        };
        files.iter().try_for_each(|file| remove_if_there(file))?;
        Ok(Reports { file, files })
    }

    /// One report of all processes: the first one's, with what differs put together. Absent if one left none.
    pub(super) fn read(&self) -> Option<WorkerReport> {
        let reports: Option<Vec<WorkerReport>> = self.files.iter().map(|file| read(file)).collect();
        let reports = reports?;
        let windows = reports.iter().map(|report| report.window.clone()).reduce(|sum, more| Some(both(sum?, more?)));
        let failure = reports.iter().find_map(|report| report.failure.clone());
        let calls = reports.iter().map(|report| report.calls).reduce(|sum, more| Some(sum?.plus(more?))).flatten();
        let syncs = reports.iter().map(|report| report.syncs).sum();
        let state = observed::together(reports.iter().map(|report| report.state.clone()).collect());
        let first = reports.into_iter().next()?;
        Some(WorkerReport { failure, window: windows.flatten(), state, calls, syncs, ..first })
    }
}

/// The first one's window, with what the other used too.
fn both(first: Window, other: Window) -> Window {
    let sum = |of: fn(&Window) -> Option<u64>| Some(of(&first)? + of(&other)?);
    let ctx_switches = sum(|window| window.ctx_switches);
    let read_bytes = sum(|window| window.read_bytes);
    let (user_s, sys_s) = (first.user_s + other.user_s, first.sys_s + other.sys_s);
    Window { user_s, sys_s, ctx_switches, read_bytes, waits: None, ..first }
}

fn read(file: &Path) -> Option<WorkerReport> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
