//! Which keys mean something to a workload, and which workloads an engine can do.

use kvdyno_engine::abi;
use kvdyno_engine::inspect::Declared;
use kvdyno_environment::requested::Storage;
use kvdyno_dataset::Kind;

use crate::cycles::is_cycles;
use kvdyno_experiment::{Experiment, FileError, LoadSection, Missing, RunSection};

/// Refuses keys of a run that mean nothing to its workload, or contradict each other.
pub(crate) fn check_keys_of(run: &RunSection) -> Result<(), FileError> {
    let kind = *run.workload.get_ref();
    check_end(run)?;
    let place = |requested: &Option<toml::Spanned<u64>>| requested.as_ref().map(toml::Spanned::span);
    let (seek_nexts, seek_within, per_batch) =
        (place(&run.seek_nexts), place(&run.seek_within), place(&run.keys_per_multiget));
    let (rate, batch) = (run.write_rate.as_ref().map(toml::Spanned::span), run.batch.span());
    let requested = [
        ("write_rate", rate, kind.writes(), "writes nothing"),
        ("batch", (*run.batch.get_ref() > 1).then_some(batch), kind.writes(), "writes nothing"),
        ("seek_nexts", seek_nexts, kind.reads_ranges(), "reads no ranges"),
        ("seek_within", seek_within, kind.reads_ranges(), "reads no ranges"),
        ("keys_per_multiget", per_batch, kind == Kind::MultiReadRandom, "reads one record at a time"),
    ];
    for (key, place, means_something, why) in requested {
        if let (Some(place), false) = (place, means_something) {
            return Err(FileError::new(format!("`{kind}` {why}, so {key} means nothing to it"), place));
        }
    }
    Ok(())
}

/// One thing ends a run.
fn check_end(run: &RunSection) -> Result<(), FileError> {
    if let (Some(duration), Some(_)) = (&run.duration, run.operations) {
        return Err(FileError::new(
            "duration and operations cannot both end a run; leave one of them out",
            duration.span(),
        ));
    }
    let Some(part) = &run.part else { return Ok(()) };
    if run.duration.is_some() || run.operations.is_some() {
        let message = "a run ends by part, by duration or by operations; leave the others out";
        return Err(FileError::new(message, part.span()));
    }
    match *part.get_ref() {
        part if part > 0.0 && part <= 1000.0 => Ok(()),
        found => Err(FileError::new(format!("part is {found}; it must be above 0, at most 1000"), part.span())),
    }
}

/// A synced load is at `commit`, and no other level.
pub(crate) fn check_load_durability(load: &LoadSection) -> Result<(), FileError> {
    match &load.durability {
        Some(level) if load.sync => {
            Err(FileError::new("sync = true loads at durability commit; leave one of the two out", level.span()))
        }
        _ => Ok(()),
    }
}

/// The runs of an experiment that the engine cannot do, each with the reason. An engine that can do some of them is left
/// out of the others where the experiment allows that (`missing = "skip"`).
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
    if experiment.environment.requested().storage == Storage::Raw && !engine.can(abi::CAN_RAW_DEVICE) {
        return Err(format!(
            "{label} cannot keep a database on a raw device, which environment.storage = \"raw\" asks for"
        ));
    }
    let reason = |(section, run)| Some((section, lacks(run, label, engine)?));
    let missing: Vec<_> = experiment.run.iter().enumerate().filter_map(reason).collect();
    match missing.first() {
        Some((_, why)) if experiment.lab.missing == Missing::Refuse || missing.len() == experiment.run.len() => {
            Err(why.clone())
        }
        _ => Ok(missing),
    }
}

/// What the engine lacks for a run.
fn lacks(run: &RunSection, label: &str, engine: &Declared) -> Option<String> {
    let kind = *run.workload.get_ref();
    let (needs, what) = match kind {
        Kind::ReadSeq | Kind::FwdRange | Kind::FwdRangeWhileWriting => (abi::CAN_SCAN, "scan"),
        Kind::ReadReverse | Kind::RevRange | Kind::RevRangeWhileWriting => {
            (abi::CAN_SCAN_REVERSE, "scan against key order")
        }
        Kind::ReadRandom if *run.reads_per_transaction.get_ref() > 1 => (abi::CAN_SNAPSHOT, "read in transactions"),
        _ => return None,
    };
    (!engine.can(needs)).then(|| format!("{label} cannot {what}, which `{kind}` needs; leave one of them out"))
}
