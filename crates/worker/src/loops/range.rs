//! Ranges: a seek to a random record, and so many steps from there. One range is one operation; its latency is that of
//! its calls, without what the driver does between them.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_dataset::Stream;

use super::cursor::{Cursor, after};
use super::{Driver, Limit, Work};
use crate::clock::{Clock, Turnaround};
use crate::shared::{OpStats, bump};

/// One thread's ranges.
pub(super) struct Range {
    backward: bool,
    stream: Stream,
    key: Vec<u8>,
    /// How new each record of a range must be: what was acknowledged before the seek, for the cursor may show the state
    /// at that moment.
    min_versions: Vec<u64>,
    turnaround: Turnaround,
}

impl Range {
    pub(super) fn new<C: Clock>(stream: Stream, backward: bool, driver: &Driver<'_, C>) -> Self {
        let min_versions = vec![0; driver.workload.reads.seek_nexts as usize + 1];
        Range { backward, stream, key: driver.keys.blank(), min_versions, turnaround: Turnaround::new(driver.clock) }
    }

    /// Looks up how new the records from `first` on must be.
    #[inline(always)]
    fn look_up<C: Clock>(&mut self, driver: &Driver<'_, C>, first: u64) {
        let mut next = Some(first);
        for min_version in &mut self.min_versions {
            let Some(id) = next else { break };
            *min_version = driver.ledger.min_version(id);
            next = after(id, self.backward, driver.workload.data.records);
        }
    }
}

impl<C: Clock> Work<C> for Range {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let Some(cursor) = Cursor::open(driver, self.backward) else { return };
        let seek_within = driver.workload.reads.seek_within.unwrap_or(driver.workload.data.records);
        let has_updates = driver.may_have_updates();
        for _ in 0..limit.operations {
            let first = self.stream.below(seek_within);
            driver.keys.write(first, &mut self.key);
            if has_updates {
                self.look_up(driver, first);
            }
            let (end, next) = self.read(driver, ops, &cursor, first);
            if matches!(next, Next::Stop) || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

/// What to do after an answer.
enum Next {
    /// Read on: this record must come, or none.
    Step(Option<u64>),
    /// The range has ended.
    Over,
    /// The trial has.
    Stop,
}

impl Range {
    /// Reads the range from `first` on. When its last call ended, and how.
    #[inline(always)]
    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, cursor: &Cursor, first: u64) -> (u64, Next) {
        let clock = driver.clock;
        let (mut taken, mut records) = (0, 0);
        let mut end = clock.now();
        let mut expected = Some(first);
        let mut next = Next::Over;
        for place in 0..self.min_versions.len() {
            let key = (place == 0).then_some(self.key.as_slice());
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the answer is checked before the next call.
            let (status, record) = unsafe { cursor.go(key) };
            end = clock.now();
            taken += end.saturating_sub(start);
            records += u64::from(record.is_some());
            next = self.check(driver, status, expected, record, place);
            match next {
                Next::Step(following) => expected = following,
                Next::Over | Next::Stop => break,
            }
        }
        ops.latency.record(taken);
        bump(&ops.records, records);
        ops.until.store(end, Ordering::Relaxed);
        (end, next)
    }

    /// Holds an answer against what must come.
    #[inline(always)]
    fn check<C: Clock>(
        &self,
        driver: &Driver<'_, C>,
        status: abi::Status,
        expected: Option<u64>,
        record: Option<(&[u8], &[u8])>,
        place: usize,
    ) -> Next {
        let records = driver.workload.data.records;
        match (record, expected) {
            (Some((key, value)), Some(id)) if driver.keys.read(key) == Some(id) => {
                let min_version = self.min_versions[place];
                if driver.verifies() && !driver.values.is_right(id, min_version, value) {
                    driver.wrong_value(id, min_version, value);
                }
                Next::Step(after(id, self.backward, records))
            }
            (Some((key, _)), expected) => {
                // What else it gives would be counted again: the next range begins anew.
                driver.out_of_order(self.backward, expected.unwrap_or(records), key);
                Next::Over
            }
            (None, None) if status == abi::MISS => Next::Over,
            (None, expected) => match driver.ended_early(status, expected.unwrap_or(records)) {
                true => Next::Over,
                false => Next::Stop,
            },
        }
    }
}
