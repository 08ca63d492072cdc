//! Writing records: single or in batches, as fast as the engine takes them or at a given rate.

use std::sync::atomic::Ordering;

use kvdyno_dataset::RecordMaker;
use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::read_backs::ReadBacks;
use super::{Driver, Limit, Work};
use crate::arrival::{BeginsOperations, Pacer, pacer};
use crate::clock::Clock;
use crate::shared::{ClientOps, bump};
use crate::workloads::parameters::WorkloadParameters;

/// The kind of a writer's operations.
pub(crate) fn write_kind(spec: &WorkloadParameters) -> OpKind {
    if spec.batch == 1 { OpKind::Put } else { OpKind::Batch }
}

/// The versions that a writer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// 0, the version that need not have been acknowledged.
    Loaded,
    /// One more each time.
    Rising,
}

/// One writer of the records whose ids `I` gives.
pub(crate) struct BatchWriter<I> {
    ids: I,
    /// The writes of a batch. Their keys and values lie in the two buffers below, always at the same addresses.
    steps: Vec<abi::BatchEntry>,
    _keys: Vec<u8>,
    _values: Vec<u8>,
    /// The ids of the batch.
    written: Vec<u64>,
    version: u64,
    /// The step from one version to the next: 0 or 1.
    rise: u64,
    pacer: Option<Pacer>,
    read_backs: ReadBacks,
}

impl<I: Iterator<Item = u64>> BatchWriter<I> {
    pub(crate) fn new<C: Clock>(ids: I, versions: Versions, driver: &Driver<'_, C>) -> Self {
        let batch = driver.parameters.batch as usize;
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
        BatchWriter {
            ids,
            steps: steps.collect(),
            _keys: keys,
            _values: values,
            written: vec![0; batch],
            version: driver.stats.version.load(Ordering::Relaxed),
            rise: u64::from(versions == Versions::Rising),
            pacer: pacer(driver),
            read_backs: match versions {
                Versions::Loaded => ReadBacks::none(),
                Versions::Rising => ReadBacks::new(batch as f64, driver),
            },
        }
    }

    /// Prepares up to a batch of writes; fewer at the end of a load.
    #[inline(always)]
    fn prepare<C: Clock>(&mut self, driver: &Driver<'_, C>, made: &RecordMaker<'_>) -> usize {
        let (mut version, mut count) = (self.version, 0);
        for (step, written) in self.steps.iter().zip(&mut self.written) {
            let Some(id) = self.ids.next() else { break };
            version += self.rise;
            // SAFETY: these are the buffers' bytes, of the right sizes; nobody else has them but the engine during a
            // call.
            unsafe { made.write(id, version, step.key.data.cast_mut().cast(), step.value.data.cast_mut().cast()) };
            *written = id;
            count += 1;
        }
        self.version = version;
        driver.stats.version.store(version, Ordering::Relaxed);
        if driver.values.is_varied() {
            self.cut(driver, count);
        }
        count
    }

    /// Cuts the values of the batch to their sizes.
    #[inline(never)]
    fn cut<C>(&mut self, driver: &Driver<'_, C>, count: usize) {
        let mut version = self.version - self.rise * count as u64;
        for (step, &id) in self.steps.iter_mut().zip(&self.written[..count]) {
            version += self.rise;
            step.value.size = driver.values.size_of(id, version);
        }
    }

    /// Bytes of keys and values of a batch.
    #[inline(always)]
    fn bytes<C>(&self, driver: &Driver<'_, C>, count: usize) -> u64 {
        match driver.values.is_varied() {
            true => self.steps[..count].iter().map(|step| (step.key.size + step.value.size) as u64).sum(),
            false => count as u64 * (driver.keys.size() + driver.values.size()) as u64,
        }
    }

    /// Writes down that the `count` of the batch are acknowledged.
    #[inline(always)]
    fn acknowledge<C: Clock>(&self, driver: &Driver<'_, C>, count: usize) {
        let (ledger, rise) = (driver.ledger, self.rise);
        let mut version = self.version - rise * count as u64;
        for &id in &self.written[..count] {
            version += rise;
            ledger.acknowledge(id, version);
        }
    }

    /// Reads back what is due after a batch. Returns whether the trial goes on.
    #[cold]
    #[inline(never)]
    fn look_back<C: Clock>(&mut self, driver: &Driver<'_, C>, count: usize) -> bool {
        self.read_backs.look(driver, self.written[count - 1], self.version, |_| false)
    }

    /// Writes the prepared batch. Returns when the call began and ended, ticks, and its status.
    #[inline(always)]
    fn issue<C: Clock>(&self, driver: &Driver<'_, C>, count: usize, due: Option<u64>) -> (u64, u64, abi::Status) {
        let start = due.unwrap_or_else(|| driver.clock.now());
        // SAFETY: keys and values are this writer's own.
        let status = unsafe { driver.write(&self.steps, count) };
        (start, driver.clock.now(), status)
    }
}

impl<C: Clock, I: Iterator<Item = u64>> Work<C> for BatchWriter<I> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        let made = RecordMaker::new(driver.keys, driver.values);
        let is_over = |now| now >= limit.until.load(Ordering::Relaxed);
        if let Some(pacer) = &mut self.pacer {
            BeginsOperations::resume(pacer, driver.clock, driver.ordered_interval_ns());
        }
        for _ in 0..limit.operations {
            let due = match &mut self.pacer {
                None => None,
                Some(pacer) => match pacer.wait(driver.clock, limit.until, &ops.pacing) {
                    Some(due) => Some(due),
                    None => break,
                },
            };
            let count = self.prepare(driver, &made);
            if count == 0 {
                break;
            }
            let (start, end, status) = self.issue(driver, count, due);
            ops.latency.record(end.saturating_sub(start));
            ops.until.store(end, Ordering::Relaxed);
            if status == abi::OK {
                self.acknowledge(driver, count);
                bump(&ops.records, count as u64);
                bump(&driver.stats.user_bytes, self.bytes(driver, count));
                if self.read_backs.is_due(count as u64) && !self.look_back(driver, count) {
                    break;
                }
            } else if !driver.engine_failed("writing", status) {
                break;
            }
            if is_over(end) {
                break;
            }
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.pause(driver.clock, &ops.pacing);
        }
    }
}
