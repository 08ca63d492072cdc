//! `fwdrange`, `revrange`, and both while one writer updates: a seek to a random record, and `seek_nexts` steps from
//! there. One range is one operation; its latency is that of its calls, without the driver's work between them.

use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use std::sync::atomic::Ordering;

use kvdyno_results::OpKind;

use super::definition::WorkloadProfile;
use super::overwrite::Update;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, RoleDefinition};
use crate::arrival::{BeginsOperations, ClosedLoop, pacer};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::cursor::{ScanCursor, scan_capability};
use crate::loops::range_reader::{NoTail, RangeReader, RangeTarget};
use crate::loops::{Driver, Limit, Work};
use crate::shared::ClientOps;

pub(super) static FWD_RANGE: WorkloadProfile = WorkloadProfile {
    reader: Some(&ReadRange { backward: false }),
    reads_in_order: true,
    ..WorkloadProfile::new(WorkloadName::FwdRange, "seek random records, each time read some that follow in key order")
};
pub(super) static REV_RANGE: WorkloadProfile = WorkloadProfile {
    reader: Some(&ReadRange { backward: true }),
    reads_in_order: true,
    ..WorkloadProfile::new(WorkloadName::RevRange, "seek random records, each time read some that precede in key order")
};
pub(super) static FWD_RANGE_WHILE_WRITING: WorkloadProfile = WorkloadProfile {
    name: WorkloadName::FwdRangeWhileWriting,
    summary: "fwdrange while one writer updates random records",
    writer: Some(&Update),
    ..FWD_RANGE
};
pub(super) static REV_RANGE_WHILE_WRITING: WorkloadProfile = WorkloadProfile {
    name: WorkloadName::RevRangeWhileWriting,
    summary: "revrange while one writer updates random records",
    writer: Some(&Update),
    ..REV_RANGE
};

/// Seeks random records, and reads some that follow.
struct ReadRange {
    backward: bool,
}

impl RoleDefinition for ReadRange {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Range]
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::SeekNexts, RunKey::SeekWithin, RunKey::Distribution, RunKey::ReadRate, RunKey::Arrival]
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
        let (backward, reader) = (self.backward, RangeReader::new(self.backward, driver));
        match pacer(driver) {
            None => {
                Box::new(RangeLoop { backward, choice, reader, arrival: ClosedLoop(Turnaround::new(driver.clock)) })
            }
            Some(arrival) => Box::new(RangeLoop { backward, choice, reader, arrival }),
        }
    }
}

/// One client's ranges.
struct RangeLoop<K, A> {
    backward: bool,
    choice: K,
    reader: RangeReader,
    arrival: A,
}

impl<C: Clock, K: KeyChoice, A: BeginsOperations> Work<C> for RangeLoop<K, A> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let Some(cursor) = ScanCursor::open(driver, self.backward) else { return };
        let tail = NoTail { backward: self.backward, records: driver.parameters.data.records };
        let length = driver.parameters.reads.seek_nexts as usize + 1;
        self.arrival.resume(driver.clock, driver.ordered_interval_ns());
        for _ in 0..limit.operations {
            let Some(begun) = self.arrival.late(driver.clock, limit.until, &ops.pacing) else { break };
            let target = RangeTarget { first: self.choice.next(), length, begun };
            let (end, goes_on) = self.reader.read(driver, ops, &cursor, target, &tail);
            if !goes_on || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
        self.arrival.pause(driver.clock, &ops.pacing);
    }
}
