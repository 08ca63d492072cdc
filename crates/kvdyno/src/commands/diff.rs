//! `kvdyno diff`: whether a change made an engine slower, by two setups that are measured together, by two results
//! folders or by the machines of one.

use std::path::Path;

use jiff::Timestamp;
use kvdyno_analysis::verdicts::DETECT;
use kvdyno_experiment::{Experiment, LabSection};
use kvdyno_model::Question;
use kvdyno_report::{Diff, DiffError, DiffOutcome, Format};
use kvdyno_results::folder::ResultsFolder;

use crate::cli::{DiffArguments, DiffFactor};
use crate::commands::named::{sections, sides};
use crate::commands::report::tell_files;
use crate::commands::run::{self, EndedRun};
use crate::error::Error;
use crate::output::{print, screen};

/// Runs the command.
pub fn run(arguments: &DiffArguments) -> Result<(), Error> {
    let (before, after) = match (&arguments.resume, &arguments.before, &arguments.after) {
        (Some(folder), ..) => return resume(folder, arguments),
        (None, Some(folder), None) if arguments.by == Some(DiffFactor::Machine) => {
            return of_machines(folder, arguments);
        }
        (None, Some(before), Some(after)) => (before, after),
        _ => return Err(Error::Input("a diff needs two sides: kvdyno diff A B".to_owned())),
    };
    match [before, after].map(|side| is_folder(side)) {
        [true, true] => of_folders(before, after, arguments),
        [false, false] => measured(before, after, arguments),
        [is_before, _] => {
            let (folder, engine) = if is_before { (before, after) } else { (after, before) };
            Err(Error::Input(format!(
                "{folder} is a folder and {engine} is not; a diff compares two results folders or two engines"
            )))
        }
    }
}

/// An engine may have the name of a folder that happens to be here.
fn is_folder(text: &str) -> bool {
    let path = Path::new(text);
    path.join("experiment.toml").exists() || text.contains('/') && path.is_dir()
}

fn measured(before: &str, after: &str, arguments: &DiffArguments) -> Result<(), Error> {
    if arguments.across {
        return Err(Error::Input(
            "--across applies to two results folders only; engines are measured on this machine".to_owned(),
        ));
    }
    let mut experiment = experiment(before, after, arguments)?;
    if !experiment.lab.repeat.is_auto() {
        // A default of this command, about what ends repeats: here their number does.
        experiment.lab.question = Question::Ranking;
    }
    run::enter_scope(&experiment);
    run::give_up(&mut experiment, &arguments.erase)?;
    let output = (arguments.out.as_deref(), arguments.dry_run);
    match run::measure(experiment, None, None, output, &arguments.watch).map_err(of_diff)? {
        Some(ended) => tell_run(&ended, arguments),
        None => Ok(()),
    }
}

fn experiment(before: &str, after: &str, arguments: &DiffArguments) -> Result<Experiment, Error> {
    let setups = sides(before, after)?;
    let names: Vec<String> = setups.iter().map(|setup| setup.name.clone()).collect();
    let sections = sections(&setups, &arguments.option, &arguments.library)?;
    arguments.keys.experiment(&names, sections).map_err(|error| Error::Experiment { error, file: None })
}

fn resume(folder: &Path, arguments: &DiffArguments) -> Result<(), Error> {
    if let Some(flag) = arguments.keys.about_more_than_time() {
        return Err(Error::Input(format!("--resume cannot change --{flag}: a diff continues with its own settings")));
    }
    setups_of(&ResultsFolder::open(folder)?)?;
    let ended = run::resume(folder, arguments.keys.budget(), &arguments.erase, &arguments.watch).map_err(of_diff)?;
    ended.map_or(Ok(()), |ended| tell_run(&ended, arguments))
}

/// An interrupted diff is gone on with as one.
fn of_diff(error: Error) -> Error {
    match error {
        Error::Interrupted { folder, .. } => Error::Interrupted { folder, command: "diff" },
        error => error,
    }
}

/// The two setups of a run, and the terms on which it compares them.
fn setups_of(results: &ResultsFolder) -> Result<(String, String, LabSection), Error> {
    let experiment = results.experiment()?;
    match &experiment.engines[..] {
        [before, after] => Ok((before.clone(), after.clone(), experiment.lab)),
        all => Err(Error::Input(format!(
            "{} is a run of {} setups, but a diff compares two; to continue it: kvdyno run --resume {0}",
            results.root().display(),
            all.len()
        ))),
    }
}

fn tell_run(ended: &EndedRun, arguments: &DiffArguments) -> Result<(), Error> {
    let results = &ended.results;
    let (before, after, lab) = setups_of(results)?;
    let page = kvdyno_report::write_page(results)?;
    if arguments.watch.tells() {
        tell_files(results, &page);
    }
    let detect = arguments.keys.detect().unwrap_or(lab.detect.0);
    let diff = Diff::of_run(results, (&before, &after), detect, arguments.keys.figure().unwrap_or(lab.figure))?;
    match arguments.watch.json {
        true => {
            let line = serde_json::json!({ "time": Timestamp::now(), "event": "run-ended", "page": page });
            print(&format!("{line}\n"))?;
            outcome(&diff)
        }
        false => tell(&diff, arguments.format),
    }
}

fn of_folders(before: &str, after: &str, arguments: &DiffArguments) -> Result<(), Error> {
    refuse_measuring(arguments)?;
    let [before, after] = [ResultsFolder::open(before)?, ResultsFolder::open(after)?];
    let terms = (arguments.keys.detect().unwrap_or(DETECT), arguments.keys.figure().unwrap_or_default());
    let diff = Diff::of_folders(&before, &after, terms, arguments.across).map_err(of_results)?;
    tell(&diff, arguments.format)
}

fn of_machines(folder: &str, arguments: &DiffArguments) -> Result<(), Error> {
    refuse_measuring(arguments)?;
    let folder = ResultsFolder::open(folder)?;
    let lab = folder.experiment()?.lab;
    let (detect, figure) = (arguments.keys.detect(), arguments.keys.figure());
    let terms = (detect.unwrap_or(lab.detect.0), figure.unwrap_or(lab.figure));
    let diff = Diff::of_machines(&folder, terms).map_err(of_results)?;
    tell(&diff, arguments.format)
}

fn of_results(error: DiffError) -> Error {
    match error {
        DiffError::Read(error) => Error::ResultsFolder(error),
        error => Error::Input(error.to_string()),
    }
}

/// Refuses flags that say how to measure: results are there already.
fn refuse_measuring(arguments: &DiffArguments) -> Result<(), Error> {
    let given = [
        (!arguments.option.is_empty(), "option"),
        (!arguments.library.is_empty(), "library"),
        (arguments.erase.device.is_some(), "device"),
        (arguments.out.is_some(), "out"),
        (arguments.dry_run, "dry-run"),
        (arguments.watch.json, "json"),
        (arguments.watch.metrics.is_some(), "metrics"),
    ];
    let flag = given.iter().find(|(is_given, _)| *is_given).map(|(_, flag)| *flag);
    match flag.or(arguments.keys.about_measuring()) {
        None => Ok(()),
        Some(flag) => Err(Error::Input(format!("--{flag} applies to new measurements, not to results"))),
    }
}

/// Prints it; `main` decides the exit code.
fn tell(diff: &Diff, format: Format) -> Result<(), Error> {
    let text = diff.render(format);
    let text = if format == Format::Table { screen().fitted(&text) } else { text };
    print(&text)?;
    outcome(diff)
}

fn outcome(diff: &Diff) -> Result<(), Error> {
    match diff.outcome() {
        DiffOutcome::Failed { failed, ended } => Err(Error::Trials { failed, ended }),
        DiffOutcome::Worse(cells) => Err(Error::Worse(cells)),
        DiffOutcome::CannotTell(cells) => Err(Error::CannotTell(cells)),
        DiffOutcome::Held => Ok(()),
    }
}
