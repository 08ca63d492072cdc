//! Contents that no experiment file has: unknown keys, and more sections than a person would write.

use kvdyno_model::{did_you_mean, either};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::experiment::{section_of, sections};
use crate::file_error::FileError;

/// The most sections of one kind. Each `[[run]]` is a row of a table, and each `[engine.NAME]` starts a process that
/// asks the engine: nobody reads more rows, or waits for more processes.
const MOST_SECTIONS: usize = 1000;

/// Refuses the first key that is not known, with what was probably meant, and sections that are too many.
pub(crate) fn refuse_unknown(text: &str) -> Result<(), FileError> {
    // The parser reports text that is not TOML.
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    let top = table.get_ref();
    refuse_many(top)?;
    for (name, value) in top.iter() {
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("engine", DeValue::Table(engines)) => {
                for (_, section) in engines.iter() {
                    refuse_in(section, "engine.NAME")?;
                }
            }
            // A variant is laid over the rest, and read with it.
            ("variant" | "engine", _) => (),
            (word, _) if is_section(word) => refuse_in(value, word)?,
            (word, _) => known(name, word, &top_level())?,
        }
    }
    Ok(())
}

/// Refuses a section that is there too often. Before the rest, which looks at each of them.
fn refuse_many(top: &DeTable<'_>) -> Result<(), FileError> {
    for (name, value) in top.iter() {
        let (shown, count, first_over) = match (name.get_ref().as_ref(), value.get_ref()) {
            ("engine", DeValue::Table(all)) => {
                ("[engine.NAME]", all.len(), all.keys().nth(MOST_SECTIONS).map(Spanned::span))
            }
            ("run", DeValue::Array(all)) => ("[[run]]", all.len(), all.get(MOST_SECTIONS).map(Spanned::span)),
            _ => continue,
        };
        if count > MOST_SECTIONS {
            let message = format!("{count} sections {shown} are too many; there can be {MOST_SECTIONS}");
            return Err(FileError { span: first_over, ..FileError::new(message) });
        }
    }
    Ok(())
}

fn is_section(word: &str) -> bool {
    sections().iter().any(|section| section.name == word)
}

/// Keys and sections of the top level.
fn top_level() -> Vec<&'static str> {
    let keys = section_of("").into_iter().flat_map(|section| &section.keys).map(|key| key.name);
    let named = sections().iter().map(|section| section.name).filter(|name| !name.is_empty());
    keys.chain(named.filter(|name| !name.contains('.'))).chain(["engine", "variant"]).collect()
}

fn refuse_in(value: &Spanned<DeValue<'_>>, section: &str) -> Result<(), FileError> {
    let names: Vec<&str> = section_of(section).into_iter().flat_map(|one| &one.keys).map(|key| key.name).collect();
    let tables: Vec<&DeTable<'_>> = match value.get_ref() {
        DeValue::Table(table) => vec![table],
        DeValue::Array(list) => list.iter().filter_map(|item| item.get_ref().as_table()).collect(),
        _ => Vec::new(),
    };
    tables.into_iter().flat_map(|table| table.iter()).try_for_each(|(name, value)| match (section, name.get_ref()) {
        ("run", word) if word == "role" => refuse_in(value, "run.role"),
        (_, word) => known(name, word, &names),
    })
}

fn known(name: &Spanned<DeString<'_>>, word: &str, names: &[&str]) -> Result<(), FileError> {
    if names.contains(&word) {
        return Ok(());
    }
    let meant = did_you_mean(word, names.iter().copied());
    let message = format!("there is no key `{word}` here; it can be {}{meant}", either(names));
    Err(FileError { span: Some(name.span()), ..FileError::new(message) })
}
