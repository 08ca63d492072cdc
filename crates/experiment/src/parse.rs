//! Reading an experiment file. A key that is not known is an error, never ignored.

use toml::Table;

use crate::document;
use crate::experiment::Experiment;
use crate::file_error::FileError;
use crate::unknown::refuse_unknown;

/// Bytes of an experiment file, at most: a hundred times the longest that comes with the program. A longer file is no
/// experiment, and would take memory and time before anything could be said about it.
pub const MOST_BYTES: usize = 1 << 20;

impl Experiment {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// If it is too long, is no TOML, has a key that is not known, or a value of another type or out of its bounds.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        if text.len() > MOST_BYTES {
            return Err(FileError::new(format!(
                "it is longer than {MOST_BYTES} bytes, which no experiment is; leave out what is not needed"
            )));
        }
        refuse_unknown(text)?;
        toml::from_str(text).map_err(|error| {
            let key = error.span().and_then(|span| document::key_at(text, &span));
            let about = key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
            FileError { message: format!("{about}{}", error.message()), key, span: error.span() }
        })
    }

    /// An experiment from a table of no file. By way of its text, so that errors name the key.
    ///
    /// # Errors
    /// As [`Experiment::parse`].
    pub fn from_table(table: &Table) -> Result<Self, FileError> {
        let text = toml::to_string(table).map_err(|error| FileError::new(error.to_string()))?;
        Experiment::parse(&text).map_err(|error| FileError { span: None, ..error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::{EngineOptions, EngineSection};
    use std::collections::BTreeMap;

    use kvdyno_model::{ByteSize, Durability, Multiple, WriteRate};
    use proptest::prelude::*;

    #[test]
    fn a_file_needs_only_engines() {
        let experiment = Experiment::parse("engines = [\"lmdb\"]").unwrap();
        assert_eq!(experiment.data.records.get(), 1_000_000);
        assert_eq!(experiment.settings.durability, Durability::Process);
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut experiment = Experiment::on(&["lmdb".into(), "rocksdb:pfx".into()]);
        let options = EngineOptions(BTreeMap::from([("page_size".to_owned(), toml::Value::from("4KiB"))]));
        experiment.engine.insert("mine".into(), EngineSection { engine: Some("lmdb".into()), library: None, options });
        experiment.run[0].write_rate = Some(WriteRate::Bytes(ByteSize(2 << 20)));
        experiment.run[0].records_fraction = Some(Multiple(0.25));
        experiment.load.durability = Some(Durability::None);
        let text = experiment.to_toml().unwrap();
        let again = Experiment::parse(&text).unwrap();
        assert_eq!(again.to_toml().unwrap(), text);
    }

    #[test]
    fn errors_say_where_and_what_was_meant() {
        let text = "engines = [\"lmdb\"]\n[data]\nrecrods = 5\n";
        let error = Experiment::parse(text).unwrap_err();
        assert!(error.message.contains("did you mean `records`?"), "{error}");
        assert_eq!(&text[error.span_in(text).unwrap()], "recrods");
        let error = Experiment::parse("engines = [\"lmdb\"]\n[settings]\ncache = \"lots\"").unwrap_err();
        assert!(error.message.contains("such as 64MiB"), "{error}");
        assert!(error.message.starts_with("settings.cache: "), "{error}");
        let error = Experiment::parse("engines = []\n[settings]\ndurability = \"commmit\"").unwrap_err();
        assert!(error.message.contains("did you mean `commit`?"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_brings_the_parser_down(text in "(\\PC|\n){0,200}", key in "[a-z]{1,8}", value in "\\PC{0,12}") {
            let _ = Experiment::parse(&text);
            let _ = Experiment::parse(&format!("engines = [\"lmdb\"]\n[data]\n{key} = {value}\n"));
        }
    }
}
