//! `fwdrange`, `revrange`, and both while one writer updates: a seek to a random record, and so many steps from there.
//! One range is one operation; its latency is that of its calls, without what the driver does between them.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::WorkloadDefinition;
use super::overwrite::Update;
use super::parameter::Parameter;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, Role, RoleDefinition};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::cursor::{ScanCursor, after, scan_capability};
use crate::loops::{Driver, Limit, Work};
use crate::shared::{ClientOps, OpStats, bump};

pub(super) static FWD_RANGE: RangeReads = RangeReads {
    name: "fwdrange",
    summary: "seek random records, each time read some that follow in key order",
    reader: &ReadRange { backward: false },
    writer: None,
};
pub(super) static REV_RANGE: RangeReads = RangeReads {
    name: "revrange",
    summary: "the same against key order",
    reader: &ReadRange { backward: true },
    writer: None,
};
pub(super) static FWD_RANGE_WHILE_WRITING: RangeReads = RangeReads {
    name: "fwdrangewhilewriting",
    summary: "fwdrange while one writer updates random records",
    writer: Some(&Update),
    ..FWD_RANGE
};
pub(super) static REV_RANGE_WHILE_WRITING: RangeReads = RangeReads {
    name: "revrangewhilewriting",
    summary: "revrange while one writer updates random records",
    writer: Some(&Update),
    ..REV_RANGE
};

/// RangeReads in one direction, with or without a writer beside them.
pub(super) struct RangeReads {
    name: &'static str,
    summary: &'static str,
    reader: &'static ReadRange,
    writer: Option<Role>,
}

impl WorkloadDefinition for RangeReads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn reader(&self) -> Option<Role> {
        Some(self.reader)
    }

    fn writer(&self) -> Option<Role> {
        self.writer
    }
}

/// Seeks random records, and reads some that follow.
struct ReadRange {
    backward: bool,
}

impl RoleDefinition for ReadRange {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Range]
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[Parameter::SeekNexts, Parameter::SeekWithin, Parameter::Distribution]
    }

    fn needs(&self) -> Option<(u64, &'static str)> {
        Some(scan_capability(self.backward))
    }
}

impl DrawingRole for ReadRange {
    fn ids<C>(&self, driver: &Driver<'_, C>) -> u64 {
        driver.parameters.reads.seek_within.unwrap_or(driver.parameters.data.records)
    }

    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let min_versions = vec![0; driver.parameters.reads.seek_nexts as usize + 1];
        let (key, turnaround) = (driver.keys.blank(), Turnaround::new(driver.clock));
        Box::new(RangeLoop { backward: self.backward, choice, key, min_versions, turnaround })
    }
}

/// One client's ranges.
struct RangeLoop<K> {
    backward: bool,
    choice: K,
    key: Vec<u8>,
    /// How new each record of a range must be: what was acknowledged before the seek, for the cursor may show the state
    /// at that moment.
    min_versions: Vec<u64>,
    turnaround: Turnaround,
}

impl<K: KeyChoice> RangeLoop<K> {
    /// Looks up how new the records from `first` on must be.
    #[inline(always)]
    fn look_up<C: Clock>(&mut self, driver: &Driver<'_, C>, first: u64) {
        let mut next = Some(first);
        for min_version in &mut self.min_versions {
            let Some(id) = next else { break };
            *min_version = driver.ledger.min_version(id);
            next = after(id, self.backward, driver.parameters.data.records);
        }
    }
}

impl<C: Clock, K: KeyChoice> Work<C> for RangeLoop<K> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let Some(cursor) = ScanCursor::open(driver, self.backward) else { return };
        let has_updates = driver.may_have_updates();
        for _ in 0..limit.operations {
            let first = self.choice.next();
            driver.keys.write(first, &mut self.key);
            if has_updates {
                self.look_up(driver, first);
            }
            let (end, next) = self.read(driver, ops, &cursor, first);
            if matches!(next, RangeStep::Stop) || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }
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

impl<K: KeyChoice> RangeLoop<K> {
    /// Reads the range from `first` on. When its last call ended, and how.
    #[inline(always)]
    fn read<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        cursor: &ScanCursor,
        first: u64,
    ) -> (u64, RangeStep) {
        let clock = driver.clock;
        let (mut taken, mut records) = (0, 0);
        let mut end = clock.now();
        let mut expected = Some(first);
        let mut next = RangeStep::Over;
        for step in 0..self.min_versions.len() {
            let key = (step == 0).then_some(self.key.as_slice());
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the answer is checked before the next call.
            let (status, record) = unsafe { cursor.go(key) };
            end = clock.now();
            taken += end.saturating_sub(start);
            records += u64::from(record.is_some());
            next = self.check(driver, status, expected, record, step);
            match next {
                RangeStep::Step(following) => expected = following,
                RangeStep::Over | RangeStep::Stop => break,
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
        step: usize,
    ) -> RangeStep {
        let records = driver.parameters.data.records;
        match (record, expected) {
            (Some((key, value)), Some(id)) if driver.keys.read(key) == Some(id) => {
                let min_version = self.min_versions[step];
                if driver.verifies() && !driver.values.is_right(id, min_version, value) {
                    driver.wrong_value(id, min_version, value);
                }
                RangeStep::Step(after(id, self.backward, records))
            }
            (Some((key, _)), expected) => {
                // What else it gives would be counted again: the next range begins anew.
                driver.out_of_order(self.backward, expected.unwrap_or(records), key);
                RangeStep::Over
            }
            (None, None) if status == abi::MISS => RangeStep::Over,
            (None, expected) => match driver.ended_early(status, expected.unwrap_or(records)) {
                true => RangeStep::Over,
                false => RangeStep::Stop,
            },
        }
    }
}
