//! The engine ABI, version 2: the types of `include/kvdyno.h` in Rust, and [`adapter`], a trait and a macro to write an
//! adapter with.
//!
//! The header is the contract and documents every call; this file only spells it for Rust. `tests/layout.rs` compiles
//! the header and holds every size, offset and constant against these.

pub mod adapter;
pub mod build;
mod bytes;
mod types;

pub use bytes::address;
pub use types::*;

/// All that an adapter needs: `use kvdyno_abi::prelude::*`. The crate itself has the header's types, some of which are
/// called as those of [`adapter`] are: take one or the other, not both.
pub mod prelude {
    pub use crate::adapter::support::*;
    pub use crate::adapter::*;
    pub use crate::export_engine;
    pub use crate::types::{
        CAN_BATCH, CAN_BOUND, CAN_COMPARE, CAN_CONTAIN, CAN_COUNT, CAN_DELETE, CAN_DELETE_RANGE, CAN_INSERT_IF_ABSENT,
        CAN_MULTI_GET, CAN_PARTITION, CAN_PREFIX, CAN_RAW_DEVICE, CAN_READ_MODIFY_WRITE, CAN_SCAN, CAN_SCAN_KEYS,
        CAN_SCAN_PREFIX, CAN_SCAN_REVERSE, CAN_SET_DURABILITY, CAN_SHARE_PROCESSES, CAN_SNAPSHOT, CAN_TRANSACT,
        CAN_WRITE_CONCURRENTLY, COMPRESSION_LZ4, COMPRESSION_NONE, COMPRESSION_SNAPPY, COMPRESSION_ZLIB,
        COMPRESSION_ZSTD, DURABILITY_COMMIT, DURABILITY_NONE, DURABILITY_PERIODIC, DURABILITY_PROCESS, IS_BOUND,
        IS_MAPPED, IS_SERIALIZABLE, IS_SINGLE, IS_VOLATILE, READS_REPEAT,
    };
}
