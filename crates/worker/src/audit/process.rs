//! The fresh process that reads back what the trials on a database wrote.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use kvdyno_engine::{Database, EngineError};
use kvdyno_results::{Failure, ReadBack, files};

use super::{Acknowledged, Readers};
use crate::shared::{LedgerMemory, SharedMemory, WorkerState};
use crate::spec::{AuditReport, AuditSpec};
use crate::trial::failed;
use crate::worker::{WorkerError, choose, hints};

/// Reads back what is specified in the file `spec`, an [`AuditSpec`], and leaves an [`AuditReport`].
///
/// # Errors
/// If it cannot even begin. Later failures are in the report.
pub fn run(spec: &Path) -> Result<(), WorkerError> {
    let mut spec: AuditSpec = serde_json::from_slice(&std::fs::read(spec)?)?;
    // SAFETY: the parent made both for this process, and nothing else here uses these numbers.
    let (shared, ledger) =
        unsafe { (SharedMemory::inherit(spec.trial.shared_fd, 1)?, LedgerMemory::inherit(spec.trial.ledger_fd)?) };
    spec.trial.workload.parameters.data.value_seed = shared.control().value_seed();
    let mut report = AuditReport::default();
    if let Err(failure) = read_back(&spec, &shared, &ledger, &mut report) {
        report.failure = Some(failure);
    }
    files::write_json(&spec.trial.report, &report)?;
    shared.control().enter(WorkerState::Done);
    Ok(())
}

fn read_back(
    spec: &AuditSpec,
    shared: &SharedMemory,
    ledger: &LedgerMemory,
    report: &mut AuditReport,
) -> Result<(), Failure> {
    let (begun, trial, control) = (Instant::now(), &spec.trial, shared.control());
    control.enter(WorkerState::Opening);
    let choice = choose(trial)?;
    let mut hints = hints(&trial.workload, trial.clients);
    hints.sessions = hints.sessions.max(Readers::at_most(u32::MAX) as u32);
    let database = Database::open(&choice, &trial.lab, &hints, &trial.database, false)
        .map_err(|error| failed("opening the database", &error))?;
    control.enter(WorkerState::Auditing);
    let acknowledged = Acknowledged::of(trial, trial.contents.present, ledger)?;
    report.parts = read_parts(spec, &acknowledged, &database, hints.sessions, &control.audited)?;
    control.enter(WorkerState::Closing);
    database.close().map_err(|error| failed("closing the database", &error))?;
    share_out(begun.elapsed().as_secs_f64(), &mut report.parts);
    Ok(())
}

/// The findings of each part. A record that one part chose and a later one wrote is the later one's.
fn read_parts(
    spec: &AuditSpec,
    acknowledged: &Acknowledged<'_>,
    database: &Database,
    sessions: u32,
    progress: &AtomicU64,
) -> Result<Vec<ReadBack>, Failure> {
    let readers = Readers { database, acknowledged, progress, sessions: Readers::at_most(sessions), goes_on: &|| true };
    let ids = spec.parts.iter().flat_map(|part| acknowledged.ids(part)).filter_map(|id| {
        let version = acknowledged.ledger.min_version(id);
        Some((spec.parts.iter().rposition(|part| part.holds(id, version, acknowledged.loaded))?, id))
    });
    let opened = |error: EngineError| failed("opening a session", &error);
    let (mut findings, _) = readers.read(spec.parts.len(), ids).map_err(opened)?;
    // Records of the load have version 0.
    let sum = acknowledged.version_sum(&spec.trial.contents).filter(|_| spec.trial.contents.version_sum > Some(0));
    if let (Some(sum), Some(last)) = (sum, findings.last_mut()) {
        readers.add_up(sum, last).map_err(opened)?;
    }
    Ok(findings)
}

/// Each part's share of the time, by the records that were read of it.
fn share_out(seconds: f64, parts: &mut [ReadBack]) {
    let all: u64 = parts.iter().map(|part| part.read).sum();
    for part in parts {
        part.seconds = seconds * part.read as f64 / all.max(1) as f64;
    }
}
