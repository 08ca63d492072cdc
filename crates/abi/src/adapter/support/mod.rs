//! What engines in Rust often need beside their own calls. A convenience, and no part of the ABI.

mod range_cursor;
mod session_locks;
mod syncer;

pub use range_cursor::{RangeCursor, Ranges};
pub use session_locks::SessionLocks;
pub use syncer::Syncer;
