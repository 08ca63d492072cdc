//! fjall behind the engine ABI: a log-structured merge tree with background threads and a journal.
//!
//! fjall comes as a plain database and, in another type, as one with transactions. The plain one reads at no fixed
//! moment, so that a reader beside a writer of batches can see one half applied, and its writes are no part of
//! anybody's transaction; in return it is much faster. The adapter opens the type with transactions, which has the
//! plain one within, and uses the plain one as long as nobody can tell the difference: `isolation` says when that ends.

mod cursor;
mod database;
mod error;
mod isolation;
mod session;
mod settings;

use database::Fjall;
use kvdyno_abi::adapter::{ALL_DURABILITIES, Description, Housekeeping, Preset, bits};
use kvdyno_abi::{
    CAN_BATCH, CAN_BOUND, CAN_CONTAIN, CAN_DELETE, CAN_MULTI_GET, CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_KEYS,
    CAN_SCAN_PREFIX, CAN_SCAN_REVERSE, CAN_SNAPSHOT, CAN_TRANSACT, CAN_WRITE_CONCURRENTLY, COMPRESSION_LZ4,
    COMPRESSION_NONE, IS_SERIALIZABLE, READS_REPEAT, export_engine,
};

export_engine!(Fjall);

/// The engine, for its table.
const DESCRIPTION: Description = Description {
    origin: c"crate fjall, built in",
    capabilities: CAN_SCAN
        | CAN_SCAN_REVERSE
        | CAN_DELETE
        | CAN_BATCH
        | CAN_MULTI_GET
        | CAN_TRANSACT
        | CAN_SNAPSHOT
        | CAN_READ_MODIFY_WRITE
        | CAN_SCAN_PREFIX
        | CAN_WRITE_CONCURRENTLY
        | READS_REPEAT
        | IS_SERIALIZABLE
        | CAN_CONTAIN
        | CAN_BOUND
        | CAN_SCAN_KEYS,
    durabilities: ALL_DURABILITIES,
    compressions: bits(&[COMPRESSION_NONE, COMPRESSION_LZ4]),
    min_key_size: 1,
    max_key_size: session::LONGEST_KEY as u64,
    max_value_size: session::LARGEST_VALUE as u64,
    options: settings::OPTIONS,
    presets: &[Preset::new(c"blobs", c"kv_separation=true", c"large values are kept in files beside the tree")],
    housekeeping: Housekeeping { flush: true, compact: true, wait_idle: true, statistics: true, ..Housekeeping::NONE },
    ..Description::new(c"fjall", c"log-structured merge tree with background threads, in Rust")
};
