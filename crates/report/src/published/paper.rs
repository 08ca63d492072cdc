//! The published reports.

use std::fmt;
use std::str::FromStr;

/// A published report whose tables are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Symas 2014, in memory, with NUMA.
    InmemNuma,
    /// Anderson 2011, 3n+1 on Berkeley DB.
    ThreeNPlusOne,
    /// Callaghan 2023, db_bench with and without hyperthreads.
    DbbenchSmt,
    /// Symas 2018, LMDB and RocksDB on flash and Optane.
    Storage,
}

/// A report that cannot be held against anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a report whose tables are known; use inmem-numa, 3n1, dbbench-smt or storage{hint}",
    hint = if .0 == "ondisk" { " (ondisk printed charts only)" } else { "" })]
pub struct UnknownPaper(String);

impl Paper {
    /// All of them.
    pub const ALL: [Paper; 4] = [Paper::InmemNuma, Paper::ThreeNPlusOne, Paper::DbbenchSmt, Paper::Storage];

    /// As its experiment is called.
    pub fn name(self) -> &'static str {
        match self {
            Paper::InmemNuma => "inmem-numa",
            Paper::ThreeNPlusOne => "3n1",
            Paper::DbbenchSmt => "dbbench-smt",
            Paper::Storage => "storage",
        }
    }

    /// As people cite it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Paper::InmemNuma => "Symas, In-Memory Microbenchmark (Scaling/NUMA), 2014",
            Paper::ThreeNPlusOne => "D. Anderson, 3n+1 on Berkeley DB, 2011",
            Paper::DbbenchSmt => "M. Callaghan, hyperthreading and db_bench, 2023",
            Paper::Storage => "Symas, LMDB and RocksDB on Optane, 2018",
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Paper {
    type Err = UnknownPaper;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name).ok_or_else(|| UnknownPaper(name.to_owned()))
    }
}
