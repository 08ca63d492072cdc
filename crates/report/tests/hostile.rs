//! Results that somebody else wrote: what stands in them reaches neither a terminal nor a spreadsheet as a command.

use crate::support;
use std::fs;
use std::path::Path;

use kvdyno_report::{Format, Screen, render, render_on, write_page};
use serde_json::Value;

/// Clears the screen, in both ways; a formula.
const COMMAND: &str = "=\u{1b}[2J\u{9b}2J\u{7f}\r\tcmd";

/// Texts that are shown and do not decide anything.
const TEXTS: [&str; 13] = [
    "engine",
    "variant",
    "version",
    "library",
    "reason",
    "topic",
    "value",
    "numa_policy",
    "allocator",
    "filesystem",
    "model",
    "kernel",
    "system",
];

/// Puts the command before every text.
fn make_hostile(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => *text = format!("{COMMAND}{text}"),
                    Value::Array(all) if name == "notes" => all.push(COMMAND.into()),
                    other => make_hostile(other),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(make_hostile),
        _ => {}
    }
}

fn edit(file: &Path) {
    let mut value: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    make_hostile(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

#[test]
fn commands_in_foreign_results_reach_neither_terminal_nor_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let results = support::write(folder.path(), 1);
    fs::write(results.experiment_file(), "name = \"=\\u001b[2J\\u009b2J\"\n").unwrap();
    edit(&results.machine_file());
    for trial in fs::read_dir(folder.path().join("trials")).unwrap() {
        edit(&trial.unwrap().path().join("result.json"));
    }
    for &format in Format::ALL {
        let text = render(&results, format).unwrap();
        assert!(text.contains("2J"), "{format}: it is shown");
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{format}");
    }
    let coloured = render_on(&results, Screen { width: Some(80), colour: true }).unwrap();
    assert!(!coloured.contains("\u{1b}[2J") && !coloured.contains('\u{9b}'));
    write_page(&results).unwrap();
    for (name, expected) in [("cells.csv", "'=␛[2J␦2J␡"), ("load.csv", "'=␛[2J␦2J␡"), ("run.csv", "'=␛[2J␦2J␡")]
    {
        let csv = fs::read_to_string(results.report_folder().join(name)).unwrap();
        let mut cells = 0;
        for row in csv::Reader::from_reader(csv.as_bytes()).records() {
            for cell in row.unwrap().iter() {
                cells += 1;
                let is_command = cell.starts_with(['=', '@', '\t', '\r']);
                assert!(!is_command, "{cell}");
            }
        }
        assert!(cells > 0 && csv.contains(expected), "{csv}");
    }
}
