//! Writing records: single or in batches, as fast as the engine takes them or at a given rate.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_results::OpKind;

use super::pacer::Pacer;
use super::{Driver, Limit, NOTHING, Work};
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
    /// 0, the version that nobody need have acknowledged.
    Loaded,
    /// One more each time.
    Rising,
}

/// One writer of the records whose ids `I` gives.
pub(crate) struct BatchWriter<I> {
    ids: I,
    /// Buffers for the keys and the values of a batch.
    keys: Vec<u8>,
    values: Vec<u8>,
    steps: Vec<abi::BatchEntry>,
    /// Id and version of each step.
    written: Vec<(u64, u64)>,
    version: u64,
    /// The step from one version to the next: 0 or 1.
    rise: u64,
    pacer: Option<Pacer>,
}

impl<I: Iterator<Item = u64>> BatchWriter<I> {
    pub(crate) fn new<C: Clock>(ids: I, versions: Versions, driver: &Driver<'_, C>) -> Self {
        let batch = driver.parameters.batch as usize;
        let interval_ns = driver
            .parameters
            .write_rate
            .map(|rate| 1e9 * f64::from(driver.parameters.writers) * driver.parameters.batch as f64 / rate);
        BatchWriter {
            ids,
            keys: driver.keys.blank().repeat(batch),
            values: vec![0; driver.values.size() * batch],
            steps: vec![abi::BatchEntry { kind: abi::PUT, reserved: 0, key: NOTHING, value: NOTHING }; batch],
            written: vec![(0, 0); batch],
            version: driver.stats.version.load(Ordering::Relaxed),
            rise: u64::from(versions == Versions::Rising),
            pacer: interval_ns.map(|ns| Pacer::new(ns, driver.control.ticks_per_ns(), driver.clock)),
        }
    }

    /// Prepares up to a batch of writes; fewer at the end of a load.
    #[inline(always)]
    fn prepare<C: Clock>(&mut self, driver: &Driver<'_, C>) -> usize {
        let (key_size, value_size) = (driver.keys.size(), driver.values.size());
        let mut count = 0;
        while count < self.steps.len() {
            let Some(id) = self.ids.next() else { break };
            self.version += self.rise;
            let key = &mut self.keys[count * key_size..][..key_size];
            let value = &mut self.values[count * value_size..][..value_size];
            driver.keys.write(id, key);
            driver.values.write(id, self.version, value);
            self.written[count] = (id, self.version);
            self.steps[count].key = abi::Bytes { data: key.as_ptr().cast(), size: key_size };
            self.steps[count].value = abi::Bytes { data: value.as_ptr().cast(), size: value_size };
            count += 1;
        }
        driver.stats.version.store(self.version, Ordering::Relaxed);
        count
    }

    /// Writes what was prepared. The moments at which it began and ended, and how.
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
        let record_bytes = (driver.keys.size() + driver.values.size()) as u64;
        let is_over = |now| now >= limit.until.load(Ordering::Relaxed);
        if let Some(pacer) = &mut self.pacer {
            // What the warm-up left undone is not the measured part's to catch up with.
            pacer.restart(driver.clock);
        }
        for _ in 0..limit.operations {
            let due = match &mut self.pacer {
                None => None,
                Some(pacer) => match pacer.wait(driver.clock, is_over) {
                    Some(due) => Some(due),
                    None => break,
                },
            };
            let count = self.prepare(driver);
            if count == 0 {
                break;
            }
            let (start, end, status) = self.issue(driver, count, due);
            ops.latency.record(end.saturating_sub(start));
            ops.until.store(end, Ordering::Relaxed);
            if status == abi::OK {
                for &(id, version) in &self.written[..count] {
                    driver.ledger.acknowledge(id, version);
                }
                bump(&ops.records, count as u64);
                bump(&driver.stats.user_bytes, count as u64 * record_bytes);
            } else if !driver.engine_failed("writing", status) {
                break;
            }
            if is_over(end) {
                break;
            }
        }
    }
}
