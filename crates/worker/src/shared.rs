//! Memory that worker and parent share.
//!
//! Two segments: that of a trial (a control block, and statistics for each client), and the ledger of a database
//! ([`LedgerMemory`]), which lives from its load to its removal. Both are anonymous files that the parent makes and the
//! worker, or each of several worker processes, inherits.
//!
//! In the measured loop a reader or writer writes its own stats alone, and reads of what others write only the moment
//! at which to stop, which is written twice in a trial; so no cache line is written by two threads.

mod engine_counters;
mod hand_overs;

use std::io;
use std::mem::{align_of, size_of};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use kvdyno_model::MOST_OPERATIONS;
use kvdyno_results::OpKind;

use crate::barrier::Barriers;
pub use crate::counter::bump;
use crate::futex::{wait_while, wake_all};
use crate::histogram::{TickHistogram, touch};
pub use crate::ledger_memory::LedgerMemory;
use crate::segment::Segment;
use crate::slices::{SliceControl, SliceStats};
pub use engine_counters::SharedCounters;
pub use hand_overs::{GivenIds, HandOvers};

kvdyno_model::words! {
    /// The state of the worker, as the activity under way, for people.
    #[repr(u32)]
    #[allow(missing_docs)]
    pub enum WorkerState {
        Starting = "starting",
        Opening = "opening the database",
        Filling = "filling the engine's cache",
        Warming = "warming up",
        Measuring = "measuring",
        Settling = "flushing and waiting for background work",
        Finishing = "reading the engine's statistics",
        Auditing = "reading back what was written",
        Closing = "closing the database",
        Done = "done",
    }
}

/// Bytes of the first failure's text.
const MESSAGE: usize = 1024;

/// The state of the whole trial.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Control {
    /// When the warm-up ends, ticks. 0 asks to stop at once.
    pub warm_until: AtomicU64,
    _padding: [u64; 15],
    state: AtomicU32,
    stop_requested: AtomicU32,
    /// When the measured part began, ticks; 0 before.
    pub measured_from: AtomicU64,
    /// Threads whose end ends a trial by operations, and that have not ended.
    pub primary_left: AtomicU32,
    /// 1 once a write failed for want of space.
    pub no_space: AtomicU32,
    message_state: AtomicU32,
    message_size: AtomicU32,
    ticks_per_ns: AtomicU64,
    value_seed: AtomicU64,
    message: [AtomicU32; MESSAGE / 4],
    /// Barriers of threads and processes.
    pub barriers: Barriers,
    /// Records that an audit has read back so far.
    pub audited: AtomicU64,
    /// Records that went into the engine's cache before the warm-up so far. It shows that there is progress: processes
    /// count over each other.
    pub filled: AtomicU64,
    /// The next slice, and who has ended it, if the trial works in slices.
    pub slices: SliceControl,
    /// The units of work that clients have taken so far, where a workload gives them out.
    pub shared_work: CacheLine,
    /// The oldest records that clients have undertaken to delete so far, where a workload lets them.
    pub taken: CacheLine,
    /// Ids that go from one client to another.
    pub hand_overs: HandOvers,
    /// The engine's counters.
    pub engine_counters: SharedCounters,
}

/// A counter with a cache line of its own.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct CacheLine(pub AtomicU64);

impl Control {
    /// The state of the worker.
    pub fn state(&self) -> WorkerState {
        WorkerState::ALL.get(self.state.load(Ordering::Acquire) as usize).copied().unwrap_or(WorkerState::Starting)
    }

    /// The number that stands for the state, if it stands for none.
    pub fn unknown_state(&self) -> Option<u32> {
        Some(self.state.load(Ordering::Acquire)).filter(|number| *number as usize >= WorkerState::ALL.len())
    }

    /// Says what the worker is at now.
    pub fn enter(&self, state: WorkerState) {
        self.state.store(state as u32, Ordering::Release);
    }

    /// Asks the loops of `clients`, which are those of the trial, to end after the operation under way.
    pub fn request_stop(&self, clients: &[ClientStats]) {
        self.stop_requested.store(1, Ordering::SeqCst);
        self.warm_until.store(0, Ordering::SeqCst);
        clients.iter().for_each(ClientStats::end);
        wake_all(&self.stop_requested);
    }

    /// Waits for a stop, for at most `timeout`.
    pub(crate) fn wait_for_stop(&self, timeout: Duration) {
        wait_while(&self.stop_requested, 0, Some(timeout));
    }

    /// Whether a stop was requested.
    pub fn is_stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::SeqCst) == 1
    }

    /// The rate of the clock.
    pub fn ticks_per_ns(&self) -> f64 {
        f64::from_bits(self.ticks_per_ns.load(Ordering::Relaxed)).max(f64::MIN_POSITIVE)
    }

    /// Sets the rate of the clock.
    pub fn set_ticks_per_ns(&self, rate: f64) {
        self.ticks_per_ns.store(rate.to_bits(), Ordering::Relaxed);
    }

    /// The seed of values.
    pub fn value_seed(&self) -> u64 {
        self.value_seed.load(Ordering::Relaxed)
    }

    /// Hands the worker the seed of values, before it starts.
    pub fn set_value_seed(&self, seed: u64) {
        self.value_seed.store(seed, Ordering::Relaxed);
    }

    /// Keeps the text of the first failure; later ones only count.
    #[cold]
    pub fn first_failure(&self, text: &str) {
        if self.message_state.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return;
        }
        let bytes = &text.as_bytes()[..text.len().min(MESSAGE)];
        for (cell, chunk) in self.message.iter().zip(bytes.chunks(4)) {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            cell.store(u32::from_le_bytes(word), Ordering::Relaxed);
        }
        self.message_size.store(bytes.len() as u32, Ordering::Relaxed);
        self.message_state.store(2, Ordering::SeqCst);
    }

    /// The text of the first failure.
    pub fn failure(&self) -> Option<String> {
        (self.message_state.load(Ordering::SeqCst) == 2).then(|| {
            let size = (self.message_size.load(Ordering::Relaxed) as usize).min(MESSAGE);
            let bytes: Vec<u8> =
                self.message.iter().flat_map(|cell| cell.load(Ordering::Relaxed).to_le_bytes()).take(size).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}

/// A client's waits for operations that come at a rate, ticks.
#[repr(C)]
#[derive(Debug)]
pub struct PacingStats {
    /// Operations that came so; 0 in a closed loop.
    pub operations: AtomicU64,
    /// Time that it slept.
    pub sleeping: AtomicU64,
    /// Time that it kept its processor.
    pub spinning: AtomicU64,
    /// Time that operations began late because a sleep lasted too long.
    pub overslept: AtomicU64,
    /// Delay behind its schedule at the end; over several parts, the sum.
    pub behind: AtomicU64,
    /// The furthest that it was.
    pub most_behind: AtomicU64,
    /// Time from the moments at which operations were due until they began, because the ones before took so long.
    pub queued: AtomicU64,
}

/// Operations of a thread in the warm-up or in the measured part.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct OpStats {
    /// When the thread began, ticks; 0 before.
    pub from: AtomicU64,
    /// When its last operation ended, ticks; 0 before.
    pub until: AtomicU64,
    /// Records of batches and ranges; where an operation is a record, the histogram counts them.
    pub records: AtomicU64,
    /// Its waits for operations that come at a rate.
    pub pacing: PacingStats,
    _padding: [u64; 6],
    /// Latencies.
    pub latency: TickHistogram,
}

/// Kinds of operations that one client can have. Their statistics are less than a MiB for each client, of which those
/// take memory that it does: [`ClientStats::set_op_kinds`].
pub const MOST_KINDS: usize = MOST_OPERATIONS;

/// The operations of a client in the warm-up or in the measured part, those of each of its kinds by themselves.
pub type ClientOps = [OpStats; MOST_KINDS];

/// Counters of a client for its workload.
pub const COUNTERS: usize = 16;

/// One of the counters of a client. Its meaning is the workload's.
#[derive(Clone, Copy, Debug)]
pub struct ClientCounter(pub usize);

impl ClientCounter {
    /// Its value among those of a client.
    pub fn of(self, counters: &[u64; COUNTERS]) -> u64 {
        counters.get(self.0).copied().unwrap_or(0)
    }
}

/// The counts of one reader or writer, which alone writes them.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct ClientStats {
    /// The [`OpKind`] of each of its operation statistics, and one more; 0 for none.
    kinds: [AtomicU32; MOST_KINDS],
    /// 1 once the process of these statistics has done everything that it had to, and only leaves.
    through: AtomicU32,
    _unused: u32,
    /// Reads that found nothing where a record must be.
    pub missing: AtomicU64,
    /// Calls that the engine answered with an error.
    pub errors: AtomicU64,
    /// Wrong values.
    pub wrong: AtomicU64,
    /// Torn values.
    pub torn: AtomicU64,
    /// Stale values.
    pub stale: AtomicU64,
    /// Records that it wrote and read back while the trial went on.
    pub read_back: AtomicU64,
    /// Bytes of keys and values written.
    pub user_bytes: AtomicU64,
    /// The newest version that was handed to the engine.
    pub version: AtomicU64,
    /// The new ids that it inserts.
    pub inserts: GivenIds,
    /// The oldest ids, which it takes.
    pub takes: GivenIds,
    /// One more than the id that it deletes or writes anew at this moment, where records are deleted; else 0.
    pub changing: AtomicU64,
    counters: [AtomicU64; COUNTERS],
    /// When its measured part ends, ticks. 0 asks to stop at once.
    pub run_until: CacheLine,
    /// Its slices, where the trial works in such; and its thread's time in the measured part.
    pub slices: SliceStats,
    /// The warm-up.
    pub warmup: ClientOps,
    /// The measured part.
    pub measured: ClientOps,
}

impl ClientStats {
    /// Ends its measured part after the operation under way.
    pub(crate) fn end(&self) {
        self.run_until.0.store(0, Ordering::SeqCst);
    }

    /// Says that its process has done everything that it had to.
    pub fn set_through(&self) {
        self.through.store(1, Ordering::Release);
    }

    /// Whether its process ended in order.
    pub fn is_through(&self) -> bool {
        self.through.load(Ordering::Acquire) == 1
    }

    /// Says which kinds of operations it does, in the order of its operation statistics. These are touched, so that no
    /// page fault of ours falls into a measurement.
    pub fn set_op_kinds(&self, kinds: &[OpKind]) {
        debug_assert!(kinds.len() <= MOST_KINDS);
        self.warmup.iter().chain(&self.measured).for_each(|ops| touch(&ops.until));
        for part in [&self.warmup, &self.measured] {
            part.iter().take(kinds.len()).for_each(|ops| ops.latency.touch());
        }
        self.kinds.iter().zip(kinds).for_each(|(slot, kind)| slot.store(*kind as u32 + 1, Ordering::Relaxed));
    }

    /// The kind of each of its operation statistics.
    pub fn op_kinds(&self) -> [Option<OpKind>; MOST_KINDS] {
        self.kinds.each_ref().map(|slot| {
            let number = slot.load(Ordering::Relaxed).checked_sub(1)?;
            OpKind::ALL.get(number as usize).copied()
        })
    }

    /// A part's statistics of the kinds that it does.
    pub fn used<'a>(&self, part: &'a ClientOps) -> impl Iterator<Item = &'a OpStats> {
        part.iter().zip(self.op_kinds()).filter_map(|(ops, kind)| kind.map(|_| ops))
    }

    /// One of the workload's counters.
    #[inline(always)]
    pub fn counter(&self, counter: ClientCounter) -> &AtomicU64 {
        &self.counters[counter.0]
    }

    /// The values of the workload's counters.
    pub fn counters(&self) -> [u64; COUNTERS] {
        self.counters.each_ref().map(|counter| counter.load(Ordering::Relaxed))
    }

    /// When its last measured operation ended, ticks; 0 before.
    pub fn measured_until(&self) -> u64 {
        self.measured.iter().map(|ops| ops.until.load(Ordering::Relaxed)).max().unwrap_or(0)
    }
}

/// The segment of a trial.
#[derive(Debug)]
pub struct SharedMemory {
    segment: Segment,
    client_stats: usize,
}

impl SharedMemory {
    fn size(client_stats: usize) -> usize {
        size_of::<Control>() + client_stats * size_of::<ClientStats>()
    }

    /// A new one, all zero.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn create(client_stats: usize) -> io::Result<SharedMemory> {
        Ok(SharedMemory { segment: Segment::create("kvdyno-shared", SharedMemory::size(client_stats))?, client_stats })
    }

    /// The parent's segment, in the worker.
    ///
    /// # Errors
    /// If it is not one.
    ///
    /// # Safety
    /// `fd` was handed over by the parent for this purpose and is used for nothing else.
    pub unsafe fn inherit(fd: RawFd, client_stats: usize) -> io::Result<SharedMemory> {
        // SAFETY: as the caller promises.
        Ok(SharedMemory { segment: unsafe { Segment::inherit(fd, SharedMemory::size(client_stats)) }?, client_stats })
    }

    /// The file, for the worker to inherit.
    pub fn fd(&self) -> RawFd {
        self.segment.fd()
    }

    /// The control block.
    pub fn control(&self) -> &Control {
        debug_assert!((self.segment.as_ptr() as usize).is_multiple_of(align_of::<Control>()));
        // SAFETY: the segment begins with a control block, page-aligned, made of atomics valid for any bytes.
        unsafe { &*self.segment.as_ptr().cast::<Control>() }
    }

    /// The statistics of each client.
    pub fn client_stats(&self) -> &[ClientStats] {
        // SAFETY: the statistics follow the control block, whose size is a multiple of their alignment; they are made
        // of atomics valid for any bytes, and the segment is long enough for all of them.
        unsafe {
            let first = self.segment.as_ptr().add(size_of::<Control>()).cast::<ClientStats>();
            std::slice::from_raw_parts(first, self.client_stats)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_no_cache_line() {
        assert!(size_of::<ClientStats>().is_multiple_of(128) && align_of::<ClientStats>() == 128);
        assert!(size_of::<Control>().is_multiple_of(128));
        assert!(size_of::<ClientStats>() < 1 << 20, "{}", size_of::<ClientStats>());
        assert_eq!(std::mem::offset_of!(Control, state), 128);
        assert!(std::mem::offset_of!(ClientStats, warmup) >= 128);
    }

    #[test]
    fn kinds_of_operations_that_a_client_does_not_do_take_no_memory() {
        let shared = SharedMemory::create(8).unwrap();
        let kib = || shared.segment.kib();
        assert_eq!(kib(), 0);
        shared.client_stats()[3].set_op_kinds(&[OpKind::Get]);
        // Two histograms, and the page before each that is not used.
        let one = kib();
        assert!((size_of::<OpStats>() / 512..300).contains(&one), "{one} KiB");
        shared.client_stats()[3].set_op_kinds(&[OpKind::Get, OpKind::Put]);
        assert!(kib() - one <= size_of::<OpStats>() / 512 + 16, "{} KiB", kib());
    }

    #[test]
    fn the_first_failure_is_kept_and_only_the_first() {
        let shared = SharedMemory::create(1).unwrap();
        assert_eq!(shared.control().failure(), None);
        shared.control().first_failure("wrong: ä value");
        shared.control().first_failure("another");
        assert_eq!(shared.control().failure().as_deref(), Some("wrong: ä value"));
    }
}
