//! `multireadrandom`: several random records are read in one call, or, where an engine has no such call, one after the
//! other. A batch is one operation.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use kvdyno_results::OpKind;

use super::counts::TrialCounts;
use super::definition::{WorkloadDefinition, WorkloadProfile, can};
use super::load::LoadDefinition;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, RoleDefinition};
use crate::arrival::{BeginsOperations, ClosedLoop, pacer};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, Limit, NOTHING, Work, lent};
use crate::shared::{ClientOps, OpStats, bump};

pub(super) static MULTI_READ_RANDOM: MultiReadRandom = MultiReadRandom(WorkloadProfile {
    reader: Some(&GetSeveral),
    ..WorkloadProfile::new(WorkloadName::MultiReadRandom, "read random records, several in each call")
});

/// Batches of reads.
pub(super) struct MultiReadRandom(WorkloadProfile);

impl LoadDefinition for MultiReadRandom {}

impl WorkloadDefinition for MultiReadRandom {
    fn profile(&self) -> &WorkloadProfile {
        &self.0
    }

    fn notes(&self, counts: &TrialCounts<'_>) -> Vec<String> {
        let note = "the engine has no multi-get: the records of a batch were read one after the other";
        let emulated = !can(counts.capabilities, abi::CAN_MULTI_GET);
        emulated.then(|| note.to_owned()).into_iter().collect()
    }
}

/// Gets random records, several in each call.
struct GetSeveral;

impl RoleDefinition for GetSeveral {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::MultiGet]
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::KeysPerMultiget, RunKey::Distribution, RunKey::ReadRate, RunKey::Arrival]
    }
}

/// The common part of both ways.
struct Batches<K, A> {
    choice: K,
    arrival: A,
    /// Ids of a batch, and how new their values must be.
    requested: Vec<(u64, u64)>,
    /// When each batch begins.
    turnaround: Turnaround,
}

/// By the engine's own call.
struct MultiGet<K, A> {
    batches: Batches<K, A>,
    call: abi::MultiGetFn,
    spelled: Vec<u8>,
    keys: Vec<abi::Bytes>,
    values: Vec<abi::Bytes>,
    statuses: Vec<abi::Status>,
}

/// By its `get`.
struct Gets<K, A> {
    batches: Batches<K, A>,
    call: abi::GetFn,
    key: Vec<u8>,
}

impl DrawingRole for GetSeveral {
    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        match pacer(driver) {
            None => batches(choice, ClosedLoop(Turnaround::new(driver.clock)), driver),
            Some(pacer) => batches(choice, pacer, driver),
        }
    }
}

fn batches<C: Clock + 'static, K: KeyChoice, A: BeginsOperations>(
    choice: K,
    arrival: A,
    driver: &Driver<'_, C>,
) -> Box<dyn Work<C>> {
    let (table, _) = driver.session.raw();
    let size = driver.parameters.reads.per_batch as usize;
    let turnaround = Turnaround::new(driver.clock);
    let batches = Batches { choice, arrival, requested: vec![(0, 0); size], turnaround };
    match (can(table.capabilities, abi::CAN_MULTI_GET), table.multi_get, table.get) {
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
    fn run(&mut self, _driver: &mut Driver<'_, C>, _ops: &ClientOps, _limit: Limit<'_>) {}
}

impl<K: KeyChoice, A> Batches<K, A> {
    /// Draws the ids of a batch, and looks up how new their values must be.
    #[inline(always)]
    fn draw<C: Clock>(&mut self, driver: &Driver<'_, C>, has_updates: bool) {
        for requested in &mut self.requested {
            let id = self.choice.next();
            *requested = (id, if has_updates { driver.ledger.min_version(id) } else { 0 });
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

impl<C: Clock, K: KeyChoice, A: BeginsOperations> Work<C> for MultiGet<K, A> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let (_, session) = driver.session.raw();
        let (clock, has_updates) = (driver.clock, driver.may_have_updates());
        let size = self.keys.len();
        self.batches.arrival.resume(clock, driver.ordered_interval_ns());
        let mut end = clock.now();
        for _ in 0..limit.operations {
            self.batches.draw(driver, has_updates);
            let spelled = self.spelled.chunks_exact_mut(driver.keys.size());
            for ((key, bytes), (id, _)) in spelled.zip(&mut self.keys).zip(&self.batches.requested) {
                driver.keys.write(*id, key);
                *bytes = abi::Bytes { data: key.as_ptr().cast(), size: key.len() };
            }
            let Some(start) = self.batches.arrival.begin(clock, end, limit.until, &ops.pacing) else { break };
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
        self.batches.arrival.pause(clock, &ops.pacing);
    }
}

impl<K: KeyChoice, A> MultiGet<K, A> {
    /// False if the trial should end.
    #[inline(always)]
    fn all_right<C: Clock>(&self, driver: &Driver<'_, C>) -> bool {
        let answers = self.statuses.iter().zip(&self.values);
        self.batches
            .requested
            .iter()
            .zip(answers)
            .all(|(&requested, (&status, &value))| check(driver, requested, status, value))
    }
}

impl<C: Clock, K: KeyChoice, A: BeginsOperations> Work<C> for Gets<K, A> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let has_updates = driver.may_have_updates();
        driver.recall.will_ask_with(&self.key);
        self.batches.arrival.resume(driver.clock, driver.ordered_interval_ns());
        for _ in 0..limit.operations {
            self.batches.draw(driver, has_updates);
            let Some(late) = self.batches.arrival.late(driver.clock, limit.until, &ops.pacing) else { break };
            let (end, goes_on) = self.read(driver, ops, late);
            if !goes_on || end >= limit.until.load(Ordering::Relaxed) {
                break;
            }
        }
        self.batches.arrival.pause(driver.clock, &ops.pacing);
    }
}

impl<K: KeyChoice, A> Gets<K, A> {
    /// Reads a batch that has waited for `late` ticks; its latency is that and the calls', without the checks between
    /// them. When the last ended, and whether the trial should go on.
    #[inline(always)]
    fn read<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, late: u64) -> (u64, bool) {
        let ((_, session), clock) = (driver.session.raw(), driver.clock);
        let (mut taken, mut records, mut goes_on) = (late, 0, true);
        let mut end = clock.now();
        for &(id, min_version) in &self.batches.requested {
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
