//! The experiment file.
//!
//! Every key has a default but `engines`. A key that is not known is an error, never ignored. `kvdyno compare` writes
//! such a file and runs it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kvdyno_engine::{Compression, Durability, LabSettings, OptionText, closest};
use kvdyno_record::Workers;
use kvdyno_workload::cycles::Numbers;
use kvdyno_workload::{Data, KeyFormat, Kind, Spelling, Verify};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::fit::FitSection;
use crate::stage::StageSection;
use crate::units::{Bytes, Span, WriteRate};

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
    pub stage: StageSection,
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

fn is_plain(spelling: &Spanned<Spelling>) -> bool {
    *spelling.get_ref() == Spelling::Plain
}

fn default_name() -> String {
    "comparison".to_owned()
}

/// `[data]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSection {
    /// How many records.
    pub records: Spanned<u64>,
    /// Bytes of a key, from 8; absent: 16, or of the 3n+1 workload what its numbers take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_size: Option<Spanned<u64>>,
    /// `hex`, `decimal` or `binary`.
    pub key_format: KeyFormat,
    /// How the 3n+1 workload writes its numbers: `plain`, in `key_format`, or `enhanced`, by the names of their digits.
    #[serde(skip_serializing_if = "is_plain")]
    pub spelling: Spanned<Spelling>,
    /// The leading bytes of a key that engines are told to be its prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_size: Option<Spanned<u64>>,
    /// How many keys have a prefix in common; absent: as many as a key that is one number gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_per_prefix: Option<Spanned<u64>>,
    /// Bytes of a value, from 0; absent: 100, or of the 3n+1 workload what its numbers take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_size: Option<Spanned<u64>>,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: Spanned<f64>,
}

/// `[settings]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsSection {
    /// When a write is acknowledged: `none`, `process`, `interval` or `commit`.
    pub durability: Durability,
    /// Between syncs at `interval`.
    pub interval: Span,
    /// What an engine may cache of its data in memory of its own.
    pub cache: Bytes,
    /// New writes that it may gather before it writes them out.
    pub write_buffer: Bytes,
    /// Of stored blocks: `none`, `snappy`, `lz4`, `zstd`, `zlib`.
    pub compression: Compression,
    /// `full`: every byte of every value read is checked. `off`: hits and misses only.
    pub verify: Verify,
}

/// `[load]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoadSection {
    /// `fillseq`, `fillrandom` or `3n1`.
    pub workload: Spanned<Kind>,
    /// Records in each write, 1 for single puts; absent: 1000, or 1 for `3n1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Spanned<u64>>,
    /// Every write is synced before it is acknowledged, whatever `durability` says.
    pub sync: bool,
    /// When a write of the load is acknowledged; absent: as `[settings]` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Spanned<Durability>>,
    /// Threads or processes that load.
    pub writers: Spanned<u32>,
    /// `threads` of one process, or `processes` of their own.
    pub workers: Spanned<Workers>,
}

/// `[[run]]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Anything but a load: see `kvdyno workloads`.
    pub workload: Spanned<Kind>,
    /// Numbers of threads that the workload is about, a trial each: readers, or for `overwrite` writers.
    pub readers: Spanned<Vec<u32>>,
    /// Whether readers and writers are `threads` of one process, or `processes` of their own.
    pub workers: Spanned<Workers>,
    /// Of the measured part; absent: 10 s, or until `operations` are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Spanned<Span>>,
    /// Instead of `duration`: operations of each such thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Instead of either: operations of all such threads together, as a part of the number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Spanned<f64>>,
    /// Before the measured part.
    pub warmup: Span,
    /// Records in each write.
    pub batch: Spanned<u64>,
    /// Reads in one read-only transaction (`readrandom`).
    pub reads_per_transaction: Spanned<u64>,
    /// Of ranges: steps after each seek; absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nexts: Option<Spanned<u64>>,
    /// Ranges begin at one of the first so many records; absent: at any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub among: Option<Spanned<u64>>,
    /// Records in each call of `multireadrandom`; absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_per_batch: Option<Spanned<u64>>,
    /// The most written a second, by all writers: records, or bytes of keys and values; absent: as much as the engine
    /// takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<Spanned<WriteRate>>,
}

/// What sizes and batches are unless the file says otherwise.
const KEY_SIZE: u64 = 16;
const VALUE_SIZE: u64 = 100;
const BATCH: u64 = 1000;

/// What a run measures for unless it says otherwise.
pub(crate) const DURATION: Duration = Duration::from_secs(10);
/// Of the records, what `overwritesome` updates unless it says otherwise.
pub(crate) const PART: f64 = 0.1;

impl RunSection {
    /// Operations of all threads that it is about, as a part of the number of records; absent if it ends otherwise.
    pub(crate) fn ends_after_part(&self) -> Option<f64> {
        let otherwise = self.operations.is_some() || self.duration.is_some();
        let usual = (self.workload.get_ref().ends_by_part() && !otherwise).then_some(PART);
        self.part.as_ref().map(|part| *part.get_ref()).or(usual)
    }
}

/// `[lab]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabSection {
    /// How often everything is done, each time on new databases.
    pub repeat: Spanned<u32>,
    /// What all random streams are made from.
    pub seed: u64,
    /// `turns`: engines take turns, all databases are there at once. `engine`: one engine after the other.
    pub order: Order,
    /// Where databases go; absent: into the results folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Databases stay after the last trial.
    pub keep: bool,
    /// What is done about an engine that is not here, or cannot do what is asked.
    pub missing: Missing,
    /// A worker in which nothing happens for so long is ended.
    pub hang_timeout: Span,
    /// The same while it opens or closes a database, where compaction may take its time.
    pub close_timeout: Span,
    /// A trial ends when the storage has less left than this.
    pub min_free: Bytes,
}

/// What is done about an engine that is not here, or cannot do what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The experiment is refused.
    Refuse,
    /// It is left out, and the report says so.
    Skip,
}

/// The order of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Engines take turns.
    Turns,
    /// One engine after the other; its database is removed before the next one's is made.
    Engine,
}

/// `[engine.NAME]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineSection {
    /// The engine; absent: NAME itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<Spanned<String>>,
    /// The library to load instead of the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<PathBuf>,
    /// The engine's own options.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Spanned<toml::Value>>,
}

/// Wraps a value that stands nowhere in a file.
pub(crate) fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl Default for DataSection {
    fn default() -> Self {
        DataSection {
            records: unplaced(1_000_000),
            key_size: None,
            key_format: KeyFormat::Hex,
            spelling: unplaced(Spelling::Plain),
            prefix_size: None,
            keys_per_prefix: None,
            value_size: None,
            compressibility: unplaced(0.5),
        }
    }
}

impl Default for SettingsSection {
    fn default() -> Self {
        SettingsSection {
            durability: Durability::Process,
            interval: Span(Duration::from_secs(1)),
            cache: Bytes(512 << 20),
            write_buffer: Bytes(64 << 20),
            compression: Compression::None,
            verify: Verify::Full,
        }
    }
}

impl Default for LoadSection {
    fn default() -> Self {
        LoadSection {
            workload: unplaced(Kind::FillSeq),
            batch: None,
            sync: false,
            durability: None,
            writers: unplaced(1),
            workers: unplaced(Workers::Threads),
        }
    }
}

impl Default for RunSection {
    fn default() -> Self {
        RunSection {
            workload: unplaced(Kind::ReadWhileWriting),
            readers: unplaced(vec![1, 2, 4]),
            workers: unplaced(Workers::Threads),
            duration: None,
            operations: None,
            part: None,
            warmup: Span(Duration::from_secs(1)),
            batch: unplaced(1),
            reads_per_transaction: unplaced(1),
            nexts: None,
            among: None,
            reads_per_batch: None,
            write_rate: None,
        }
    }
}

impl Default for LabSection {
    fn default() -> Self {
        LabSection {
            repeat: unplaced(1),
            seed: 1,
            order: Order::Turns,
            dir: None,
            keep: false,
            missing: Missing::Refuse,
            hang_timeout: Span(Duration::from_secs(60)),
            close_timeout: Span(Duration::from_secs(1800)),
            min_free: Bytes(256 << 20),
        }
    }
}

/// What is wrong with an experiment, and where.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What, and what would be right.
    pub message: String,
    /// Where in the file; absent if it came from elsewhere.
    pub place: Option<Range<usize>>,
}

impl FileError {
    pub(crate) fn new(message: impl Into<String>, place: Range<usize>) -> Self {
        FileError { message: message.into(), place: (!place.is_empty()).then_some(place) }
    }
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
            stage: StageSection::default(),
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
    pub(crate) fn from_table(table: &toml::Table) -> Result<Self, FileError> {
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

    /// Makes paths of adapters, libraries and folders independent of the working folder.
    pub fn make_paths_absolute(&mut self, base: &Path) {
        let absolute = |path: &Path| base.join(path);
        // An engine that is named by its path keeps that name in reports; where it lies is said by its section.
        for name in &self.engines {
            if is_path(name.get_ref()) {
                let section = self.engine.entry(name.get_ref().clone()).or_default();
                section.is.get_or_insert_with(|| Spanned::new(name.span(), name.get_ref().clone()));
            }
        }
        for section in self.engine.values_mut() {
            if let Some(is) = section.is.as_mut().filter(|is| is_path(is.get_ref())) {
                *is.get_mut() = absolute(Path::new(is.get_ref())).to_string_lossy().into_owned();
            }
            section.library = section.library.as_deref().map(absolute);
        }
        self.lab.dir = self.lab.dir.as_deref().map(absolute);
        if let Some(device) = &mut self.stage.device {
            *device.get_mut() = absolute(device.get_ref());
        }
        for variant in &mut self.variant {
            let engines = variant.get_mut().get_mut("engine").and_then(toml::Value::as_table_mut);
            for section in
                engines.into_iter().flat_map(|table| table.iter_mut()).filter_map(|(_, one)| one.as_table_mut())
            {
                let (is, library) = (section.get("is").and_then(toml::Value::as_str).is_some_and(is_path), true);
                for key in [("is", is), ("library", library)].into_iter().filter(|(_, path)| *path).map(|(key, _)| key)
                {
                    if let Some(toml::Value::String(path)) = section.get_mut(key) {
                        *path = absolute(Path::new(path)).to_string_lossy().into_owned();
                    }
                }
            }
        }
    }

    /// The records.
    pub fn data(&self) -> Data {
        let spelling = *self.data.spelling.get_ref();
        let (key_size, value_size) = match *self.load.workload.get_ref() {
            Kind::ThreeNPlusOne => {
                let numbers = Numbers::new(spelling, self.data.key_format);
                (numbers.key_size(), numbers.value_size())
            }
            _ => (KEY_SIZE, VALUE_SIZE),
        };
        let size = |asked: &Option<Spanned<u64>>, otherwise| asked.as_ref().map_or(otherwise, |size| *size.get_ref());
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
        let otherwise = if *self.load.workload.get_ref() == Kind::ThreeNPlusOne { 1 } else { BATCH };
        self.load.batch.as_ref().map_or(otherwise, |batch| *batch.get_ref())
    }

    /// The lab-wide settings.
    pub fn lab_settings(&self) -> LabSettings {
        LabSettings {
            durability: self.settings.durability,
            interval_ms: u32::try_from(self.settings.interval.0.as_millis()).unwrap_or(u32::MAX),
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

fn is_path(engine: &str) -> bool {
    engine.contains('/') || engine.ends_with(".so")
}

impl EngineSection {
    /// The options as texts, with where each stands.
    pub fn option_texts(&self) -> Vec<(OptionText, Range<usize>)> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.options.iter().map(|(name, value)| ((name.clone(), text(value.get_ref())), value.span())).collect()
    }
}

/// Adds what was probably meant to serde's "unknown field `x`, expected one of `a`, `b`".
fn with_suggestion(message: String) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let Some(word) = words.next().filter(|_| message.starts_with("unknown")) else { return message };
    match closest(word, words) {
        Some(meant) => {
            let meant = meant.to_owned();
            format!("{message}; did you mean `{meant}`?")
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
