//! Settings that are the same for every engine in a comparison.

use serde::{Deserialize, Serialize};

use crate::{Compression, Durability};

/// The settings that every engine is opened with. An adapter maps each of these to the engine's words or refuses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineSettings {
    /// When a write is acknowledged.
    pub durability: Durability,
    /// For [`Durability::Periodic`]: milliseconds between syncs.
    pub sync_period_ms: u32,
    /// Compression of stored blocks.
    pub compression: Compression,
    /// Bytes that the engine may cache of its data in its own memory.
    pub cache_bytes: u64,
    /// Bytes of new writes that it may gather before it writes them out.
    pub write_buffer_bytes: u64,
}
