//! The lab's settings in fjall's words.

use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, HashRatioPolicy};
use fjall::{
    CompressionType, DatabaseBuilder, KeyspaceCreateOptions, KvSeparationOptions, OptimisticTxDatabase, PersistMode,
};
use kvdyno_abi::adapter::{Compression, Config, Durability, Error, Listing, Opt};
use std::path::Path;
use std::sync::Arc;

pub const OPTIONS: &[Opt] = &[
    Opt::size(c"block_size", c"4KiB", 1 << 10, 1 << 20, c"Bytes of a data block before compression."),
    Opt::bool(c"filter", true, c"Bloom filters: a false positive in 10,000 in level 0, 10 bits a key below."),
    Opt::bool(
        c"expect_point_read_hits",
        false,
        c"Builds no filter for the last level: good where most keys that are asked for are there.",
    ),
    Opt::real(c"hash_ratio", c"0", c"Hash buckets for each key of a data block, 0 to 8; 0: blocks have no hash index."),
    Opt::bool(c"kv_separation", false, c"Keeps large values in blob files beside the tree."),
    Opt::size(c"separation_threshold", c"1KiB", 1, u32::MAX as i64, c"With kv_separation: the least value kept so."),
    Opt::integer(c"l0_threshold", c"4", 1, 19, c"Tables in level 0 that start a compaction."),
    Opt::size(c"table_target_size", c"64MiB", 1 << 20, 4 << 30, c"Bytes of a table after a compaction.").scales(),
    Opt::integer(c"level_ratio", c"10", 2, 100, c"How many times as large as the one above a level may be."),
    Opt::size(
        c"max_journaling_size",
        c"512MiB",
        64 << 20,
        1 << 40,
        c"Bytes of all journals from which memtables are flushed.",
    )
    .scales(),
    Opt::integer(c"worker_threads", c"0", 0, 256, c"Threads that flush and compact; 0: a processor each, up to 4."),
    Opt::integer(c"max_cached_files", c"900", 10, 1 << 20, c"Table files that are kept open."),
    Opt::choice(
        c"persist_mode",
        c"sync-data",
        c"sync-data|sync-all",
        c"How the journal is synced: fdatasync or fsync.",
    ),
];

/// Refuses settings that fjall cannot have.
pub fn check(config: &Config<'_>) -> Result<(), Error> {
    let ratio = config.real("hash_ratio");
    if (0.0..=8.0).contains(&ratio) {
        return Ok(());
    }
    Err(Error::unsupported(format_args!("hash_ratio: {ratio} is not between 0 and 8")))
}

pub fn builder(path: &Path, config: &Config<'_>) -> DatabaseBuilder<OptimisticTxDatabase> {
    let builder = OptimisticTxDatabase::builder(path)
        .cache_size(config.cache_bytes())
        .journal_compression(compression(config))
        .manual_journal_persist(config.durability() == Durability::None)
        .max_journaling_size(config.size("max_journaling_size"))
        .max_cached_files(Some(number(config, "max_cached_files")));
    match number(config, "worker_threads") {
        0 => builder,
        threads => builder.worker_threads(threads),
    }
}

fn number(config: &Config<'_>, option: &str) -> usize {
    config.integer(option).try_into().unwrap_or(usize::MAX)
}

fn compression(config: &Config<'_>) -> CompressionType {
    match config.compression() {
        Compression::Lz4 => CompressionType::Lz4,
        _ => CompressionType::None,
    }
}

/// How the journal is written with each write; `None`: when its buffer is full.
pub fn persist_mode(config: &Config<'_>) -> Option<PersistMode> {
    match config.durability() {
        Durability::None => None,
        Durability::Process | Durability::Periodic(_) => Some(PersistMode::Buffer),
        Durability::Commit => Some(sync_mode(config)),
    }
}

pub fn sync_mode(config: &Config<'_>) -> PersistMode {
    if config.text("persist_mode") == "sync-all" { PersistMode::SyncAll } else { PersistMode::SyncData }
}

/// The settings that a keyspace keeps from its creation on. fjall reads them back at every opening, whatever is asked
/// for then; so the keyspace is named after them, and a database that was made otherwise is noticed.
pub struct Made {
    memtable: u64,
    block: u32,
    compression: CompressionType,
    filter: bool,
    hits: bool,
    hash_ratio: f32,
    blobs_from: Option<u32>,
    l0_threshold: u8,
    table: u64,
    level_ratio: u8,
}

impl Made {
    pub fn new(config: &Config<'_>) -> Self {
        let within = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let small = |option| u8::try_from(config.integer(option)).unwrap_or(u8::MAX);
        Self {
            memtable: config.write_buffer_bytes(),
            block: within(config.size("block_size")),
            compression: compression(config),
            filter: config.bool("filter"),
            hits: config.bool("expect_point_read_hits"),
            hash_ratio: config.real("hash_ratio") as f32,
            blobs_from: config.bool("kv_separation").then(|| within(config.size("separation_threshold"))),
            l0_threshold: small("l0_threshold"),
            table: config.size("table_target_size"),
            level_ratio: small("level_ratio"),
        }
    }

    /// The name of a keyspace that is made so.
    pub fn name(&self) -> String {
        format!(
            "memtable-{}_block-{}_compression-{}_filter-{}_hits-{}_hash-{}_blobs-{}_l0-{}_table-{}_ratio-{}",
            self.memtable,
            self.block,
            self.compression,
            self.filter,
            self.hits,
            self.hash_ratio,
            self.blobs_from.unwrap_or(0),
            self.l0_threshold,
            self.table,
            self.level_ratio,
        )
    }

    pub fn options(&self) -> KeyspaceCreateOptions {
        let compaction = Leveled::default()
            .with_l0_threshold(self.l0_threshold)
            .with_table_target_size(self.table)
            .with_level_ratio_policy(vec![f32::from(self.level_ratio)]);
        let blobs = |from| KvSeparationOptions::default().separation_threshold(from).compression(self.compression);
        let options = KeyspaceCreateOptions::default()
            .max_memtable_size(self.memtable)
            .data_block_size_policy(BlockSizePolicy::all(self.block))
            .data_block_compression_policy(CompressionPolicy::all(self.compression))
            .data_block_hash_ratio_policy(HashRatioPolicy::all(self.hash_ratio))
            .expect_point_read_hits(self.hits)
            .with_kv_separation(self.blobs_from.map(blobs))
            .compaction_strategy(Arc::new(compaction));
        if self.filter { options } else { options.filter_policy(FilterPolicy::disabled()) }
    }
}

pub fn list(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
    check(config)?;
    list_durability(config, list);
    list.say("cache", "cache_size", format_args!("{}: blocks, as they are uncompressed", config.cache_bytes()));
    list.say(
        "write_buffer",
        "max_memtable_size",
        format_args!("{}: each memtable; writers wait where 4 are not flushed yet", config.write_buffer_bytes()),
    );
    list.say("compression", "data_block_compression_policy", format_args!("{}, all levels", compression(config)));
    list.say("compression", "journal_compression", compression(config));
    list.say("checksums", "xxh3", "that of every block that is read from a file, not of those found in the cache");
    list.say("files", "log", "*.jnl");
    list_options(config, list);
    Ok(())
}

fn list_durability(config: &Config<'_>, list: &mut Listing<'_>) {
    let sync = format!("{:?}", sync_mode(config));
    let how = match config.durability() {
        Durability::None => "manual_journal_persist: written when the journal's buffer is full".into(),
        Durability::Process => "PersistMode::Buffer with each write: written to the OS".into(),
        Durability::Periodic(interval) => format!(
            "PersistMode::Buffer with each write, and persist(PersistMode::{sync}) every {} ms",
            interval.as_millis()
        ),
        Durability::Commit => format!("PersistMode::{sync} with each write; no group commit"),
    };
    list.say("durability", "journal", how);
}

fn list_options(config: &Config<'_>, list: &mut Listing<'_>) {
    for option in ["block_size", "separation_threshold", "table_target_size", "max_journaling_size"] {
        list.say("options", option, config.size(option));
    }
    for option in ["filter", "expect_point_read_hits", "kv_separation"] {
        list.say("options", option, config.bool(option));
    }
    for option in ["l0_threshold", "level_ratio", "max_cached_files"] {
        list.say("options", option, config.integer(option));
    }
    list.say("options", "hash_ratio", config.real("hash_ratio"));
    list.say("options", "persist_mode", config.text("persist_mode"));
    match config.integer("worker_threads") {
        0 => list.say("options", "worker_threads", "fjall's default: a processor each, up to 4"),
        threads => list.say("options", "worker_threads", threads),
    }
    list.say("options", "database", "OptimisticTxDatabase; until the first batch or transaction used as Database");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyspace_name_is_no_longer_than_fjall_takes() {
        let longest = Made {
            memtable: u64::MAX,
            block: u32::MAX,
            compression: CompressionType::None,
            filter: false,
            hits: false,
            hash_ratio: std::f32::consts::PI,
            blobs_from: Some(u32::MAX),
            l0_threshold: u8::MAX,
            table: u64::MAX,
            level_ratio: u8::MAX,
        };
        let name = longest.name();
        assert!(name.len() + "_manual".len() <= 255, "{name}");
    }
}
