//! `readseq` and `readreverse`: all records are read through a cursor, again and again.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::WorkloadDefinition;
use super::role::{Role, RoleDefinition, StartRole};
use super::spec::WorkloadSpec;
use crate::clock::{Clock, Turnaround};
use crate::loops::cursor::{ScanCursor, after, scan_capability};
use crate::loops::{Driver, Limit, Work};
use crate::shared::ClientOps;

pub(super) static READ_SEQ: Scans =
    Scans { name: "readseq", summary: "read all records in key order", reader: &ReadAll { backward: false } };
pub(super) static READ_REVERSE: Scans =
    Scans { name: "readreverse", summary: "read all records against key order", reader: &ReadAll { backward: true } };

/// Scans in one direction.
pub(super) struct Scans {
    name: &'static str,
    summary: &'static str,
    reader: &'static ReadAll,
}

impl WorkloadDefinition for Scans {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn reader(&self) -> Option<Role> {
        Some(self.reader)
    }
}

/// Reads all records through a cursor.
struct ReadAll {
    backward: bool,
}

impl RoleDefinition for ReadAll {
    fn operations(&self, _spec: &WorkloadSpec) -> Vec<OpKind> {
        vec![OpKind::Scan]
    }

    fn needs(&self) -> Option<(u64, &'static str)> {
        Some(scan_capability(self.backward))
    }
}

impl<C: Clock + 'static> StartRole<C> for ReadAll {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let first = driver.stream().below(driver.workload.data.records);
        let (key, turnaround) = (driver.keys.blank(), Turnaround::new(driver.clock));
        Box::new(Scan { backward: self.backward, expected: None, key, first, turnaround })
    }
}

/// One client's scan. It begins at a random record, so that clients are apart.
struct Scan {
    backward: bool,
    /// The record that must come next; `None`: the first of a new round.
    expected: Option<u64>,
    key: Vec<u8>,
    first: u64,
    turnaround: Turnaround,
}

impl<C: Clock> Work<C> for Scan {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let Some(cursor) = ScanCursor::open(driver, self.backward) else { return };
        let clock = driver.clock;
        let mut seek_to = Some(self.expected.unwrap_or(self.first));
        let mut end = clock.now();
        for _ in 0..limit.operations {
            if let Some(id) = seek_to {
                driver.keys.write(id, &mut self.key);
            }
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the answer is checked before the next call.
            let (status, record) = unsafe { cursor.go(seek_to.map(|_| self.key.as_slice())) };
            end = clock.now();
            ops.latency.record(end.saturating_sub(start));
            ops.until.store(end, Ordering::Relaxed);
            let expected = seek_to.or(self.expected);
            match self.check(driver, status, expected, record) {
                ScanStep::Step => seek_to = None,
                ScanStep::NewRound => seek_to = Some(self.round_start(driver)),
                ScanStep::Stop => break,
            }
            if end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

impl Scan {
    fn round_start<C>(&self, driver: &Driver<'_, C>) -> u64 {
        if self.backward { driver.workload.data.records - 1 } else { 0 }
    }

    /// Holds an answer against what must come, and says what to do next.
    #[inline(always)]
    fn check<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        status: abi::Status,
        expected: Option<u64>,
        record: Option<(&[u8], &[u8])>,
    ) -> ScanStep {
        let records = driver.workload.data.records;
        match (record, expected) {
            (Some((key, value)), Some(id)) => {
                if driver.keys.read(key) == Some(id) {
                    if driver.verifies() && !driver.values.is_right(id, driver.ledger.min_version(id), value) {
                        driver.wrong_value(id, driver.ledger.min_version(id), value);
                    }
                    self.expected = after(id, self.backward, records);
                    ScanStep::Step
                } else {
                    self.out_of_order(driver, id, key)
                }
            }
            (Some((key, _)), None) => self.out_of_order(driver, records, key),
            (None, None) if status == abi::MISS => ScanStep::NewRound,
            (None, expected) => match driver.ended_early(status, expected.unwrap_or(0)) {
                true => ScanStep::NewRound,
                false => ScanStep::Stop,
            },
        }
    }

    /// Another record came than `expected`: the scan goes on from there.
    #[cold]
    fn out_of_order<C: Clock>(&mut self, driver: &Driver<'_, C>, expected: u64, key: &[u8]) -> ScanStep {
        let Some(id) = driver.out_of_order(self.backward, expected, key) else { return ScanStep::NewRound };
        self.expected = after(id, self.backward, driver.workload.data.records);
        ScanStep::Step
    }
}

enum ScanStep {
    Step,
    NewRound,
    Stop,
}
