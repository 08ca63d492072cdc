//! `kvdyno engines check`: whether adapters keep what the ABI promises.

use std::env;
use std::io::{self, Write, stdout};
use std::process::Command;

use kvdyno_conformance::{Outcome, Subject, Suite, Verdict, checks, child};
use kvdyno_engine::catalog::EngineName;
use kvdyno_engine::inspect::Request;
use kvdyno_engine::{Probe, closest};
use kvdyno_lab::inspection;

use crate::cli::Check;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Check) -> Result<(), Error> {
    if let Some(task) = &arguments.child {
        return Ok(child(task, relaunch)?);
    }
    if arguments.engines.is_empty() {
        return list();
    }
    known(&arguments.only)?;
    let subjects = arguments.engines.iter().map(|engine| subject(&arguments, engine));
    let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    let cannot = || Error::io("cannot run the checks");
    let dir = arguments.dir.clone().unwrap_or_else(env::temp_dir);
    let folder = tempfile::Builder::new().prefix("kvdyno-check-").tempdir_in(dir).map_err(cannot())?;
    let table = arguments.format == "table";
    let mut columns = Vec::new();
    for (name, subject) in arguments.engines.iter().zip(subjects) {
        let suite = Suite {
            patience: arguments.timeout.0,
            only: arguments.only.clone(),
            ..Suite::new(subject, folder.path().to_owned(), relaunch)
        };
        if table {
            print(&format!("{name}\n"))?;
        }
        // A closed pipe is noticed at the next thing printed outside.
        let row = |outcome: &Outcome| {
            if table {
                print(&row(outcome)).unwrap_or_default()
            }
        };
        let outcomes = suite.run(row).map_err(cannot())?;
        print(&if table { format!("{}\n\n", summary(&outcomes)) } else { String::new() })?;
        columns.push((name.as_str(), outcomes));
    }
    if !table {
        print(&markdown(&columns))?;
    }
    let failed = columns.iter().flat_map(|(_, outcomes)| outcomes).filter(|outcome| failure(outcome).is_some()).count();
    if failed == 0 { Ok(()) } else { Err(Error::Checks(failed)) }
}

/// This program again, for one check.
fn relaunch(task: &str) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["engines", "check", "--child", task]);
    Ok(command)
}

fn print(text: &str) -> Result<(), Error> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::io("cannot print"))
}

fn list() -> Result<(), Error> {
    let rows: Vec<String> = checks().iter().map(|check| format!("{:<24} {}\n", check.name, check.what)).collect();
    print(&rows.concat())
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

fn subject(arguments: &Check, engine: &str) -> Result<Subject, Error> {
    let mut subject = Subject::named(engine).map_err(|error| Error::Input(error.to_string()))?;
    for item in &arguments.option {
        let form = || Error::Input(format!("--option {item}: it must be of the form OPTION=VALUE"));
        let (name, value) = item.split_once('=').ok_or_else(form)?;
        subject.options.push((name.to_owned(), value.to_owned()));
    }
    let cannot = |reason: &str| Error::Input(format!("{engine} cannot be checked: {reason}"));
    let name = EngineName::parse(engine);
    let request =
        inspection::request(&name, arguments.library.clone()).map_err(|obstacle| cannot(&obstacle.message))?;
    let request = Request { options: subject.options.clone(), ..request };
    let found = inspection::inspect_apart(&request).map_err(|obstacle| cannot(&obstacle.message))?;
    match found.probe {
        Probe::Available { .. } => Ok(Subject { library: found.library, ..subject }),
        Probe::Missing { reason } => Err(cannot(&reason)),
    }
}

fn failure(outcome: &Outcome) -> Option<&str> {
    match &outcome.verdict {
        Verdict::Failed(how) => Some(how),
        _ => None,
    }
}

fn row(outcome: &Outcome) -> String {
    let seconds = outcome.took.as_secs();
    let result = match &outcome.verdict {
        Verdict::Passed if seconds >= 5 => format!("passed, in {seconds} s"),
        Verdict::Passed => "passed".to_owned(),
        Verdict::Failed(how) => format!("FAILED: {how}"),
        Verdict::NotApplicable(why) => format!("not applicable: {why}"),
    };
    format!("  {:<24} {result}\n", outcome.check.name)
}

fn summary(outcomes: &[Outcome]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|outcome| wanted(&outcome.verdict)).count();
    format!(
        "{} passed, {} failed, {} not applicable",
        count(|verdict| *verdict == Verdict::Passed),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::NotApplicable(_))),
    )
}

/// A row for each check, a column for each engine; below it how checks failed.
fn markdown(columns: &[(&str, Vec<Outcome>)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| check | {} | what must hold |\n", names.join(" | "));
    text.push_str(&format!("| --- |{} --- |\n", " :-: |".repeat(columns.len())));
    let Some((_, first)) = columns.first() else { return text };
    for (place, outcome) in first.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|(_, outcomes)| sign(&outcomes[place].verdict)).collect();
        text.push_str(&format!("| {} | {} | {} |\n", outcome.check.name, cells.join(" | "), outcome.check.what));
    }
    text.push('\n');
    for (name, outcomes) in columns {
        text.push_str(&format!("- {name}: {}\n", summary(outcomes)));
        for outcome in outcomes {
            if let Some(how) = failure(outcome) {
                text.push_str(&format!("  - {}: {how}\n", outcome.check.name));
            }
        }
    }
    text
}

fn sign(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "yes",
        Verdict::Failed(_) => "**no**",
        Verdict::NotApplicable(_) => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn outcomes(verdicts: [Verdict; 3]) -> Vec<Outcome> {
        let outcome = |(check, verdict)| Outcome { check, verdict, took: Duration::ZERO };
        checks().iter().zip(verdicts).map(outcome).collect()
    }

    #[test]
    fn a_page_has_a_row_for_each_check_a_column_for_each_engine_and_says_how_checks_failed() {
        let (passed, not) = (Verdict::Passed, Verdict::NotApplicable("it has none".to_owned()));
        let one = outcomes([passed.clone(), not.clone(), passed.clone()]);
        let two = outcomes([passed, Verdict::Failed("no end after 60s".to_owned()), not]);
        let page = markdown(&[("one", one), ("two:x", two)]);
        let lines: Vec<&str> = page.lines().collect();
        let [first, second, ..] = checks() else { panic!("no checks") };
        assert_eq!(lines[..2], ["| check | one | two:x | what must hold |", "| --- | :-: | :-: | --- |"]);
        assert_eq!(lines[2], format!("| {} | yes | yes | {} |", first.name, first.what));
        assert_eq!(lines[3], format!("| {} | – | **no** | {} |", second.name, second.what));
        let failure = format!("  - {}: no end after 60s", second.name);
        let summaries =
            ["- one: 2 passed, 0 failed, 1 not applicable", "- two:x: 1 passed, 1 failed, 1 not applicable"];
        assert_eq!(lines[6..], [summaries[0], summaries[1], &failure]);
    }
}
