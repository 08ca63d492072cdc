//! sled behind the engine ABI: a lock-free tree over a log-structured page cache.
//!
//! sled has no transaction that could be begun in one call and committed in another, and no snapshot: its transactions
//! are closures, which it may run more than once. So there are batches and read-modify-write, and no more.

mod database;
mod error;
mod session;
mod settings;

use database::Sled;
use kvdyno_abi::adapter::{ALL_DURABILITIES, Description, Housekeeping, bits};
use kvdyno_abi::{
    CAN_BATCH, CAN_BOUND, CAN_CONTAIN, CAN_DELETE, CAN_INSERT_IF_ABSENT, CAN_READ_MODIFY_WRITE, CAN_SCAN,
    CAN_SCAN_PREFIX, CAN_SCAN_REVERSE, CAN_WRITE_CONCURRENTLY, COMPRESSION_NONE, COMPRESSION_ZSTD, export_engine,
};

export_engine!(Sled);

/// The engine, for its table.
const DESCRIPTION: Description = Description {
    origin: c"crate sled, built in",
    capabilities: CAN_SCAN
        | CAN_SCAN_REVERSE
        | CAN_DELETE
        | CAN_BATCH
        | CAN_READ_MODIFY_WRITE
        | CAN_SCAN_PREFIX
        | CAN_WRITE_CONCURRENTLY
        | CAN_CONTAIN
        | CAN_INSERT_IF_ABSENT
        | CAN_BOUND,
    durabilities: ALL_DURABILITIES,
    compressions: bits(&[COMPRESSION_NONE, COMPRESSION_ZSTD]),
    options: settings::OPTIONS,
    housekeeping: Housekeeping { flush: true, statistics: true, ..Housekeeping::NONE },
    ..Description::new(c"sled", c"lock-free tree over a log-structured page cache, in Rust")
};
