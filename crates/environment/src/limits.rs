//! Limits of a machine, for figures to be held against: how fast memory, storage and syncs are without any engine.
//!
//! A load that depends on the one before costs a memory latency, reads of memory one after the other its bandwidth, a
//! durable commit at least a sync, and a get of a record that is not cached at least a read of the storage. An engine
//! that is near one of these cannot be made much faster on this machine.

mod memory;
mod storage;

use std::io;
use std::path::Path;
use std::time::Duration;

use kvdyno_results::MachineLimits;

/// The time of each measurement: `kvdyno machine --limits` takes a few seconds.
const EACH: Duration = Duration::from_millis(1500);

/// Measures the limits of this machine and of the filesystem of `folder`, where `threads` is the number of usable
/// processors, `cache` the bytes of its largest cache, and `caches` those of all of that kind.
///
/// # Errors
/// If a file cannot be made, written or synced there.
pub fn measure(folder: &Path, threads: u32, (cache, caches): (u64, u64)) -> io::Result<MachineLimits> {
    Ok(MachineLimits {
        memory_latency_ns: memory::latency_ns(cache, EACH),
        memory_bytes_per_s: memory::bytes_per_s(threads, caches, EACH),
        syncs_per_s: storage::syncs_per_s(folder, EACH)?,
        reads_per_s: storage::reads_per_s(folder, EACH)?,
    })
}
