//! `kvdyno engines check`: whether adapters keep what the ABI promises.

use std::env;
use std::io;
use std::process::Command;

use kvdyno_conformance::{CheckOutcome, CheckVerdict, Subject, Suite, checks, child};
use kvdyno_engine::closest;
use kvdyno_engine::inspect::Request;
use kvdyno_environment::ownership::OwnedFolder;
use kvdyno_plan::inspection;

use super::engines::{EngineSearch, find, left_out};
use crate::cli::CheckArguments;
use crate::error::Error;
use crate::output::{print, print_columns};

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
    // Its own folder: what nobody asked for goes with the program, and stays only if a check failed.
    let unasked = tempfile::Builder::new().prefix("kvdyno-logs-").tempdir_in(&dir).map_err(cannot())?;
    let logs = arguments.logs.clone().unwrap_or_else(|| unasked.path().to_owned());
    let table = arguments.format == "table";
    let mut columns = Vec::new();
    for (name, version, subject) in subjects {
        let suite = Suite {
            subject,
            folder: folder.path().to_owned(),
            logs: logs.join(file_name(name)),
            relaunch,
            patience: arguments.timeout.0,
            only: arguments.only.clone(),
        };
        if table {
            print(&format!("{name}\n"))?;
        }
        // A closed pipe is noticed at the next thing printed outside.
        let alone = alone(&arguments, name);
        let row = |outcome: &CheckOutcome| {
            if table {
                print(&row(outcome, &alone)).unwrap_or_default()
            }
        };
        let outcomes = suite.run(row).map_err(cannot())?;
        print(&if table { format!("{}\n\n", summary(&outcomes)) } else { String::new() })?;
        columns.push(EngineChecks { name, version, outcomes });
    }
    let all = || columns.iter().flat_map(|column| &column.outcomes);
    let kept = all().any(|outcome| failure(outcome).is_some()) || arguments.logs.is_some();
    if kept {
        let folder = if arguments.logs.is_none() { unasked.keep() } else { logs };
        print(&if table { format!("The log of each check: {}\n\n", folder.display()) } else { String::new() })?;
    }
    if !table {
        print(&markdown(&columns))?;
    }
    print(&left_out(&missing))?;
    let decides = |outcome: &&CheckOutcome| !arguments.known.iter().any(|name| name == outcome.check.name);
    let failed = all().filter(decides).filter(|outcome| failure(outcome).is_some()).count();
    if failed == 0 { Ok(()) } else { Err(Error::Checks(failed)) }
}

/// This program again, for one check.
fn relaunch(task: &str) -> io::Result<Command> {
    // Not by its name: the program may have been replaced by a newer one since this process began.
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
            let meant = closest(name, all()).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
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

fn failure(outcome: &CheckOutcome) -> Option<&str> {
    match &outcome.verdict {
        CheckVerdict::Failed(how) => Some(how),
        _ => None,
    }
}

/// The command that runs one check of an engine alone, but for the check's name.
fn alone(arguments: &CheckArguments, engine: &str) -> String {
    let mut words = vec!["kvdyno engines check".to_owned(), engine.to_owned()];
    words.extend(arguments.option.iter().map(|option| format!("--option {option}")));
    words.extend(arguments.library.iter().map(|library| format!("--library {}", library.display())));
    words.push("--only".to_owned());
    words.join(" ")
}

/// The name of a folder for an engine that may have been given by its path.
fn file_name(engine: &str) -> String {
    let name = engine.rsplit('/').next().unwrap_or(engine);
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-@".contains(c) { c } else { '_' }).collect()
}

/// The outcome of a check; a failure with the rule that it rests on and what to do next. Checks that were not run have
/// no row: the summary counts them, and the failure before them says why.
fn row(outcome: &CheckOutcome, alone: &str) -> String {
    let name = outcome.check.name;
    let seconds = outcome.took.as_secs();
    let remark = outcome.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    match &outcome.verdict {
        CheckVerdict::NotRun(_) => String::new(),
        CheckVerdict::Passed if seconds >= 5 => format!("  {name:<24} passed, in {seconds} s{remark}\n"),
        CheckVerdict::Failed(_) => format!(
            "  {name:<24} {}{remark}\n      kvdyno.h: {}\n      alone:    {alone} {name}\n      log:      {}\n",
            outcome.verdict,
            outcome.check.rule,
            outcome.log.display()
        ),
        verdict => format!("  {name:<24} {verdict}{remark}\n"),
    }
}

fn summary(outcomes: &[CheckOutcome]) -> String {
    let count = |wanted: fn(&CheckVerdict) -> bool| outcomes.iter().filter(|outcome| wanted(&outcome.verdict)).count();
    let not_run = match count(|verdict| matches!(verdict, CheckVerdict::NotRun(_))) {
        0 => String::new(),
        number => format!(", {number} not run: no database can be made"),
    };
    format!(
        "{} passed, {} failed, {} not applicable{not_run}",
        count(|verdict| *verdict == CheckVerdict::Passed),
        count(|verdict| matches!(verdict, CheckVerdict::Failed(_))),
        count(|verdict| matches!(verdict, CheckVerdict::NotApplicable(_))),
    )
}

/// The outcomes of an engine's checks.
struct EngineChecks<'a> {
    name: &'a str,
    version: String,
    outcomes: Vec<CheckOutcome>,
}

/// A row for each check, a column for each engine; below it how checks failed.
fn markdown(columns: &[EngineChecks<'_>]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut text = format!("| check | {} | what must hold |\n", names.join(" | "));
    text.push_str(&format!("| --- |{} --- |\n", " :-: |".repeat(columns.len())));
    let Some(first) = columns.first() else { return text };
    for (index, outcome) in first.outcomes.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| sign(&column.outcomes[index].verdict)).collect();
        text.push_str(&format!("| {} | {} | {} |\n", outcome.check.name, cells.join(" | "), outcome.check.what));
    }
    text.push('\n');
    for EngineChecks { name, version, outcomes } in columns {
        text.push_str(&format!("- {name} {version}: {}\n", summary(outcomes)));
        for outcome in outcomes {
            for word in failure(outcome).into_iter().chain(outcome.remark.as_deref()) {
                text.push_str(&format!("  - {}: {word}\n", outcome.check.name));
            }
        }
    }
    text
}

fn sign(verdict: &CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Passed => "yes",
        CheckVerdict::Failed(_) => "**no**",
        CheckVerdict::NotApplicable(_) => "–",
        CheckVerdict::NotRun(_) => "not run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::Duration;

    fn outcomes(verdicts: [CheckVerdict; 3]) -> Vec<CheckOutcome> {
        let outcome =
            |(check, verdict)| CheckOutcome { check, verdict, took: Duration::ZERO, remark: None, log: PathBuf::new() };
        checks().iter().zip(verdicts).map(outcome).collect()
    }

    #[test]
    fn a_page_has_a_row_for_each_check_a_column_for_each_engine_and_says_how_checks_failed_and_what_is_to_be_known() {
        let (passed, not) = (CheckVerdict::Passed, CheckVerdict::NotApplicable("it has none".to_owned()));
        let one = outcomes([passed.clone(), not.clone(), passed.clone()]);
        let mut two = outcomes([passed, CheckVerdict::Failed("no end after 60s".to_owned()), not]);
        two[2].remark = Some("3 rounds in 30 s".to_owned());
        let column = |name, version: &str, outcomes| EngineChecks { name, version: version.to_owned(), outcomes };
        let page = markdown(&[column("one", "1.2", one), column("two:x", "3", two)]);
        let lines: Vec<&str> = page.lines().collect();
        let [first, second, third, ..] = checks() else { panic!("no checks") };
        assert_eq!(lines[..2], ["| check | one | two:x | what must hold |", "| --- | :-: | :-: | --- |"]);
        assert_eq!(lines[2], format!("| {} | yes | yes | {} |", first.name, first.what));
        assert_eq!(lines[3], format!("| {} | – | **no** | {} |", second.name, second.what));
        let failure = format!("  - {}: no end after 60s", second.name);
        let summaries =
            ["- one 1.2: 2 passed, 0 failed, 1 not applicable", "- two:x 3: 1 passed, 1 failed, 1 not applicable"];
        let remark = format!("  - {}: 3 rounds in 30 s", third.name);
        assert_eq!(lines[6..], [summaries[0], summaries[1], &failure, &remark]);
    }
}
