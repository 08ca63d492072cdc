//! Work that an engine has put off, by its own statistics at the end of a trial.
//!
//! RocksDB and Pebble estimate the bytes that compaction must still rewrite until each level has its size again. A
//! steady engine always has some of them. An engine that has many, relative to its database, deferred work while it was
//! measured, and pays for it later. Other engines report no such estimate.

use std::fmt;

use kvdyno_results::{Setting, TrialResult};

/// Each engine, and its name for the bytes that are still to be compacted.
const BYTES: [(&str, &str); 2] =
    [("rocksdb", "rocksdb.estimate-pending-compaction-bytes"), ("pebble", "estimated debt")];

/// The part of the database from which on the work that is put off is much.
const MUCH: f64 = 0.1;

/// Bytes that an engine must still rewrite.
#[derive(Clone, Debug, PartialEq)]
pub struct Debt {
    /// The engine's name for them.
    pub name: String,
    /// The number of bytes that are put off.
    pub bytes: u64,
    /// The bytes as a fraction of the database's size.
    pub share: f64,
}

impl fmt::Display for Debt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Debt { name, bytes, share } = self;
        let mib = *bytes as f64 / f64::from(1 << 20);
        write!(f, "it ended with {mib:.1} MiB still to compact, {:.0} % of the database ({name})", 100.0 * share)
    }
}

/// The work put off when a trial ended, if it was much.
pub(super) fn finding(result: &TrialResult) -> Option<Debt> {
    let (_, name) = BYTES.iter().find(|(engine, _)| *engine == result.engine.name)?;
    let is_it = |entry: &&Setting| entry.name == *name;
    let bytes: u64 = result.statistics.iter().find(is_it)?.value.trim().parse().ok()?;
    let share = bytes as f64 / (1024 * result.space.db_kib.max(1)) as f64;
    (share >= MUCH).then(|| Debt { name: (*name).to_owned(), bytes, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::result;

    fn with(engine: &str, name: &str, value: &str) -> TrialResult {
        let mut run = result(engine, 1, 1, 100.0);
        run.space.db_kib = 10 << 10;
        run.statistics = vec![Setting { topic: "property".into(), name: name.into(), value: value.into() }];
        run
    }

    #[test]
    fn much_is_a_tenth_of_the_database() {
        let rocksdb = |value: &str| finding(&with("rocksdb", "rocksdb.estimate-pending-compaction-bytes", value));
        assert_eq!(rocksdb("0"), None);
        assert_eq!(rocksdb("1048575"), None);
        let expected =
            "it ended with 1.0 MiB still to compact, 10 % of the database (rocksdb.estimate-pending-compaction-bytes)";
        assert_eq!(rocksdb("1048576").unwrap().to_string(), expected);
        assert!(finding(&with("pebble", "estimated debt", "5242880")).is_some());
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        assert_eq!(finding(&result("rocksdb", 1, 1, 100.0)), None);
        assert_eq!(finding(&with("rocksdb", "rocksdb.estimate-pending-compaction-bytes", "unknown")), None);
        assert_eq!(finding(&with("lmdb", "estimated debt", "5242880")), None);
    }
}
