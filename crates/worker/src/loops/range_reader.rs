//! Reading a range, record by record, and holding each against what must come.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;

use super::Driver;
use super::cursor::{ScanCursor, after};
use crate::clock::{Clock, Turnaround};
use crate::shared::{OpStats, bump};

/// The records that may lie beside those that must come.
pub(crate) trait TailRecords {
    /// The id that comes after `id`; `None` after the last.
    fn after(&self, id: u64) -> Option<u64>;

    /// Whether a range may lack the record `expected` and continue with the record `given`, or end if that is absent.
    fn may_skip(&self, expected: u64, given: Option<u64>, before: VersionsBefore<'_>) -> bool;

    /// Whether the engine knows the end of a range and has to report it.
    #[inline(always)]
    fn ends_by_itself(&self) -> bool {
        false
    }

    /// Whether a range may contain the record `id`.
    #[inline(always)]
    fn may_come(&self, _id: u64, _before: VersionsBefore<'_>) -> bool {
        true
    }
}

/// The newest acknowledged versions as they were before the seek, of the records that were looked up.
#[derive(Clone, Copy)]
pub(crate) struct VersionsBefore<'a> {
    first: u64,
    versions: &'a [u64],
}

impl VersionsBefore<'_> {
    /// The version of `id`, if it was looked up.
    pub(crate) fn of(self, id: u64) -> Option<u64> {
        self.versions.get(usize::try_from(id.checked_sub(self.first)?).ok()?).copied()
    }
}

/// There is nothing but the records that were loaded.
pub(crate) struct NoTail {
    pub(crate) backward: bool,
    pub(crate) records: u64,
}

impl TailRecords for NoTail {
    #[inline(always)]
    fn after(&self, id: u64) -> Option<u64> {
        after(id, self.backward, self.records)
    }

    fn may_skip(&self, _expected: u64, _given: Option<u64>, _before: VersionsBefore<'_>) -> bool {
        false
    }
}

/// The range that is to be read.
#[derive(Clone, Copy)]
pub(crate) struct RangeTarget {
    /// Its first record.
    pub(crate) first: u64,
    /// Records of it, at most as many as the reader was made for.
    pub(crate) length: usize,
    /// Ticks that it took already.
    pub(crate) begun: u64,
}

/// Reads ranges.
pub(crate) struct RangeReader {
    backward: bool,
    key: Vec<u8>,
    /// Minimum version of each record of a range: the version acknowledged before the seek, for the cursor may show the
    /// state at that moment.
    min_versions: Vec<u64>,
    /// Cursors bring values, and those are verified.
    verifies: bool,
    turnaround: Turnaround,
}

/// The next step after an answer.
enum RangeStep {
    /// Read on: this record must come, or none.
    Step(Option<u64>),
    /// The range has ended.
    Over,
    /// The trial has.
    Stop,
}

impl RangeReader {
    /// A reader for ranges of one seek and the number of steps that the workload has.
    pub(crate) fn new<C: Clock>(backward: bool, driver: &Driver<'_, C>) -> Self {
        RangeReader {
            backward,
            key: driver.keys.blank(),
            min_versions: vec![0; driver.parameters.longest_range() as usize],
            verifies: driver.verifies() && !driver.parameters.reads.cursors.bring_keys_only(),
            turnaround: Turnaround::new(driver.clock),
        }
    }

    /// Looks up how new the records from `first` on must be.
    #[inline(always)]
    fn look_up<C: Clock>(&mut self, driver: &Driver<'_, C>, target: RangeTarget, tail: &impl TailRecords) {
        let mut next = Some(target.first);
        for min_version in self.min_versions.iter_mut().take(target.length) {
            let Some(id) = next else { break };
            *min_version = driver.ledger.min_version(id);
            next = tail.after(id);
        }
    }

    /// Reads a range. When its last call ended, and whether the trial goes on.
    #[inline(always)]
    pub(crate) fn read<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        cursor: &ScanCursor,
        target: RangeTarget,
        tail: &impl TailRecords,
    ) -> (u64, bool) {
        driver.keys.write(target.first, &mut self.key);
        if driver.may_have_updates() {
            self.look_up(driver, target, tail);
        }
        let clock = driver.clock;
        let (mut taken, mut records) = (target.begun, 0);
        let mut end = clock.now();
        let mut expected = Some(target.first);
        let mut next = RangeStep::Over;
        let records_of_it = self.min_versions.len().min(target.length);
        for step in 0..records_of_it + usize::from(tail.ends_by_itself()) {
            let key = (step == 0).then_some(self.key.as_slice());
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the answer is checked before the next call.
            let (status, record) = unsafe { cursor.go(key) };
            end = clock.now();
            taken += end.saturating_sub(start);
            records += u64::from(record.is_some());
            next = self.check(driver, status, expected, record, target, tail);
            match next {
                RangeStep::Step(following) => expected = following,
                RangeStep::Over | RangeStep::Stop => break,
            }
        }
        ops.latency.record(taken);
        bump(&ops.records, records);
        ops.until.store(end, Ordering::Relaxed);
        (end, !matches!(next, RangeStep::Stop))
    }

    /// Holds an answer against what must come.
    #[inline(always)]
    fn check<C: Clock>(
        &self,
        driver: &Driver<'_, C>,
        status: abi::Status,
        expected: Option<u64>,
        record: Option<(&[u8], &[u8])>,
        target: RangeTarget,
        tail: &impl TailRecords,
    ) -> RangeStep {
        match (record, expected) {
            (Some((key, value)), Some(id)) if driver.keys.read(key) == Some(id) => {
                // After skipped records, this one may be beyond those that were looked up.
                if !tail.may_come(id, self.before(target)) {
                    driver.came_back(id);
                }
                let step = id.abs_diff(target.first) as usize;
                let min_version = if step < target.length { self.min_versions[step] } else { 0 };
                if self.verifies && !driver.values.is_right(id, min_version, value) {
                    driver.wrong_value(id, min_version, value);
                }
                RangeStep::Step(tail.after(id))
            }
            (Some(record), expected) => self.other(driver, expected, record, target, tail),
            (None, None) if status == abi::MISS => RangeStep::Over,
            (None, Some(expected)) if status == abi::MISS && tail.may_skip(expected, None, self.before(target)) => {
                RangeStep::Over
            }
            (None, expected) => match driver.ended_early(status, expected.unwrap_or(driver.parameters.data.records)) {
                true => RangeStep::Over,
                false => RangeStep::Stop,
            },
        }
    }

    /// The least versions of a forward range; in others no records come or go.
    fn before(&self, target: RangeTarget) -> VersionsBefore<'_> {
        VersionsBefore { first: target.first, versions: &self.min_versions[..target.length] }
    }

    /// Another record came than the expected one.
    #[cold]
    fn other<C: Clock>(
        &self,
        driver: &Driver<'_, C>,
        expected: Option<u64>,
        (key, value): (&[u8], &[u8]),
        target: RangeTarget,
        tail: &impl TailRecords,
    ) -> RangeStep {
        match (expected, driver.keys.read(key)) {
            (Some(expected), Some(id)) if tail.may_skip(expected, Some(id), self.before(target)) => {
                if !tail.may_come(id, self.before(target)) {
                    driver.came_back(id);
                }
                if self.verifies && !driver.values.is_right(id, 0, value) {
                    driver.wrong_value(id, 0, value);
                }
                RangeStep::Step(tail.after(id))
            }
            _ => {
                // Further records would be counted again, so the range ends here and the next one begins anew.
                driver.out_of_order(self.backward, expected, key);
                RangeStep::Over
            }
        }
    }
}
