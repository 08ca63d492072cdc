//! The loop of transactions.

use std::sync::atomic::Ordering;
use std::thread;

use kvdyno_engine::abi;

use super::own_commits::OwnCommits;
use super::{COMMITTED, CONFLICTS, RECORDS, ROLLED_BACK, SAMPLED, UNREPEATED};
use crate::arrival::BeginsOperations;
use crate::audit::choice::SummedIds;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, Limit, Work};
use crate::shared::{ClientOps, OpStats, bump};
use crate::workloads::transactions::{self, Ending, NEVER_COMMITTED, Tried, Wrote, read_version, write_version};

/// One transaction in this many reads its first record twice.
const LOOKS_TWICE: u64 = 8;
/// Before one transaction in this many, another on the same records is rolled back. The number is coprime to the above,
/// so that some transactions do both.
const ROLLS_BACK: u64 = 13;
/// Draws of a second record until the first one's neighbour is taken: a hot one comes again and again.
const MOST_DRAWS: usize = 8;

/// One client's transactions.
pub(super) struct Transferring<K, A> {
    choice: K,
    arrival: A,
    keys: [Vec<u8>; RECORDS as usize],
    value: Vec<u8>,
    summed: SummedIds,
    /// Its own commits, which its transactions must see.
    committed: OwnCommits,
    /// Transactions so far.
    serial: u64,
    /// The engine promises that what a transaction has read stays as it is.
    repeats: bool,
    /// When the last transaction ended.
    end: u64,
}

impl<K: KeyChoice, A: BeginsOperations> Transferring<K, A> {
    pub(super) fn new<C: Clock>(choice: K, arrival: A, driver: &Driver<'_, C>) -> Self {
        Transferring {
            choice,
            arrival,
            keys: [driver.keys.blank(), driver.keys.blank()],
            value: driver.values.blank(1),
            summed: SummedIds::of(driver.parameters.data.records),
            committed: OwnCommits::default(),
            serial: 0,
            repeats: driver.session.can(abi::READS_REPEAT),
            end: driver.clock.now(),
        }
    }
}

impl<C: Clock, K: KeyChoice, A: BeginsOperations> Work<C> for Transferring<K, A> {
    fn run(&mut self, driver: &mut Driver<'_, C>, [ops, ..]: &ClientOps, limit: Limit<'_>) {
        self.arrival.resume(driver.clock, driver.ordered_interval_ns());
        self.end = driver.clock.now();
        let mut left = limit.operations;
        while left > 0 && self.transfer(driver, ops, limit) && self.end < limit.until.load(Ordering::Relaxed) {
            left -= 1;
        }
        self.arrival.pause(driver.clock, &ops.pacing);
        ops.until.store(self.end, Ordering::Relaxed);
    }
}

impl<K: KeyChoice, A: BeginsOperations> Transferring<K, A> {
    /// One transaction, tried until it is committed. Returns whether the trial goes on.
    fn transfer<C: Clock>(&mut self, driver: &mut Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) -> bool {
        let ids = self.pair(driver.parameters.data.records);
        for (id, key) in ids.into_iter().zip(&mut self.keys) {
            driver.keys.write(id, key);
        }
        self.serial += 1;
        if self.serial.is_multiple_of(ROLLS_BACK) {
            match self.attempt(driver, ids, Ending::RollBack) {
                Tried::Done => bump(driver.stats.counter(ROLLED_BACK), 1),
                Tried::Conflict => bump(driver.stats.counter(CONFLICTS), 1),
                Tried::Failed { goes_on } => return goes_on,
            }
            self.end = driver.clock.now();
        }
        let Some(start) = self.arrival.begin(driver.clock, self.end, limit.until, &ops.pacing) else { return false };
        loop {
            match self.attempt(driver, ids, Ending::Commit) {
                Tried::Done => break,
                Tried::Conflict => {
                    bump(driver.stats.counter(CONFLICTS), 1);
                    // The holder of the record may wait for this very processor.
                    thread::yield_now();
                }
                Tried::Failed { goes_on } => {
                    self.end = driver.clock.now();
                    ops.latency.record(self.end.saturating_sub(start));
                    return goes_on;
                }
            }
            if driver.is_over(limit) {
                return false;
            }
        }
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        bump(driver.stats.counter(COMMITTED), 1);
        bump(driver.stats.counter(SAMPLED), ids.map(|id| u64::from(self.summed.has(id))).iter().sum());
        bump(&ops.records, RECORDS);
        true
    }

    /// Two records, each as likely as it is, that are not the same.
    fn pair(&mut self, records: u64) -> [u64; 2] {
        let first = self.choice.next();
        let second = (0..MOST_DRAWS).map(|_| self.choice.next()).find(|second| *second != first);
        [first, second.unwrap_or((first + 1) % records)]
    }

    /// Begins a transaction, does it, and ends it.
    fn attempt<C: Clock>(&mut self, driver: &Driver<'_, C>, ids: [u64; 2], ending: Ending) -> Tried {
        let mut versions = [0; RECORDS as usize];
        let tried = transactions::attempt(driver, ending, || self.within(driver, ids, ending, &mut versions));
        if matches!((&tried, ending), (Tried::Done, Ending::Commit)) {
            ids.into_iter().zip(versions).for_each(|(id, version)| self.committed.note(id, version + 1));
        }
        tried
    }

    /// The reads and writes of a transaction that is open; `versions` are those that it read.
    fn within<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ids: [u64; 2],
        ending: Ending,
        versions: &mut [u64; 2],
    ) -> Result<Wrote, Tried> {
        *versions = [self.read(driver, ids[0], 0)?, self.read(driver, ids[1], 1)?];
        if self.serial.is_multiple_of(LOOKS_TWICE) {
            let again = self.read(driver, ids[0], 0)?;
            if again != versions[0] {
                self.unrepeated(driver, ids[0], versions[0], again)?;
            }
        }
        let mut wrote = Wrote { newest: versions[0].max(versions[1]) + 1, bytes: 0 };
        for (index, version) in versions.iter().enumerate() {
            let version = if ending == Ending::Commit { version + 1 } else { NEVER_COMMITTED | self.serial };
            wrote.bytes += write_version(driver, ids[index], version, &self.keys[index], &mut self.value)?;
        }
        Ok(wrote)
    }

    /// The version of the record `id`, whose key is the `index`th.
    fn read<C: Clock>(&self, driver: &Driver<'_, C>, id: u64, index: usize) -> Result<u64, Tried> {
        read_version(driver, id, self.committed.version(id), &self.keys[index])
    }

    /// A record was another at the second look: wrong, if the engine promises better.
    #[cold]
    fn unrepeated<C>(&self, driver: &Driver<'_, C>, id: u64, first: u64, second: u64) -> Result<(), Tried> {
        if !self.repeats {
            bump(driver.stats.counter(UNREPEATED), 1);
            return Ok(());
        }
        let text = format!("record {id} had version {first}, and version {second} later in the same transaction");
        driver.control.first_failure(&text);
        bump(&driver.stats.wrong, 1);
        Err(Tried::Failed { goes_on: true })
    }
}
