//! Gets of several random records in one call, or, where an engine has no such call, one after the other. A batch is one
//! operation.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_dataset::Stream;

use super::{Driver, Limit, NOTHING, Work, lent};
use crate::clock::{Clock, Turnaround};
use crate::shared::{OpStats, bump};

/// What both ways need.
struct Batches {
    stream: Stream,
    /// Ids of a batch, and how new their values must be.
    asked: Vec<(u64, u64)>,
    turnaround: Turnaround,
}

/// By the engine's own call.
struct MultiGet {
    batches: Batches,
    call: abi::MultiGetFn,
    spelled: Vec<u8>,
    keys: Vec<abi::Bytes>,
    values: Vec<abi::Bytes>,
    statuses: Vec<abi::Status>,
}

/// By its `get`.
struct Gets {
    batches: Batches,
    call: abi::GetFn,
    key: Vec<u8>,
}

pub(super) fn work<C: Clock + 'static>(stream: Stream, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
    let (table, _) = driver.session.raw();
    let size = driver.workload.reads.per_batch as usize;
    let batches = Batches { stream, asked: vec![(0, 0); size], turnaround: Turnaround::new(driver.clock) };
    match (table.capabilities & abi::CAN_MULTI_GET != 0, table.multi_get, table.get) {
        (true, Some(call), _) => Box::new(MultiGet {
            batches,
            call,
            spelled: driver.keys.blank().repeat(size),
            keys: vec![NOTHING; size],
            values: vec![NOTHING; size],
            statuses: vec![abi::ERROR; size],
        }),
        (_, _, Some(call)) => Box::new(Gets { batches, call, key: driver.keys.blank() }),
        _ => Box::new(Nothing),
    }
}

/// For a table without `get`, which is refused when it is loaded.
struct Nothing;

impl<C: Clock> Work<C> for Nothing {
    fn run(&mut self, _driver: &mut Driver<'_, C>, _ops: &OpStats, _limit: Limit<'_>) {}
}

impl Batches {
    /// Draws the ids of a batch, and looks up how new their values must be.
    #[inline(always)]
    fn draw<C: Clock>(&mut self, driver: &Driver<'_, C>, has_updates: bool) {
        for asked in &mut self.asked {
            let id = self.stream.below(driver.workload.data.records);
            *asked = (id, if has_updates { driver.ledger.min_version(id) } else { 0 });
        }
    }
}

/// Holds one answer against what must come. False if the trial should end.
#[inline(always)]
fn check<C: Clock>(
    driver: &Driver<'_, C>,
    (id, min_version): (u64, u64),
    status: abi::Status,
    value: abi::Bytes,
) -> bool {
    // SAFETY: the engine lent it in the call just made; a miss or an error lends nothing.
    let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
    let right = status == abi::OK && (!driver.verifies() || driver.values.is_right(id, min_version, value));
    right || driver.read_failed(id, min_version, status, value)
}

impl<C: Clock> Work<C> for MultiGet {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let (_, session) = driver.session.raw();
        let (clock, has_updates) = (driver.clock, driver.may_have_updates());
        let size = self.keys.len();
        let mut end = clock.now();
        for _ in 0..limit.operations {
            self.batches.draw(driver, has_updates);
            let spelled = self.spelled.chunks_exact_mut(driver.keys.size());
            for ((key, bytes), (id, _)) in spelled.zip(&mut self.keys).zip(&self.batches.asked) {
                driver.keys.write(*id, key);
                *bytes = abi::Bytes { data: key.as_ptr().cast(), size: key.len() };
            }
            let start = self.batches.turnaround.begin(clock, end);
            // SAFETY: the session is open and this thread's own; keys, values and statuses have `size` elements each.
            let status = unsafe {
                (self.call)(session, self.keys.as_ptr(), size, self.values.as_mut_ptr(), self.statuses.as_mut_ptr())
            };
            end = clock.now();
            ops.latency.record(end.saturating_sub(start));
            ops.until.store(end, Ordering::Relaxed);
            let goes_on = match status {
                abi::OK => self.all_right(driver),
                status => driver.engine_failed("reading a batch", status),
            };
            bump(&ops.records, size as u64);
            if !goes_on || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

impl MultiGet {
    /// False if the trial should end.
    #[inline(always)]
    fn all_right<C: Clock>(&self, driver: &Driver<'_, C>) -> bool {
        let answers = self.statuses.iter().zip(&self.values);
        self.batches.asked.iter().zip(answers).all(|(&asked, (&status, &value))| check(driver, asked, status, value))
    }
}

impl<C: Clock> Work<C> for Gets {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let has_updates = driver.may_have_updates();
        driver.recall.will_ask_with(&self.key);
        for _ in 0..limit.operations {
            self.batches.draw(driver, has_updates);
            let (end, goes_on) = self.read(driver, ops);
            if !goes_on || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

impl Gets {
    /// Reads a batch; its latency is that of the calls, without the checks between them. When the last ended, and whether
    /// the trial should go on.
    #[inline(always)]
    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats) -> (u64, bool) {
        let ((_, session), clock) = (driver.session.raw(), driver.clock);
        let (mut taken, mut records, mut goes_on) = (0, 0, true);
        let mut end = clock.now();
        for &(id, min_version) in &self.batches.asked {
            driver.keys.write(id, &mut self.key);
            driver.recall.will_ask_for(id);
            let mut value = NOTHING;
            let start = self.batches.turnaround.begin(clock, end);
            // SAFETY: the session is open and this thread's own; key and value live through the call.
            let status = unsafe { (self.call)(session, self.key.as_ptr().cast(), self.key.len(), &mut value) };
            end = clock.now();
            taken += end.saturating_sub(start);
            records += 1;
            goes_on = check(driver, (id, min_version), status, value);
            if !goes_on {
                break;
            }
        }
        ops.latency.record(taken);
        bump(&ops.records, records);
        ops.until.store(end, Ordering::Relaxed);
        (end, goes_on)
    }
}
