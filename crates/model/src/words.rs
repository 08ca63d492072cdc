//! Values that are chosen by a word. Each is defined once, with the meaning of its words.

/// An enum whose values are words: with `ALL`, `Display`, serde's `Serialize` and a JSON Schema. If the words for it
/// and a placeholder follow its name, it is read too: `FromStr` says what was probably meant, the reference and the
/// schema tell of it; `or` gives another word that is read, and `as default` marks that of `#[derive(Default)]`.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $what:literal, $placeholder:literal {
            $(
                $(#[doc = $doc:literal])*
                $variant:ident = $word:literal $(or $other:literal)? $(as $default:ident)?
            ),+ $(,)?
        }
    ) => {
        $crate::words! {
            $(#[$meta])*
            $vis enum $name { $($(#[doc = $doc])* $(#[$default])? $variant = $word),+ }
        }

        #[allow(dead_code)]
        impl $name {
            /// The other word that is read as this.
            pub fn other_word(self) -> Option<&'static str> {
                match self { $($name::$variant => [$($other)?].first().copied()),+ }
            }
        }

        impl $crate::KeyValue for $name {
            const PLACEHOLDER: &'static str = $placeholder;

            fn describe() -> String {
                $crate::either(&[$($word),+])
            }

            fn from_text(text: &str) -> Result<Self, String> {
                match text {
                    $($word $(| $other)? => Ok($name::$variant),)+
                    _ => Err($crate::no_such_word(text, $what, &[$($word),+])),
                }
            }

            fn schema() -> $crate::Json {
                $crate::schema_of_words(&[$($word),+])
            }

            fn words() -> Vec<(&'static str, &'static str)> {
                vec![$(($word, concat!($($doc),*).trim())),+]
            }
        }

        $crate::read_by_text!($name);
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[$of_variant])* $variant),+
        }

        #[allow(dead_code)]
        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word in files and flags.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.word())
            }
        }

        $crate::written_as_text!($name);

        impl $crate::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }
    };
}

/// The error that a word is none of `words`.
pub fn no_such_word(text: &str, what: &str, words: &[&str]) -> String {
    let meant = crate::did_you_mean(text, words.iter().copied());
    format!("`{text}` is not {what}; it can be {}{meant}", crate::either(words))
}

/// The JSON Schema of a choice of `words`.
pub fn schema_of_words(words: &[&str]) -> crate::Json {
    serde_json::json!({ "enum": words })
}

words! {
    /// Durability of acknowledged writes: one scale for all engines.
    #[derive(Default)]
    pub enum Durability: "a durability level", "LEVEL" {
        /// Writes may be lost: there is no log, or data may stay in the process until close.
        None = "none",
        /// Writes survive a crash of the process: they are written to the operating system, but not synced.
        Process = "process" as default,
        /// As `process`; the log is also synced in the background every `sync_period`.
        Periodic = "periodic",
        /// Writes survive a loss of power: they are synced before they are acknowledged.
        Commit = "commit",
    }
}

words! {
    /// The compression of blocks on the storage.
    #[derive(Default)]
    pub enum Compression: "a compression", "KIND" {
        /// No compression.
        None = "none" as default,
        /// Snappy.
        Snappy = "snappy",
        /// LZ4.
        Lz4 = "lz4",
        /// Zstandard.
        Zstd = "zstd",
        /// Deflate, by zlib.
        Zlib = "zlib",
    }
}

words! {
    /// Whether answers are checked.
    #[derive(Default)]
    pub enum Verify: "a way to verify", "HOW" {
        /// Checks every byte and the version of every value.
        Full = "full" as default,
        /// Checks only whether a read hits or misses.
        Off = "off",
    }
}

words! {
    /// The extent of reading back what was written.
    #[derive(Default)]
    pub enum Audit: "an audit", "EXTENT" {
        /// Reads back every record.
        Full = "full",
        /// Reads back a sample, which shows the loss of 0.1 % of the records with a probability of 99.9 %.
        Sample = "sample" as default,
        /// Reads back nothing: an engine that stores nothing passes.
        Off = "off",
    }
}

words! {
    /// The design of a comparison: how trials that are compared are measured beside each other.
    #[derive(Default)]
    pub enum Design: "a design", "DESIGN" {
        /// The design with the narrowest intervals that the work allows; duets only for setups of one engine.
        Auto = "auto" as default,
        /// Two setups run at once on the same CPUs, to compare CPU time per operation; slices give their throughput.
        Duet = "duet",
        /// All databases are open; setups work one at a time, in slices of a fraction of a second, in random order.
        Slices = "slices",
        /// Whole trials run one after the other.
        Turns = "turns",
    }
}

impl Design {
    /// Whether trials run one after the other, each as a whole.
    pub fn is_one_by_one(self) -> bool {
        self == Design::Turns
    }
}

words! {
    /// Origin of the database of a run.
    #[derive(Default)]
    pub enum DatabaseOrigin: "a database", "ORIGIN" {
        /// `shared` if all setups are builds of one engine with the same options, else `kept`.
        Auto = "auto",
        /// Loaded in each repeat; each run continues on the database that the previous run left.
        Kept = "kept" as default,
        /// Loaded in each repeat, and again before each run but the first.
        Fresh = "fresh",
        /// Loaded in each repeat; each run begins on a copy of the loaded database.
        Snapshot = "snapshot",
        /// Loaded once for all setups and several repeats, by each setup in turn; each run begins on a copy.
        Shared = "shared",
    }
}

words! {
    /// How the loads of one repeat follow each other.
    #[derive(Default)]
    pub enum Loads: "an order of loads", "LOADS" {
        /// One after the other; their rates are compared.
        InTurns = "turns" as default,
        /// At once, as many as have processors and memory, or in turns if they sync. Only rates in turns are compared.
        AtOnce = "at-once",
    }
}

words! {
    /// The question that `repeat = "auto"` is to answer.
    #[derive(Default)]
    pub enum Question: "a question", "QUESTION" {
        /// The order of the setups: decides the comparisons of adjacent setups only.
        Ranking = "ranking" as default,
        /// The differences of the setups: decides every pairwise comparison.
        Difference = "difference",
    }
}

words! {
    /// The figure that set-ups are compared by.
    #[derive(Default)]
    pub enum VerdictFigure: "a figure", "FIGURE" {
        /// Records per second of wall-clock time.
        Throughput = "throughput" as default,
        /// CPU time per operation of all processes of a trial.
        CpuTime = "cpu",
    }
}

impl VerdictFigure {
    /// Its name in sentences and in files for programs.
    pub fn name(self) -> &'static str {
        match self {
            VerdictFigure::Throughput => "throughput",
            VerdictFigure::CpuTime => "CPU time per operation",
        }
    }
}

words! {
    /// Isolation of transactions for reading and writing, from the weakest.
    pub enum IsolationLevel: "an isolation", "ISOLATION" {
        /// A read sees committed data only; a repeated read may give another value.
        ReadCommitted = "read-committed",
        /// A transaction reads one snapshot until its end, and its own writes.
        Snapshot = "snapshot",
        /// Transactions have the same effect as in some serial order.
        Serializable = "serializable",
    }
}

words! {
    /// The phase of a trial.
    pub enum Phase: "a phase", "PHASE" {
        /// Filling a new database.
        Load = "load",
        /// Working on a loaded one.
        Run = "run",
    }
}

words! {
    /// The kind of a trial's readers and writers.
    #[derive(Default)]
    pub enum ClientKind: "a kind of client", "WHAT" {
        /// Threads of one process.
        Threads = "threads" as default,
        /// Separate processes that share the database.
        Processes = "processes",
    }
}

impl ClientKind {
    /// Number of processes for so many readers and writers.
    pub fn processes(self, roles: u32) -> u32 {
        match self {
            ClientKind::Threads => 1,
            ClientKind::Processes => roles,
        }
    }

    /// Number of sessions on the database of each of those processes.
    pub fn sessions(self, roles: u32) -> u32 {
        match self {
            ClientKind::Threads => roles,
            ClientKind::Processes => 1,
        }
    }
}

words! {
    /// The sort of a failure.
    pub enum FailureKind: "a sort of failure", "FAILURE" {
        /// A signal ended the worker: a segmentation fault, an abort.
        Crashed = "crashed",
        /// The worker exited before it had finished: the engine called `exit`.
        Exited = "exited",
        /// Nothing happened for longer than the limit, and the worker was ended.
        Hung = "hung",
        /// It took longer than a trial may, and the worker was ended.
        TooSlow = "too-slow",
        /// The storage is full.
        NoSpace = "no-space",
        /// It needed more memory than it was allowed, and the kernel ended it.
        NoMemory = "no-memory",
        /// The engine reported an error.
        EngineError = "engine-error",
        /// A read gave a wrong, torn, stale or missing value.
        WrongAnswer = "wrong-answer",
        /// A record that was acknowledged is not there any more, or older.
        LostWrite = "lost-write",
        /// Writes were acknowledged at durability `commit`, and too few flushes reached the device.
        NotSynced = "not-synced",
        /// The environment observed was not the one requested.
        Environment = "environment",
        /// Its counters cannot be true: somebody overwrote the memory that it shares with the lab.
        Implausible = "implausible",
        /// The lab could not watch, judge or save it.
        LabError = "lab-error",
        /// It was not started, because what it needs had failed before.
        NotRun = "not-run",
    }
}

words! {
    /// The state of the caches when a run begins, as far as it concerns the database.
    #[derive(Default)]
    pub enum CacheState: "a state of the cache", "STATE" {
        /// The page cache stays as the previous trial left it; pages of a copy that are gone are read again.
        Warm = "warm" as default,
        /// As `warm`; then seeks, one in each 2 KiB of data, fill the engine's cache, if the engine can scan.
        Filled = "filled",
        /// The page cache holds no page of the database.
        Dropped = "dropped",
    }
}

words! {
    /// The kind of storage below a database.
    #[derive(Default)]
    pub enum StorageKind: "a storage", "KIND" {
        /// A folder of the existing filesystem.
        Folder = "folder" as default,
        /// A new ext4.
        Ext4 = "ext4",
        /// A new ext4 without a journal.
        Ext4NoJournal = "ext4-nojournal",
        /// A new XFS.
        Xfs = "xfs",
        /// A new btrfs.
        Btrfs = "btrfs",
        /// The block device itself, for engines that support it.
        Raw = "raw",
    }
}

impl StorageKind {
    /// Whether a filesystem or a device is made ready for the experiment, and erased.
    pub fn is_made(self) -> bool {
        self != StorageKind::Folder
    }
}

words! {
    /// Simultaneous multithreading.
    pub enum Smt: "a state of SMT", "on|off" {
        /// Trials use all hardware threads of the cores that they use.
        On = "on",
        /// Trials use one hardware thread of each core.
        Off = "off",
    }
}

words! {
    /// Transparent huge pages of a worker's memory.
    pub enum HugePages: "a use of huge pages", "WHEN" {
        /// No memory uses huge pages.
        Never = "never",
        /// Memory for which a process advises it uses huge pages (`madvise(2)`).
        Madvise = "madvise",
        /// All memory uses huge pages; this requires `always` in the machine's setting.
        Always = "always",
    }
}

words! {
    /// The order of trials.
    pub enum Order: "an order", "ORDER" {
        /// Engines take turns, step by step; the databases of all engines exist at once.
        Interleaved = "interleaved",
        /// One engine runs after the other; its database is removed before the next is created.
        Sequential = "sequential",
    }
}

words! {
    /// Handling of an engine that is missing or cannot do what is requested.
    pub enum MissingEngines: "a way with missing engines", "HOW" {
        /// kvdyno refuses the experiment.
        Refuse = "refuse",
        /// kvdyno leaves out a missing engine, or the runs that an engine cannot do, and reports this.
        Skip = "skip",
    }
}

words! {
    /// Something of which an experiment can have less.
    pub enum LeaveOut: "something to leave out", "WHAT" {
        /// Some numbers of readers between the smallest and the largest.
        Readers = "readers",
        /// Variants, those that take longest to load first.
        Variants = "variants",
        /// Engines, the last first.
        Engines = "engines",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyValue;

    #[test]
    fn a_word_reads_back_and_another_says_what_was_meant() {
        for level in Durability::ALL {
            assert_eq!(level.to_string().parse(), Ok(*level));
        }
        let error = "comit".parse::<Durability>().unwrap_err();
        assert_eq!(
            error,
            "`comit` is not a durability level; it can be none, process, periodic or commit; did you mean `commit`?"
        );
        assert_eq!(StorageKind::words()[2], ("ext4-nojournal", "A new ext4 without a journal."));
        assert_eq!(serde_json::to_string(&FailureKind::TooSlow).ok().as_deref(), Some("\"too-slow\""));
    }
}

words! {
    /// Spelling of the numbers of the 3n+1 workload in keys and values.
    #[derive(Default)]
    pub enum Spelling: "a spelling", "SPELLING" {
        /// Numbers in `key_format`, all of one size.
        Plain = "plain" as default,
        /// The name of each decimal digit, each digit in another language, separated by spaces.
        Enhanced = "enhanced",
    }
}

words! {
    /// The limits that the cursor of a range is told when it is opened.
    #[derive(Default)]
    pub enum RangeCursors: "a way to open cursors", "CURSORS" {
        /// No limits: the client ends the range after its number of records.
        Plain = "plain" as default,
        /// The lowest and the highest key: the engine ends the range.
        Bounded = "bounded",
        /// No limits; the engine need not return values.
        Keys = "keys",
        /// As `bounded`, without values.
        BoundedKeys = "bounded-keys",
        /// A key prefix: the range is all keys with the prefix of the drawn record (`data.keys_per_prefix`).
        Prefix = "prefix",
        /// As `prefix`, without values.
        PrefixKeys = "prefix-keys",
    }
}

impl RangeCursors {
    /// Whether the engine is told where a range ends.
    #[inline]
    pub fn are_bounded(self) -> bool {
        matches!(self, RangeCursors::Bounded | RangeCursors::BoundedKeys)
    }

    /// Whether it need not bring values.
    #[inline]
    pub fn bring_keys_only(self) -> bool {
        matches!(self, RangeCursors::Keys | RangeCursors::BoundedKeys | RangeCursors::PrefixKeys)
    }

    /// Whether a range is the keys with one prefix.
    #[inline]
    pub fn are_by_prefix(self) -> bool {
        matches!(self, RangeCursors::Prefix | RangeCursors::PrefixKeys)
    }
}
