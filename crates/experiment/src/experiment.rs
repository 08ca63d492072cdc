//! The experiment file.
//!
//! Every key has a default but `engines`. A key that is not known is an error, never ignored. `kvdyno compare` writes
//! such a file and runs it.

use std::collections::BTreeMap;

use kvdyno_engine::{Durability, LabSettings};
use kvdyno_worker::workloads::Data;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::environment_section::EnvironmentSection;
use crate::file_error::{FileError, with_suggestion};
use crate::fit_section::FitSection;
use crate::sections::{DataSection, EngineSection, LabSection, LoadSection, RunSection, SettingsSection, unplaced};

/// An experiment: a matrix of engines, workloads and threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What reports are headed with.
    #[serde(default = "default_name")]
    pub name: String,
    /// The set-ups to compare: `lmdb`, `wiredtiger:lsm`, `./libmine.so`, or names of `[engine.NAME]` sections.
    pub engines: Vec<Spanned<String>>,
    /// The records.
    #[serde(default)]
    pub data: DataSection,
    /// Settings that are the same for every engine.
    #[serde(default)]
    pub settings: SettingsSection,
    /// How the databases are filled.
    #[serde(default)]
    pub load: LoadSection,
    /// What is then done with them, in this order, on the same databases.
    #[serde(default)]
    pub run: Vec<RunSection>,
    /// What surrounds the trials.
    #[serde(default)]
    pub environment: EnvironmentSection,
    /// How the lab goes about it.
    #[serde(default)]
    pub lab: LabSection,
    /// Set-ups with a library or options of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine: BTreeMap<String, EngineSection>,
    /// The machine that it was made for, for `--fit`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fit: FitSection,
    /// The same again with some keys changed: see [`crate::variants`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<Spanned<toml::Table>>,
}

fn is_default(fit: &FitSection) -> bool {
    *fit == FitSection::default()
}

fn default_name() -> String {
    "comparison".to_owned()
}

impl Experiment {
    /// An experiment on `engines` with everything else at its default and one run.
    pub fn on(engines: &[String]) -> Self {
        Experiment {
            name: default_name(),
            engines: engines.iter().cloned().map(unplaced).collect(),
            data: DataSection::default(),
            settings: SettingsSection::default(),
            load: LoadSection::default(),
            run: vec![RunSection::default()],
            environment: EnvironmentSection::default(),
            lab: LabSection::default(),
            engine: BTreeMap::new(),
            fit: FitSection::default(),
            variant: Vec::new(),
        }
    }

    /// Reads an experiment file.
    ///
    /// # Errors
    /// If it is no TOML, has a key that is not known, or a value of another type.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        toml::from_str(text).map_err(|error| {
            let message = error.message().to_owned();
            FileError { message: with_suggestion(message), place: error.span() }
        })
    }

    /// An experiment from a table of no file. By way of its text: a table keeps no places, and an experiment wants them.
    pub fn from_table(table: &toml::Table) -> Result<Self, FileError> {
        let text = toml::to_string(table).map_err(|error| FileError::new(error.to_string(), 0..0))?;
        Experiment::parse(&text).map_err(|error| FileError { place: None, ..error })
    }

    /// The file that gives this experiment, every key spelled out.
    ///
    /// # Errors
    /// If a value cannot be written as TOML, which no checked experiment has.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The records.
    pub fn data(&self) -> Data {
        let spelling = *self.data.spelling.get_ref();
        let load = self.load.workload.get_ref();
        let (key_size, value_size) = load.default_sizes(self.data.key_format, spelling);
        let size =
            |requested: &Option<Spanned<u64>>, otherwise| requested.as_ref().map_or(otherwise, |size| *size.get_ref());
        Data {
            records: *self.data.records.get_ref(),
            key_size: size(&self.data.key_size, key_size),
            key_format: self.data.key_format,
            prefix_size: self.data.prefix_size.as_ref().map(|size| *size.get_ref()),
            keys_per_prefix: self.data.keys_per_prefix.as_ref().map(|keys| *keys.get_ref()),
            value_size: size(&self.data.value_size, value_size),
            compressibility: *self.data.compressibility.get_ref(),
            seed: self.lab.seed,
            spelling,
        }
    }

    /// Records in each write of the load.
    pub fn load_batch(&self) -> u64 {
        self.load.batch.as_ref().map_or(self.load.workload.get_ref().default_batch(), |batch| *batch.get_ref())
    }

    /// The lab-wide settings.
    pub fn lab_settings(&self) -> LabSettings {
        LabSettings {
            durability: self.settings.durability,
            sync_period_ms: u32::try_from(self.settings.sync_period.0.as_millis()).unwrap_or(u32::MAX),
            compression: self.settings.compression,
            cache_bytes: self.settings.cache.0,
            write_buffer_bytes: self.settings.write_buffer.0,
        }
    }

    /// The settings for loading: synced loads are at `commit`, and others may have a durability of their own.
    pub fn load_settings(&self) -> LabSettings {
        let settings = self.lab_settings();
        let own = self.load.durability.as_ref().map(|level| *level.get_ref());
        let durability = if self.load.sync { Durability::Commit } else { own.unwrap_or(settings.durability) };
        LabSettings { durability, ..settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, WriteRate};
    use proptest::prelude::*;

    #[test]
    fn a_file_needs_only_engines() {
        let experiment = Experiment::parse("engines = [\"lmdb\"]").unwrap();
        assert_eq!(*experiment.data.records.get_ref(), 1_000_000);
        assert_eq!(experiment.settings.durability, Durability::Process);
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut experiment = Experiment::on(&["lmdb".into(), "rocksdb:pfx".into()]);
        let options = BTreeMap::from([("page_size".to_owned(), unplaced(toml::Value::from("4KiB")))]);
        experiment
            .engine
            .insert("mine".into(), EngineSection { is: Some(unplaced("lmdb".into())), library: None, options });
        experiment.run[0].write_rate = Some(unplaced(WriteRate::Bytes(Bytes(2 << 20))));
        experiment.run[0].part = Some(unplaced(0.25));
        experiment.load.durability = Some(unplaced(Durability::None));
        let text = experiment.to_toml().unwrap();
        let again = Experiment::parse(&text).unwrap();
        assert_eq!(again.to_toml().unwrap(), text);
    }

    #[test]
    fn errors_say_where_and_what_was_meant() {
        let text = "engines = [\"lmdb\"]\n[data]\nrecrods = 5\n";
        let error = Experiment::parse(text).unwrap_err();
        assert!(error.message.contains("did you mean `records`?"), "{error}");
        assert_eq!(&text[error.place.unwrap()], "recrods");
        let error = Experiment::parse("engines = [\"lmdb\"]\n[settings]\ncache = \"lots\"").unwrap_err();
        assert!(error.message.contains("such as 64MiB"), "{error}");
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
