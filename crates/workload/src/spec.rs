//! Which threads do what, for how long.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cycles::{MOST_STARTS, Numbers, Spelling, numbers_expected};
use crate::keys::{KeyError, KeyFormat, Keys};
use crate::prefix::check_prefix_size;

/// The workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Writes every record once, in key order.
    FillSeq,
    /// Writes every record once, in a random order.
    FillRandom,
    /// Updates random records.
    Overwrite,
    /// Reads random records.
    ReadRandom,
    /// Reads all records in key order, again and again.
    ReadSeq,
    /// Reads all records against key order, again and again.
    ReadReverse,
    /// Reads random records while a writer updates random records.
    ReadWhileWriting,
    /// Reads random records, several in each call.
    MultiReadRandom,
    /// Reads from random records on, in key order, so many each time.
    FwdRange,
    /// The same against key order.
    RevRange,
    /// The first while a writer updates random records.
    FwdRangeWhileWriting,
    /// The second while a writer does.
    RevRangeWhileWriting,
    /// Updates random records, as many as a part of the database has.
    OverwriteSome,
    /// Updates random records; then what was written is flushed, and the engine's background work waited for.
    OverwriteAndWait,
    /// Fills an empty database with the cycle lengths of the 3n+1 problem, looking up what is there already.
    #[serde(rename = "3n1")]
    ThreeNPlusOne,
}

/// What one thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Gets random records.
    Get,
    /// Reads all records through a cursor, forward or backward.
    Scan {
        /// Against key order.
        backward: bool,
    },
    /// Seeks random records, and reads some that follow, forward or backward.
    Range {
        /// Against key order.
        backward: bool,
    },
    /// Gets random records, several in each call.
    MultiGet,
    /// Updates random records.
    Update,
    /// Writes its share of the records once.
    Load {
        /// In a random order.
        random: bool,
    },
    /// Computes cycle lengths, chunk by chunk.
    Cycles,
}

impl Role {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Role::Update | Role::Load { .. } | Role::Cycles)
    }
}

const NAMES: [(Kind, &str, &str); 15] = [
    (Kind::FillSeq, "fillseq", "write every record once, in key order"),
    (Kind::FillRandom, "fillrandom", "write every record once, in a random order"),
    (Kind::Overwrite, "overwrite", "update random records"),
    (Kind::ReadRandom, "readrandom", "read random records"),
    (Kind::ReadSeq, "readseq", "read all records in key order"),
    (Kind::ReadReverse, "readreverse", "read all records against key order"),
    (Kind::ReadWhileWriting, "readwhilewriting", "read random records while one writer updates random records"),
    (Kind::MultiReadRandom, "multireadrandom", "read random records, several in each call"),
    (Kind::FwdRange, "fwdrange", "seek random records, each time read some that follow in key order"),
    (Kind::RevRange, "revrange", "the same against key order"),
    (Kind::FwdRangeWhileWriting, "fwdrangewhilewriting", "fwdrange while one writer updates random records"),
    (Kind::RevRangeWhileWriting, "revrangewhilewriting", "revrange while one writer updates random records"),
    (Kind::OverwriteSome, "overwritesome", "update random records, as many as a tenth of the database has"),
    (Kind::OverwriteAndWait, "overwriteandwait", "update random records, then flush and wait for background work"),
    (Kind::ThreeNPlusOne, "3n1", "fill the database with cycle lengths of the 3n+1 problem, looking up known ones"),
];

impl Kind {
    /// Every workload with what it does.
    pub fn all() -> impl Iterator<Item = (Kind, &'static str)> {
        NAMES.into_iter().map(|(kind, _, does)| (kind, does))
    }

    /// Fills an empty database, as against working on a full one.
    pub fn loads(self) -> bool {
        matches!(self, Kind::FillSeq | Kind::FillRandom | Kind::ThreeNPlusOne)
    }

    /// Whether any of its threads writes.
    pub fn writes(self) -> bool {
        self.writer().is_some()
    }

    /// What each reading thread does.
    fn reader(self) -> Option<Role> {
        match self {
            Kind::ReadRandom | Kind::ReadWhileWriting => Some(Role::Get),
            Kind::ReadSeq => Some(Role::Scan { backward: false }),
            Kind::ReadReverse => Some(Role::Scan { backward: true }),
            Kind::MultiReadRandom => Some(Role::MultiGet),
            Kind::FwdRange | Kind::FwdRangeWhileWriting => Some(Role::Range { backward: false }),
            Kind::RevRange | Kind::RevRangeWhileWriting => Some(Role::Range { backward: true }),
            Kind::FillSeq
            | Kind::FillRandom
            | Kind::ThreeNPlusOne
            | Kind::Overwrite
            | Kind::OverwriteSome
            | Kind::OverwriteAndWait => None,
        }
    }

    /// What each writing thread does.
    fn writer(self) -> Option<Role> {
        match self {
            Kind::FillSeq => Some(Role::Load { random: false }),
            Kind::FillRandom => Some(Role::Load { random: true }),
            Kind::Overwrite | Kind::OverwriteSome | Kind::OverwriteAndWait => Some(Role::Update),
            Kind::ReadWhileWriting | Kind::FwdRangeWhileWriting | Kind::RevRangeWhileWriting => Some(Role::Update),
            Kind::ReadRandom | Kind::MultiReadRandom | Kind::ReadSeq | Kind::ReadReverse => None,
            Kind::FwdRange | Kind::RevRange => None,
            Kind::ThreeNPlusOne => Some(Role::Cycles),
        }
    }

    /// Readers and writers, where `threads` are asked for: the threads that the workload is about.
    pub fn threads(self, threads: u32) -> (u32, u32) {
        match (self.reader(), self.writer()) {
            (Some(_), Some(_)) => (threads, 1),
            (Some(_), None) => (threads, 0),
            (None, _) => (0, threads),
        }
    }

    /// Whether it reads ranges of records: [`Reads::seek_nexts`] is about those.
    pub fn reads_ranges(self) -> bool {
        matches!(self.reader(), Some(Role::Range { .. }))
    }

    /// Whether it ends, unless told otherwise, when as many operations were done as a part of the database has records.
    pub fn ends_by_part(self) -> bool {
        self == Kind::OverwriteSome
    }

    /// Whether what was written is flushed at its end, and background work waited for.
    pub fn waits(self) -> bool {
        self == Kind::OverwriteAndWait
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(kind, ..)| kind == self).map_or("", |(_, name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Kind {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        NAMES
            .iter()
            .find(|(_, name, _)| *name == text)
            .map(|(kind, ..)| *kind)
            .ok_or_else(|| WorkloadError::Unknown { name: text.to_owned() })
    }
}

/// The records of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// How many.
    pub records: u64,
    /// Bytes of a key.
    pub key_size: u64,
    /// How keys are spelled.
    pub key_format: KeyFormat,
    /// The leading bytes of a key that engines are told to be its prefix.
    #[serde(default)]
    pub prefix_size: Option<u64>,
    /// How many keys have a prefix in common; absent: as many as a key that is one number gives.
    #[serde(default)]
    pub keys_per_prefix: Option<u64>,
    /// Bytes of a value.
    pub value_size: u64,
    /// The part of a value that a compressor can take away, 0 to 1.
    pub compressibility: f64,
    /// What values are made from.
    pub seed: u64,
    /// How the 3n+1 workload writes its numbers.
    #[serde(default)]
    pub spelling: Spelling,
}

impl Data {
    /// Numbers as keys and values of the 3n+1 workload.
    pub fn numbers(&self) -> Numbers {
        Numbers::new(self.spelling, self.key_format)
    }

    /// The keys.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn keys(&self) -> Result<Keys, KeyError> {
        let (format, size, records) = (self.key_format, self.key_size, self.records);
        match (self.prefix_size, self.keys_per_prefix) {
            (Some(prefix), Some(keys)) => Keys::grouped(format, size, records, prefix, keys),
            (None, Some(_)) => Err(KeyError::NoPrefix),
            (prefix, None) => {
                let keys = Keys::new(format, size, records)?;
                prefix.map_or(Ok(()), |prefix| check_prefix_size(prefix, size)).map(|()| keys)
            }
        }
    }
}

/// When a trial ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// After this time.
    After(Duration),
    /// When each thread that the workload is about has done so many operations. A load ends when all is loaded.
    Operations(u64),
}

pub use kvdyno_model::Verify;

/// How a workload reads, where a read is more than a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads {
    /// Steps of the cursor after each seek of a range.
    pub seek_nexts: u64,
    /// Records in each call of `multireadrandom`.
    pub per_batch: u64,
    /// Ranges begin at one of the first so many records; absent: at any.
    pub seek_within: Option<u64>,
}

impl Default for Reads {
    fn default() -> Self {
        Reads { seek_nexts: 10, per_batch: 10, seek_within: None }
    }
}

/// What a trial asks of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Which one.
    pub kind: Kind,
    /// The records.
    pub data: Data,
    /// Threads that read.
    pub readers: u32,
    /// Threads that write.
    pub writers: u32,
    /// Records in each write; 1 for single puts.
    pub batch: u64,
    /// Reads in one read-only transaction; 1: each read for itself.
    pub reads_per_transaction: u64,
    /// How ranges and batches are read.
    #[serde(default)]
    pub reads: Reads,
    /// The most records written a second, by all writers together.
    pub write_rate: Option<f64>,
    /// Before the measured part.
    pub warmup: Duration,
    /// Of the measured part.
    pub end: End,
    /// Whether answers are checked.
    pub verify: Verify,
    /// What this trial's random streams are made from.
    pub seed: u64,
}

/// A workload that makes no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// No such workload.
    #[error("there is no workload `{name}`; there are {known}", known = NAMES.map(|(_, name, _)| name).join(", "))]
    Unknown {
        /// What was written.
        name: String,
    },
    /// Its keys do not fit.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A number is out of its range.
    #[error("{what} is {found}; it must be {expected}")]
    Range {
        /// Which.
        what: &'static str,
        /// What was found.
        found: String,
        /// What would be right.
        expected: String,
    },
}

/// Values beyond this are no key-value records, and could not be held twice in memory for each thread.
const LARGEST_VALUE: u64 = 1 << 30;

impl Workload {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// Which number does not, and what would be right.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let range = |what, found: &dyn fmt::Display, expected: &str, fits: bool| match fits {
            true => Ok(()),
            false => Err(WorkloadError::Range { what, found: found.to_string(), expected: expected.to_owned() }),
        };
        let Data { records, value_size, compressibility, .. } = self.data;
        range("records", &records, "from 1 to 2^48", (1..=1 << 48).contains(&records))?;
        if self.kind == Kind::ThreeNPlusOne {
            let fits = (1..=MOST_STARTS).contains(&records);
            range("records", &records, "from 1 to 300000000 starting points for 3n1", fits)?;
        }
        range("value_size", &value_size, "at most 1 GiB", value_size <= LARGEST_VALUE)?;
        range("compressibility", &compressibility, "from 0 to 1", (0.0..=1.0).contains(&compressibility))?;
        range("batch", &self.batch, "from 1 to 1000000", (1..=1_000_000).contains(&self.batch))?;
        let threads = if self.kind.reader().is_some() { self.readers } else { self.writers };
        range("threads", &threads, "from 1 to 4096", (1..=4096).contains(&threads))?;
        let lasts = !matches!(self.end, End::After(Duration::ZERO) | End::Operations(0));
        range("duration", &"0", "above 0", lasts)?;
        let transaction = self.reads_per_transaction;
        range("reads_per_transaction", &transaction, "at least 1", transaction >= 1)?;
        let alone = transaction == 1 || self.kind == Kind::ReadRandom;
        range("reads_per_transaction", &transaction, "1, but for readrandom", alone)?;
        range(
            "seek_nexts",
            &self.reads.seek_nexts,
            "from 1 to 1000000",
            (1..=1_000_000).contains(&self.reads.seek_nexts),
        )?;
        let per_batch = self.reads.per_batch;
        range("keys_per_multiget", &per_batch, "from 1 to 100000", (1..=100_000).contains(&per_batch))?;
        let seek_within = self.reads.seek_within.unwrap_or(records);
        range("seek_within", &seek_within, "from 1 to the number of records", (1..=records).contains(&seek_within))?;
        let rate = self.write_rate.unwrap_or(1.0);
        range("write_rate", &rate, "above 0 writes a second", rate > 0.0 && rate.is_finite())?;
        self.data.keys()?;
        Ok(())
    }

    /// Records that the database has in the end; of the 3n+1 problem an estimate, for its starting points lead to others.
    pub fn records_stored(&self) -> u64 {
        match self.kind {
            Kind::ThreeNPlusOne => numbers_expected(self.data.records),
            _ => self.data.records,
        }
    }

    /// How long a trial may be without an operation because it was asked to be slow.
    pub fn longest_pause(&self) -> Duration {
        let seconds = self.write_rate.map_or(0.0, |rate| f64::from(self.writers) * self.batch as f64 / rate);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 2)
    }

    /// The role of each thread: readers first.
    pub fn roles(&self) -> Vec<Role> {
        let readers = self.kind.reader().into_iter().flat_map(|role| std::iter::repeat_n(role, self.readers as usize));
        let writers = self.kind.writer().into_iter().flat_map(|role| std::iter::repeat_n(role, self.writers as usize));
        readers.chain(writers).collect()
    }
}
