//! Helpers that engines in Rust often need. A convenience, and no part of the ABI.

mod files;
mod range_cursor;
mod session_locks;
mod syncer;

pub use files::expect_file;
pub use range_cursor::{RangeCursor, Ranges};
pub use session_locks::SessionLocks;
pub use syncer::Syncer;
