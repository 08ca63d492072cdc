//! Several records in one call: puts and inserts as batches, gets as multi-gets.

use std::sync::atomic::Ordering;

use kvdyno_dataset::RecordMaker;
use kvdyno_engine::abi;

use super::mixing::{GoesOn, Mixing};
use super::removing::{Answered, Before};
use crate::arrival::BeginsOperations;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, NOTHING, lent};
use crate::shared::{OpStats, bump};
use crate::workloads::parameters::WorkloadParameters;

/// The records of a call.
pub(super) struct Several {
    /// The writes of a batch. Their keys and values lie in the two buffers below, always at the same addresses.
    steps: Vec<abi::BatchEntry>,
    _keys: Vec<u8>,
    _values: Vec<u8>,
    /// The ids of the batch, each with its version.
    written: Vec<(u64, u64)>,
    /// The ids of a multi-get, and what the ledger said of them before.
    requested: Vec<(u64, Before)>,
    spelled: Vec<u8>,
    keys: Vec<abi::Bytes>,
    values: Vec<abi::Bytes>,
    statuses: Vec<abi::Status>,
}

/// Records that are given to `write` at once, where that is more than one.
pub(super) fn batch_of(parameters: &WorkloadParameters) -> usize {
    if parameters.batch > 1 { parameters.batch as usize } else { 0 }
}

/// Records that are asked for at once, where that is more than one.
pub(super) fn multiget_of(parameters: &WorkloadParameters) -> usize {
    if parameters.reads.per_batch > 1 { parameters.reads.per_batch as usize } else { 0 }
}

impl Several {
    pub(super) fn new<C>(driver: &Driver<'_, C>) -> Several {
        let (batch, gets) = (batch_of(driver.parameters), multiget_of(driver.parameters));
        let (mut keys, mut values) = (driver.keys.blank().repeat(batch), driver.values.blank(batch));
        let part = |buffer: &mut [u8], size: usize, index: usize| abi::Bytes {
            data: buffer[index * size..][..size].as_mut_ptr().cast_const().cast(),
            size,
        };
        let steps = (0..batch).map(|index| abi::BatchEntry {
            kind: abi::PUT,
            reserved: 0,
            key: part(&mut keys, driver.keys.size(), index),
            value: part(&mut values, driver.values.largest(), index),
        });
        Several {
            steps: steps.collect(),
            _keys: keys,
            _values: values,
            written: vec![(0, 0); batch],
            requested: vec![(0, Before { was_deleted: false, min_version: 0 }); gets],
            spelled: driver.keys.blank().repeat(gets),
            keys: vec![NOTHING; gets],
            values: vec![NOTHING; gets],
            statuses: vec![abi::ERROR; gets],
        }
    }

    /// Whether puts and inserts are batches.
    pub(super) fn writes(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Whether gets are multi-gets.
    pub(super) fn gets(&self) -> bool {
        !self.requested.is_empty()
    }
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    /// Updates several records that are this client's own.
    pub(super) fn put_several<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        for step in 0..self.several.steps.len() {
            let drawn = self.gets.choice.next();
            let id = self.own(driver, drawn);
            self.make_step(driver, step, id);
        }
        self.write_several(driver, ops, index).1
    }

    /// Inserts several records, which follow each other in key order.
    pub(super) fn insert_several<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let first = self.inserts.next(driver);
        let count = self.several.steps.len();
        (0..count).for_each(|step| self.make_step(driver, step, first + step as u64));
        let (acknowledged, goes_on) = self.write_several(driver, ops, index);
        if acknowledged {
            self.inserts.several_acknowledged(driver, count as u64);
            self.gets.choice.follow(self.inserts.there());
        }
        goes_on
    }

    /// Makes the record `id`, at the next version, as a step of the batch.
    #[inline(always)]
    fn make_step<C>(&mut self, driver: &Driver<'_, C>, step: usize, id: u64) {
        self.outrun(driver.ledger.min_version(id));
        let version = self.next_version(driver);
        let made = RecordMaker::new(driver.keys, driver.values);
        let abi::BatchEntry { key, value, .. } = &mut self.several.steps[step];
        // SAFETY: these are the buffers' bytes, with room for the largest record; nobody else has them but the engine
        // during a call.
        value.size = unsafe { made.write(id, version, key.data.cast_mut().cast(), value.data.cast_mut().cast()) };
        self.several.written[step] = (id, version);
    }

    /// Writes the batch that was made. Returns whether that was acknowledged, and whether the trial goes on.
    fn write_several<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> (bool, GoesOn) {
        let start = self.begin(driver, index);
        let steps = &self.several.steps;
        // SAFETY: keys and values are this client's own.
        let status = unsafe { driver.write(steps, steps.len()) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        if status != abi::OK {
            return (false, driver.engine_failed("writing a batch", status));
        }
        self.several.written.iter().for_each(|&(id, version)| driver.ledger.acknowledge(id, version));
        bump(&ops.records, steps.len() as u64);
        let bytes: usize = steps.iter().map(|step| step.key.size + step.value.size).sum();
        bump(&driver.stats.user_bytes, bytes as u64);
        let (count, last) = (steps.len() as u64, self.several.written.last().map(|written| written.0));
        (true, last.is_none_or(|id| self.reads_back(driver, id, count)))
    }

    /// Reads several records that are there, or may be.
    pub(super) fn get_several<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let (table, session) = driver.session.raw();
        let Some(multi_get) = table.multi_get else { return false };
        for nth in 0..self.several.requested.len() {
            let id = self.draw();
            // The deletion first: with an older version none is believed that a newer one ended.
            let was_deleted = driver.ledger.is_deleted(id);
            let min_version = driver.ledger.min_version(id);
            self.several.requested[nth] = (id, Before { was_deleted, min_version });
            let size = driver.keys.size();
            let key = &mut self.several.spelled[nth * size..][..size];
            driver.keys.write(id, key);
            self.several.keys[nth] = abi::Bytes { data: key.as_ptr().cast(), size };
        }
        let Several { requested, keys, values, statuses, .. } = &mut self.several;
        let start = if A::IS_OPEN { self.due } else { self.turnarounds[index].begin(driver.clock, self.end) };
        // SAFETY: the session is open and this thread's own; all have as many elements.
        let status =
            unsafe { multi_get(session, keys.as_ptr(), keys.len(), values.as_mut_ptr(), statuses.as_mut_ptr()) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        bump(&ops.records, requested.len() as u64);
        let goes_on = match status {
            abi::OK => self.judge_several(driver),
            status => driver.engine_failed("reading several records", status),
        };
        // The checks are not in the latency of what follows.
        self.end = driver.clock.now();
        ops.until.store(self.end, Ordering::Relaxed);
        goes_on
    }

    /// Holds each answer of a multi-get against what had to come.
    fn judge_several<C: Clock>(&self, driver: &Driver<'_, C>) -> GoesOn {
        let Several { requested, values, statuses, .. } = &self.several;
        requested.iter().zip(values).zip(statuses).all(|((&(id, before), &value), &status)| {
            let answered = self.judge(driver, id, before, status, || {
                // SAFETY: the engine lent it in the call just made.
                let value = unsafe { lent(value) };
                match !FULL || driver.values.is_right(id, before.min_version, value) {
                    true => Answered::Right,
                    false => Answered::Wrong { goes_on: driver.read_failed(id, before.min_version, status, value) },
                }
            });
            !matches!(answered, Answered::Wrong { goes_on: false })
        })
    }
}
