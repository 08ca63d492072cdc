//! The published reports.

kvdyno_model::words! {
    /// A published report whose tables are known, as its experiment is called.
    pub enum Paper: "a report whose tables are known (ondisk printed charts only)", "REPORT" {
        /// Symas 2014, in memory, with NUMA.
        InmemNuma = "inmem-numa",
        /// Anderson 2011, 3n+1 on Berkeley DB.
        ThreeNPlusOne = "3n1",
        /// Callaghan 2023, db_bench with and without hyperthreads.
        DbbenchSmt = "dbbench-smt",
        /// Symas 2018, LMDB and RocksDB on flash and Optane.
        Storage = "storage",
    }
}

impl Paper {
    /// The title by which people cite it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Paper::InmemNuma => "Symas, In-Memory Microbenchmark (Scaling/NUMA), 2014",
            Paper::ThreeNPlusOne => "D. Anderson, 3n+1 on Berkeley DB, 2011",
            Paper::DbbenchSmt => "M. Callaghan, hyperthreading and db_bench, 2023",
            Paper::Storage => "Symas, LMDB and RocksDB on Optane, 2018",
        }
    }
}
