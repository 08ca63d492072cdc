//! Existence of a record: asked for without its value, and the condition of a write.

use std::sync::atomic::Ordering;

use kvdyno_engine::abi;

use super::mixing::{GoesOn, Mixing, PRESENT};
use super::removing::{Answered, Before};
use crate::arrival::BeginsOperations;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::loops::Driver;
use crate::shared::{OpStats, bump};

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    #[inline(always)]
    pub(super) fn contains<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let id = self.draw();
        let (table, session) = driver.session.raw();
        let Some(contains) = table.contains else { return false };
        driver.keys.write(id, &mut self.key);
        // The deletion first: with an older version none is believed that a newer one ended.
        let was_deleted = driver.ledger.is_deleted(id);
        let before = Before { was_deleted, min_version: driver.ledger.min_version(id) };
        let start = self.begin(driver, index);
        // SAFETY: the session is open and this thread's own; the key lives through the call.
        let status = unsafe { contains(session, self.key.as_ptr().cast(), self.key.len()) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        match self.judge(driver, id, before, status, || Answered::Right) {
            Answered::Right => true,
            Answered::Wrong { goes_on } => {
                self.end = driver.clock.now();
                goes_on
            }
        }
    }

    #[inline(always)]
    pub(super) fn insert_if_absent<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let drawn = self.gets.choice.next();
        let id = self.own(driver, drawn);
        let (table, session) = driver.session.raw();
        let Some(insert) = table.insert_if_absent else { return false };
        self.outrun(driver.ledger.min_version(id));
        self.make(driver, id);
        // Only this client writes it.
        let was_deleted = driver.ledger.is_deleted(id);
        if self.deletes {
            driver.stats.changing.store(id + 1, Ordering::Relaxed);
        }
        let start = self.begin(driver, index);
        let (key, value, value_size) = (&self.key, &self.value, self.value_size);
        // SAFETY: the session is open and this thread's own; key and value live through the call.
        let status = unsafe { insert(session, key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value_size) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        match status {
            abi::OK => {
                self.acknowledge(driver, id, ops);
                if !was_deleted {
                    inserted_twice(driver, id);
                }
                self.reads_back(driver, id, 1)
            }
            abi::EXISTS => {
                driver.stats.changing.store(0, Ordering::Release);
                bump(driver.stats.counter(PRESENT), 1);
                if was_deleted {
                    driver.came_back(id);
                }
                true
            }
            status => driver.engine_failed("inserting if absent", status),
        }
    }
}

#[cold]
fn inserted_twice<C>(driver: &Driver<'_, C>, id: u64) {
    driver.control.first_failure(&format!("record {id} was inserted as if it had been absent, but it was there"));
    bump(&driver.stats.wrong, 1);
}
