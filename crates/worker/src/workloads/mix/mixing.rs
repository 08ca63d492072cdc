//! The loop of a mix, and its operations on records that are there. `removing`, `presence` and `updating`
//! have the others.

use std::sync::atomic::Ordering;

use kvdyno_dataset::Stream;
use kvdyno_dataset::{RecordMaker, subseed};
use kvdyno_engine::abi;
use kvdyno_model::{MixOperation, OperationMix, RangeCursors};

use super::operations::{OperationChoice, OperationRun};
use super::removing::{Answered, Tail};
use super::several::Several;
use crate::arrival::BeginsOperations;
use crate::audit::choice::SummedIds;
use crate::clock::{Clock, Turnaround};
use crate::key_choice::{KeyChoice, OwnIds};
use crate::loops::cursor::{ScanCursor, ShownKeys};
use crate::loops::get_loop::GetLoop;
use crate::loops::range_reader::{RangeReader, RangeTarget};
use crate::loops::read_backs::ReadBacks;
use crate::loops::{Driver, Limit, NOTHING, Work, lent};
use crate::shared::{ClientCounter, ClientOps, MOST_KINDS, OpStats, bump};
use crate::workloads::present::{Inserts, Takes};
use crate::workloads::range_lengths::{self, RangeLengthChoice};

/// Records for which it is undecidable whether they had to come, or had to be absent.
pub(super) const UNCHECKED: ClientCounter = ClientCounter(0);

/// Operations that rightly found no record.
pub(super) const ABSENT: ClientCounter = ClientCounter(1);

/// Inserts-if-absent that rightly wrote nothing.
pub(super) const PRESENT: ClientCounter = ClientCounter(2);

/// Keeps the streams of operations and of lengths apart from that of keys.
const OPERATIONS: u64 = 0x6f70_7300;
const LENGTHS: u64 = 0x6c65_6e67;

/// Draws of operations in a closed loop between two looks at the progress of other clients: each look reads memory that
/// they write.
const DRAWS_BETWEEN_LOOKS: u32 = 16;

/// One client's mix. `FULL`: values are verified.
pub(super) struct Mixing<K, A, const FULL: bool> {
    operations: [MixOperation; MOST_KINDS],
    next: OperationChoice,
    /// The rest of the operations that were drawn last.
    drawn: OperationRun,
    /// It has the choice of records and the arrival of all operations.
    pub(super) gets: GetLoop<K, A, FULL, true>,
    pub(super) inserts: Inserts,
    pub(super) takes: Takes,
    /// Records are deleted by this trial, or were by one before it.
    pub(super) deletes: bool,
    /// The oldest are taken, or were.
    pub(super) takes_oldest: bool,
    /// All takes are ranges, so that no reader may see a part of one.
    pub(super) takes_ranges: bool,
    /// Clients of other roles insert records, or take them.
    follows: bool,
    /// Draws of operations until the next look at them.
    until_look: u32,
    /// The ids that it updates.
    own: OwnIds,
    pub(super) key: Vec<u8>,
    /// One that no record has, once its id is spelled in it and its last byte is that of
    /// [`kvdyno_dataset::Keys::absent_byte`].
    pub(super) absent_key: Vec<u8>,
    /// The end of a range that is deleted.
    pub(super) end_key: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// Bytes of it that were made.
    pub(super) value_size: usize,
    pub(super) version: u64,
    ranges: RangeReader,
    /// Bytes of a key that others have in common with it.
    prefix_size: usize,
    lengths: RangeLengthChoice,
    /// The records of calls that have several.
    pub(super) several: Several,
    /// The ids whose versions an audit of a sample adds up.
    pub(super) summed: SummedIds,
    /// The records that it reads back.
    read_backs: ReadBacks,
    /// When the next operation is due, where operations come by a schedule.
    pub(super) due: u64,
    /// When the last operation ended, and how long after that one of each kind begins.
    pub(super) end: u64,
    pub(super) turnarounds: [Turnaround; MOST_KINDS],
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    pub(super) fn new<C: Clock>(mix: OperationMix, mut choice: K, arrival: A, driver: &Driver<'_, C>) -> Self {
        let parameters = driver.parameters;
        let stream = |what| Stream::new(subseed(parameters.seed, &[what, driver.index]));
        let mut operations = [MixOperation::Get; MOST_KINDS];
        operations.iter_mut().zip(mix.parts()).for_each(|(slot, (operation, _))| *slot = *operation);
        let inserts = Inserts::new(driver);
        choice.follow(inserts.there());
        let of_others = || parameters.roles.iter().map(|role| &role.mix);
        let any_has = |operation| of_others().chain([&mix]).any(|mix| mix.has(operation));
        Mixing {
            takes: Takes::new(driver),
            deletes: driver.ledger.has_deletions(),
            takes_oldest: any_has(MixOperation::Take) || any_has(MixOperation::Expire) || driver.present.taken > 0,
            takes_ranges: !any_has(MixOperation::Take) && driver.present.taken == driver.present.gone,
            absent_key: driver.keys.blank(),
            end_key: driver.keys.blank(),
            operations,
            next: OperationChoice::new(&mix, stream(OPERATIONS)),
            drawn: OperationRun::default(),
            gets: GetLoop::new(choice, arrival, driver),
            inserts,
            follows: !parameters.roles.is_empty()
                && [MixOperation::Insert, MixOperation::Take, MixOperation::Expire].into_iter().any(any_has),
            until_look: 0,
            own: OwnIds::of(driver),
            key: driver.keys.blank(),
            value: driver.values.blank(1),
            value_size: 0,
            version: driver.stats.version.load(Ordering::Relaxed),
            ranges: RangeReader::new(false, driver),
            prefix_size: parameters.data.prefix_size.unwrap_or(0) as usize,
            lengths: range_lengths::draw(parameters.reads.lengths, parameters.reads.seek_nexts + 1, stream(LENGTHS)),
            several: Several::new(driver),
            summed: SummedIds::of(parameters.data.records),
            read_backs: ReadBacks::new(records_written(&mix, parameters.batch), driver),
            due: 0,
            end: driver.clock.now(),
            turnarounds: [Turnaround::new(driver.clock); MOST_KINDS],
        }
    }
}

/// Records that a mix writes in each of its operations, on average; updates that clients share are not counted.
fn records_written(mix: &OperationMix, batch: u64) -> f64 {
    let of = |(operation, weight): &(MixOperation, f64)| match operation {
        MixOperation::Put | MixOperation::Insert => weight * batch as f64,
        MixOperation::ReadModifyWrite | MixOperation::InsertIfAbsent => *weight,
        _ => 0.0,
    };
    mix.parts().iter().map(of).sum::<f64>() / 100.0
}

/// Whether the trial goes on.
pub(super) type GoesOn = bool;

impl<C: Clock, K: KeyChoice, A: BeginsOperations, const FULL: bool> Work<C> for Mixing<K, A, FULL> {
    fn run(&mut self, driver: &mut Driver<'_, C>, all_ops: &ClientOps, limit: Limit<'_>) {
        self.gets.arrival.resume(driver.clock, driver.ordered_interval_ns());
        self.end = driver.clock.now();
        let mut left = limit.operations;
        while left > 0 {
            if self.drawn == OperationRun::default() {
                if self.follows {
                    self.look_at_others(driver);
                }
                self.drawn = self.next.next();
            }
            let (index, count) = match self.drawn {
                OperationRun { most_frequent: 0, other } => (other.unwrap_or_default(), 1),
                OperationRun { most_frequent, .. } => (self.next.most_frequent(), most_frequent.min(left)),
            };
            if !self.operate(driver, &all_ops[index], index, Limit { operations: count, ..limit }) {
                // The geometric distribution has no memory: the rest of a run has the same law as a whole run.
                self.drawn = OperationRun::default();
                break;
            }
            left -= count;
            match self.drawn.most_frequent {
                0 => self.drawn.other = None,
                _ => self.drawn.most_frequent -= count,
            }
        }
        self.inserts.leave(driver);
        self.takes.leave(driver);
        // The delay at the end is the most frequent kind's.
        self.gets.arrival.pause(driver.clock, &all_ops[self.next.most_frequent()].pacing);
        // All kinds worked for the same time.
        all_ops.iter().for_each(|ops| ops.until.store(self.end, Ordering::Relaxed));
    }
}

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    /// Looks from time to time for what clients of other roles inserted or took. A client that does neither would never
    /// learn of it otherwise; a client that does either looks when it needs more ids.
    #[inline(never)]
    fn look_at_others<C>(&mut self, driver: &Driver<'_, C>) {
        if self.until_look > 0 {
            self.until_look -= 1;
            return;
        }
        self.until_look = if A::IS_OPEN { 0 } else { DRAWS_BETWEEN_LOOKS };
        let there = self.inserts.look(driver);
        self.takes.look(driver);
        self.gets.choice.follow(there);
    }

    /// Does as many operations of one kind as the limit has.
    #[inline(always)]
    fn operate<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize, limit: Limit<'_>) -> GoesOn {
        match self.operations[index] {
            MixOperation::Get if self.several.gets() => {
                self.repeat(driver, ops, limit, |client| client.get_several(driver, ops, index))
            }
            MixOperation::Put if self.several.writes() => {
                self.repeat(driver, ops, limit, |client| client.put_several(driver, ops, index))
            }
            MixOperation::Insert if self.several.writes() => {
                self.repeat(driver, ops, limit, |client| client.insert_several(driver, ops, index))
            }
            MixOperation::Get if self.deletes || self.takes_oldest => {
                self.repeat(driver, ops, limit, |client| client.get_if_there(driver, ops, index))
            }
            MixOperation::Get => {
                let (end, goes_on) = self.gets.run(driver, ops, limit, self.end);
                self.end = end;
                goes_on
            }
            MixOperation::Put => self.repeat(driver, ops, limit, |client| client.put(driver, ops, index)),
            MixOperation::Insert => self.repeat(driver, ops, limit, |client| client.insert(driver, ops, index)),
            MixOperation::Range => self.repeat(driver, ops, limit, |client| client.range(driver, ops)),
            MixOperation::ReadModifyWrite => {
                self.repeat(driver, ops, limit, |client| client.read_modify_write(driver, ops, index))
            }
            MixOperation::Delete => self.repeat(driver, ops, limit, |client| client.delete(driver, ops, index)),
            MixOperation::Take => self.repeat(driver, ops, limit, |client| client.take(driver, ops)),
            MixOperation::Expire => self.repeat(driver, ops, limit, |client| client.expire(driver, ops)),
            MixOperation::Contains => self.repeat(driver, ops, limit, |client| client.contains(driver, ops, index)),
            MixOperation::InsertIfAbsent => {
                self.repeat(driver, ops, limit, |client| client.insert_if_absent(driver, ops, index))
            }
            MixOperation::Miss => self.repeat(driver, ops, limit, |client| client.miss(driver, ops, index)),
            MixOperation::AtomicUpdate => {
                self.repeat(driver, ops, limit, |client| client.atomic_update(driver, ops, index, limit))
            }
            MixOperation::TransactionalUpdate => {
                self.repeat(driver, ops, limit, |client| client.transactional_update(driver, ops, index, limit))
            }
        }
    }

    /// Does one operation as often as the limit has it.
    #[inline(always)]
    fn repeat<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        limit: Limit<'_>,
        mut operation: impl FnMut(&mut Self) -> GoesOn,
    ) -> GoesOn {
        driver.recall.will_ask_with(&self.key);
        (0..limit.operations).all(|_| {
            self.waits(driver, ops, limit) && operation(self) && self.end < limit.until.load(Ordering::Relaxed)
        })
    }

    /// Waits until the next operation is due, if operations come by a schedule. Returns whether the trial goes on.
    #[inline(always)]
    fn waits<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, limit: Limit<'_>) -> GoesOn {
        if !A::IS_OPEN {
            return true;
        }
        let due = self.gets.arrival.begin(driver.clock, self.end, limit.until, &ops.pacing);
        self.due = due.unwrap_or(self.due);
        due.is_some()
    }

    /// When an operation of the `index`th kind begins that is ready to be issued.
    #[inline(always)]
    pub(super) fn begin<C: Clock>(&mut self, driver: &Driver<'_, C>, index: usize) -> u64 {
        if A::IS_OPEN { self.due } else { self.turnarounds[index].begin(driver.clock, self.end) }
    }

    /// The id that this client updates, where `id` was drawn: the nearest of its own, of those that are there.
    #[inline(always)]
    pub(super) fn own<C>(&self, driver: &Driver<'_, C>, id: u64) -> u64 {
        if self.deletes {
            // Only loaded records have a bit for their deletion.
            let records = driver.parameters.data.records;
            return self.own.nearest(if id < records { id } else { id % records }, records);
        }
        self.own.nearest(id, self.inserts.there())
    }

    /// Asks for `id`, whose key is spelled. Returns whether the answer was right, and whether the trial goes on.
    #[inline(always)]
    fn ask<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64, min_version: u64) -> (bool, GoesOn) {
        let (table, session) = driver.session.raw();
        let Some(get) = table.get else { return (false, false) };
        let mut value = NOTHING;
        // SAFETY: the session is open and this thread's own; key and value live through the call.
        let status = unsafe { get(session, self.key.as_ptr().cast(), self.key.len(), &mut value) };
        self.end = driver.clock.now();
        let right = status == abi::OK && {
            let values = driver.values;
            // SAFETY: the engine lent it in the call just made.
            !FULL || (value.size == values.size() && values.is_right(id, min_version, unsafe { lent(value) }))
        };
        // SAFETY: as above.
        if right || unsafe { driver.is_right_varied(id, min_version, status, value) } {
            return (true, true);
        }
        // SAFETY: as above; a miss or an error lends nothing.
        let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
        (false, driver.read_failed(id, min_version, status, value))
    }

    /// Raises the version to at least `version`, so that a record's versions rise even if another client inserted it.
    #[inline(always)]
    pub(super) fn outrun(&mut self, version: u64) {
        self.version = self.version.max(version);
    }

    /// The next version begins.
    #[inline(always)]
    pub(super) fn next_version<C>(&mut self, driver: &Driver<'_, C>) -> u64 {
        self.version += 1;
        driver.stats.version.store(self.version, Ordering::Relaxed);
        self.version
    }

    /// Makes the record `id` at the next version.
    #[inline(always)]
    pub(super) fn make<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64) {
        self.next_version(driver);
        let made = RecordMaker::new(driver.keys, driver.values);
        // SAFETY: both have the right size and are this client's own.
        self.value_size = unsafe { made.write(id, self.version, self.key.as_mut_ptr(), self.value.as_mut_ptr()) };
    }

    /// Writes the record that was made. Returns whether that was acknowledged, and whether the trial goes on.
    #[inline(always)]
    fn write<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64, ops: &OpStats) -> (bool, GoesOn) {
        let (table, session) = driver.session.raw();
        let Some(put) = table.put else { return (false, false) };
        let (key, value, value_size) = (&self.key, &self.value, self.value_size);
        if self.deletes {
            driver.stats.changing.store(id + 1, Ordering::Relaxed);
        }
        // SAFETY: the session is open and this thread's own; key and value live through the call.
        let status = unsafe { put(session, key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value_size) };
        self.end = driver.clock.now();
        if status != abi::OK {
            return (false, driver.engine_failed("writing", status));
        }
        self.acknowledge(driver, id, ops);
        (true, true)
    }

    /// Reads back what is due after `records` were written, the last of them `id`. Returns whether the trial goes on.
    #[inline(always)]
    pub(super) fn reads_back<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64, records: u64) -> GoesOn {
        !self.read_backs.is_due(records) || self.look_back(driver, id)
    }

    #[cold]
    #[inline(never)]
    fn look_back<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64) -> GoesOn {
        // What it inserted another may update, from a version of its own where the ledger has no slot.
        let version = if self.own(driver, id) == id { self.version } else { 0 };
        let (takes, takes_oldest) = (&self.takes, self.takes_oldest);
        let may_be_gone = |id| takes_oldest && takes.may_be_gone(driver, id);
        let goes_on = self.read_backs.look(driver, id, version, may_be_gone);
        self.end = driver.clock.now();
        goes_on
    }

    /// The record that was made is there.
    #[inline(always)]
    pub(super) fn acknowledge<C>(&mut self, driver: &Driver<'_, C>, id: u64, ops: &OpStats) {
        driver.ledger.acknowledge(id, self.version);
        if self.deletes {
            driver.ledger.set_deleted(id, false);
            driver.stats.changing.store(0, Ordering::Release);
        }
        bump(&ops.records, 1);
        bump(&driver.stats.user_bytes, (self.key.len() + self.value_size) as u64);
    }

    #[inline(always)]
    fn put<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let drawn = self.gets.choice.next();
        let id = self.own(driver, drawn);
        self.outrun(driver.ledger.min_version(id));
        self.make(driver, id);
        let start = self.begin(driver, index);
        let (acknowledged, goes_on) = self.write(driver, id, ops);
        ops.latency.record(self.end.saturating_sub(start));
        goes_on && (!acknowledged || self.reads_back(driver, id, 1))
    }

    #[inline(always)]
    fn insert<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let id = self.inserts.next(driver);
        self.make(driver, id);
        let start = self.begin(driver, index);
        let (acknowledged, goes_on) = self.write(driver, id, ops);
        ops.latency.record(self.end.saturating_sub(start));
        if acknowledged {
            self.inserts.acknowledged(driver);
            self.gets.choice.follow(self.inserts.there());
            return self.reads_back(driver, id, 1);
        }
        goes_on
    }

    #[inline(always)]
    fn read_modify_write<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats, index: usize) -> GoesOn {
        let drawn = self.gets.choice.next();
        let id = self.own(driver, drawn);
        driver.keys.write(id, &mut self.key);
        driver.recall.will_ask_for(id);
        let min_version = driver.ledger.min_version(id);
        let start = self.begin(driver, index);
        let (may_write, goes_on) = match self.deletes {
            false => self.ask(driver, id, min_version),
            true => match self.ask_if_there(driver, id) {
                Answered::Right => (true, true),
                Answered::Wrong { goes_on } => (false, goes_on),
            },
        };
        if !may_write {
            ops.latency.record(self.end.saturating_sub(start));
            self.end = driver.clock.now();
            return goes_on;
        }
        self.outrun(min_version);
        self.make(driver, id);
        let (acknowledged, goes_on) = self.write(driver, id, ops);
        ops.latency.record(self.end.saturating_sub(start));
        goes_on && (!acknowledged || self.reads_back(driver, id, 1))
    }

    /// The first of the records that have the prefix of `id` in common, and how many they are at the most.
    fn group_of<C>(&self, id: u64, driver: &Driver<'_, C>) -> (u64, u64) {
        let count = driver.parameters.longest_range();
        let first = id - id % count;
        // Records that a client is about to take may come, or not.
        let there = if self.takes_oldest { first.max(self.takes.gone()) } else { first };
        (there, first + count - there)
    }

    #[inline(always)]
    fn range<C: Clock>(&mut self, driver: &Driver<'_, C>, ops: &OpStats) -> GoesOn {
        let drawn = self.draw();
        let reads = &driver.parameters.reads;
        let (first, length) = match reads.cursors.are_by_prefix() {
            false => (drawn, self.lengths.next()),
            true => self.group_of(drawn, driver),
        };
        let ends = reads.cursors.are_bounded() || reads.cursors.are_by_prefix();
        let end = ends.then_some(first + length);
        if let Some(end) = end {
            driver.keys.write(first, &mut self.key);
            driver.keys.write(end, &mut self.end_key);
        }
        let opened = if A::IS_OPEN { self.due } else { driver.clock.now() };
        let cursor = match reads.cursors {
            RangeCursors::Plain => ScanCursor::open(driver, false),
            cursors => {
                let shown = match end {
                    None => ShownKeys::All,
                    Some(_) if cursors.are_by_prefix() => ShownKeys::Prefix(&self.key[..self.prefix_size]),
                    Some(_) => ShownKeys::Between(&self.key, &self.end_key),
                };
                ScanCursor::open_with(driver, cursors.bring_keys_only(), shown)
            }
        };
        let Some(cursor) = cursor else { return false };
        let begun = driver.clock.now().saturating_sub(opened);
        let tail = Tail { driver, inserts: &self.inserts, takes: &self.takes, deletes: self.deletes, end };
        let target = RangeTarget { first, length: length as usize, begun };
        let (end, goes_on) = self.ranges.read(driver, ops, &cursor, target, &tail);
        self.end = end;
        goes_on
    }
}
