//! An experiment file that has every key.

use std::fmt::Write;

use kvdyno_model::{Definition, Otherwise};
use toml::{Table, Value};

use crate::experiment::{SectionInfo, section_of, sections};

const HEAD: &str = "#:schema ./schema.json
# Every key of an experiment file. Only `engines` is required. A key that is commented out is absent by default.
# docs/experiment-file.md explains them, docs/experiment-keys.md lists them. This file is generated from their
# definitions: `make mend` writes it anew.
#
#     kvdyno run experiments/example.toml --dry-run     checks the file and prints it in full
#     kvdyno run experiments/example.toml               runs it: less than a minute on two cores
#
# In the result, the verdicts state which setup is faster, by how much, and with what confidence interval. The load
# table states the cost of loading. In the tables of each workload `*` marks a rate above all others, `≈` a rate that is
# the same as the highest, and `?` a rate without a verdict against the highest.
";

/// Differences of the example from the defaults.
const CHOSEN: &str = r#"
name = "example"
engines = ["lmdb", "lmdb-writemap", "rocksdb"]
data.records = 100_000
run = [
    { readers = [1, 2], duration = "2s", warmup = "250ms", write_rate = 20_000 },
    { workload = "readrandom", readers = [2], operations = 200_000, warmup = "250ms", reads_per_transaction = 100 },
    { workload = "mix", readers = [1], duration = "2s", warmup = "250ms", role = [
        { name = "visitors", mix = "get 95, put 5", distribution = "zipf" },
        { name = "reports", mix = "range 100", seek_nexts = 999, rate = 20 },
    ] },
]
engine.lmdb-writemap = { engine = "lmdb", options = { writemap = true } }
"#;

/// The column where comments begin.
const COLUMN: usize = 36;
/// The width of the file.
const WIDTH: usize = 120;

/// The file.
pub fn example() -> String {
    let chosen: Table = CHOSEN.parse().unwrap_or_default();
    let mut file = HEAD.to_owned();
    for section in sections() {
        // A `String` takes everything that is written.
        let _ = write_section(&mut file, section, &chosen);
    }
    file
}

fn write_section(file: &mut String, section: &SectionInfo, chosen: &Table) -> std::fmt::Result {
    match section.name {
        "" => {
            writeln!(file)?;
            write_keys(file, section, chosen, false)
        }
        "run" => {
            let runs = chosen.get("run").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
            for (number, run) in runs.enumerate() {
                write_heading(file, "[[run]]", if number == 0 { section.doc } else { "" })?;
                write_keys(file, section, run, number > 0)?;
                write_roles(file, run)?;
            }
            Ok(())
        }
        // They stand with their run.
        "run.role" => Ok(()),
        "engine.NAME" => {
            for (name, own) in chosen.get("engine").and_then(Value::as_table).into_iter().flatten() {
                write_heading(file, &format!("[engine.{name}]"), section.doc)?;
                write_keys(file, section, own.as_table().unwrap_or(&Table::new()), false)?;
            }
            Ok(())
        }
        name => {
            write_heading(file, &format!("[{name}]"), section.doc)?;
            write_keys(file, section, chosen.get(name).and_then(Value::as_table).unwrap_or(&Table::new()), false)
        }
    }
}

fn write_roles(file: &mut String, run: &Table) -> std::fmt::Result {
    let roles = run.get("role").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
    for (number, role) in roles.enumerate() {
        let Some(section) = section_of("run.role") else { continue };
        write_heading(file, "[[run.role]]", if number == 0 { section.doc } else { "" })?;
        write_keys(file, section, role, number > 0)?;
    }
    Ok(())
}

fn write_heading(file: &mut String, heading: &str, doc: &str) -> std::fmt::Result {
    writeln!(file)?;
    write_commented(file, heading, doc)
}

/// The keys of a section; `only_chosen`: without those of a section before it.
fn write_keys(file: &mut String, section: &SectionInfo, chosen: &Table, only_chosen: bool) -> std::fmt::Result {
    for key in &section.keys {
        match chosen.get(key.name) {
            Some(value) => write_commented(file, &format!("{} = {value}", key.name), &comment(key, only_chosen))?,
            None if only_chosen => (),
            None => match &key.otherwise {
                Otherwise::Default { value, .. } => {
                    write_commented(file, &format!("{} = {value}", key.name), &format!("{}{}", key.doc, words(key)))?;
                }
                Otherwise::Absent(_) => write_commented(file, &format!("# {} =", key.name), &comment(key, false))?,
            },
        }
    }
    Ok(())
}

/// The comment on a key that does not have its default.
fn comment(key: &Definition, again: bool) -> String {
    match &key.otherwise {
        _ if again => String::new(),
        Otherwise::Default { text, .. } if text.is_empty() => key.doc.to_owned(),
        Otherwise::Default { value, .. } => format!("{}{} Default: {value}", key.doc, words(key)),
        Otherwise::Absent(meaning) => format!("{} Value: {}. Absent: {meaning}", key.doc, key.value.description),
    }
}

/// The words that can be written, where there is a choice of words.
fn words(key: &Definition) -> String {
    match key.value.words.is_empty() {
        true => String::new(),
        false => format!(" Value: {}.", key.value.description),
    }
}

/// A line with its comment, which goes on below where it is long.
fn write_commented(file: &mut String, line: &str, comment: &str) -> std::fmt::Result {
    let mut line = line.to_owned();
    let mut rest = comment.split(' ').filter(|word| !word.is_empty()).peekable();
    while rest.peek().is_some() {
        let goes_on = line.is_empty();
        line = format!("{line:<COLUMN$}{}#", if line.chars().count() < COLUMN { "" } else { " " });
        if let Some(word) = rest.next_if(|_| goes_on) {
            line = format!("{line} {word}");
        }
        while let Some(word) = rest.next_if(|word| line.chars().count() + 1 + word.chars().count() <= WIDTH) {
            line = format!("{line} {word}");
        }
        writeln!(file, "{line}")?;
        line.clear();
    }
    if !line.is_empty() { writeln!(file, "{line}") } else { Ok(()) }
}
