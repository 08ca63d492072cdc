//! An experiment, as its file has it.
//!
//! Every key has a default but `engines`. `kvdyno compare` makes an experiment from its flags and runs it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use kvdyno_model::{Definition, EngineSettings, EnvironmentSection, KeySection, Keys, List};
use serde::{Deserialize, Serialize};

use crate::sections::{
    DataSection, EngineSection, FitSection, LabSection, LoadSection, RoleSection, RunSection, SettingsSection,
};

/// A matrix of engines, workloads and threads.
#[derive(Clone, Debug, Deserialize, Serialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(section = "", key = TopKey)]
pub struct Experiment {
    /// Title of the report, and start of the name of the results folder.
    #[key(default = "comparison".to_owned())]
    pub name: String,
    /// Setups to compare, each once: `lmdb`, `wiredtiger:lsm`, `./libmine.so`, or names of `[engine.NAME]` sections.
    #[key(default = List::default(), no_flag)]
    pub engines: List<String>,
    /// The records.
    #[key(skip)]
    pub data: DataSection,
    /// Settings that are the same for every engine.
    #[key(skip)]
    pub settings: SettingsSection,
    /// Loading of the databases.
    #[key(skip)]
    pub load: LoadSection,
    /// The runs on them, in this order, on the same databases.
    #[key(skip)]
    pub run: Vec<RunSection>,
    /// The environment of the trials.
    #[key(skip)]
    pub environment: EnvironmentSection,
    /// Execution settings.
    #[key(skip)]
    pub lab: LabSection,
    /// Setups with a library or options of their own.
    #[key(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub engine: BTreeMap<String, EngineSection>,
    /// The machine that it was made for, for `--fit`.
    #[key(skip)]
    #[serde(skip_serializing_if = "is_default")]
    pub fit: FitSection,
    /// The same again with some keys changed: see [`crate::variants`].
    #[key(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<toml::Table>,
    /// The device that the command line gave up. No file can.
    #[key(skip)]
    #[serde(skip)]
    pub yes_erase: Option<PathBuf>,
}

fn is_default(fit: &FitSection) -> bool {
    *fit == FitSection::default()
}

/// A section with the definitions of its keys.
#[derive(Clone, Debug)]
pub struct SectionInfo {
    /// Its name in the file; empty for the top level.
    pub name: &'static str,
    /// Its subject, in a sentence.
    pub doc: &'static str,
    /// In order.
    pub keys: Vec<Definition>,
}

/// Every section that has keys, in the order of the reference.
pub fn sections() -> &'static [SectionInfo] {
    static SECTIONS: LazyLock<Vec<SectionInfo>> = LazyLock::new(|| {
        vec![
            of::<Experiment>(),
            of::<DataSection>(),
            of::<SettingsSection>(),
            of::<LoadSection>(),
            of::<RunSection>(),
            of::<RoleSection>(),
            of::<EnvironmentSection>(),
            of::<LabSection>(),
            of::<EngineSection>(),
            of::<FitSection>(),
        ]
    });
    &SECTIONS
}

fn of<S: KeySection>() -> SectionInfo {
    SectionInfo { name: S::NAME, doc: S::DOC, keys: S::definitions() }
}

/// The section of that name.
pub fn section_of(name: &str) -> Option<&'static SectionInfo> {
    sections().iter().find(|section| section.name == name)
}

impl Experiment {
    /// An experiment on `engines` with everything else at its default and one run.
    pub fn on(engines: &[String]) -> Self {
        Experiment { engines: List(engines.to_vec()), run: vec![RunSection::default()], ..Experiment::default() }
    }

    /// Whether any of its runs searches the highest rate that keeps a promise.
    pub fn searches(&self) -> bool {
        self.run.iter().any(RunSection::searches)
    }

    /// The file that gives this experiment, every key spelled out.
    ///
    /// # Errors
    /// If a value cannot be written as TOML, which no checked experiment has.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Every key, by section; null where it has no value.
    pub fn resolved(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The same, of the sections that concern one trial: of the runs its own, none for a load.
    pub fn resolved_for(&self, run: Option<usize>) -> serde_json::Value {
        let of_trial = Experiment { run: run.map(|run| self.run[run].clone()).into_iter().collect(), ..self.clone() };
        of_trial.resolved()
    }

    /// The lab-wide settings.
    pub fn engine_settings(&self) -> EngineSettings {
        EngineSettings {
            durability: self.settings.durability,
            sync_period_ms: u32::try_from(self.settings.sync_period.0.as_millis()).unwrap_or(u32::MAX),
            compression: self.settings.compression,
            cache_bytes: self.settings.cache.get(),
            write_buffer_bytes: self.settings.write_buffer.get(),
        }
    }

    /// The settings for loading, which may have a durability of its own.
    pub fn load_settings(&self) -> EngineSettings {
        let settings = self.engine_settings();
        EngineSettings { durability: self.load.durability.unwrap_or(settings.durability), ..settings }
    }
}
