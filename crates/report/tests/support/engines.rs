//! Engines with made-up figures.

/// The source of an engine's made-up figures.
#[derive(Clone, Copy)]
pub(super) struct MadeUpEngine {
    pub(super) named: &'static str,
    pub(super) version: &'static str,
    pub(super) load_s: f64,
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) scaling: f64,
    pub(super) db_kib: u64,
    pub(super) rss_kib: u64,
    /// How unsteady it is.
    pub(super) noise: f64,
    pub(super) settings: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) const ENGINES: [MadeUpEngine; 7] = [
    MadeUpEngine {
        named: "lmdb",
        version: "0.9.24",
        load_s: 0.92,
        reads: 640_000.0,
        writes: 148_000.0,
        scaling: 0.97,
        db_kib: 123_408,
        rss_kib: 125_612,
        noise: 0.01,
        settings: &[
            ("durability", "MDB_NOSYNC | MDB_WRITEMAP", "set"),
            ("cache", "mapsize", "1073741824"),
            ("write buffer", "(none)", ""),
        ],
    },
    MadeUpEngine {
        named: "rocksdb",
        version: "7.8.3",
        load_s: 3.41,
        reads: 212_000.0,
        writes: 91_000.0,
        scaling: 0.78,
        db_kib: 118_020,
        rss_kib: 96_440,
        noise: 0.05,
        settings: &[
            ("durability", "disableWAL", "true"),
            ("cache", "block_cache", "33554432"),
            ("write buffer", "write_buffer_size", "8388608"),
            ("compression", "compression", "kNoCompression"),
            ("background", "max_background_jobs", "2"),
            ("background", "level_compaction_dynamic_level_bytes", "false"),
        ],
    },
    MadeUpEngine {
        named: "leveldb",
        version: "1.23",
        load_s: 2.87,
        reads: 196_000.0,
        writes: 63_000.0,
        scaling: 0.62,
        db_kib: 117_884,
        rss_kib: 61_204,
        noise: 0.12,
        settings: &[
            ("durability", "sync", "false"),
            ("cache", "block_cache", "33554432"),
            ("write buffer", "write_buffer_size", "8388608"),
            ("compression", "compression", "kNoCompression"),
        ],
    },
    MadeUpEngine {
        named: "bdb",
        version: "5.3.28",
        load_s: 21.6,
        reads: 118_000.0,
        writes: 7_400.0,
        scaling: 0.45,
        db_kib: 386_312,
        rss_kib: 58_116,
        noise: 0.04,
        settings: &[("durability", "DB_TXN_NOSYNC", "set"), ("cache", "set_cachesize", "33554432")],
    },
    MadeUpEngine {
        named: "wiredtiger:btree",
        version: "3.2.1",
        load_s: 1.74,
        reads: 288_000.0,
        writes: 52_000.0,
        scaling: 0.9,
        db_kib: 119_100,
        rss_kib: 44_800,
        noise: 0.03,
        settings: &[
            ("durability", "log", "(enabled=false)"),
            ("cache", "cache_size", "33554432"),
            ("compression", "block_compressor", "none"),
        ],
    },
    MadeUpEngine {
        named: "wiredtiger:lsm",
        version: "3.2.1",
        load_s: 6.02,
        reads: 101_000.0,
        writes: 12_800.0,
        scaling: 0.83,
        db_kib: 126_072,
        rss_kib: 71_936,
        noise: 0.2,
        settings: &[
            ("durability", "log", "(enabled=false)"),
            ("cache", "cache_size", "33554432"),
            ("write buffer", "lsm.chunk_size", "8388608"),
            ("compression", "block_compressor", "none"),
        ],
    },
    MadeUpEngine {
        named: "hyperleveldb",
        version: "1.0.2",
        load_s: 2.2,
        reads: 150_000.0,
        writes: 50_000.0,
        scaling: 0.6,
        db_kib: 117_000,
        rss_kib: 64_000,
        noise: 0.1,
        settings: &[],
    },
];

/// The first of the engines, or more of them: the same once more, a little slower.
pub(super) fn engines(count: usize) -> impl Iterator<Item = MadeUpEngine> {
    (0..count).map(|nth| {
        let (engine, round) = (ENGINES[nth % ENGINES.len()], nth / ENGINES.len());
        let slower = 1.0 - 0.07 * round as f64;
        let named = if round == 0 { engine.named } else { format!("{}@{round}", engine.named).leak() };
        MadeUpEngine { named, reads: engine.reads * slower, writes: engine.writes * slower, ..engine }
    })
}
