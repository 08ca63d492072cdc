//! Gets of random records, one after the other.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;

use super::{Driver, Limit, NOTHING, lent};
use crate::arrival::BeginsOperations;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::shared::OpStats;

/// `FULL`: values are verified. `LEDGER`: they may have been updated, so the ledger says how new they must be.
pub(crate) struct GetLoop<K, A, const FULL: bool, const LEDGER: bool> {
    pub(crate) choice: K,
    pub(crate) arrival: A,
    key: Vec<u8>,
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool, const LEDGER: bool> GetLoop<K, A, FULL, LEDGER> {
    pub(crate) fn new<C>(choice: K, arrival: A, driver: &Driver<'_, C>) -> Self {
        GetLoop { choice, arrival, key: driver.keys.blank() }
    }

    /// Gets until the limit, where the operation before ended at `end`, ticks. When the last get ended, and whether the
    /// trial goes on.
    #[inline(always)]
    pub(crate) fn run<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        limit: Limit<'_>,
        mut end: u64,
    ) -> (u64, bool) {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return (end, false) };
        let (keys, values, ledger, clock) = (driver.keys, driver.values, driver.ledger, driver.clock);
        let (key, recall) = (self.key.as_mut_slice(), driver.recall);
        recall.will_ask_with(key);
        let mut choice = self.choice.clone();
        let mut arrival = self.arrival.clone();
        let mut goes_on = true;
        for _ in 0..limit.operations {
            let id = choice.next();
            keys.write(id, key);
            recall.will_ask_for(id);
            let min_version = if LEDGER { ledger.min_version(id) } else { 0 };
            let mut value = NOTHING;
            let Some(start) = arrival.begin(clock, end, limit.until, &ops.pacing) else {
                goes_on = false;
                break;
            };
            // SAFETY: the session is open and this thread's own; key and value live through the call.
            let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
            end = clock.now();
            ops.latency.record(end.saturating_sub(start));
            let right = status == abi::OK && {
                // SAFETY: the engine lent it in the call just made.
                !FULL || (value.size == values.size() && values.is_right(id, min_version, unsafe { lent(value) }))
            };
            // SAFETY: as above.
            if !right && !unsafe { driver.is_right_varied(id, min_version, status, value) } {
                // SAFETY: as above; a miss or an error lends nothing.
                let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
                goes_on = driver.read_failed(id, min_version, status, value);
                if !goes_on {
                    break;
                }
                // The time of the report is not the next operation's.
                end = clock.now();
            }
            if end >= limit.until.load(Ordering::Relaxed) {
                goes_on = false;
                break;
            }
        }
        (self.choice, self.arrival) = (choice, arrival);
        (end, goes_on)
    }
}
