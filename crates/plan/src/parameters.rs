//! Keys of the file that mean nothing to a workload, or contradict each other.

use kvdyno_experiment::{DURATION, DataKey, Experiment, FileError, LoadSection, RunKey, RunSection};
use kvdyno_model::{Arrival, KeyPath, TimeSpan};
use kvdyno_worker::workloads::{Workload, WorkloadKey};
use serde::Serialize;

use crate::roles::check_roles;
use crate::work::ends_after_fraction;

/// Refuses keys of a run that mean nothing to its workload, or contradict each other.
pub(crate) fn check_run(run: &RunSection) -> Result<(), FileError> {
    check_end(run)?;
    check_arrival(run)?;
    check_search(run)?;
    check_roles(run)?;
    let workload = Workload::from(run.workload);
    let given = |key: &&RunKey| differs(run, &RunSection::default(), key.name());
    for key in RunKey::ALL.iter().filter(given) {
        if let Some(why) = means_nothing(*key, workload) {
            let hint = match Workload::that_accept((*key).into()).as_slice() {
                [able] => format!("; take workload = \"{able}\""),
                _ => String::new(),
            };
            let message = format!("`{}` {why}, so {} means nothing to it{hint}", run.workload, key.name());
            return Err(FileError::at(*key, message));
        }
    }
    Ok(())
}

/// Whether a flag of `compare`, which is for all its workloads, applies to this one.
pub fn concerns(key: RunKey, workload: Workload) -> bool {
    let ends = key == RunKey::Duration && workload.profile().ends_by_part;
    !ends && workload.accepts(key)
}

/// Why a key means nothing to a workload; absent if it does mean something.
fn means_nothing(key: impl Into<WorkloadKey>, workload: Workload) -> Option<&'static str> {
    let key = key.into();
    (!workload.accepts(key)).then(|| key.why_not())
}

/// Whether the value of a key differs from that of a section that sets nothing.
fn differs<S: Serialize>(section: &S, silent: &S, key: &str) -> bool {
    // A section always has a JSON form; a key without a value is not in it.
    let value = |section: &S| serde_json::to_value(section).unwrap_or_default().get(key).cloned();
    value(section) != value(silent)
}

/// Refuses keys of the records that mean nothing to the load, and runs that cannot follow it.
pub(crate) fn check_load(experiment: &Experiment) -> Result<(), FileError> {
    let (data, load) = (&experiment.data, Workload::from(experiment.load.workload));
    let given = |key: &&DataKey| differs(data, &Default::default(), key.name());
    for key in DataKey::ALL.iter().filter(given) {
        if let Some(why) = means_nothing(*key, load) {
            let loads = Workload::all().filter(|one| one.profile().loads && one.accepts(*key));
            let other = loads.map(|one| format!(", or load with {one}")).next().unwrap_or_default();
            let message = format!("{} means nothing to `{load}`, which {why}; leave it out{other}", key.name());
            return Err(FileError::at(*key, message));
        }
    }
    match experiment.run.first() {
        Some(run) if !load.leaves_records() => Err(FileError::at(
            KeyPath::from(RunKey::Workload).numbered(0),
            format!(
                "`{}` cannot follow `{load}`, whose database has other records than it asks for; leave out [[run]], or \
                 load with {}",
                run.workload,
                LoadSection::default().workload
            ),
        )),
        _ => Ok(()),
    }
}

/// Refuses an arrival if no operations come at a rate, and one whose rate has no time to reach its mean.
fn check_arrival(run: &RunSection) -> Result<(), FileError> {
    match run.arrival {
        Some(arrival) if !run.has_rate() => {
            let message = format!(
                "{arrival} is an arrival at a rate; give read_rate, write_rate, rate or find_max_rate, or leave it out"
            );
            Err(FileError::at(RunKey::Arrival, message))
        }
        Some(arrival) => match cut_short(run, arrival) {
            Some(message) => Err(FileError::at(RunKey::Arrival, message)),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// Refuses a search whose rate is given, or that has no end, no steady rate or no clients of one kind.
fn check_search(run: &RunSection) -> Result<(), FileError> {
    if !run.searches() {
        return Ok(());
    }
    let workload = Workload::from(run.workload);
    let (has_readers, has_writers) = (workload.profile().reader.is_some(), workload.profile().writer.is_some());
    let given = match (has_readers, run.read_rate, run.rate, run.write_rate) {
        (_, Some(_), ..) => Some("read_rate"),
        (_, _, Some(_), _) => Some("rate"),
        (false, .., Some(_)) => Some("write_rate"),
        _ => None,
    };
    let periodic = run.arrival.filter(|arrival| arrival.period().is_some());
    let reasons = [
        given.map(|rate| format!("{rate} gives the rate that find_max_rate is to find; leave one of them out")),
        (has_readers && has_writers && run.write_rate.is_none()).then(|| {
            format!(
                "`{}` has readers beside writers: give the rate of the writers, such as write_rate = 1000",
                workload
            )
        }),
        (run.operations.is_some() || ends_after_fraction(run).is_some()).then(|| {
            "a search tries each rate for a time; give a duration instead of a number of operations".to_owned()
        }),
        periodic.map(|arrival| format!("arrival = {arrival} varies the rate that is searched; take fixed or poisson")),
        (!run.role.is_empty()).then(|| "roles have rates of their own; search without [[run.role]]".to_owned()),
        (run.reads_per_transaction.get() > 1)
            .then(|| "reads at a rate are no transactions; leave reads_per_transaction out".to_owned()),
    ];
    match reasons.into_iter().flatten().next() {
        Some(message) => Err(FileError::at(RunKey::FindMaxRate, message)),
        None => Ok(()),
    }
}

/// Why a run is too short for an arrival: in a part of a period the mean rate is not the requested one. Absent if it is
/// not, or ends after a number of operations.
pub(crate) fn cut_short(run: &RunSection, arrival: Arrival) -> Option<String> {
    if run.operations.is_some() || ends_after_fraction(run).is_some() {
        return None;
    }
    let (period, window) =
        (TimeSpan::<0>(arrival.period()?), TimeSpan::<0>(run.duration.map_or(DURATION, TimeSpan::get)));
    (period > window).then(|| {
        format!(
            "arrival = {arrival} has a period of {period}, longer than the duration of {window}; give a duration of at \
             least {period}, or a period of at most {window}"
        )
    })
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
