//! Which keys mean something to a workload, and which workloads an engine can do.

use kvdyno_engine::abi;
use kvdyno_engine::inspect::Declared;
use kvdyno_environment::requested::Storage;
use kvdyno_workload::Kind;

use crate::cycles::is_cycles;
use kvdyno_experiment::{Experiment, FileError, RunKey, RunSection};
use kvdyno_model::MissingEngines;

/// Refuses keys of a run that mean nothing to its workload, or contradict each other.
pub(crate) fn check_keys_of(run: &RunSection) -> Result<(), FileError> {
    check_end(run)?;
    let given = [
        (RunKey::WriteRate, run.write_rate.is_some()),
        (RunKey::Batch, run.batch.get() > 1),
        (RunKey::ReadsPerTransaction, run.reads_per_transaction.get() > 1),
        (RunKey::SeekNexts, run.seek_nexts.is_some()),
        (RunKey::SeekWithin, run.seek_within.is_some()),
        (RunKey::KeysPerMultiget, run.keys_per_multiget.is_some()),
    ];
    for (key, _) in given.into_iter().filter(|(_, given)| *given) {
        if let Some(why) = key.means_nothing_to(run.workload) {
            let message = format!("`{}` {why}, so {} means nothing to it", run.workload, key.name());
            return Err(FileError::at(key, message));
        }
    }
    Ok(())
}

/// One thing ends a run.
fn check_end(run: &RunSection) -> Result<(), FileError> {
    if run.duration.is_some() && run.operations.is_some() {
        let message = "duration and operations cannot both end a run; leave one of them out";
        return Err(FileError::at(RunKey::Duration, message));
    }
    if run.records_fraction.is_some() && (run.duration.is_some() || run.operations.is_some()) {
        let message = "a run ends by records_fraction, by duration or by operations; leave the others out";
        return Err(FileError::at(RunKey::RecordsFraction, message));
    }
    Ok(())
}

/// The runs of an experiment that the engine cannot do, each with the reason. An engine that can do some of them is left
/// out of the others where the experiment allows that (`missing_engines = "skip"`).
///
/// # Errors
/// If it cannot do one and is not to be left out, or can do none.
pub(crate) fn cannot_run(
    experiment: &Experiment,
    label: &str,
    engine: &Declared,
) -> Result<Vec<(usize, String)>, String> {
    if is_cycles(experiment) && engine.can(abi::IS_VOLATILE) {
        return Err(format!("{label} keeps nothing, so that `3n1` would never find what it has put; leave it out"));
    }
    if experiment.environment.storage == Storage::Raw && !engine.can(abi::CAN_RAW_DEVICE) {
        return Err(format!(
            "{label} cannot keep a database on a raw device, which environment.storage = \"raw\" asks for"
        ));
    }
    let reason = |(section, run)| Some((section, lacks(run, label, engine)?));
    let missing: Vec<_> = experiment.run.iter().enumerate().filter_map(reason).collect();
    match missing.first() {
        Some((_, why))
            if experiment.lab.missing_engines == MissingEngines::Refuse || missing.len() == experiment.run.len() =>
        {
            Err(why.clone())
        }
        _ => Ok(missing),
    }
}

/// What the engine lacks for a run.
fn lacks(run: &RunSection, label: &str, engine: &Declared) -> Option<String> {
    let kind = run.workload;
    let (needs, what) = match kind {
        Kind::ReadSeq | Kind::FwdRange | Kind::FwdRangeWhileWriting => (abi::CAN_SCAN, "scan"),
        Kind::ReadReverse | Kind::RevRange | Kind::RevRangeWhileWriting => {
            (abi::CAN_SCAN_REVERSE, "scan against key order")
        }
        Kind::ReadRandom if run.reads_per_transaction.get() > 1 => (abi::CAN_SNAPSHOT, "read in transactions"),
        _ => return None,
    };
    (!engine.can(needs)).then(|| format!("{label} cannot {what}, which `{kind}` needs; leave one of them out"))
}
