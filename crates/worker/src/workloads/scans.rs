//! `readseq` and `readreverse`: all records are read through a cursor, again and again.

use kvdyno_model::WorkloadName;
use std::sync::atomic::Ordering;

use kvdyno_dataset::RecordMaker;
use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::WorkloadProfile;
use super::parameters::WorkloadParameters;
use super::role::{RoleDefinition, StartRole};
use crate::clock::{Clock, Turnaround};
use crate::loops::cursor::{CursorAnswer, LentStep, ScanCursor, scan_capability};
use crate::loops::{Driver, Limit, Work, lent};
use crate::shared::{ClientOps, OpStats};

pub(super) static READ_SEQ: WorkloadProfile = WorkloadProfile {
    reader: Some(&ReadAll { backward: false }),
    reads_in_order: true,
    ..WorkloadProfile::new(WorkloadName::ReadSeq, "read all records in key order")
};
pub(super) static READ_REVERSE: WorkloadProfile = WorkloadProfile {
    reader: Some(&ReadAll { backward: true }),
    reads_in_order: true,
    ..WorkloadProfile::new(WorkloadName::ReadReverse, "read all records against key order")
};

/// Reads all records through a cursor.
struct ReadAll {
    backward: bool,
}

impl RoleDefinition for ReadAll {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Scan]
    }

    fn needs(&self) -> Option<(u64, &'static str)> {
        Some(scan_capability(self.backward))
    }
}

impl<C: Clock + 'static> StartRole<C> for ReadAll {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let (backward, first) = (self.backward, driver.stream().below(driver.parameters.data.records));
        let (key, turnaround) = (driver.keys.blank(), Turnaround::new(driver.clock));
        match (driver.verifies(), driver.may_have_updates()) {
            (false, _) => Box::new(Scan::<false, false> { backward, next: first, first, key, turnaround }),
            (true, false) => Box::new(Scan::<true, false> { backward, next: first, first, key, turnaround }),
            (true, true) => Box::new(Scan::<true, true> { backward, next: first, first, key, turnaround }),
        }
    }
}

/// One client's scan. It begins at a random record, so that clients are apart. `FULL`: values are verified. `LEDGER`:
/// they may have been updated, so the ledger says how new they must be.
struct Scan<const FULL: bool, const LEDGER: bool> {
    backward: bool,
    /// The record that must come next; beyond all records: none must, the pass is over.
    next: u64,
    first: u64,
    key: Vec<u8>,
    turnaround: Turnaround,
}

impl<C: Clock, const FULL: bool, const LEDGER: bool> Work<C> for Scan<FULL, LEDGER> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let Some(cursor) = ScanCursor::open(driver, self.backward) else { return };
        let mut progress = ScanProgress { left: limit.operations, end: driver.clock.now() };
        let mut target = Some(self.resume(driver));
        while let Some(seek) = target.filter(|_| progress.left > 0) {
            target = self.steps(driver, ops, limit, &cursor, seek, &mut progress);
        }
        ops.until.store(progress.end, Ordering::Relaxed);
    }
}

/// The state of a client within a call of [`Work::run`].
struct ScanProgress {
    /// Operations that it may still do.
    left: u64,
    /// When the last one ended.
    end: u64,
}

impl<const FULL: bool, const LEDGER: bool> Scan<FULL, LEDGER> {
    /// Seeks, then steps while the expected records come. Returns where to seek next; `None` if the limit has come or
    /// the trial ends.
    #[inline(always)]
    fn steps<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        limit: Limit<'_>,
        cursor: &ScanCursor,
        target: Target,
        progress: &mut ScanProgress,
    ) -> Option<Target> {
        let (clock, records, onward) = (driver.clock, driver.parameters.data.records, self.onward());
        let made = RecordMaker::new(driver.keys, driver.values);
        let (mut turnaround, mut next, mut left, mut end) = (self.turnaround, self.next, progress.left, progress.end);
        let mut record = LentStep::NOTHING;
        let mut start = turnaround.begin(clock, end);
        // SAFETY: the answer is checked before the next call.
        let mut status = unsafe { seek(cursor, target, &self.key, &mut record) };
        let target = loop {
            end = clock.now();
            left -= 1;
            ops.latency.record(end.saturating_sub(start));
            if status == abi::OK
                && next < records
                // SAFETY: the engine lent the record in the call just made.
                && unsafe { is_right::<C, FULL, LEDGER>(driver, &made, next, &record) }
            {
                next = next.wrapping_add(onward);
            } else {
                self.next = next;
                // SAFETY: as above.
                let follows = self.follow(driver, unsafe { record.with(status) });
                next = self.next;
                // The time of the check is not the next operation's.
                end = clock.now();
                if follows != Some(Target::Next) {
                    break follows.filter(|_| end < limit.until.load(Ordering::Relaxed));
                }
            }
            if left == 0 || end >= limit.until.load(Ordering::Relaxed) {
                break None;
            }
            start = turnaround.begin(clock, end);
            // SAFETY: as above.
            status = unsafe { cursor.step(&mut record) };
        };
        (self.turnaround, self.next) = (turnaround, next);
        *progress = ScanProgress { left, end };
        target
    }
}

/// Whether the record is `id`, with `FULL` to the last bit of its value.
///
/// # Safety
/// No other call on the cursor or on its session has come since.
#[inline(always)]
unsafe fn is_right<C, const FULL: bool, const LEDGER: bool>(
    driver: &Driver<'_, C>,
    made: &RecordMaker<'_>,
    id: u64,
    record: &LentStep,
) -> bool {
    let (key, value) = record.parts();
    // SAFETY: as the caller promises.
    unsafe {
        match FULL {
            true => made.is_right::<LEDGER>(id, min_version::<C, LEDGER>(driver, id), key, value),
            false => driver.keys.is_key_of(id, lent(record.key)),
        }
    }
}

/// The version of `id` that must at least be seen.
#[inline(always)]
fn min_version<C, const LEDGER: bool>(driver: &Driver<'_, C>, id: u64) -> u64 {
    if LEDGER { driver.ledger.min_version(id) } else { 0 }
}

/// Goes where no step leads.
///
/// # Safety
/// As of [`ScanCursor::go`].
#[cold]
#[inline(never)]
unsafe fn seek(cursor: &ScanCursor, target: Target, key: &[u8], record: &mut LentStep) -> abi::Status {
    // SAFETY: as the caller promises.
    unsafe {
        match target {
            Target::First => cursor.go_first(record),
            _ => cursor.seek(key, record),
        }
    }
}

impl<const FULL: bool, const LEDGER: bool> Scan<FULL, LEDGER> {
    /// From a record's number to that of the one which must follow; beyond all records after the last.
    fn onward(&self) -> u64 {
        if self.backward { u64::MAX } else { 1 }
    }

    /// A scan goes on at the record at which it was, or begins again at its first.
    fn resume<C>(&mut self, driver: &Driver<'_, C>) -> Target {
        let id = if self.next < driver.parameters.data.records { self.next } else { self.first };
        self.seek_to(driver, id)
    }

    fn seek_to<C>(&mut self, driver: &Driver<'_, C>, id: u64) -> Target {
        driver.keys.write(id, &mut self.key);
        self.next = id;
        Target::Record
    }

    fn pass_start<C>(&self, driver: &Driver<'_, C>) -> u64 {
        if self.backward { driver.parameters.data.records - 1 } else { 0 }
    }

    /// A pass begins where the engine says that its records begin, so a record before them that was never written is
    /// noticed.
    fn new_pass<C>(&mut self, driver: &Driver<'_, C>) -> Target {
        self.next = self.pass_start(driver);
        Target::First
    }

    /// The next step after an answer that is not the record which must come, or not its value; `None`: the trial ends.
    #[cold]
    #[inline(never)]
    fn follow<C: Clock>(&mut self, driver: &Driver<'_, C>, (status, record): CursorAnswer<'_>) -> Option<Target> {
        let expected = Some(self.next).filter(|&id| id < driver.parameters.data.records);
        match (record, expected) {
            (Some((key, value)), Some(id)) if driver.keys.is_key_of(id, key) => {
                driver.wrong_value(id, min_version::<C, LEDGER>(driver, id), value);
                self.next = id.wrapping_add(self.onward());
                Some(Target::Next)
            }
            (Some((key, _)), expected) => Some(self.out_of_order(driver, expected, key)),
            (None, None) if status == abi::MISS => Some(self.new_pass(driver)),
            (None, expected) => driver.ended_early(status, expected.unwrap_or(0)).then(|| self.new_pass(driver)),
        }
    }

    /// Another record came than `expected`: the scan goes on from there.
    fn out_of_order<C: Clock>(&mut self, driver: &Driver<'_, C>, expected: Option<u64>, key: &[u8]) -> Target {
        match driver.out_of_order(self.backward, expected, key) {
            Some(id) => {
                self.next = id.wrapping_add(self.onward());
                Target::Next
            }
            None => {
                let id = self.pass_start(driver);
                self.seek_to(driver, id)
            }
        }
    }
}

/// The destination of a cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// To the record after the present one.
    Next,
    /// To the one whose key is spelled.
    Record,
    /// To the first of all.
    First,
}
