//! For terminals: lines that fit it, colours only where they are wanted, and nobody else's commands.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::Lab;

/// A load and a run, of which the run has failed with words that clear a screen.
fn hostile() -> Lab {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom").operations(100).run().exits(0);
    let file = lab.path("results/trials/0002-faulty-readrandom-1r0w/result.json");
    let mut result: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    result["outcome"] =
        serde_json::json!({ "state": "failed", "kind": "crashed", "reason": "\u{1b}[2J\u{9b}2Jgone\u{202e}" });
    result["notes"] = serde_json::json!(["\u{1b}]0;title\u{7}"]);
    fs::write(&file, result.to_string()).unwrap();
    lab
}

/// Its output on a terminal of some width, in an environment without words about colours but these.
fn on_terminal(lab: &Lab, width: usize, environment: &[(&str, &str)]) -> String {
    shown(lab, "report results", width, environment)
}

/// The output of a command on such a terminal.
fn shown(lab: &Lab, command: &str, width: usize, environment: &[(&str, &str)]) -> String {
    let kvdyno = lab.kvdyno();
    let command = format!("stty cols {width}; exec {} {command}", kvdyno.get_program().to_string_lossy());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(lab.path("."));
    for (name, value) in kvdyno.get_envs() {
        value.map(|value| script.env(name, value));
    }
    // `CI` too: where it stands, a terminal that is called dumb gets colours.
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLUMNS"] {
        script.env_remove(name);
    }
    let out = script.env("TERM", "xterm").envs(environment.iter().copied()).output().unwrap();
    String::from_utf8(out.stdout).unwrap().replace('\r', "")
}

#[test]
fn colours_are_shown_where_they_are_wanted() {
    let lab = hostile();
    let has_codes = |environment: &[(&str, &str)]| on_terminal(&lab, 100, environment).contains('\u{1b}');
    assert!(has_codes(&[]));
    assert!(!has_codes(&[("NO_COLOR", "1")]));
    assert!(!has_codes(&[("TERM", "dumb")]));
    assert!(!has_codes(&[("CLICOLOR", "0")]));
    assert!(has_codes(&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")]));
    assert!(!has_codes(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
    // No terminal.
    let piped = |forced: &str| {
        let out =
            lab.kvdyno().args(["report", "results"]).env("CLICOLOR_FORCE", forced).env_remove("NO_COLOR").output();
        String::from_utf8(out.unwrap().stdout).unwrap().contains('\u{1b}')
    };
    assert!(!piped("") && piped("1"));
}

#[test]
fn commands_of_foreign_results_are_shown_and_not_sent() {
    let lab = hostile();
    for environment in [&[][..], &[("NO_COLOR", "1")], &[("CLICOLOR_FORCE", "1")]] {
        let text = on_terminal(&lab, 100, environment);
        assert!(text.contains("␛[2J␦2Jgone␦") && text.contains("␛]0;title␇"), "{text}");
        for command in ["\u{1b}[2J", "\u{9b}", "\u{1b}]", "\u{7}", "\u{202e}"] {
            assert!(!text.contains(command), "{command:?}: {text}");
        }
    }
    // Nor in an error: of a path, of an experiment.
    let ran = lab.run(["report", "no\u{1b}[2Jfolder"]);
    ran.exits(2).says("no␛[2Jfolder");
    assert!(!ran.stderr.contains("\u{1b}[2J"));
}

#[test]
fn lines_fit_the_terminal() {
    let lab = hostile();
    for width in [60, 80, 120, 200] {
        let text = on_terminal(&lab, width, &[("NO_COLOR", "1")]);
        // Paths are as long as they are, and are for copying.
        let is_path = |line: &&str| ["charts: ", "more tables: ", "again: "].iter().any(|name| line.starts_with(name));
        let lines = text.lines().filter(|line| !is_path(line));
        let longest = lines.max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= width, "{width}: {longest}");
    }
}

/// The table of cells is drawn anew, and a failure breaks no word.
#[test]
fn a_run_is_watched_on_a_terminal() {
    let lab = Lab::new();
    let kvdyno = lab.kvdyno();
    let command = format!(
        "stty cols 60 rows 24; exec {} compare faulty lmdb --records 2000 --duration 1500ms --warmup 0s --readers 1 \
         --workload readrandom --option faulty.fault=other-key --option faulty.every=7 --out results",
        kvdyno.get_program().to_string_lossy()
    );
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(lab.path("."));
    script.envs(kvdyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = script.env("TERM", "xterm").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The drawing comes before the report.
    let drawn = text.split("verdicts").next().unwrap();
    for words in ["engine", "clients", "reads/s", "▸ lmdb", "! faulty", "load: fillseq", "1r", " left", "FAILED: "] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    assert!(!lab.path("results/databases").exists() || output.status.code() == Some(1), "{drawn}");
}

/// Where no line can be drawn anew, each trial is told in a line of its own, and nothing moves the cursor.
#[test]
fn where_nothing_can_be_drawn_there_is_a_line_a_trial() {
    let told = |text: &str| -> Vec<String> {
        assert!(!text.contains('\u{1b}') && !text.contains('▸'), "{text}");
        let lines = text.lines().filter(|line| line.starts_with('['));
        lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let of = |count: usize| (1..=count).map(|nth| format!("[{nth}/{count}]")).collect::<Vec<_>>();
    let lab = Lab::new();
    let comparison = lab.compare(["faulty", "lmdb"]).workload("readrandom").operations(100);
    let piped = comparison.run();
    piped.exits(0);
    assert_eq!(told(&piped.stderr), of(4), "{}", piped.stderr);
    // The same on a terminal that can do nothing.
    let lab = Lab::new();
    let command = "compare faulty lmdb --records 2000 --operations 100 --warmup 0s --readers 1 --workload readrandom \
                   --repeat 1 --out results";
    let shown = shown(&lab, command, 100, &[("TERM", "dumb")]);
    assert_eq!(told(&shown), of(4), "{shown}");
}

/// Words that are numbers, or begin with one.
fn numbers(text: &str) -> BTreeSet<&str> {
    let is_number = |word: &&str| word.trim_start_matches(['-', '(']).starts_with(|c: char| c.is_ascii_digit());
    text.split_whitespace().filter(is_number).collect()
}

/// Whatever is listed: no line is wider than the terminal, and every number that a wide one shows is whole.
#[test]
fn lists_fit_the_terminal_and_break_no_number() {
    let lab = Lab::new();
    let lists = [
        "engines",
        "engines lmdb",
        "engines rocksdb",
        "workloads",
        "experiments",
        "engines check",
        "machine",
        "engines settings lmdb",
    ];
    for list in lists {
        let at = |width| shown(&lab, list, width, &[("NO_COLOR", "1")]);
        let wide = at(1000);
        for width in [60, 80, 120, 200] {
            let text = at(width);
            // Addresses, paths and names of others are for copying.
            let is_breakable = |line: &&str| line.trim().contains(' ');
            let longest = text.lines().filter(is_breakable).max_by_key(|line| line.chars().count()).unwrap();
            assert!(longest.chars().count() <= width, "{list}, {width}: {longest}");
            // What the driver costs, and how much is free, is another figure each time.
            if list != "machine" {
                let broken: Vec<&str> = numbers(&wide).difference(&numbers(&text)).copied().collect();
                assert!(broken.is_empty(), "{list}, {width}: {broken:?}");
            }
        }
    }
}

#[test]
fn a_page_can_go_elsewhere() {
    let lab = hostile();
    // Where the page would be nothing can be written.
    fs::remove_dir_all(lab.path("results/report")).unwrap();
    fs::write(lab.path("results/report"), "").unwrap();
    let ran = lab.run(["report", "results"]);
    ran.exits(1).says("to have the page elsewhere: kvdyno report").says("--out FOLDER");
    assert!(ran.stdout.contains("readrandom"), "the tables are printed: {}", ran.stdout);

    let before = lab.tree();
    lab.run(["report", "results", "--out", "elsewhere/page"]).exits(0).says("elsewhere/page/index.html");
    for file in ["index.html", "cells.csv", "load.csv", "run.csv", "verdicts.csv"] {
        assert!(lab.path("elsewhere/page").join(file).is_file(), "{file}");
    }
    fs::remove_dir_all(lab.path("elsewhere")).unwrap();
    assert_eq!(lab.tree(), before, "the results were touched");
}
