//! Records that are deleted while others ask for them.
//!
//! A client that deletes a record says so in its statistics beforehand ([`ClientStats::changing`]), and afterwards
//! notes a version and the deletion in the ledger. A client that reads looks at the ledger before its read. An answer
//! that contradicts the ledger is wrong, unless the record was being changed: a client says so in its statistics, or
//! the ledger has changed since. The right answer is then unknown, and the record counts as unchecked.
//!
//! [`ClientStats::changing`]: crate::shared::ClientStats::changing

use std::ops::Range;
use std::sync::atomic::Ordering;

use kvdyno_engine::abi;

use super::mixing::{ABSENT, GoesOn, Mixing, UNCHECKED};
use crate::arrival::BeginsOperations;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::loops::cursor::{LentStep, ScanCursor};
use crate::loops::range_reader::{TailRecords, VersionsBefore};
use crate::loops::{Driver, NOTHING, lent};
use crate::shared::{OpStats, bump};
use crate::workloads::present::{Inserts, Takes};

/// The answer for a record that may be absent.
pub(super) enum Answered {
    /// The answer is the one that had to come, or one that could.
    Right,
    /// Otherwise; whether the trial goes on.
    Wrong { goes_on: GoesOn },
}

/// The ledger's word on a record before it was asked for.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub(super) was_deleted: bool,
    pub(super) min_version: u64,
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    /// The id of a record, drawn from those that are there: those that were taken are passed over.
    #[inline(always)]
    pub(super) fn draw(&mut self) -> u64 {
        let drawn = self.gets.choice.next();
        if self.takes_oldest { self.of_the_left(drawn) } else { drawn }
    }

    /// The id that `drawn` stands for among those that are left.
    fn of_the_left(&self, drawn: u64) -> u64 {
        let first = self.takes.left();
        let count = self.inserts.there().saturating_sub(first).max(1);
        let nth = if K::FOLLOWS { drawn.saturating_sub(first) } else { drawn };
        first + if nth < count { nth } else { nth % count }
    }

    #[inline(always)]
    pub(super) fn get_if_there<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let id = self.draw();
        driver.keys.write(id, &mut self.key);
        driver.recall.will_ask_for(id);
        let start = self.begin(driver, index);
        let answered = self.ask_if_there(driver, id);
        ops.latency.record(self.end.saturating_sub(start));
        match answered {
            Answered::Right => true,
            Answered::Wrong { goes_on } => {
                self.end = driver.clock.now();
                goes_on
            }
        }
    }

    /// Asks for `id`, whose key is spelled.
    #[inline(always)]
    pub(super) fn ask_if_there<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64) -> Answered {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return Answered::Wrong { goes_on: false } };
        // The deletion first: with an older version none is believed that a newer one ended.
        let was_deleted = driver.ledger.is_deleted(id);
        let min_version = driver.ledger.min_version(id);
        let mut value = NOTHING;
        // SAFETY: the session is open and this thread's own; key and value live through the call.
        let status = unsafe { get(session, self.key.as_ptr().cast(), self.key.len(), &mut value) };
        self.end = driver.clock.now();
        self.judge(driver, id, Before { was_deleted, min_version }, status, || {
            // SAFETY: the engine lent it in the call just made.
            let value = unsafe { lent(value) };
            match !FULL || driver.values.is_right(id, min_version, value) {
                true => Answered::Right,
                false => Answered::Wrong { goes_on: driver.read_failed(id, min_version, status, value) },
            }
        })
    }

    /// Compares whether `id` was there with whether it had to be. `hit` checks the answer of a hit.
    #[inline(always)]
    pub(super) fn judge<C: Clock>(
        &self,
        driver: &Driver<'_, C>,
        id: u64,
        Before { was_deleted, min_version }: Before,
        status: abi::Status,
        hit: impl FnOnce() -> Answered,
    ) -> Answered {
        match status {
            abi::OK if was_deleted && !self.may_differ(driver, id, was_deleted, min_version) => {
                driver.came_back(id);
                Answered::Wrong { goes_on: true }
            }
            abi::OK => hit(),
            abi::MISS if was_deleted => {
                bump(driver.stats.counter(ABSENT), 1);
                Answered::Right
            }
            abi::MISS if self.may_differ(driver, id, was_deleted, min_version) => Answered::Right,
            status => Answered::Wrong { goes_on: driver.read_failed(id, min_version, status, &[]) },
        }
    }

    /// Whether an answer may differ from the ledger's earlier state. If so, the record is counted as unchecked.
    #[cold]
    #[inline(never)]
    fn may_differ<C: Clock>(&self, driver: &Driver<'_, C>, id: u64, was_deleted: bool, min_version: u64) -> bool {
        let tail = Tail { driver, inserts: &self.inserts, takes: &self.takes, deletes: self.deletes, end: None };
        let may = driver.ledger.is_deleted(id) != was_deleted || tail.is_undecided(id, Some(min_version));
        if may {
            bump(driver.stats.counter(UNCHECKED), 1);
        }
        may
    }

    #[inline(always)]
    pub(super) fn delete<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let drawn = self.gets.choice.next();
        let id = self.own(driver, drawn);
        let (table, session) = driver.session.raw();
        let Some(remove) = table.remove else { return false };
        self.outrun(driver.ledger.min_version(id));
        let version = self.next_version(driver);
        let was_deleted = driver.ledger.is_deleted(id);
        driver.keys.write(id, &mut self.key);
        driver.stats.changing.store(id + 1, Ordering::Relaxed);
        let start = self.begin(driver, index);
        // SAFETY: the session is open and this thread's own; the key lives through the call.
        let status = unsafe { remove(session, self.key.as_ptr().cast(), self.key.len()) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        if status != abi::OK && status != abi::MISS {
            return driver.engine_failed(&format!("deleting record {id}"), status);
        }
        driver.ledger.acknowledge(id, version);
        driver.ledger.set_deleted(id, true);
        driver.stats.changing.store(0, Ordering::Release);
        bump(&ops.records, 1);
        bump(&driver.stats.user_bytes, self.key.len() as u64);
        // Only this client writes it.
        let lost = status == abi::MISS && !was_deleted;
        !lost || driver.read_failed(id, version, abi::MISS, &[])
    }

    #[inline(always)]
    pub(super) fn take<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats) -> GoesOn {
        let id = self.takes.next(driver, &mut self.inserts);
        let ids = id.map(|id| id..id + 1);
        self.look_and_remove(driver, ops, ids, |client, ids| client.remove_oldest(driver, ops, ids.start))
    }

    #[inline(always)]
    pub(super) fn expire<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats) -> GoesOn {
        let ids = self.takes.rest(driver, &mut self.inserts);
        self.look_and_remove(driver, ops, ids, |client, ids| client.remove_range(driver, ops, ids))
    }

    /// Looks at the first record of all and removes `ids`, which are this client's to take; absent: there are none.
    #[inline(always)]
    fn look_and_remove<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        ids: Option<Range<u64>>,
        remove: impl FnOnce(&mut Self, Range<u64>) -> GoesOn,
    ) -> GoesOn {
        if ids.is_none() {
            bump(driver.stats.counter(ABSENT), 1);
        }
        let begun = if A::IS_OPEN { self.due } else { driver.clock.now() };
        let Some(cursor) = ScanCursor::open(driver, false) else { return false };
        let mut first = LentStep::NOTHING;
        // SAFETY: the session has no other call under way.
        let status = unsafe { cursor.go_first(&mut first) };
        let looked = driver.clock.now();
        // SAFETY: nothing was called since.
        let (status, first) = unsafe { first.with(status) };
        // A trial before may have deleted it, and noted only that it could have.
        let certain = ids.clone().and_then(|ids| (ids.start.max(driver.present.taken)..ids.end).next());
        let goes_on = self.check_first(driver, status, first, certain);
        let checked = driver.clock.now();
        drop(cursor);
        let goes_on = goes_on && ids.is_none_or(|ids| remove(self, ids));
        self.end = driver.clock.now();
        let taken = self.end.saturating_sub(checked) + looked.saturating_sub(begun);
        ops.latency.record(taken);
        goes_on
    }

    /// Holds the first record of all against what may come, where `own` is there, which this client is about to take.
    #[inline(always)]
    fn check_first<C: Clock>(
        &self,
        driver: &Driver<'_, C>,
        status: abi::Status,
        first: Option<(&[u8], &[u8])>,
        own: Option<u64>,
    ) -> GoesOn {
        match (first, own) {
            (Some((key, value)), own) => {
                let id = driver.keys.read(key);
                match id {
                    Some(id) if id < self.takes.gone() => driver.came_back(id),
                    Some(id) if self.takes_ranges && id < self.takes.left() && !self.takes.begins_a_chunk(id) => {
                        half_deleted(driver, id);
                    }
                    Some(id) if own.is_none_or(|own| id <= own) => {
                        if FULL && !driver.values.is_right(id, 0, value) {
                            driver.wrong_value(id, 0, value);
                        }
                    }
                    _ => {
                        driver.out_of_order(false, own, key);
                    }
                }
                true
            }
            (None, None) if status == abi::MISS => true,
            (None, own) => driver.ended_early(status, own.unwrap_or(self.takes.left())),
        }
    }

    /// Deletes `id`, which is this client's to take.
    #[inline(always)]
    fn remove_oldest<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, id: u64) -> GoesOn {
        let (table, session) = driver.session.raw();
        let Some(remove) = table.remove else { return false };
        let version = self.next_version(driver);
        driver.keys.write(id, &mut self.key);
        // SAFETY: the session is open and this thread's own; the key lives through the call.
        let status = unsafe { remove(session, self.key.as_ptr().cast(), self.key.len()) };
        if status != abi::OK && status != abi::MISS {
            return driver.engine_failed(&format!("deleting record {id}"), status);
        }
        self.takes.acknowledged(driver);
        bump(&ops.records, 1);
        bump(&driver.stats.user_bytes, self.key.len() as u64);
        // A trial before may have deleted it without an acknowledgement.
        let lost = status == abi::MISS && id >= driver.present.taken;
        !lost || driver.read_failed(id, version, abi::MISS, &[])
    }

    /// Deletes `ids`, which are this client's to take, by one call.
    #[inline(always)]
    fn remove_range<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, ids: Range<u64>) -> GoesOn {
        let (table, session) = driver.session.raw();
        let Some(delete_range) = table.delete_range else { return false };
        self.next_version(driver);
        driver.keys.write(ids.start, &mut self.key);
        driver.keys.write(ids.end, &mut self.end_key);
        let (from, to) = (self.key.as_slice(), self.end_key.as_slice());
        // SAFETY: the session is open and this thread's own; both keys live through the call.
        let status = unsafe { delete_range(session, from.as_ptr().cast(), from.len(), to.as_ptr().cast(), to.len()) };
        if status != abi::OK {
            return driver.engine_failed(&format!("deleting records {} to {}", ids.start, ids.end - 1), status);
        }
        self.takes.all_acknowledged(driver);
        bump(&ops.records, ids.end - ids.start);
        bump(&driver.stats.user_bytes, (from.len() + to.len()) as u64);
        true
    }

    #[inline(always)]
    pub(super) fn miss<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let id = self.draw();
        let (table, session) = driver.session.raw();
        let (Some(get), Some(absent)) = (table.get, driver.keys.absent_byte()) else { return false };
        driver.keys.write(id, &mut self.absent_key);
        if let Some(last) = self.absent_key.last_mut() {
            *last = absent;
        }
        let mut value = NOTHING;
        let start = self.begin(driver, index);
        let key = self.absent_key.as_slice();
        // SAFETY: the session is open and this thread's own; key and value live through the call.
        let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        match status {
            abi::MISS => true,
            abi::OK => {
                driver.control.first_failure(&format!("a get found a key that was never written: {key:02x?}"));
                bump(&driver.stats.wrong, 1);
                true
            }
            status => driver.engine_failed("reading a key that no record has", status),
        }
    }
}

/// A part of a range was gone that is deleted as one step.
#[cold]
fn half_deleted<C>(driver: &Driver<'_, C>, first: u64) {
    let text = format!("record {first} came first of all, from within a range that is deleted as one step");
    driver.control.first_failure(&text);
    bump(&driver.stats.missing, 1);
}

/// The records that come and go.
pub(super) struct Tail<'a, 'b, C> {
    pub(super) driver: &'a Driver<'b, C>,
    pub(super) inserts: &'a Inserts,
    pub(super) takes: &'a Takes,
    pub(super) deletes: bool,
    /// The first id beyond a range that has a bound.
    pub(super) end: Option<u64>,
}

impl<C: Clock> Tail<'_, '_, C> {
    /// Whether it is undecidable that `id` was there all the time, or absent all the time, since the ledger had the
    /// version `before`; `before` is absent if that version was not looked up.
    fn is_undecided(&self, id: u64, before: Option<u64>) -> bool {
        let Driver { ledger, clients, .. } = self.driver;
        // A client announces a change before it makes it, and notes the change before it ends the announcement.
        let is_changed = clients.iter().any(|client| client.changing.load(Ordering::Acquire) == id + 1);
        if is_changed || id >= self.inserts.there() || self.takes.may_be_gone(self.driver, id) {
            return true;
        }
        let by_others = self.deletes && clients.len() > 1;
        by_others && (!ledger.is_watched(id) || before != Some(ledger.min_version(id)))
    }
}

impl<C: Clock> TailRecords for Tail<'_, '_, C> {
    #[inline(always)]
    fn after(&self, id: u64) -> Option<u64> {
        (self.end != Some(id + 1)).then_some(id + 1)
    }

    #[inline(always)]
    fn ends_by_itself(&self) -> bool {
        self.end.is_some()
    }

    #[cold]
    #[inline(never)]
    fn may_skip(&self, expected: u64, given: Option<u64>, before: VersionsBefore<'_>) -> bool {
        let there = self.inserts.there();
        let end = given.or(self.end).unwrap_or(there);
        let is_out = |given| given <= expected || self.end.is_some_and(|end| given >= end);
        if given.is_some_and(is_out) {
            return false;
        }
        let mut unchecked = 0;
        for id in expected..end.min(there) {
            if self.driver.ledger.is_deleted(id) {
                continue;
            }
            if !self.is_undecided(id, before.of(id)) {
                return false;
            }
            unchecked += 1;
        }
        if let Some(given) = given.filter(|given| *given >= there) {
            if !self.inserts.may_be_there(self.driver, given) {
                return false;
            }
            unchecked += given - there.max(expected);
        }
        bump(self.driver.stats.counter(UNCHECKED), unchecked);
        true
    }

    #[inline(always)]
    fn may_come(&self, id: u64, before: VersionsBefore<'_>) -> bool {
        id >= self.takes.gone()
            && (!self.deletes || !self.driver.ledger.is_deleted(id) || self.is_undecided(id, before.of(id)))
    }
}
