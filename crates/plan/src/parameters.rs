//! Keys of the file that mean nothing to a workload, or contradict each other.

use std::ops::Range;

use kvdyno_experiment::{Experiment, FileError, LoadSection, RunSection};
use kvdyno_worker::workloads::{Parameter, Spelling, WorkloadName};
use toml::Spanned;

/// A key that a section has, and where it stands.
type Given = (Parameter, Option<Range<usize>>);

fn span<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
    value.as_ref().map(Spanned::span)
}

/// Refuses keys of a run that mean nothing to its workload, or contradict each other.
pub(crate) fn check_run(run: &RunSection) -> Result<(), FileError> {
    check_end(run)?;
    let batch = (*run.batch.get_ref() > 1).then(|| run.batch.span());
    let given = [
        (Parameter::WriteRate, span(&run.write_rate)),
        (Parameter::Batch, batch),
        (Parameter::SeekNexts, span(&run.seek_nexts)),
        (Parameter::SeekWithin, span(&run.seek_within)),
        (Parameter::KeysPerMultiget, span(&run.keys_per_multiget)),
        (Parameter::Distribution, span(&run.distribution)),
    ];
    let workload = *run.workload.get_ref();
    refused(workload, given).map_or(Ok(()), |(parameter, span)| {
        let message = format!("`{workload}` {}, so {parameter} means nothing to it", parameter.why_not());
        Err(FileError::new(message, span))
    })
}

/// The first key that means nothing to a workload.
fn refused<const N: usize>(workload: WorkloadName, given: [Given; N]) -> Option<(Parameter, Range<usize>)> {
    let refused = given.into_iter().find(|(parameter, span)| span.is_some() && !workload.accepts(*parameter))?;
    Some((refused.0, refused.1?))
}

/// Refuses keys of the records that mean nothing to the load, and runs that cannot follow it.
pub(crate) fn check_load(experiment: &Experiment) -> Result<(), FileError> {
    let (data, load) = (&experiment.data, *experiment.load.workload.get_ref());
    check_load_durability(&experiment.load)?;
    check_spelling(experiment)?;
    let given = [
        (Parameter::KeySize, span(&data.key_size)),
        (Parameter::ValueSize, span(&data.value_size)),
        (Parameter::PrefixSize, span(&data.prefix_size)),
        (Parameter::KeysPerPrefix, span(&data.keys_per_prefix)),
    ];
    if let Some((parameter, span)) = refused(load, given) {
        let message = format!("{parameter} means nothing to `{load}`, which {}; leave it out", parameter.why_not());
        return Err(FileError::new(message, span));
    }
    match experiment.run.first() {
        Some(run) if !load.leaves_records() => Err(FileError::new(
            format!(
                "`{}` cannot follow `{load}`, whose database has other records than it asks for; leave out [[run]], or load \
                 with {}",
                run.workload.get_ref(),
                WorkloadName::default_load()
            ),
            run.workload.span(),
        )),
        _ => Ok(()),
    }
}

fn check_spelling(experiment: &Experiment) -> Result<(), FileError> {
    let spelling = &experiment.data.spelling;
    let means_something = experiment.load.workload.get_ref().accepts(Parameter::Spelling);
    match *spelling.get_ref() {
        Spelling::Plain => Ok(()),
        _ if means_something => Ok(()),
        other => Err(FileError::new(
            format!(
                "spelling = \"{other}\" is for [load] workload = \"{}\"; keys of other workloads have a key_format",
                WorkloadName::that_accept(Parameter::Spelling).join("\" or \"")
            ),
            spelling.span(),
        )),
    }
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
fn check_load_durability(load: &LoadSection) -> Result<(), FileError> {
    match &load.durability {
        Some(level) if load.sync => {
            Err(FileError::new("sync = true loads at durability commit; leave one of the two out", level.span()))
        }
        _ => Ok(()),
    }
}
