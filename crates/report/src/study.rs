//! A results folder, read and grouped.

use std::fs;

use kvdyno_analysis::{Cell, Doubt, Series, cells, check};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{Failure, LeftOut, Machine, Outcome, Phase, TrialResult};

use crate::ReportError;
use crate::apart::tell_apart;

/// What a results folder holds.
pub(crate) struct Contents {
    name: String,
    experiment: String,
    machine: Option<Machine>,
    results: Vec<TrialResult>,
    series: Series,
    left_out: Vec<LeftOut>,
}

/// Everything that a report is made of.
pub(crate) struct Study<'a> {
    /// The experiment's name.
    pub(crate) name: &'a str,
    /// The experiment file as it was run; empty if it cannot be read as text.
    pub(crate) experiment: &'a str,
    /// What it ran on; absent if that was not written.
    pub(crate) machine: Option<&'a Machine>,
    /// Every trial that ended, in order.
    pub(crate) results: &'a [TrialResult],
    /// Their time series.
    pub(crate) series: &'a Series,
    left_out: &'a [LeftOut],
    cells: Vec<Cell<'a>>,
}

/// A failure, a doubt or a note, and what it is about.
pub(crate) struct Remark {
    /// The trial or the trials, for people.
    pub(crate) trial: String,
    /// One sentence.
    pub(crate) text: String,
}

impl Contents {
    /// Reads all of it.
    pub(crate) fn read(folder: &ResultsFolder) -> Result<Contents, ReportError> {
        let experiment = fs::read_to_string(folder.experiment_file()).unwrap_or_default();
        let results = folder.results()?;
        let mut series = Series::new();
        for result in &results {
            series.insert(result.trial.clone(), folder.series(&result.trial)?);
        }
        let (name, machine, left_out) = (name(&experiment, folder), machine(folder)?, folder.left_out()?);
        Ok(Contents { name, experiment, machine, results, series, left_out })
    }
}

impl<'a> Study<'a> {
    /// Groups what was read.
    pub(crate) fn of(contents: &'a Contents) -> Study<'a> {
        let mut cells = cells(&contents.results, &contents.series);
        tell_apart(&mut cells);
        Study {
            name: &contents.name,
            experiment: &contents.experiment,
            machine: contents.machine.as_ref(),
            results: &contents.results,
            series: &contents.series,
            left_out: &contents.left_out,
            cells,
        }
    }

    /// Cells of one phase, in order.
    pub(crate) fn cells(&self, phase: Phase) -> Vec<&Cell<'a>> {
        self.cells.iter().filter(|cell| cell.key.phase == phase).collect()
    }

    /// Cells that ran a workload, in order.
    pub(crate) fn running(&self, workload: &str) -> Vec<&Cell<'a>> {
        self.cells(Phase::Run).into_iter().filter(|cell| cell.key.workload == workload).collect()
    }

    /// Trials of one phase, in order.
    pub(crate) fn trials(&self, phase: Phase) -> impl Iterator<Item = &'a TrialResult> {
        self.results.iter().filter(move |result| result.trial.phase == phase)
    }

    /// The columns of figures that only some workloads of a phase have.
    pub(crate) fn figure_columns(&self, phase: Phase) -> Vec<&str> {
        let own = self.trials(phase).filter_map(|result| result.figures.as_ref());
        distinct(own.flat_map(|own| &own.figures).map(|figure| figure.column.as_str()))
    }

    /// Engines as the user named them, in order; told apart where one name stands for several.
    pub(crate) fn engines(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.key.engine.as_str()))
    }

    /// Whether an engine is the null engine, and so its figures the driver's. Beside others it would set every scale.
    pub(crate) fn is_driver(&self, cell: &Cell<'_>) -> bool {
        let null =
            |cell: &Cell<'_>| cell.finished.iter().chain(&cell.failed).any(|result| result.engine.name == "null");
        null(cell) && !self.cells.iter().all(null)
    }

    /// Workloads that ran on loaded databases, in order.
    pub(crate) fn workloads(&self) -> Vec<&str> {
        distinct(self.cells(Phase::Run).into_iter().map(|cell| cell.key.workload.as_str()))
    }

    /// Failed trials, each with its reason.
    pub(crate) fn failures(&self) -> Vec<(&'a TrialResult, &'a Failure)> {
        let failure = |result| failure(result).map(|failure| (result, failure));
        self.results.iter().filter_map(failure).collect()
    }

    /// Failures for people: an engine's that have the same reason are told once.
    pub(crate) fn failures_told(&self) -> Vec<Remark> {
        told_once(self.failures(), |failure| reason(failure), |failure| reason(failure))
    }

    /// What does not fit in the results, trial by trial.
    pub(crate) fn doubts(&self) -> Vec<(&'a TrialResult, Doubt)> {
        let doubts = |result| check(result, self.machine).into_iter().map(move |doubt| (result, doubt));
        self.results.iter().flat_map(doubts).collect()
    }

    /// Doubts for people: an engine's that are of the same sort are told once, by the first.
    pub(crate) fn doubts_told(&self) -> Vec<Remark> {
        told_once(self.doubts(), std::mem::discriminant, Doubt::to_string)
    }

    /// Engines that were not measured, and what the trials noted for their readers.
    pub(crate) fn notes(&self) -> Vec<Remark> {
        let engines = distinct(self.left_out.iter().map(|one| (&one.engine, &one.workload, &one.reason)));
        let left_out = engines.into_iter().map(|(engine, workload, reason)| {
            let of = if workload.is_empty() { String::new() } else { format!(" of {workload}") };
            Remark { trial: format!("{engine} was left out{of}"), text: reason.clone() }
        });
        let notes = |result: &TrialResult| {
            result.notes.iter().chain(&result.environment.interference).cloned().collect::<Vec<_>>()
        };
        let pairs = self.results.iter().flat_map(|result| notes(result).into_iter().map(move |note| (result, note)));
        left_out.chain(pairs.map(|(result, note)| Remark { trial: title(result), text: note })).collect()
    }
}

/// Values in the order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// A trial for people: `rocksdb readwhilewriting, 4 readers, repeat 2`.
pub(crate) fn title(result: &TrialResult) -> String {
    let trial = &result.trial;
    let threads = match trial.phase {
        Phase::Load => String::new(),
        Phase::Run => format!(", {}", threads(trial.readers, trial.writers)),
    };
    let processes = if trial.processes() > 1 { " as processes" } else { "" };
    format!("{} {}{threads}{processes}, repeat {}", trial.engine, trial.workload, trial.repeat)
}

/// `4 readers, 1 writer`.
pub(crate) fn threads(readers: u32, writers: u32) -> String {
    let count = |n: u32, what: &str| (n > 0).then(|| counted(n, what));
    let parts: Vec<String> = [count(readers, "reader"), count(writers, "writer")].into_iter().flatten().collect();
    parts.join(", ")
}

/// `1 thread`, `2 threads`.
pub(crate) fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn trials<T>(alike: &[&(&TrialResult, T)]) -> usize {
    distinct(alike.iter().map(|(result, _)| result.trial.number)).len()
}

/// Puts together what trials of one engine and workload have in common, and tells it by the first.
fn told_once<T, K: PartialEq>(
    all: Vec<(&TrialResult, T)>,
    sort: impl Fn(&T) -> K,
    words: impl Fn(&T) -> String,
) -> Vec<Remark> {
    let key =
        |(result, what): &(&TrialResult, T)| (result.trial.engine.clone(), result.trial.workload.clone(), sort(what));
    let keys = distinct(all.iter().map(key));
    let remark = |wanted| {
        let alike: Vec<_> = all.iter().filter(|entry| key(entry) == wanted).collect();
        let trial = match alike.as_slice() {
            [(result, _)] => title(result),
            [(result, _), rest @ ..] if rest.iter().all(|(other, _)| other.trial == result.trial) => title(result),
            _ => format!("{} {}, {} trials", wanted.0, wanted.1, trials(&alike)),
        };
        alike.first().map(|(_, what)| Remark { trial, text: words(what) })
    };
    keys.into_iter().filter_map(remark).collect()
}

/// Why a trial failed, if it did.
pub(crate) fn failure(result: &TrialResult) -> Option<&Failure> {
    match &result.outcome {
        Outcome::Failed(failure) => Some(failure),
        Outcome::Finished => None,
    }
}

/// A failure's kind and reason in plain words.
pub(crate) fn reason(failure: &Failure) -> String {
    use kvdyno_results::FailureKind as Kind;
    let kind = match failure.kind {
        Kind::Crashed => "crashed",
        Kind::Exited => "exited early",
        Kind::Hung => "hung",
        Kind::TooSlow => "too slow",
        Kind::NoSpace => "storage full",
        Kind::NoMemory => "out of memory",
        Kind::EngineError => "engine error",
        Kind::WrongAnswer => "wrong answer",
        Kind::Environment => "not on the environment asked for",
        Kind::NotRun => "not run",
    };
    format!("{kind}: {}", failure.reason)
}

/// The name that the experiment file gives itself, else the folder's.
fn name(experiment: &str, results: &ResultsFolder) -> String {
    let table: toml::Table = experiment.parse().unwrap_or_default();
    let nested = || table.get("experiment").and_then(|inner| inner.get("name"));
    let given = table.get("name").or_else(nested).and_then(toml::Value::as_str);
    let folder = || results.root().file_name().map(|name| name.to_string_lossy().into_owned());
    given.map(str::to_owned).or_else(folder).unwrap_or_else(|| "experiment".to_owned())
}

/// An experiment that was cut short before its first trial may have no machine yet.
fn machine(results: &ResultsFolder) -> Result<Option<Machine>, ReadError> {
    match results.machine_file().is_file() {
        true => results.machine().map(Some),
        false => Ok(None),
    }
}
