//! Gets of random records.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_dataset::Stream;

use super::{Driver, Limit, NOTHING, Work, lent};
use crate::clock::{Clock, Turnaround};
use crate::shared::OpStats;

/// `FULL`: values are verified. `LEDGER`: they may have been updated, so the ledger says how new they must be.
struct Get<const FULL: bool, const LEDGER: bool> {
    stream: Stream,
    key: Vec<u8>,
    turnaround: Turnaround,
}

pub(super) fn work<C: Clock + 'static>(stream: Stream, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
    let key = driver.keys.blank();
    let turnaround = Turnaround::new(driver.clock);
    match (driver.verifies(), driver.may_have_updates()) {
        (false, _) => Box::new(Get::<false, false> { stream, key, turnaround }),
        (true, false) => Box::new(Get::<true, false> { stream, key, turnaround }),
        (true, true) => Box::new(Get::<true, true> { stream, key, turnaround }),
    }
}

impl<C: Clock, const FULL: bool, const LEDGER: bool> Work<C> for Get<FULL, LEDGER> {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let per_transaction = driver.workload.reads_per_transaction;
        if per_transaction == 1 {
            self.read(driver, ops, limit, limit.operations);
            return;
        }
        let mut left = limit.operations;
        while left > 0 && !driver.is_over(limit) {
            if let Err(error) = driver.session.begin(abi::READ_ONLY) {
                driver.engine_failed("beginning a transaction", error.status);
                return;
            }
            let now = left.min(per_transaction);
            self.read(driver, ops, limit, now);
            left -= now;
            if let Err(error) = driver.session.commit() {
                driver.engine_failed("ending a transaction", error.status);
                return;
            }
        }
    }
}

impl<C: Clock> Driver<'_, C> {
    fn is_over(&self, limit: Limit<'_>) -> bool {
        self.clock.now() >= limit.until.load(Ordering::Relaxed)
    }
}

impl<const FULL: bool, const LEDGER: bool> Get<FULL, LEDGER> {
    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, limit: Limit<'_>, operations: u64) {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return };
        let records = driver.workload.data.records;
        let (keys, values, ledger, clock) = (driver.keys, driver.values, driver.ledger, driver.clock);
        let (key, recall) = (self.key.as_mut_slice(), driver.recall);
        recall.will_ask_with(key);
        let mut stream = self.stream.clone();
        let mut turnaround = self.turnaround;
        let mut end = clock.now();
        for _ in 0..operations {
            let id = stream.below(records);
            keys.write(id, key);
            recall.will_ask_for(id);
            let min_version = if LEDGER { ledger.min_version(id) } else { 0 };
            let mut value = NOTHING;
            let start = turnaround.begin(clock, end);
            // SAFETY: the session is open and this thread's own; key and value live through the call.
            let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
            end = clock.now();
            ops.latency.record(end.saturating_sub(start));
            let right = status == abi::OK && {
                // SAFETY: the engine lent it in the call just made.
                !FULL || (value.size == values.size() && values.is_right(id, min_version, unsafe { lent(value) }))
            };
            if !right {
                // SAFETY: as above; a miss or an error lends nothing.
                let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
                if !driver.read_failed(id, min_version, status, value) {
                    break;
                }
                // What that took is not the next operation's.
                end = clock.now();
            }
            if end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
        (self.stream, self.turnaround) = (stream, turnaround);
        ops.until.store(end, Ordering::Relaxed);
    }
}
