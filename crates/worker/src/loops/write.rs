//! Writes: loading every record once, or updating random ones; single or in batches.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_dataset::{Permutation, Role, Stream, subseed};

use super::pacer::Pacer;
use super::{Driver, Limit, NOTHING, Work};
use crate::clock::Clock;
use crate::shared::{OpStats, bump};

/// One writer.
pub(super) struct Write {
    next: Next,
    /// Room for the keys and the values of a batch.
    keys: Vec<u8>,
    values: Vec<u8>,
    steps: Vec<abi::BatchEntry>,
    /// Id and version of each step.
    written: Vec<(u64, u64)>,
    version: u64,
    pacer: Option<Pacer>,
}

/// What a writer writes next.
enum Next {
    /// A random one of the ids that are this writer's own: those that leave `index` when divided by `writers`. So each
    /// id's versions rise, whoever reads them.
    Update { stream: Stream, records: u64, writers: u64, index: u64 },
    /// The ids at these places of the order in which records are loaded.
    Load { order: Option<Permutation>, places: std::ops::Range<u64> },
}

impl Next {
    fn new<C>(role: Role, stream: Stream, driver: &Driver<'_, C>) -> Next {
        let records = driver.workload.data.records;
        let (writers, index) = (u64::from(driver.workload.writers), driver.index);
        match role {
            Role::Load { random } => {
                let share = |n| (u128::from(records) * u128::from(n) / u128::from(writers)) as u64;
                // One order for all writers, whatever their number.
                let order = random.then(|| Permutation::new(records, subseed(driver.workload.seed, &[0x6f72_6465])));
                Next::Load { order, places: share(index)..share(index + 1) }
            }
            _ => Next::Update { stream, records, writers, index },
        }
    }

    #[inline(always)]
    fn id(&mut self) -> Option<u64> {
        match self {
            Next::Load { order: None, places } => places.next(),
            Next::Load { order: Some(order), places } => places.next().map(|place| order.at(place)),
            Next::Update { stream, records, writers: 1, .. } => Some(stream.below(*records)),
            Next::Update { stream, records, writers, index } => {
                let own = (*records + *writers - 1 - *index) / *writers;
                (own > 0).then(|| stream.below(own) * *writers + *index)
            }
        }
    }

    fn loads(&self) -> bool {
        matches!(self, Next::Load { .. })
    }
}

impl Write {
    pub(super) fn new<C: Clock>(role: Role, stream: Stream, driver: &Driver<'_, C>) -> Self {
        let batch = driver.workload.batch as usize;
        let interval_ns = driver
            .workload
            .write_rate
            .map(|rate| 1e9 * f64::from(driver.workload.writers) * driver.workload.batch as f64 / rate);
        Write {
            next: Next::new(role, stream, driver),
            keys: driver.keys.blank().repeat(batch),
            values: vec![0; driver.values.size() * batch],
            steps: vec![abi::BatchEntry { kind: abi::PUT, reserved: 0, key: NOTHING, value: NOTHING }; batch],
            written: vec![(0, 0); batch],
            version: driver.stats.version.load(Ordering::Relaxed),
            pacer: interval_ns.map(|ns| Pacer::new(ns, driver.control.ticks_per_ns(), driver.clock)),
        }
    }

    /// Prepares up to a batch of writes; fewer at the end of a load.
    #[inline(always)]
    fn prepare<C: Clock>(&mut self, driver: &Driver<'_, C>) -> usize {
        let (key_size, value_size) = (driver.keys.size(), driver.values.size());
        let mut count = 0;
        while count < self.steps.len() {
            let Some(id) = self.next.id() else { break };
            // What a load writes is version 0, the version that nobody need have acknowledged.
            if !self.next.loads() {
                self.version += 1;
            }
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

impl<C: Clock> Work<C> for Write {
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) {
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
