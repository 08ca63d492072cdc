//! `kvdyno engines check`: what it finds, and how it tells what it found.

use std::fs;

use crate::support::{Lab, Ran, may_mount};

/// The checks that hold an engine against what the system refuses and what sessions leave.
const NEW: &str = "write-refused,close-refused,filesystem-full,read-refused,sessions-come-and-go";

fn check(lab: &Lab, only: &str, more: &[&str]) -> Ran {
    let logs = lab.path("logs");
    let mut arguments = vec!["engines", "check", "faulty", "--logs", logs.to_str().unwrap(), "--only", only];
    arguments.extend(more);
    lab.run_with(&arguments)
}

/// The engine with a fault fails this check with these words.
#[track_caller]
fn fails(option: &str, name: &str, words: &str) {
    let ran = check(&Lab::new(), name, &["--option", option]);
    ran.exits(1);
    let line = ran.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line.contains("FAILED") && line.contains(words), "it should say `{words}`:\n{}", ran.stdout);
}

#[test]
fn a_sound_engine_passes_the_checks_of_what_the_system_refuses() {
    let ran = check(&Lab::new(), NEW, &[]);
    ran.exits(0);
    // `filesystem-full` does not apply where nothing may be mounted.
    let applies = if may_mount() { 5 } else { 4 };
    let passed = ran.stdout.lines().filter(|line| line.contains(" passed")).count();
    assert!(passed > applies, "with the line that counts them there should be more than {applies}:\n{}", ran.stdout);
}

#[test]
fn a_write_that_failed_and_was_answered_with_ok_is_found() {
    fails("fault=error-as-ok", "write-refused", "was acknowledged, but");
    if may_mount() {
        fails("fault=error-as-ok", "filesystem-full", "was acknowledged, but");
    }
}

#[test]
fn a_read_that_failed_and_was_answered_with_miss_is_found() {
    fails("fault=error-as-miss", "read-refused", "is a miss while no file can be opened");
}

#[test]
fn an_error_without_a_text_is_found() {
    fails("fault=error-without-text", "write-refused", "session_error has no text");
}

#[test]
fn a_close_that_saved_nothing_and_was_answered_with_ok_is_found() {
    fails("fault=close-as-ok", "close-refused", "though close was OK");
}

#[test]
fn a_session_that_leaves_290_bytes_is_found() {
    fails("fault=leaky-session", "sessions-come-and-go", "bytes behind");
}

#[test]
fn writers_that_wait_for_each_other_against_what_is_declared_are_found() {
    fails("concurrent=true", "writers-side-by-side", "none of 8 others");
}

#[test]
fn where_no_database_can_be_made_that_is_told_once_and_the_rest_is_not_run() {
    let ran = check(&Lab::new(), "miss,overwrite,delete", &["--option", "fault=error-open"]);
    ran.exits(1);
    assert_eq!(ran.stdout.matches("injected by fault=error-open").count(), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("0 passed, 1 failed, 0 not applicable, 3 not run"), "{}", ran.stdout);
}

#[test]
fn a_failure_names_its_rule_the_command_that_runs_it_alone_and_its_log() {
    let lab = Lab::new();
    let options = ["--option", "fault=abort-get", "--option", "every=1", "--seed", "7", "--kills", "5"];
    let ran = check(&lab, "get-after-put", &options);
    ran.exits(1).says("1 check failed: faulty get-after-put");
    let log = lab.path("logs/faulty/get-after-put.log");
    for words in [
        "kvdyno.h: what was answered with OK is there, and is read.",
        "Seed 7; kills in each check that kills: 5.",
        "alone:    kvdyno engines check faulty --option fault=abort-get --option every=1 --timeout 1m --kills 5 \
         --seed 7 --only get-after-put",
        "Repeated alone, with the same seed:\n  faulty get-after-put: failed again",
        &format!("log:      {}", log.display()),
    ] {
        assert!(ran.stdout.contains(words), "it should say `{words}`:\n{}", ran.stdout);
    }
    assert!(fs::read_to_string(log).unwrap().contains("FAILED: the process ended with signal 6"));
}

/// A kill check leaves one database, and names the kill after which it was found wrong.
#[test]
fn the_database_of_a_check_that_failed_is_kept() {
    let lab = Lab::new();
    let options = ["--option", "fault=dropped-write", "--option", "every=3", "--kills", "2", "--dir", "."];
    let ran = check(&lab, "kill-process,create", &options);
    ran.exits(1);
    let kept = lab.path("logs/faulty/kill-process");
    assert!(ran.stdout.contains(&format!("      kept:     {}\n", kept.display())), "{}", ran.stdout);
    assert!(ran.stdout.contains("FAILED: kill 1 of 2: "), "{}", ran.stdout);
    assert!(fs::read_dir(kept.join("database-0")).unwrap().count() > 0);
    assert!(lab.path("logs/faulty/kill-process-again/database-0").is_dir());
    assert!(!lab.path("logs/faulty/create").exists());
    // Once more: the former one is replaced.
    fs::write(kept.join("former"), "").unwrap();
    check(&lab, "kill-process", &options).exits(1);
    assert!(!kept.join("former").exists() && kept.join("database-0").is_dir());
}

#[test]
fn a_log_has_all_that_an_engine_printed() {
    let lab = Lab::new();
    check(&lab, "get-after-put", &["--option", "fault=noisy"]).exits(0);
    let said = fs::read_to_string(lab.path("logs/faulty/get-after-put.log")).unwrap();
    let line = "faulty: the engine has a lot to say";
    assert!(said.matches(line).count() > 1_000, "{} lines", said.matches(line).count());
}

/// How long after a write each kill came, in µs, by the log of a run with these flags.
fn kills(more: &[&str]) -> Vec<u64> {
    let lab = Lab::new();
    let flags = [&["--timeout", "10m"], more].concat();
    let ran = check(&lab, "kill-process", &flags);
    ran.exits(0);
    let log = fs::read_to_string(lab.path("logs/faulty/kill-process.log")).unwrap();
    let moment = |line: &str| line.strip_prefix("kvdyno: killing it ")?.split_whitespace().next()?.parse().ok();
    let moments: Vec<u64> = log.lines().filter_map(moment).collect();
    assert_eq!(log.matches("kvdyno: opening the database whose process was killed").count(), moments.len(), "{log}");
    let row = format!("kill-process             passed, {} kills", moments.len());
    assert!(ran.stdout.contains(&row), "it should say `{row}`:\n{}", ran.stdout);
    moments
}

#[test]
fn a_kill_check_kills_thirty_times_or_as_often_as_it_is_told() {
    assert_eq!(kills(&[]).len(), 30);
    assert_eq!(kills(&["--kills", "2"]).len(), 2);
}

#[test]
fn a_seed_gives_the_same_moments_again_and_another_seed_others() {
    let of = |seed| kills(&["--kills", "4", "--seed", seed]);
    let moments = of("7");
    assert_eq!(moments.len(), 4);
    assert_eq!(of("7"), moments);
    assert_ne!(of("8"), moments);
}

#[test]
fn without_a_seed_every_run_has_another_and_names_it() {
    let seed = || {
        let ran = check(&Lab::new(), "miss", &[]);
        ran.exits(0);
        let words = ran.stdout.strip_prefix("Seed ").unwrap().split(';').next().unwrap();
        words.parse::<u64>().unwrap()
    };
    assert_ne!(seed(), seed());
}

#[test]
fn a_known_failure_is_told_and_decides_nothing_and_one_that_passes_is_told_too() {
    let options = ["--option", "fault=abort-get", "--option", "every=1", "--known", "get-after-put"];
    let lab = Lab::new();
    let ran = check(&lab, "get-after-put,create", &options);
    ran.exits(0);
    let log = fs::read_to_string(lab.path("logs/faulty/get-after-put.log")).unwrap();
    assert!(log.contains("get-after-put: KNOWN: the process ended") && !log.contains("FAILED"), "{log}");
    assert!(ran.stdout.contains("get-after-put            KNOWN: the process ended"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 passed, 0 failed, 0 not applicable, 1 known to fail"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("FAILED") && !ran.stdout.contains("Repeated"), "{}", ran.stdout);

    let ran = check(&Lab::new(), "miss", &["--known", "miss"]);
    ran.exits(0);
    assert!(ran.stdout.contains("passed, though it is known to fail"), "{}", ran.stdout);
}

#[test]
fn engines_side_by_side_are_told_one_after_the_other() {
    let lab = Lab::with_null();
    let ran =
        lab.run_with(&["engines", "check", "faulty", "null", "synthetic", "--only", "create,probe", "--jobs", "3"]);
    ran.exits(0);
    for name in ["faulty", "null", "synthetic"] {
        let rows = format!("{name}\n  probe                    passed\n  create                   passed\n2 passed");
        assert!(ran.stdout.contains(&rows), "{name}:\n{}", ran.stdout);
    }
}

#[test]
fn a_short_timeout_does_not_fail_an_engine_that_is_only_slow() {
    // 1,000 openings would take 50 s. It goes on for half of the time; the rest is for a machine that is busy.
    let ran = check(&Lab::new(), "open-and-close", &["--option", "fault=slow-open", "--timeout", "30s"]);
    ran.exits(0);
    assert!(ran.stdout.contains("openings and closings in"), "{}", ran.stdout);
}

#[test]
fn no_message_shows_how_the_program_writes_its_own_values() {
    let ran = check(&Lab::new(), "get-after-put,many-records", &["--option", "fault=other-key", "--option", "every=7"]);
    ran.exits(1);
    for word in ["Wrong(", "Torn(", "Stale(", "Some(", "\\\""] {
        assert!(!ran.stdout.contains(word), "{}", ran.stdout);
    }
}
