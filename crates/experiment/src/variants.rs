//! Variants: an experiment over again with some of its keys changed.
//!
//! ```toml
//! [[variant]]
//! name = "24 bytes"
//! data.value_size = 24
//! ```
//!
//! A variant is laid over the rest of the file, table by table; what it does not say stays. Each has databases of its own.

use std::ops::Range;

use toml::{Spanned, Table, Value};

use crate::experiment::Experiment;
use crate::file_error::FileError;

/// What a variant may change.
const SECTIONS: [&str; 7] = ["data", "settings", "load", "run", "environment", "engines", "engine"];

/// One variant, as an experiment that has none.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Empty if the experiment has no variants.
    pub name: String,
    /// The whole of it. Places in it are of no file: [`Variant::place`] stands for all of them.
    pub experiment: Experiment,
    /// Where it stands in the file; absent if the experiment has no variants.
    pub place: Option<Range<usize>>,
}

impl Experiment {
    /// The variants, in order; the experiment itself if it has none.
    ///
    /// # Errors
    /// If a variant has no name, the name of another, or a key that cannot be, with its place in the file.
    pub fn variants(&self) -> Result<Vec<Variant>, FileError> {
        if self.variant.is_empty() {
            return Ok(vec![Variant { name: String::new(), experiment: self.clone(), place: None }]);
        }
        let base = Experiment { variant: Vec::new(), ..self.clone() };
        let base = Table::try_from(&base).map_err(|error| FileError::new(error.to_string(), 0..0))?;
        let mut variants: Vec<Variant> = Vec::new();
        for section in &self.variant {
            let variant = variant(&base, section)?;
            if variants.iter().any(|other| other.name == variant.name) {
                return Err(FileError::new(format!("two variants are called `{}`", variant.name), section.span()));
            }
            variants.push(variant);
        }
        Ok(variants)
    }

    /// Whether a trial's memory is limited, in any of the variants. Not if they cannot be told: what is wrong with them is
    /// said by the check.
    pub fn limits_memory(&self) -> bool {
        self.variants()
            .is_ok_and(|variants| variants.iter().any(|one| one.experiment.environment.requested().memory.is_some()))
    }
}

fn variant(base: &Table, section: &Spanned<Table>) -> Result<Variant, FileError> {
    let wrong = |message: String| FileError::new(message, section.span());
    let mut changes = section.get_ref().clone();
    let name = match changes.remove("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        _ => return Err(wrong("a variant needs a name, such as name = \"small values\"".to_owned())),
    };
    if let Some(key) = changes.keys().find(|key| !SECTIONS.contains(&key.as_str())) {
        let sections = SECTIONS.join(", ");
        return Err(wrong(format!("variant `{name}`: `{key}` cannot vary; what can is {sections}")));
    }
    let mut table = base.clone();
    overlay(&mut table, changes);
    let experiment =
        Experiment::from_table(&table).map_err(|error| wrong(format!("variant `{name}`: {}", error.message)))?;
    Ok(Variant { name, experiment, place: Some(section.span()) })
}

/// Lays `changes` over `table`. A table over an array of tables is laid over each of them: `run.readers = [1]` changes
/// every `[[run]]`.
pub fn overlay(table: &mut Table, changes: Table) {
    for (key, change) in changes {
        match (table.get_mut(&key), change) {
            (Some(Value::Table(inner)), Value::Table(change)) => overlay(inner, change),
            (Some(Value::Array(tables)), Value::Table(change)) => {
                for inner in tables.iter_mut().filter_map(Value::as_table_mut) {
                    overlay(inner, change.clone());
                }
            }
            (_, change) => {
                table.insert(key, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(text: &str) -> Result<Vec<Variant>, FileError> {
        Experiment::parse(text)?.variants()
    }

    #[test]
    fn what_a_variant_does_not_say_stays() {
        let text = "engines = [\"lmdb\"]\n[data]\nrecords = 5\n[[run]]\nreaders = [1, 2]\n[[run]]\nworkload = \"readseq\"\n\
                    [[variant]]\nname = \"a\"\ndata.value_size = 24\n[[variant]]\nname = \"b\"\nrun.readers = [7]\n";
        let found = variants(text).unwrap();
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let (a, b) = (&found[0].experiment, &found[1].experiment);
        assert_eq!((a.data().records, a.data().value_size), (5, 24));
        assert_eq!((b.data().records, b.data().value_size), (5, 100));
        assert_eq!(a.run[0].readers.get_ref(), &[1, 2]);
        assert!(b.run.iter().all(|run| run.readers.get_ref() == &[7]) && b.run.len() == 2);
        assert!(a.variant.is_empty());
    }

    #[test]
    fn without_variants_there_is_the_experiment() {
        let found = variants("engines = [\"lmdb\"]").unwrap();
        assert_eq!((found.len(), found[0].name.as_str()), (1, ""));
    }

    #[test]
    fn what_cannot_be_says_where() {
        let head = "engines = [\"lmdb\"]\n";
        for (variant, reason) in [
            ("data.value_size = 24", "a variant needs a name"),
            ("name = \"a\"\nlab.repeat = 2", "`lab` cannot vary"),
            ("name = \"a\"\ndata.value_sise = 24", "variant `a`: unknown field `value_sise`"),
            ("name = \"a\"\n[[variant]]\nname = \"a\"", "two variants are called `a`"),
        ] {
            let text = format!("{head}[[variant]]\n{variant}\n");
            let error = variants(&text).unwrap_err();
            assert!(error.message.contains(reason), "{}", error.message);
            assert!(error.place.is_some_and(|place| text[place].contains("variant")), "{reason}");
        }
    }
}
