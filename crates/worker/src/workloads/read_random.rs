//! `readrandom` and `readwhilewriting`: random records are read.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::{WorkloadDefinition, concerns, lacks_snapshots};
use super::overwrite::Update;
use super::parameter::Parameter;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, Role, RoleDefinition};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, Limit, NOTHING, Work, lent};
use crate::shared::{ClientOps, OpStats};

pub(super) static READ_RANDOM: ReadRandom =
    ReadRandom { name: "readrandom", summary: "read random records", writer: None };
pub(super) static READ_WHILE_WRITING: ReadRandom = ReadRandom {
    name: "readwhilewriting",
    summary: "read random records while one writer updates random records",
    writer: Some(&Update),
};

/// Reads, with or without a writer beside them.
pub(super) struct ReadRandom {
    name: &'static str,
    summary: &'static str,
    writer: Option<Role>,
}

impl WorkloadDefinition for ReadRandom {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn reader(&self) -> Option<Role> {
        Some(&GetRandom)
    }

    fn writer(&self) -> Option<Role> {
        self.writer
    }

    /// In a transaction a read need not see what a writer beside it has written since.
    fn accepts(&self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::ReadsPerTransaction => self.writer.is_none(),
            other => concerns(other, [self.reader(), self.writer()]),
        }
    }

    fn lacks(&self, spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        lacks_snapshots(self.name, spec, capabilities)
    }
}

/// Gets random records.
struct GetRandom;

impl RoleDefinition for GetRandom {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Get]
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[Parameter::Distribution]
    }
}

impl DrawingRole for GetRandom {
    fn ids<C>(&self, driver: &Driver<'_, C>) -> u64 {
        driver.parameters.data.records
    }

    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let key = driver.keys.blank();
        let turnaround = Turnaround::new(driver.clock);
        match (driver.verifies(), driver.may_have_updates()) {
            (false, _) => Box::new(GetLoop::<K, false, false> { choice, key, turnaround }),
            (true, false) => Box::new(GetLoop::<K, true, false> { choice, key, turnaround }),
            (true, true) => Box::new(GetLoop::<K, true, true> { choice, key, turnaround }),
        }
    }
}

/// `FULL`: values are verified. `LEDGER`: they may have been updated, so the ledger says how new they must be.
struct GetLoop<K, const FULL: bool, const LEDGER: bool> {
    choice: K,
    key: Vec<u8>,
    turnaround: Turnaround,
}

impl<C: Clock, K: KeyChoice, const FULL: bool, const LEDGER: bool> Work<C> for GetLoop<K, FULL, LEDGER> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let per_transaction = driver.parameters.reads_per_transaction;
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

impl<K: KeyChoice, const FULL: bool, const LEDGER: bool> GetLoop<K, FULL, LEDGER> {
    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, limit: Limit<'_>, operations: u64) {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return };
        let (keys, values, ledger, clock) = (driver.keys, driver.values, driver.ledger, driver.clock);
        let (key, recall) = (self.key.as_mut_slice(), driver.recall);
        recall.will_ask_with(key);
        let mut choice = self.choice.clone();
        let mut turnaround = self.turnaround;
        let mut end = clock.now();
        for _ in 0..operations {
            let id = choice.next();
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
        (self.choice, self.turnaround) = (choice, turnaround);
        ops.until.store(end, Ordering::Relaxed);
    }
}
