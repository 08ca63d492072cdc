//! The results folder of an experiment.
//!
//! ```text
//! FOLDER/
//!   experiment.toml          the experiment as it was run
//!   machine.json             the machine it ran on
//!   plan.json                the experiment as it was begun, and its trials
//!   machines/0003.json       of merged results: the machine of part 3
//!   values.seed              the seed of all values, for the folder's owner alone
//!   trials/0001-lmdb-load/   one trial
//!     result.json            written last: its presence says that the trial ended
//!     latency.hlog           HdrHistogram log, a tagged line for each kind of operation
//!     series.csv             the window, point by point
//!     resources.csv          memory, device and the engine's counters at the same points
//!     worker.log             what the engine and the worker printed
//!   report/                  made from the above
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_experiment::{Experiment, FileError};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::files::{self, ReadFailure};
use crate::latency_log::{self, LatencyLog};
use crate::{
    EndedTrial, EngineRelease, LeftOut, Machine, Phase, ResourcePoint, SCHEMA, SavedPlan, SeriesPoint, TrialKey,
    TrialOutcome, TrialResult, side_by_side,
};

/// A results folder.
#[derive(Clone, Debug)]
pub struct ResultsFolder {
    root: PathBuf,
}

/// Why a results folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not a results folder.
    #[error("{0} is not a results folder: it has no experiment.toml")]
    NotResults(PathBuf),
    /// A file could not be read.
    #[error("cannot read {path}: {cause}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The contents of a file are wrong.
    #[error("{path} is damaged: {cause}")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// A newer kvdyno wrote it.
    #[error("{path} has schema {schema}, this kvdyno reads up to {SCHEMA}; use a newer kvdyno")]
    Newer {
        /// Which.
        path: PathBuf,
        /// Its schema.
        schema: u32,
    },
}

impl ResultsFolder {
    /// Names a folder; nothing is read or written.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        ResultsFolder { root: root.into() }
    }

    /// An existing results folder.
    ///
    /// # Errors
    /// [`ReadError::NotResults`] if it is something else.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ReadError> {
        let results = ResultsFolder::at(root);
        match results.experiment_file().is_file() {
            true => Ok(results),
            false => Err(ReadError::NotResults(results.root)),
        }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The experiment file, as it was run.
    pub fn experiment_file(&self) -> PathBuf {
        self.root.join("experiment.toml")
    }

    /// The machine that it ran on.
    pub fn machine_file(&self) -> PathBuf {
        self.root.join("machine.json")
    }

    /// Engines that are not measured.
    pub fn left_out_file(&self) -> PathBuf {
        self.root.join("left-out.json")
    }

    /// Engines that are not measured, with the reasons. Results of older programs do not say.
    pub fn left_out(&self) -> Result<Vec<LeftOut>, ReadError> {
        Ok(read_json(&self.left_out_file())?.unwrap_or_default())
    }

    /// The plan that was begun.
    pub fn plan_file(&self) -> PathBuf {
        self.root.join("plan.json")
    }

    /// The plan that was begun. Results of older programs do not have it.
    pub fn plan(&self) -> Result<Option<SavedPlan>, ReadError> {
        read_json(&self.plan_file())
    }

    fn value_seed_file(&self) -> PathBuf {
        self.root.join("values.seed")
    }

    /// The seed of the values in all databases of the run. Results of older programs do not have it: their values are
    /// those of the experiment's seed.
    pub fn value_seed(&self) -> Result<Option<u64>, ReadError> {
        let path = self.value_seed_file();
        let Some(content) = read(&path)? else { return Ok(None) };
        let digits = std::str::from_utf8(&content).ok().map(str::trim_ascii_end);
        let seed = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        seed.map(Some).ok_or(ReadError::Damaged { path, cause: "it is not a number of 16 digits".to_owned() })
    }

    /// Keeps the seed of all values where only the folder's owner can read it.
    pub fn save_value_seed(&self, seed: u64) -> io::Result<()> {
        files::write_private(&self.value_seed_file(), format!("{seed:016x}\n").as_bytes())
    }

    /// The folder of reports.
    pub fn report_folder(&self) -> PathBuf {
        self.root.join("report")
    }

    /// The folder of one trial.
    pub fn trial_folder(&self, trial: &TrialKey) -> PathBuf {
        // Both may come from a file, and must not lead out of the folder.
        let harmless =
            |name: &str| -> String { name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect() };
        let (engine, workload) = (harmless(&trial.engine), harmless(&trial.workload));
        let engine = engine.trim_matches('-');
        let work = match trial.phase {
            Phase::Load => "load".to_owned(),
            Phase::Run => format!("{workload}-{}r{}w", trial.readers, trial.writers),
        };
        self.root.join("trials").join(format!("{:04}-{engine}-{work}", trial.number))
    }

    /// Saves a finished trial. Its other files must be there before.
    pub fn save(&self, result: &TrialResult) -> io::Result<()> {
        let folder = self.trial_folder(&result.trial);
        fs::create_dir_all(&folder)?;
        files::write_json(&folder.join("result.json"), result)
    }

    /// Removes a trial's files, to make space for its result.
    pub fn discard_files(&self, trial: &TrialKey) {
        let folder = self.trial_folder(trial);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Errors are ignored: a file that stays takes space, and the result's own failure is reported.
            let _ = fs::remove_file(entry.path());
        }
    }

    /// The machine it ran on; absent for an experiment that was cut short before its first trial.
    pub fn machine(&self) -> Result<Option<Machine>, ReadError> {
        read_json(&self.machine_file())
    }

    /// Whether nothing is in it that a run would lose: it is not there, is empty, or has what a run writes before its
    /// experiment, which makes it one that can be resumed.
    ///
    /// # Errors
    /// If it is no folder, or cannot be read.
    pub fn is_unused(&self) -> io::Result<bool> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            let name = name.strip_suffix(".writing").map_or(&*name, |name| name.trim_start_matches('.'));
            if ![".lock", "left-out.json", "machine.json", "plan.json", "values.seed", "experiment.toml"]
                .contains(&name)
                || self.experiment_file().exists()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The machine of a part, in merged results.
    pub fn part_machine_file(&self, part: u32) -> PathBuf {
        self.root.join("machines").join(format!("{part:04}.json"))
    }

    /// The machine of a part of merged results; absent as [`ResultsFolder::machine`].
    pub fn part_machine(&self, part: u32) -> Result<Option<Machine>, ReadError> {
        read_json(&self.part_machine_file(part))
    }

    /// The text of the experiment file; empty if it is none.
    pub fn experiment_text(&self) -> Result<String, ReadError> {
        let content = read(&self.experiment_file())?;
        Ok(content.and_then(|content| String::from_utf8(content).ok()).unwrap_or_default())
    }

    /// The experiment as it was run.
    ///
    /// # Errors
    /// If its file cannot be read, or is no experiment: another version's may have keys that this one does not know.
    pub fn experiment(&self) -> Result<Experiment, ReadError> {
        let damaged = |error: FileError| ReadError::Damaged { path: self.experiment_file(), cause: error.to_string() };
        Experiment::parse(&self.experiment_text()?).map_err(damaged)
    }

    /// Every trial that ended, in order of their numbers.
    ///
    /// # Errors
    /// If one cannot be read, or two results say that they are of the same trial.
    pub fn results(&self) -> Result<Vec<TrialResult>, ReadError> {
        self.read_results(parse, |result: &TrialResult| result.trial.number)
    }

    /// The outcomes of the trials that ended, in order of their numbers: less work than [`ResultsFolder::results`],
    /// because what follows an outcome in a file is not read.
    ///
    /// # Errors
    /// As there.
    pub fn ended(&self) -> Result<Vec<EndedTrial>, ReadError> {
        let ended = |path: &Path, text: &[u8]| {
            // A copy that was broken off ends elsewhere than the object.
            if !text.trim_ascii_end().ends_with(b"\n}") {
                parse::<IgnoredAny>(path, text)?;
            }
            let (trial, engine, outcome) = beginning(path, text)?;
            Ok(EndedTrial {
                trial: trial.ok_or_else(|| missing(path, "trial"))?,
                engine: engine.ok_or_else(|| missing(path, "engine"))?,
                outcome: outcome.ok_or_else(|| missing(path, "outcome"))?,
            })
        };
        self.read_results(ended, |ended: &EndedTrial| ended.trial.number)
    }

    fn read_results<T: Send>(
        &self,
        parse: impl Fn(&Path, &[u8]) -> Result<T, ReadError> + Sync,
        number_of: impl Fn(&T) -> u32,
    ) -> Result<Vec<T>, ReadError> {
        let folder = self.root.join("trials");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(ReadError::Io { path: folder, cause }),
        };
        let files = entries.map(|entry| entry.map(|entry| entry.path().join("result.json")));
        let files: Vec<PathBuf> =
            files.collect::<io::Result<_>>().map_err(|cause| ReadError::Io { path: folder, cause })?;
        let read = side_by_side(&files, |path| read_result(path, &parse))?;
        let mut results: BTreeMap<u32, T> = BTreeMap::new();
        for (path, result) in files.into_iter().zip(read) {
            let Some(result) = result else { continue };
            let number = number_of(&result);
            if results.insert(number, result).is_some() {
                let cause = format!("it is of trial {number}, of which there is another result");
                return Err(ReadError::Damaged { path, cause });
            }
        }
        Ok(results.into_values().collect())
    }

    /// The time series of a trial; empty if it has none.
    pub fn series(&self, trial: &TrialKey) -> Result<Vec<SeriesPoint>, ReadError> {
        let path = self.trial_folder(trial).join("series.csv");
        let Some(content) = read(&path)? else { return Ok(Vec::new()) };
        SeriesPoint::read_all(&content).map_err(|cause| ReadError::Damaged { path, cause })
    }

    /// Writes the time series of a trial.
    pub fn save_series(&self, trial: &TrialKey, points: &[SeriesPoint]) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(SeriesPoint::columns()).map_err(io::Error::other)?;
        for point in points {
            writer.write_record(point.fields()).map_err(io::Error::other)?;
        }
        let content = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        files::write_whole(&self.trial_folder(trial).join("series.csv"), &content)
    }

    /// The memory and the device of a trial over time; empty if it has none.
    pub fn resources(&self, trial: &TrialKey) -> Result<Vec<ResourcePoint>, ReadError> {
        let path = self.trial_folder(trial).join("resources.csv");
        let Some(content) = read(&path)? else { return Ok(Vec::new()) };
        ResourcePoint::read_all(&content).map_err(|cause| ReadError::Damaged { path, cause })
    }

    /// Writes the memory and the device of a trial over time.
    pub fn save_resources(&self, trial: &TrialKey, points: &[ResourcePoint]) -> io::Result<()> {
        let content = ResourcePoint::write_all(points).map_err(io::Error::other)?;
        files::write_whole(&self.trial_folder(trial).join("resources.csv"), &content)
    }

    /// The latencies of a trial by kind of operation; empty if it has no log of them.
    pub fn latencies(&self, trial: &TrialKey) -> Result<LatencyLog, ReadError> {
        let path = self.trial_folder(trial).join(latency_log::FILE);
        let Some(content) = read(&path)? else { return Ok(LatencyLog::new()) };
        latency_log::decode(&content).map_err(|cause| ReadError::Damaged { path, cause })
    }
}

fn read_result<T>(path: &Path, parse: &impl Fn(&Path, &[u8]) -> Result<T, ReadError>) -> Result<Option<T>, ReadError> {
    let Some(text) = read(path)? else { return Ok(None) };
    match beginning::<Option<Schema>>(path, &text)? {
        None => Err(missing(path, "schema")),
        Some(Schema(schema)) if schema > SCHEMA => Err(ReadError::Newer { path: path.to_owned(), schema }),
        Some(_) => parse(path, &text).map(Some),
    }
}

/// The schema of a result.
struct Schema(u32);

/// The first fields of a file's object, of which the rest is not read.
trait Beginning<'de>: Default {
    /// Takes the value of a field, or leaves it. Gives back whether there is all of it.
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

impl<'de> Beginning<'de> for Option<Schema> {
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "schema" => *self = Some(Schema(map.next_value()?)),
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(self.is_some())
    }
}

impl<'de> Beginning<'de> for (Option<TrialKey>, Option<EngineRelease>, Option<TrialOutcome>) {
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "trial" => self.0 = map.next_value()?,
            "engine" => self.1 = map.next_value()?,
            "outcome" => self.2 = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(matches!(self, (Some(_), Some(_), Some(_))))
    }
}

/// Reads the beginning of an object, or all of it where a field is not there.
fn beginning<'de, T: Beginning<'de>>(path: &Path, text: &'de [u8]) -> Result<T, ReadError> {
    let (mut fields, mut is_all) = (T::default(), false);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let ended = reader.deserialize_map(BeginningReader { fields: &mut fields, is_all: &mut is_all });
    match ended {
        // Where it is all there, the reader misses the end of the object.
        Err(error) if !is_all => Err(ReadError::Damaged { path: path.to_owned(), cause: error.to_string() }),
        _ => Ok(fields),
    }
}

struct BeginningReader<'a, T> {
    fields: &'a mut T,
    is_all: &'a mut bool,
}

impl<'de, T: Beginning<'de>> Visitor<'de> for BeginningReader<'_, T> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(FieldName(name)) = map.next_key()? {
            if self.fields.take(&name, &mut map)? {
                *self.is_all = true;
                break;
            }
        }
        Ok(())
    }
}

/// The name of a field, which is not copied.
#[derive(Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

fn missing(path: &Path, field: &str) -> ReadError {
    ReadError::Damaged { path: path.to_owned(), cause: format!("missing field `{field}`") }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReadError> {
    read(path)?.map(|text| parse(path, &text)).transpose()
}

fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, ReadError> {
    let damaged = |error: serde_json::Error| ReadError::Damaged { path: path.to_owned(), cause: error.to_string() };
    serde_json::from_slice(text).map_err(damaged)
}

/// The content of a file; `None` if there is none of that name.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    files::read(path).map_err(|failure| match failure {
        ReadFailure::Io(cause) => ReadError::Io { path: path.to_owned(), cause },
        ReadFailure::Not(cause) => ReadError::Damaged { path: path.to_owned(), cause },
    })
}
