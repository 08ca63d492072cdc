//! Values that are chosen by a word. Each is defined once, with the meaning of its words.

/// An enum whose values are words: with `ALL`, `Display` and serde's `Serialize`. If the words for it and a placeholder
/// follow its name, it is read too: `FromStr` says what was probably meant, the reference and the schema tell of it;
/// `or` gives another word that is read, and `as default` marks that of `#[derive(Default)]`.
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
    /// When a write is acknowledged: one scale for all engines.
    #[derive(Default)]
    pub enum Durability: "a durability level", "LEVEL" {
        /// At once: there is no log, or nothing need reach the operating system before close.
        None = "none",
        /// When it survives a crash of the process: it is written to the operating system, not synced.
        Process = "process" as default,
        /// As at `process`, and the log is synced in the background every `sync_period`.
        Periodic = "periodic",
        /// When it survives a loss of power: it is synced first.
        Commit = "commit",
    }
}

words! {
    /// The compression of blocks on the storage.
    #[derive(Default)]
    pub enum Compression: "a compression", "KIND" {
        /// None.
        None = "none" as default,
        /// Snappy.
        Snappy = "snappy",
        /// LZ4.
        Lz4 = "lz4",
        /// Zstandard.
        Zstd = "zstd",
        /// The deflate of zlib.
        Zlib = "zlib",
    }
}

words! {
    /// Whether answers are checked.
    #[derive(Default)]
    pub enum Verify: "a way to verify", "HOW" {
        /// Every byte of every value, and its version.
        Full = "full" as default,
        /// Hit or miss alone.
        Off = "off",
    }
}

words! {
    /// The extent of reading back what was written.
    #[derive(Default)]
    pub enum Audit: "an audit", "EXTENT" {
        /// Every record.
        Full = "full",
        /// A sample in which a loss of one record in a thousand shows with a probability of 99.9 %.
        Sample = "sample" as default,
        /// None: an engine that stores nothing passes.
        Off = "off",
    }
}

words! {
    /// The design of a comparison: how trials that are compared are measured beside each other.
    #[derive(Default)]
    pub enum Design: "a design", "DESIGN" {
        /// The narrowest that the work allows; a duet only of setups of one engine.
        Auto = "auto" as default,
        /// Two at once on the same processors, by CPU time per operation; different engines that write by nothing else.
        Duet = "duet",
        /// All open at once, one at work at a time, in slices of a fraction of a second in random order.
        Slices = "slices",
        /// One after the other, whole trials.
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
        /// `shared` for setups that are builds of one engine with the same options, `kept` for others.
        Auto = "auto",
        /// Loaded in each repeat; each run goes on with what the one before left.
        Kept = "kept" as default,
        /// Loaded in each repeat, and again before each further run.
        Fresh = "fresh",
        /// Loaded in each repeat; each run begins on a copy.
        Snapshot = "snapshot",
        /// Loaded once for all setups and some repeats, by each in turn; each run begins on a copy.
        Shared = "shared",
    }
}

words! {
    /// The question that `repeat = "auto"` is to answer.
    #[derive(Default)]
    pub enum Question: "a question", "QUESTION" {
        /// The order of the set-ups: only neighbours in it need be told apart.
        Ranking = "ranking" as default,
        /// Which of them differ: every pair is to be told apart.
        Difference = "difference",
    }
}

words! {
    /// The figure that set-ups are compared by.
    #[derive(Default)]
    pub enum VerdictFigure: "a figure", "FIGURE" {
        /// Records in a second of the clock.
        Throughput = "throughput" as default,
        /// CPU time per operation, of all that a trial started.
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
    /// Arrival of operations that come at a rate of their own.
    #[derive(Default)]
    pub enum Arrival: "an arrival", "ARRIVAL" {
        /// At equal intervals, each client's operations between those of the others.
        Fixed = "fixed" as default,
        /// Independently of each other, as from very many users.
        Poisson = "poisson",
        /// In the first quarter of each second at four times the rate, then none.
        Bursty = "bursty",
        /// At a rate that swings from half to one and a half times its mean and back within each second.
        Sine = "sine",
    }
}

words! {
    /// Isolation of transactions for reading and writing, from the weakest.
    pub enum IsolationLevel: "an isolation", "ISOLATION" {
        /// A read sees what is committed; reading again may give another answer.
        ReadCommitted = "read-committed",
        /// A transaction sees one state until its end, and its own writes.
        Snapshot = "snapshot",
        /// Transactions have the effect of some serial order.
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
        /// Processes of their own, which share the database.
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
    /// The state of the page cache when a run begins, as far as it concerns the database.
    #[derive(Default)]
    pub enum CacheState: "a state of the cache", "STATE" {
        /// As the trial before left it.
        Warm = "warm" as default,
        /// Without any page of the database.
        Dropped = "dropped",
    }
}

words! {
    /// The kind of storage below a database.
    #[derive(Default)]
    pub enum StorageKind: "a storage", "KIND" {
        /// A folder of the filesystem that is there.
        Folder = "folder" as default,
        /// A new ext4.
        Ext4 = "ext4",
        /// A new ext4 without a journal.
        Ext4NoJournal = "ext4-nojournal",
        /// A new XFS.
        Xfs = "xfs",
        /// A new btrfs.
        Btrfs = "btrfs",
        /// The block device itself, for engines that can.
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
        /// Every hardware thread of a core that is used.
        On = "on",
        /// One hardware thread of each core.
        Off = "off",
    }
}

words! {
    /// Transparent huge pages of a worker's memory.
    pub enum HugePages: "a use of huge pages", "WHEN" {
        /// Nowhere.
        Never = "never",
        /// In memory for which a process advises it (`madvise(2)`).
        Madvise = "madvise",
        /// Everywhere; only if the machine's switch says so too.
        Always = "always",
    }
}

words! {
    /// The order of trials.
    pub enum Order: "an order", "ORDER" {
        /// Engines take turns, step by step; all databases are there at once.
        Interleaved = "interleaved",
        /// One engine after the other; its database is removed before the next one's is made.
        Sequential = "sequential",
    }
}

words! {
    /// Handling of an engine that is missing or cannot do what is requested.
    pub enum MissingEngines: "a way with missing engines", "HOW" {
        /// The experiment is refused.
        Refuse = "refuse",
        /// It is left out, and the report says so; one that can do some of the runs is left out of the others only.
        Skip = "skip",
    }
}

words! {
    /// Something of which an experiment can have less.
    pub enum LeaveOut: "something to leave out", "WHAT" {
        /// Numbers of readers: some between the least and the most.
        Readers = "readers",
        /// Variants: those first that take longest to load.
        Variants = "variants",
        /// Engines: the last ones first.
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
        /// As the data's `key_format` has them, all of one size.
        Plain = "plain" as default,
        /// Each decimal digit by its name, in a language of its own, with a space between.
        Enhanced = "enhanced",
    }
}

words! {
    /// The limits that the cursor of a range is told when it is opened.
    #[derive(Default)]
    pub enum RangeCursors: "a way to open cursors", "CURSORS" {
        /// None: the range ends when its records have come.
        Plain = "plain" as default,
        /// The keys between which the range lies: it ends when the engine says so.
        Bounded = "bounded",
        /// The cursor need not bring values.
        Keys = "keys",
        /// As `bounded`, without values.
        BoundedKeys = "bounded-keys",
        /// A prefix: the range is all keys that have that of a record that is drawn (`data.keys_per_prefix`).
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
