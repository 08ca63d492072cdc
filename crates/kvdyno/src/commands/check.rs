//! `kvdyno engines check`: whether adapters keep what the ABI promises.

mod engine_checks;
mod page;

use std::collections::HashMap;
use std::env;
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use kvdyno_conformance::{CheckOutcome, Effort, KnownOfEngines, Subject, Suite, checks, child};
use kvdyno_engine::inspect::Request;
use kvdyno_environment::ownership::OwnedFolder;
use kvdyno_environment::random_bits;
use kvdyno_model::text::counted_as;
use kvdyno_model::{EngineName, did_you_mean};
use kvdyno_plan::inspection;
use kvdyno_report::Format;

use self::engine_checks::{CheckStanding, EngineChecks};
use super::engines::{EngineSearch, find, left_out};
use crate::cli::CheckArguments;
use crate::error::Error;
use crate::output::{can_draw, print, print_columns};

/// Runs the command.
pub fn run(arguments: CheckArguments) -> Result<(), Error> {
    if let Some(task) = &arguments.child {
        return Ok(child(task, relaunch)?);
    }
    if arguments.engines.is_empty() {
        return list();
    }
    known(&arguments.only)?;
    known(&arguments.known)?;
    let list = KnownOfEngines::list()
        .map_err(|error| Error::io("cannot read the list of known failures")(io::Error::other(error.clone())))?;
    let seed = arguments.seed.map_or_else(any_seed, Ok)?;
    let effort = Effort { patience: arguments.timeout.0, kills: arguments.kills, seed };
    let mut subjects = Vec::new();
    let mut missing = Vec::new();
    for engine in &arguments.engines {
        match subject(&arguments, engine)? {
            Some((subject, version)) => subjects.push((engine.as_str(), version, subject)),
            None => missing.push(engine.as_str()),
        }
    }
    let cannot = || Error::io("cannot run the checks");
    let dir = arguments.dir.clone().unwrap_or_else(env::temp_dir);
    let folder = OwnedFolder::new(&dir).map_err(cannot())?;
    // A folder of its own that nobody asked for is removed with the program, and stays only if a check failed.
    let unasked = tempfile::Builder::new().prefix("kvdyno-logs-").tempdir_in(&dir).map_err(cannot())?;
    let logs = arguments.logs.clone().unwrap_or_else(|| unasked.path().to_owned());
    let is_table = arguments.format == Format::Table;
    if is_table && !subjects.is_empty() {
        print(&format!("{}\n\n", said_of(effort)))?;
    }
    let plan = CheckPlan { arguments: &arguments, list, effort, folder: folder.path(), logs: &logs };
    let of_engine = |(number, (name, version, subject))| plan.of_engine(number, name, version, subject);
    let mut columns: Vec<EngineChecks<'_>> = subjects.into_iter().enumerate().map(of_engine).collect();
    run_all(&mut columns, arguments.jobs, is_table)?;
    let repeated = repeat_failed(&mut columns).map_err(cannot())?;
    if is_table {
        print(&repeated)?;
    }
    let outcomes = || columns.iter().flat_map(|column| column.outcomes.iter().map(move |one| (column, one)));
    let named = |standing: fn(&CheckStanding<'_>) -> bool| -> Vec<String> {
        let meant = outcomes().filter(|(column, one)| standing(&column.standing(one)));
        meant.map(|(column, one)| format!("{} {}", column.name, one.check.name)).collect()
    };
    let failed = named(|standing| matches!(standing, CheckStanding::Failed(_)));
    let flaky = named(|standing| matches!(standing, CheckStanding::Flaky(_)));
    let kept = !failed.is_empty() || !flaky.is_empty() || arguments.logs.is_some();
    if kept {
        let folder = if arguments.logs.is_none() { unasked.keep() } else { logs };
        print(&if is_table { format!("The log of each check: {}\n\n", folder.display()) } else { String::new() })?;
    }
    if !is_table {
        print(&format!("{}\n{}\n", page::markdown(&columns), said_of(effort)))?;
    }
    print(&left_out(&missing))?;
    decided(&failed, &flaky, arguments.flaky)
}

/// The seed and the kills, for who wants to have the same again.
fn said_of(effort: Effort) -> String {
    format!("Seed {}; kills in each check that kills: {}.", effort.seed, effort.kills)
}

/// Another seed each time, short enough to be typed.
fn any_seed() -> Result<u64, Error> {
    Ok(random_bits().map_err(Error::io("cannot draw a seed"))? % 1_000_000_000)
}

/// Names the checks that failed and those that are flaky, even if there are no more flaky ones than allowed.
fn decided(failed: &[String], flaky: &[String], may_be_flaky: usize) -> Result<(), Error> {
    let told = |names: &[String], one: &str, more: &str| {
        (!names.is_empty()).then(|| format!("{}: {}", counted_as(names.len(), one, more), names.join(", ")))
    };
    let failed = told(failed, "check failed", "checks failed");
    let of_flaky = told(flaky, "check is flaky", "checks are flaky");
    if failed.is_none() && flaky.len() <= may_be_flaky {
        return print(&of_flaky.map(|words| format!("{words}\n")).unwrap_or_default());
    }
    let limit =
        |words| if flaky.len() > may_be_flaky { format!("{words} (at most {may_be_flaky} may be)") } else { words };
    let parts: Vec<String> = failed.into_iter().chain(of_flaky.map(limit)).collect();
    Err(Error::Checks(parts.join("; ")))
}

/// The parts that the checks of all engines have in common.
#[derive(Clone, Copy)]
struct CheckPlan<'p> {
    arguments: &'p CheckArguments,
    list: &'p KnownOfEngines,
    effort: Effort,
    folder: &'p Path,
    logs: &'p Path,
}

impl CheckPlan<'_> {
    /// An engine's checks before any was run: its suite, and what is known of it.
    fn of_engine<'a>(self, number: usize, name: &'a str, version: String, subject: Subject) -> EngineChecks<'a> {
        let CheckPlan { arguments, list, effort, folder, logs } = self;
        let engine = EngineName::parse(name);
        let (mut patience, mut known) = (HashMap::<&'static str, Duration>::new(), HashMap::new());
        for check in checks() {
            if let Some(slow) = list.slow(&engine, &version, check.name) {
                patience.insert(check.name, slow.timeout.0.max(effort.patience));
            }
            if let Some(failure) = list.failure(&engine, &version, check.name) {
                known.insert(check.name, failure.reason.clone());
                if let Some(timeout) = failure.timeout {
                    patience.insert(check.name, timeout.0.min(effort.patience));
                }
            } else if arguments.known.iter().any(|name| name == check.name) {
                known.insert(check.name, "named by --known".to_owned());
            }
        }
        let suite = Suite {
            subject,
            folder: folder.join(number.to_string()),
            logs: logs.join(file_name(name)),
            relaunch,
            effort,
            patience,
            known,
            only: arguments.only.clone(),
            watch: if arguments.jobs == 1 && can_draw() { draw } else { |_| () },
        };
        let alone = alone(arguments, effort.seed, name);
        EngineChecks { name, version, suite, alone, outcomes: Vec::new(), again: Vec::new() }
    }
}

/// Draws a line on the terminal in place of the one before.
fn draw(line: &str) {
    // How far a check has come is no result: nobody misses it where it cannot be written.
    let _ = write!(io::stderr(), "\r\x1b[K{line}");
}

/// Runs the suites, `jobs` at a time. With one job, each outcome is printed as it comes; with several, the outcomes of
/// an engine are printed when all its checks are done.
fn run_all(columns: &mut [EngineChecks<'_>], jobs: u32, is_table: bool) -> Result<(), Error> {
    let cannot = || Error::io("cannot run the checks");
    let next = AtomicUsize::new(0);
    let shared: &[EngineChecks<'_>] = columns;
    let work = || -> Result<Vec<(usize, Vec<CheckOutcome>)>, Error> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(column) = shared.get(number) else { return Ok(done) };
            let (mut untold, mut told) = (String::new(), Ok(()));
            // Row by row, unless other engines are checked at the same time.
            let mut tell = |text: &str, is_whole: bool| {
                untold.push_str(text);
                if is_table && told.is_ok() && (is_whole || jobs == 1) {
                    told = print(&mem::take(&mut untold));
                }
            };
            tell(&format!("{}\n", column.name), false);
            let outcomes = column.suite.run(|outcome| tell(&page::row(column, outcome), false)).map_err(cannot())?;
            tell(&format!("{}\n\n", page::summary(column, &outcomes)), true);
            told?;
            done.push((number, outcomes));
        }
    };
    let done = thread::scope(|scope| {
        let started: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let panicked = || cannot()(io::Error::other("a thread of it panicked"));
        let joined = started.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())));
        joined.collect::<Result<Vec<_>, Error>>()
    })?;
    for (number, outcomes) in done.into_iter().flatten() {
        columns[number].outcomes = outcomes;
    }
    Ok(())
}

/// Most failures of one engine that are repeated: more are no matter of chance.
const MOST_REPEATED: usize = 10;

/// Runs the failed checks again, one at a time, and reports their outcomes.
fn repeat_failed(columns: &mut [EngineChecks<'_>]) -> io::Result<String> {
    let mut text = String::new();
    for column in columns {
        let failed: Vec<_> =
            column.outcomes.iter().filter(|one| column.may_be_flaky(one)).map(|one| one.check).collect();
        if failed.len() > MOST_REPEATED {
            continue;
        }
        for check in failed {
            let again = column.suite.repeat(check)?;
            text.push_str(&page::repeated(column, &again));
            column.again.push(again);
        }
    }
    Ok(if text.is_empty() { text } else { format!("Repeated alone, with the same seed:\n{text}\n") })
}

/// This program again, for one check.
fn relaunch(task: &str) -> io::Result<Command> {
    // Started by `/proc/self/exe`: the program's file may have been replaced since this process began.
    let mut command = Command::new("/proc/self/exe");
    command.args(["engines", "check", "--child", task]);
    Ok(command)
}

fn list() -> Result<(), Error> {
    let rows: Vec<String> = checks().iter().map(|check| format!("{:<24} {}\n", check.name, check.what)).collect();
    print_columns(&rows.concat())
}

fn known(names: &[String]) -> Result<(), Error> {
    let all = || checks().iter().map(|check| check.name);
    match names.iter().find(|name| !all().any(|known| known == **name)) {
        None => Ok(()),
        Some(name) => {
            let meant = did_you_mean(name, all());
            Err(Error::Input(format!("there is no check `{name}`{meant}; kvdyno engines check lists them")))
        }
    }
}

/// The engine and its version; `None` if it is not here and may be left out.
fn subject(arguments: &CheckArguments, engine: &str) -> Result<Option<(Subject, String)>, Error> {
    let cannot = |reason: &str| Error::Input(format!("{engine} cannot be checked: {reason}"));
    let here = match find(engine, arguments.library.as_deref())? {
        EngineSearch::Usable(here) => *here,
        EngineSearch::Missing(_) if arguments.skip_missing => return Ok(None),
        EngineSearch::Missing(reason) => return Err(cannot(&reason)),
    };
    let mut subject = Subject::named(engine).map_err(|error| Error::Input(error.to_string()))?;
    for item in &arguments.option {
        let form = || Error::Input(format!("--option {item}: it must be of the form OPTION=VALUE"));
        let (name, value) = item.split_once('=').ok_or_else(form)?;
        subject.options.push((name.to_owned(), value.to_owned()));
    }
    let request = Request { options: subject.options.clone(), ..here.request };
    inspection::inspect_in_child(&request).map_err(|obstacle| cannot(&obstacle.message))?;
    Ok(Some((Subject { library: here.inspection.library, ..subject }, here.version)))
}

/// The command that runs one check of an engine alone, at the same moments, but for the check's name.
fn alone(arguments: &CheckArguments, seed: u64, engine: &str) -> String {
    let mut words = vec!["kvdyno engines check".to_owned(), engine.to_owned()];
    words.extend(arguments.option.iter().map(|option| format!("--option {option}")));
    words.extend(arguments.library.iter().map(|library| format!("--library {}", library.display())));
    words.push(format!("--timeout {} --kills {} --seed {seed} --only", arguments.timeout, arguments.kills));
    words.join(" ")
}

/// The name of a folder for an engine that may have been given by its path.
fn file_name(engine: &str) -> String {
    let name = engine.rsplit('/').next().unwrap_or(engine);
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-@".contains(c) { c } else { '_' }).collect()
}
