//! The outcomes of checks, for a terminal and for a page.

use std::time::Duration;

use kvdyno_conformance::{CheckOutcome, CheckVerdict, checks};
use kvdyno_model::text::counted;

use super::engine_checks::{CheckStanding, EngineChecks};

/// The outcome of a check; a failure with the rule that it rests on and what to do next. Checks that were not run have
/// no row: the summary counts them, and the failure before them says why.
pub(super) fn row(column: &EngineChecks<'_>, outcome: &CheckOutcome) -> String {
    let name = outcome.check.name;
    let remark = outcome.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    match (column.standing(outcome), &outcome.verdict) {
        (_, CheckVerdict::NotRun(_)) => String::new(),
        (CheckStanding::KnownPassed(reason), _) => {
            format!(
                "  {name:<24} passed, though it is known to fail{}{remark}\n      reason:   {reason}\n",
                took(outcome)
            )
        }
        (CheckStanding::Known(how, reason), _) => {
            format!("  {name:<24} KNOWN: {how}{remark}\n      reason:   {reason}\n")
        }
        (CheckStanding::Failed(_) | CheckStanding::Flaky(_), verdict) => format!(
            "  {name:<24} {verdict}{remark}\n      kvdyno.h: {}\n      alone:    {} {name}\n      log:      {}\n{}",
            outcome.check.rule,
            column.alone,
            outcome.log.display(),
            kept(outcome)
        ),
        (CheckStanding::Sound, CheckVerdict::Passed) => format!("  {name:<24} passed{}{remark}\n", took(outcome)),
        (CheckStanding::Sound, verdict) => format!("  {name:<24} {verdict}{remark}\n"),
    }
}

/// Where the databases of a check that failed are.
fn kept(outcome: &CheckOutcome) -> String {
    outcome.kept.as_ref().map(|folder| format!("      kept:     {}\n", folder.display())).unwrap_or_default()
}

/// A check that takes so long is shown with its time.
const LONG: Duration = Duration::from_secs(5);

/// The effort that a check took: its kills, unless the remark has them, and its time.
fn took(outcome: &CheckOutcome) -> String {
    let kills = outcome.kills.filter(|_| outcome.remark.is_none()).map(|kills| format!(", {}", counted(kills, "kill")));
    let time = (outcome.took >= LONG).then(|| format!(", in {} s", outcome.took.as_secs()));
    kills.into_iter().chain(time).collect()
}

/// A check that failed and was run again, with both outcomes.
pub(super) fn repeated(column: &EngineChecks<'_>, again: &CheckOutcome) -> String {
    let name = again.check.name;
    let first = column.outcomes.iter().find(|outcome| outcome.check.name == name);
    let how = |outcome: &CheckOutcome| match &outcome.verdict {
        CheckVerdict::Failed(how) => how.clone(),
        verdict => verdict.to_string(),
    };
    let second = how(again);
    let told = match again.verdict {
        CheckVerdict::Passed => "flaky: it failed, and then it passed",
        _ => "failed again",
    };
    let mut text = format!("  {} {name}: {told}\n", column.name);
    for (number, outcome) in first.into_iter().chain([again]).enumerate() {
        let words = if number == 1 && first.map(how).as_ref() == Some(&second) { "the same" } else { &how(outcome) };
        let head = if number == 0 { "first:" } else { "then:" };
        text.push_str(&format!(
            "      {head:<9} {words}\n      log:      {}\n{}",
            outcome.log.display(),
            kept(outcome)
        ));
    }
    text.push_str(&format!("      alone:    {} {name}\n", column.alone));
    text
}

/// The number of an engine's checks by verdict.
pub(super) fn summary(column: &EngineChecks<'_>, outcomes: &[CheckOutcome]) -> String {
    let verdicts = |wanted: fn(&CheckVerdict) -> bool| outcomes.iter().filter(|one| wanted(&one.verdict)).count();
    let standings =
        |wanted: fn(&CheckStanding<'_>) -> bool| outcomes.iter().filter(|one| wanted(&column.standing(one))).count();
    let if_any = |number: usize, what: &str| if number == 0 { String::new() } else { format!(", {number} {what}") };
    format!(
        "{} passed, {} failed, {} not applicable{}{}{}",
        verdicts(|verdict| *verdict == CheckVerdict::Passed),
        standings(|standing| matches!(standing, CheckStanding::Failed(_))),
        verdicts(|verdict| matches!(verdict, CheckVerdict::NotApplicable(_))),
        if_any(standings(|standing| matches!(standing, CheckStanding::Known(..))), "known to fail"),
        if_any(standings(|standing| matches!(standing, CheckStanding::Flaky(_))), "flaky"),
        if_any(verdicts(|verdict| matches!(verdict, CheckVerdict::NotRun(_))), "not run: no database can be made"),
    )
}

/// A row for each check, a column for each engine; below it how checks failed.
pub(super) fn markdown(columns: &[EngineChecks<'_>]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut text = format!("| check | {} | what must hold |\n", names.join(" | "));
    text.push_str(&format!("| --- |{} --- |\n", " :-: |".repeat(columns.len())));
    // An engine of which no database can be made has an outcome that others have not.
    let is_there = |name: &str| columns.iter().any(|column| verdict_of(column, name).is_some());
    for check in checks().iter().filter(|check| is_there(check.name)) {
        let cells: Vec<&str> = columns.iter().map(|column| verdict_of(column, check.name).map_or("", sign)).collect();
        text.push_str(&format!("| {} | {} | {} |\n", check.name, cells.join(" | "), check.what));
    }
    text.push('\n');
    for column in columns {
        text.push_str(&format!("- {} {}: {}\n", column.name, column.version, summary(column, &column.outcomes)));
        for outcome in &column.outcomes {
            for word in told(column.standing(outcome)).into_iter().chain(outcome.remark.clone()) {
                text.push_str(&format!("  - {}: {word}\n", outcome.check.name));
            }
        }
    }
    text
}

fn verdict_of<'c>(column: &'c EngineChecks<'_>, check: &str) -> Option<&'c CheckVerdict> {
    column.outcomes.iter().find(|outcome| outcome.check.name == check).map(|outcome| &outcome.verdict)
}

fn told(standing: CheckStanding<'_>) -> Option<String> {
    match standing {
        CheckStanding::Sound => None,
        CheckStanding::Failed(how) => Some(how.to_owned()),
        CheckStanding::Flaky(how) => Some(format!("{how}; repeated it passed")),
        CheckStanding::Known(how, reason) => Some(format!("{how} (known: {reason})")),
        CheckStanding::KnownPassed(reason) => Some(format!("passed, though it is known to fail: {reason}")),
    }
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
    use std::collections::HashMap;
    use std::io;
    use std::path::PathBuf;
    use std::process::Command;

    use kvdyno_conformance::{Effort, Subject, Suite};

    fn never(_: &str) -> io::Result<Command> {
        Err(io::Error::other("nothing is started here"))
    }

    fn outcome(number: usize, verdict: CheckVerdict) -> CheckOutcome {
        let (log, took) = (PathBuf::from(format!("{number}.log")), Duration::ZERO);
        CheckOutcome { check: &checks()[number], verdict, took, remark: None, kills: None, kept: None, log }
    }

    fn column(
        name: &'static str,
        version: &str,
        verdicts: impl IntoIterator<Item = CheckVerdict>,
    ) -> EngineChecks<'static> {
        let subject = Subject { adapter: PathBuf::new(), preset: None, options: Vec::new(), library: None };
        let effort = Effort { patience: Duration::from_secs(60), kills: 5, seed: 7 };
        let suite = Suite {
            subject,
            folder: PathBuf::new(),
            logs: PathBuf::new(),
            relaunch: never,
            effort,
            patience: HashMap::new(),
            known: HashMap::new(),
            only: Vec::new(),
            watch: |_| (),
        };
        let (version, alone) = (version.to_owned(), "alone --only".to_owned());
        let outcomes = verdicts.into_iter().enumerate().map(|(number, verdict)| outcome(number, verdict)).collect();
        EngineChecks { name, version, suite, alone, outcomes, again: Vec::new() }
    }

    fn failed(how: &str) -> CheckVerdict {
        CheckVerdict::Failed(how.to_owned())
    }

    #[test]
    fn a_page_has_a_row_for_each_check_a_column_for_each_engine_and_says_how_checks_failed_and_what_is_to_be_known() {
        let (passed, not) = (CheckVerdict::Passed, CheckVerdict::NotApplicable("it has none".to_owned()));
        let one = column("one", "1.2", [passed.clone(), not.clone(), passed.clone()]);
        let mut two = column("two:x", "3", [passed, failed("no end after 60s"), not]);
        two.outcomes[2].remark = Some("3 rounds in 30 s".to_owned());
        let page = markdown(&[one, two]);
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

    #[test]
    fn a_known_failure_is_told_with_its_reason_and_is_none_and_one_that_passes_is_told_too() {
        let mut engine = column("one", "1", [failed("no end after 20s"), CheckVerdict::Passed, failed("gone")]);
        let known = [(checks()[0].name, "it waits".to_owned()), (checks()[1].name, "it aborts".to_owned())];
        engine.suite.known.extend(known);
        let rows: Vec<String> = engine.outcomes.iter().map(|outcome| row(&engine, outcome)).collect();
        assert!(rows[0].contains("KNOWN: no end after 20s") && rows[0].contains("reason:   it waits"), "{rows:?}");
        assert!(!rows[0].contains("FAILED"), "{rows:?}");
        assert!(rows[1].contains("passed, though it is known to fail") && rows[1].contains("it aborts"), "{rows:?}");
        assert!(rows[2].contains("FAILED: gone") && rows[2].contains(&format!("alone --only {}", checks()[2].name)));
        assert_eq!(summary(&engine, &engine.outcomes), "1 passed, 1 failed, 0 not applicable, 1 known to fail");
        let page = markdown(&[engine]);
        assert!(page.contains(&format!("- {}: no end after 20s (known: it waits)", checks()[0].name)), "{page}");
    }

    #[test]
    fn what_passes_the_second_time_is_flaky_and_what_fails_again_has_failed() {
        let mut engine = column("one", "1", [failed("lost"), failed("gone"), failed("gone")]);
        assert!(engine.outcomes.iter().all(|outcome| engine.may_be_flaky(outcome)));
        engine.again = vec![outcome(0, CheckVerdict::Passed), outcome(1, failed("gone")), outcome(2, failed("lost"))];
        let standings: Vec<_> = engine.outcomes.iter().map(|outcome| engine.standing(outcome)).collect();
        assert_eq!(
            standings,
            [CheckStanding::Flaky("lost"), CheckStanding::Failed("gone"), CheckStanding::Failed("gone")]
        );
        assert_eq!(summary(&engine, &engine.outcomes), "0 passed, 2 failed, 0 not applicable, 1 flaky");
        let words: Vec<String> = engine.again.iter().map(|again| repeated(&engine, again)).collect();
        assert!(words[0].contains("flaky") && words[0].contains("first:    lost\n"), "{words:?}");
        assert!(words[0].contains("then:     passed\n"), "{words:?}");
        assert!(words[1].contains("failed again") && words[1].contains("then:     the same\n"), "{words:?}");
        assert!(words[2].contains("then:     lost\n"), "{words:?}");
    }

    /// Else an engine that could make no database once would have passed nothing, and failed nothing.
    #[test]
    fn where_checks_were_not_run_the_failure_that_kept_them_is_not_run_again() {
        let not_run = CheckVerdict::NotRun("no database can be made".to_owned());
        let engine = column("one", "1", [failed("gone"), not_run]);
        assert!(!engine.may_be_flaky(&engine.outcomes[0]));
    }
}
