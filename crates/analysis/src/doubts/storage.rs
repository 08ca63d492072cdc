//! Figures of what was stored, written and synced that do not fit what the engine acknowledged.

use kvdyno_model::{Compression, Durability};
use kvdyno_results::{ACCOUNTED_BLOCK, Phase, TrialResult, WorkloadFacts};

use super::Doubt;

/// Bytes of a value's incompressible part that its maker does not count on.
const COMPRESSED_REST: f64 = 32.0;

/// The part of the bytes that must be stored at the least: engines round, and may fold what they can.
const SMALLEST_SHARE: f64 = 0.9;

/// Filesystems of which the kernel counts in a process's account what it writes; `raw` is a device.
const COUNTED: [&str; 7] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "raw"];

/// The part of a database above which what was not on the storage yet when its trial was frozen is much.
const MUCH_DIRTY: f64 = 0.1;

/// Files outside a database's folder that are smaller are no doubt, KiB.
const MUCH_OUTSIDE_KIB: u64 = 1024;

/// The same as a part of the database's size.
const MUCH_OUTSIDE: f64 = 0.1;

/// Write buffers that a log-structured engine may fill before it waits for those that it stores.
const WRITE_BUFFERS: u64 = 4;

/// Values have random bytes in them that no compressor takes away, and the database has them all. Where nothing was
/// written there are none.
pub(super) fn database_too_small(result: &TrialResult) -> Option<Doubt> {
    let (least, space) = (least_stored(result).or_else(|| least_kept(result))?, &result.space);
    let taken = 1024 * space.db_kib.saturating_sub(space.preallocated_kib.unwrap_or(0));
    (taken < least).then_some(Doubt::DatabaseTooSmall { taken, least })
}

/// Each page of a new database is made dirty, or written past the cache, at least once. The device's counters include
/// what processes write that the kernel does not count as the worker's.
pub(super) fn written_elsewhere(result: &TrialResult) -> Option<Doubt> {
    let (least, os) = (least_stored(result)?, &result.os);
    let of_worker = os.write_bytes?.max(os.fs_out_ops * ACCOUNTED_BLOCK);
    let written = of_worker.max(os.calls.map_or(0, |calls| calls.written)).max(os.device.as_ref()?.write_bytes);
    (is_counted(result) && written < least).then_some(Doubt::WrittenElsewhere { written, least })
}

/// The least bytes that a load stores, by its values; absent for runs, and where nothing need be kept.
fn least_stored(result: &TrialResult) -> Option<u64> {
    let volatile = result.audit.as_ref().is_none_or(|audit| audit.volatile);
    if volatile || result.trial.phase != Phase::Load || result.operations.is_empty() {
        return None;
    }
    let workload = &result.workload;
    Some(least_of(result.operations.iter().map(|operations| operations.records).sum(), workload))
}

/// The least bytes that a database has after a run that wrote, by the records that are in it for certain.
fn least_kept(result: &TrialResult) -> Option<u64> {
    let workload = &result.workload;
    let is_kept = result.audit.as_ref().is_some_and(|audit| !audit.volatile) && result.trial.phase == Phase::Run;
    let records = result.space.live_bytes?.checked_div(workload.key_size + workload.value_size)?;
    is_kept.then(|| least_of(records, workload))
}

/// The bytes of so many records' values that no compression takes away, less what an engine may save.
fn least_of(records: u64, workload: &WorkloadFacts) -> u64 {
    let of_value = match workload.compression {
        Compression::None => workload.value_size as f64,
        _ => workload.value_size as f64 * (1.0 - workload.compressibility) - COMPRESSED_REST,
    };
    (SMALLEST_SHARE * records as f64 * of_value.max(0.0)) as u64
}

/// Whether the kernel counts what is written to the database's filesystem.
fn is_counted(result: &TrialResult) -> bool {
    result.environment.filesystem.split(' ').next().is_some_and(|kind| COUNTED.contains(&kind))
}

pub(super) fn dirty_when_frozen(result: &TrialResult) -> Option<Doubt> {
    let dirty_kib = result.design.as_ref()?.dirty_kib?;
    let share = dirty_kib as f64 / result.space.db_kib.max(1) as f64;
    (share >= MUCH_DIRTY).then_some(Doubt::DirtyWhenFrozen { dirty_kib, share })
}

/// Absolute sizes, such as the length of a log file, do not shrink with the database.
pub(super) fn mostly_log(result: &TrialResult) -> Option<Doubt> {
    let space = &result.space;
    let (log_kib, preallocated_kib) = (space.log_kib.unwrap_or(0), space.preallocated_kib.unwrap_or(0));
    let (db_kib, others) = (space.db_kib, log_kib + preallocated_kib);
    (2 * others > db_kib).then_some(Doubt::MostlyLog { db_kib, log_kib, preallocated_kib })
}

/// The kernel counts a page of a file as written when a process makes it dirty, and not again while it stays dirty. The
/// acknowledged bytes therefore do not determine how many bytes the kernel must count. It must count some, because
/// files are clean when a trial begins: the trial before has closed the database. At durability `none` an engine may
/// keep everything in memory until the close.
pub(super) fn written_nowhere(result: &TrialResult) -> Option<Doubt> {
    let keeps =
        result.audit.as_ref().is_some_and(|audit| !audit.volatile) && result.workload.durability != Durability::None;
    let (counted, os) = (is_counted(result), &result.os);
    let nothing =
        os.write_bytes == Some(0) && os.fs_out_ops == 0 && os.device.as_ref().is_none_or(|it| it.write_bytes == 0);
    let acknowledged = result.user_bytes_written;
    (keeps && counted && nothing && acknowledged > 0).then_some(Doubt::WrittenNowhere { acknowledged })
}

/// An engine may have a log or temporary files elsewhere, which are small.
pub(super) fn kept_in_files(result: &TrialResult) -> Option<Doubt> {
    let outside = result.environment.outside.as_ref()?;
    let (files_kib, db_kib) = (outside.files_kib, result.space.db_kib);
    let is_much = files_kib >= MUCH_OUTSIDE_KIB && files_kib as f64 >= MUCH_OUTSIDE * db_kib as f64;
    is_much.then(|| Doubt::KeptInFiles { files_kib, largest: outside.largest_file.clone().unwrap_or_default() })
}

/// Where the cache can hold all records, more memory is no advantage.
pub(super) fn kept_in_memory(result: &TrialResult) -> Option<Doubt> {
    let (workload, memory_kib) = (&result.workload, result.environment.outside.as_ref()?.memory_kib);
    let volatile = result.audit.as_ref().is_some_and(|audit| audit.volatile);
    let live = result.space.live_bytes.filter(|live| *live > workload.cache_bytes && !volatile)?;
    let given = workload.cache_bytes + WRITE_BUFFERS * workload.write_buffer_bytes;
    let (given_kib, live_kib) = (given / 1024, live / 1024);
    (memory_kib > given_kib + live_kib / 2).then_some(Doubt::KeptInMemory { memory_kib, given_kib, live_kib })
}

/// A device of the database's own fails the trial instead.
pub(super) fn not_synced(result: &TrialResult) -> Option<Doubt> {
    let keeps = result.audit.as_ref().is_some_and(|audit| !audit.volatile);
    result.commits().filter(|commits| keeps && commits.are_unsynced()).map(Doubt::NotSynced)
}
