//! `readseq` and `readreverse`: all records are read through a cursor, again and again.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::WorkloadDefinition;
use super::parameters::WorkloadParameters;
use super::role::{Role, RoleDefinition, StartRole};
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
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Scan]
    }

    fn needs(&self) -> Option<(u64, &'static str)> {
        Some(scan_capability(self.backward))
    }
}

impl<C: Clock + 'static> StartRole<C> for ReadAll {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let first = driver.stream().below(driver.parameters.data.records);
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
        let mut target = Target::Record(self.expected.unwrap_or(self.first));
        let mut end = clock.now();
        for _ in 0..limit.operations {
            if let Target::Record(id) = target {
                driver.keys.write(id, &mut self.key);
                self.expected = Some(id);
            }
            let start = self.turnaround.begin(clock, end);
            // SAFETY: the answer is checked before the next call.
            let (status, record) = unsafe {
                match target {
                    Target::Next => cursor.go(None),
                    Target::Record(_) => cursor.go(Some(&self.key)),
                    Target::First => cursor.go_first(),
                }
            };
            end = clock.now();
            ops.latency.record(end.saturating_sub(start));
            ops.until.store(end, Ordering::Relaxed);
            match self.check(driver, status, self.expected, record) {
                ScanStep::Go(next) => target = next,
                ScanStep::NewRound => target = self.new_round(driver),
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
        if self.backward { driver.parameters.data.records - 1 } else { 0 }
    }

    /// A round begins where the engine says that its records begin: one before them that nobody wrote is seen.
    #[cold]
    fn new_round<C>(&mut self, driver: &Driver<'_, C>) -> Target {
        self.expected = Some(self.round_start(driver));
        Target::First
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
        let records = driver.parameters.data.records;
        match (record, expected) {
            (Some((key, value)), Some(id)) => {
                if driver.keys.read(key) == Some(id) {
                    if driver.verifies() && !driver.values.is_right(id, driver.ledger.min_version(id), value) {
                        driver.wrong_value(id, driver.ledger.min_version(id), value);
                    }
                    self.expected = after(id, self.backward, records);
                    ScanStep::Go(Target::Next)
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
        let Some(id) = driver.out_of_order(self.backward, expected, key) else {
            return ScanStep::Go(Target::Record(self.round_start(driver)));
        };
        self.expected = after(id, self.backward, driver.parameters.data.records);
        ScanStep::Go(Target::Next)
    }
}

/// Where a cursor goes.
#[derive(Clone, Copy)]
enum Target {
    /// To the record after the present one.
    Next,
    /// To this one.
    Record(u64),
    /// To the first of all.
    First,
}

enum ScanStep {
    Go(Target),
    NewRound,
    Stop,
}
