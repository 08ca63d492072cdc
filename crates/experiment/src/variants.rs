//! Variants: an experiment over again with some of its keys changed.
//!
//! ```toml
//! [[variant]]
//! name = "24 bytes"
//! data.value_size = 24
//! ```
//!
//! A variant is laid over the rest of the file, table by table; keys that it does not set stay. Each has databases of
//! its own.

use kvdyno_model::{KeyPath, KeyStep};
use toml::{Table, Value};

use crate::experiment::Experiment;
use crate::file_error::FileError;

/// Each is laid over the whole file and read with it, and each of its engines is asked before anything runs.
const MOST: usize = 500;
/// The sections that a variant may change.
const SECTIONS: [&str; 7] = ["data", "settings", "load", "run", "environment", "engines", "engine"];

/// One variant, as an experiment that has none.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Empty if the experiment has no variants.
    pub name: String,
    /// The whole of it.
    pub experiment: Experiment,
    /// Which of the file's variants it is; absent if the experiment has none.
    pub index: Option<usize>,
}

impl Variant {
    /// An error of the variant's experiment, as one of the file.
    pub fn error(&self, error: FileError) -> FileError {
        match self.index {
            None => error,
            Some(index) => of_variant(error, &self.name, index),
        }
    }
}

fn of_variant(error: FileError, name: &str, index: usize) -> FileError {
    let key = error.key.unwrap_or_default().in_variant(index);
    FileError { key: Some(key), ..FileError::new(format!("variant `{name}`: {}", error.message)) }
}

/// The `index`th `[[variant]]`.
fn variant_key(index: usize) -> KeyPath {
    KeyPath::new("", "variant").then(KeyStep::Index(index))
}

impl Experiment {
    /// The variants, in order; the experiment itself if it has none.
    ///
    /// # Errors
    /// If a variant has no name, the name of another, or a key that cannot be, with its place in the file.
    pub fn variants(&self) -> Result<Vec<Variant>, FileError> {
        if self.variant.is_empty() {
            return Ok(vec![Variant { name: String::new(), experiment: self.clone(), index: None }]);
        }
        if self.variant.len() > MOST {
            let message = format!("{} variants are too many; there can be {MOST}", self.variant.len());
            return Err(FileError::at(variant_key(MOST), message));
        }
        let base = Experiment { variant: Vec::new(), ..self.clone() };
        let base = Table::try_from(&base).map_err(|error| FileError::new(error.to_string()))?;
        let mut variants: Vec<Variant> = Vec::new();
        for (index, section) in self.variant.iter().enumerate() {
            let variant = variant(&base, section, index)?;
            if variants.iter().any(|other| other.name == variant.name) {
                let message = format!("two variants are called `{}`", variant.name);
                return Err(FileError::at(variant_key(index), message));
            }
            variants.push(variant);
        }
        Ok(variants)
    }

    /// Whether any variant limits the memory of its trials. False if the variants are invalid: the check reports what
    /// is wrong with them.
    pub fn limits_memory(&self) -> bool {
        self.variants().is_ok_and(|variants| variants.iter().any(|one| one.experiment.environment.memory.is_some()))
    }
}

fn variant(base: &Table, section: &Table, index: usize) -> Result<Variant, FileError> {
    let wrong = |message: String| FileError::at(variant_key(index), message);
    let mut changes = section.clone();
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
    let experiment = Experiment::from_table(&table).map_err(|error| of_variant(error, &name, index))?;
    Ok(Variant { name, experiment, index: Some(index) })
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
    use crate::value_size::ValueSize;

    fn variants(text: &str) -> Result<Vec<Variant>, FileError> {
        Experiment::parse(text)?.variants()
    }

    #[test]
    fn what_a_variant_does_not_say_stays() {
        let text = "engines = [\"lmdb\"]\n[data]\nrecords = 5\n[[run]]\nreaders = [1, 2]\n[[run]]\nworkload = \
                    \"readseq\"\n[[variant]]\nname = \"a\"\ndata.value_size = 24\n[[variant]]\nname = \
                    \"b\"\nrun.readers = [7]\n";
        let variants = variants(text).unwrap();
        assert_eq!(variants.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let (a, b) = (&variants[0].experiment, &variants[1].experiment);
        let value_size = |one: &Experiment| one.data.value_size.as_ref().and_then(ValueSize::mean);
        assert_eq!((a.data.records.get(), value_size(a)), (5, Some(24)));
        assert_eq!((b.data.records.get(), value_size(b)), (5, None));
        assert_eq!(a.run[0].readers.to_string(), "1,2");
        assert!(b.run.iter().all(|run| run.readers.to_string() == "7") && b.run.len() == 2);
        assert!(a.variant.is_empty());
    }

    #[test]
    fn without_variants_there_is_the_experiment() {
        let variants = variants("engines = [\"lmdb\"]").unwrap();
        assert_eq!((variants.len(), variants[0].name.as_str()), (1, ""));
    }

    #[test]
    fn what_cannot_be_says_where() {
        let head = "engines = [\"lmdb\"]\n";
        for (variant, reason) in [
            ("data.value_size = 24", "a variant needs a name"),
            ("name = \"a\"\nlab.repeat = 2", "`lab` cannot vary"),
            ("name = \"a\"\ndata.value_sise = 24", "variant `a`: there is no key `value_sise` here"),
            ("name = \"a\"\n[[variant]]\nname = \"a\"", "two variants are called `a`"),
        ] {
            let text = format!("{head}[[variant]]\n{variant}\n");
            let error = variants(&text).unwrap_err();
            assert!(error.message.contains(reason), "{}", error.message);
            assert!(error.span_in(&text).is_some_and(|span| text[span].contains("variant")), "{reason}");
        }
    }
}
