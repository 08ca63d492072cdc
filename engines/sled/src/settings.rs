//! The lab's settings in sled's words.

use kvdyno_abi::adapter::{Compression, Config, Durability, Error, Listing, Opt};
use sled::Mode;

pub const OPTIONS: &[Opt] = &[
    Opt::integer(
        c"flush_every_ms",
        c"500",
        0,
        3_600_000,
        c"How often a thread writes, syncs and cleans, where durability periodic does not say it; 0: never.",
    ),
    Opt::choice(c"mode", c"low-space", c"low-space|high-throughput", c"What sled is to favour."),
    Opt::integer(c"compression_factor", c"5", 1, 22, c"With compression zstd: its level."),
];

/// The least cache with which sled starts.
const LEAST_CACHE: u64 = 256;

/// A page of 128 KiB and more sled writes to a file of its own, which it never syncs. A leaf has up to 16 records, a
/// node of the index up to 256 keys, each a few more before it splits; so larger ones could bring a page there.
const LARGEST_RECORD: u64 = 4 << 10;
const LONGEST_KEY: u64 = 400;

/// Refuses settings that sled cannot have.
pub fn check(config: &Config<'_>) -> Result<(), Error> {
    if config.cache_bytes() < LEAST_CACHE {
        return Err(Error::unsupported(format_args!("cache: sled needs {LEAST_CACHE} bytes")));
    }
    match config.durability() {
        Durability::Commit => check_record(config.key_size(), config.value_size()),
        _ => Ok(()),
    }
}

/// Whether a record can be made durable at `commit`.
pub fn check_record(key: u64, value: u64) -> Result<(), Error> {
    if key <= LONGEST_KEY && key + value <= LARGEST_RECORD {
        return Ok(());
    }
    Err(Error::unsupported(format_args!(
        "durability commit: sled keeps large pages in files that it never syncs, so a key may have {LONGEST_KEY} bytes \
         and a record {LARGEST_RECORD}, not {key} and {}",
        key + value
    )))
}

pub fn builder(config: &Config<'_>) -> sled::Config {
    sled::Config::new()
        .cache_capacity(config.cache_bytes())
        .mode(if config.text("mode") == "high-throughput" { Mode::HighThroughput } else { Mode::LowSpace })
        .use_compression(config.compression() == Compression::Zstd)
        .compression_factor(config.integer("compression_factor") as i32)
        .flush_every_ms(flush_every_ms(config))
}

fn flush_every_ms(config: &Config<'_>) -> Option<u64> {
    match config.durability() {
        Durability::Periodic(interval) => Some(u64::try_from(interval.as_millis()).unwrap_or(u64::MAX).max(1)),
        _ => Some(config.integer("flush_every_ms").unsigned_abs()).filter(|every| *every > 0),
    }
}

pub fn list(config: &Config<'_>, list: &mut Listing<'_>) -> Result<(), Error> {
    check(config)?;
    const FLUSH: &str = "flush() after each write: written, and by sync_file_range on its way to the device; sled has \
                         no weaker mode that survives the process";
    let how = match config.durability() {
        Durability::None => "in sled's log buffers until they are full, flush_every_ms is over, or the close",
        Durability::Process | Durability::Periodic(_) => FLUSH,
        Durability::Commit => {
            "flush() after each write, and fdatasync by the adapter, since sled's flush() leaves out the device's \
             cache and the file's length"
        }
    };
    list.say("durability", "flush", how);
    let told = if matches!(config.durability(), Durability::Periodic(_)) { "sync_period" } else { "option" };
    match flush_every_ms(config) {
        Some(every) => {
            list.say("durability", "flush_every_ms", format_args!("{every}, by the {told}: fsync, cleaning"))
        }
        None => list.say("durability", "flush_every_ms", "None, by the option: the log is not cleaned either"),
    }
    list.say(
        "cache",
        "cache_capacity",
        format_args!("{}: pages, counted as in the log; sled lowers it to the machine's memory", config.cache_bytes()),
    );
    list.say("write_buffer", "write_buffer", "the log's buffers of 512 KiB: nothing to set");
    let compression = match config.compression() {
        Compression::Zstd => format!("zstd, compression_factor {}", config.integer("compression_factor")),
        _ => "none".into(),
    };
    list.say("compression", "use_compression", compression);
    list.say("checksums", "crc32", "that of every message that is read from the log, which is all there is");
    list.say("options", "mode", config.text("mode"));
    list.say("options", "compression_factor", config.integer("compression_factor"));
    Ok(())
}
