//! `readrandom` and `readwhilewriting`: random records are read.

use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::definition::{WorkloadDefinition, WorkloadProfile, concerns, lacks_snapshots};
use super::load::LoadDefinition;
use super::overwrite::Update;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, RoleDefinition};
use super::workload_key::{WorkloadError, WorkloadKey};
use crate::arrival::{BeginsOperations, ClosedLoop, pacer};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::get_loop::GetLoop;
use crate::loops::{Driver, Limit, Work};
use crate::shared::{ClientOps, OpStats};

pub(super) static READ_RANDOM: ReadRandom = ReadRandom(WorkloadProfile {
    reader: Some(&GetRandom),
    ..WorkloadProfile::new(WorkloadName::ReadRandom, "read random records")
});
pub(super) static READ_WHILE_WRITING: ReadRandom = ReadRandom(WorkloadProfile {
    name: WorkloadName::ReadWhileWriting,
    summary: "read random records while one writer updates random records",
    writer: Some(&Update),
    ..READ_RANDOM.0
});

/// Reads, with or without a writer beside them.
pub(super) struct ReadRandom(WorkloadProfile);

impl LoadDefinition for ReadRandom {}

impl WorkloadDefinition for ReadRandom {
    fn profile(&self) -> &WorkloadProfile {
        &self.0
    }

    /// In a transaction a read need not see what a writer beside it has written since.
    fn takes(&self, key: WorkloadKey) -> bool {
        match key {
            WorkloadKey::Run(RunKey::ReadsPerTransaction) => self.0.writer.is_none(),
            other => concerns(other, &self.0),
        }
    }

    /// A transaction would stay open while its reader waits.
    fn check(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let alone = spec.read_rate.is_none() || spec.reads_per_transaction == 1;
        let expected = "1 where `read_rate` is given";
        WorkloadError::unless(alone, RunKey::ReadsPerTransaction, spec.reads_per_transaction, expected)
    }

    fn lacks(&self, spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        lacks_snapshots(self.0.name, spec, capabilities)
    }
}

/// Gets random records.
struct GetRandom;

impl RoleDefinition for GetRandom {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Get]
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::Distribution, RunKey::ReadRate, RunKey::Arrival]
    }
}

impl DrawingRole for GetRandom {
    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        match pacer(driver) {
            None => gets(choice, ClosedLoop(Turnaround::new(driver.clock)), driver),
            Some(pacer) => gets(choice, pacer, driver),
        }
    }
}

fn gets<C: Clock + 'static, K: KeyChoice, A: BeginsOperations>(
    choice: K,
    arrival: A,
    driver: &Driver<'_, C>,
) -> Box<dyn Work<C>> {
    match (driver.verifies(), driver.may_have_updates()) {
        (false, _) => Box::new(ReadLoop(GetLoop::<K, A, false, false>::new(choice, arrival, driver))),
        (true, false) => Box::new(ReadLoop(GetLoop::<K, A, true, false>::new(choice, arrival, driver))),
        (true, true) => Box::new(ReadLoop(GetLoop::<K, A, true, true>::new(choice, arrival, driver))),
    }
}

/// Gets of random records, alone or in transactions of several.
struct ReadLoop<K, A, const FULL: bool, const LEDGER: bool>(GetLoop<K, A, FULL, LEDGER>);

impl<C: Clock, K: KeyChoice, A: BeginsOperations, const FULL: bool, const LEDGER: bool> Work<C>
    for ReadLoop<K, A, FULL, LEDGER>
{
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        self.0.arrival.resume(driver.clock, driver.ordered_interval_ns());
        self.read_all(driver, ops, limit);
        self.0.arrival.pause(driver.clock, &ops.pacing);
    }
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool, const LEDGER: bool> ReadLoop<K, A, FULL, LEDGER> {
    fn read_all<C: Clock>(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let per_transaction = driver.parameters.reads_per_transaction;
        if per_transaction == 1 {
            self.read(driver, ops, limit);
            return;
        }
        let mut left = limit.operations;
        while left > 0 && !driver.is_over(limit) {
            if let Err(error) = driver.session.begin(abi::READ_ONLY) {
                driver.engine_failed("beginning a transaction", error.status);
                return;
            }
            let now = left.min(per_transaction);
            self.read(driver, ops, Limit { operations: now, ..limit });
            left -= now;
            if let Err(error) = driver.session.commit() {
                driver.engine_failed("ending a transaction", error.status);
                return;
            }
        }
    }

    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
        let (end, _) = self.0.run(driver, ops, limit, driver.clock.now());
        ops.until.store(end, Ordering::Relaxed);
    }
}
