//! redb behind the engine ABI: a copy-on-write B-tree in one file, with one writer beside any number of readers.
//!
//! A value that `get` lends lies in a page of redb's cache, which a guard in the session holds; with it the guard holds
//! its read transaction, until the session's next call. The price is LMDB's: a session that rests after a read keeps
//! redb from reusing the pages freed since then, and beside a writer the file grows.

mod backend;
mod cursor;
mod database;
mod error;
mod session;
mod settings;

use database::Redb;
use kvdyno_abi::adapter::{ALL_DURABILITIES, Description, Housekeeping, Opt};
use kvdyno_abi::{
    CAN_BATCH, CAN_BOUND, CAN_DELETE, CAN_MULTI_GET, CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_REVERSE,
    CAN_SET_DURABILITY, CAN_SHARE_PROCESSES, CAN_SNAPSHOT, CAN_TRANSACT, IS_SERIALIZABLE, READS_REPEAT, export_engine,
};

export_engine!(Redb);

const OPTIONS: &[Opt] = &[
    Opt::bool(
        c"two_phase_commit",
        false,
        c"Syncs each commit twice, so that recovery after a crash need not rely on checksums.",
    ),
    Opt::bool(
        c"quick_repair",
        false,
        c"Saves the allocator's state with each commit, so that recovery need not walk the database.",
    ),
    Opt::bool(
        c"tree_statistics",
        false,
        c"Statistics of the tree too: taking them reads every page of the database, after the measurement.",
    ),
];

/// The engine, for its table.
const DESCRIPTION: Description = Description {
    origin: c"crate redb, built in",
    capabilities: CAN_SCAN
        | CAN_SCAN_REVERSE
        | CAN_DELETE
        | CAN_BATCH
        | CAN_MULTI_GET
        | CAN_TRANSACT
        | CAN_SNAPSHOT
        | CAN_READ_MODIFY_WRITE
        | CAN_SHARE_PROCESSES
        | CAN_SET_DURABILITY
        | READS_REPEAT
        | IS_SERIALIZABLE
        | CAN_BOUND,
    durabilities: ALL_DURABILITIES,
    max_key_size: 3 << 30,
    max_value_size: 3 << 30,
    options: OPTIONS,
    housekeeping: Housekeeping { flush: true, compact: true, statistics: true, ..Housekeeping::NONE },
    ..Description::new(c"redb", c"copy-on-write B-tree in one file, one writer, in Rust")
};
