//! The common parts of measured loops. The loops themselves stand with their workloads.
//!
//! A measured loop allocates nothing, takes no lock, makes no system call, formats nothing, and touches no cache line
//! that another thread writes. Its inputs are prepared beforehand, in [`Driver`] and when a role starts. A failure
//! leaves the loop for a cold function. `docs/performance.md` lists the instructions of an operation of each loop.

pub(crate) mod batch_writer;
pub(crate) mod cursor;
pub(crate) mod get_loop;
pub(crate) mod range_reader;
pub(crate) mod read_backs;

use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_dataset::{Keys, Ledger, Stream, ValueFault, Values, subseed};
use kvdyno_engine::{Session, abi};
use kvdyno_model::Verify;

use crate::clock::Clock;
use crate::recall::RecallContext;
use crate::shared::{ClientOps, ClientStats, Control, bump};
use crate::spec::PresentIds;
use crate::workloads::parameters::WorkloadParameters;

/// The number of engine errors after which a trial ends: more operations would fail as well.
const MOST_ERRORS: u64 = 100;

/// The clock, the memory and the session that a loop works with.
pub struct Driver<'a, C> {
    /// The clock.
    pub clock: C,
    /// The trial's control block.
    pub control: &'a Control,
    /// This thread's stats.
    pub stats: &'a ClientStats,
    /// The workload's numbers.
    pub parameters: &'a WorkloadParameters,
    /// The spelling of keys.
    pub keys: &'a Keys,
    /// The maker and checker of values.
    pub values: &'a Values,
    /// The acknowledged versions.
    pub ledger: Ledger<'a>,
    /// The source of answers for an engine that keeps nothing.
    pub recall: &'a RecallContext<'a>,
    /// The statistics of all clients, this one's too.
    pub clients: &'a [ClientStats],
    /// The ids that are in the database when the trial begins.
    pub present: PresentIds,
    /// This thread's session.
    pub session: Session<'a>,
    /// Whether this is a writer.
    pub writes: bool,
    /// Which of the readers, or of the writers, this is.
    pub index: u64,
    /// The database was left by a worker that was killed, and the load goes on in it.
    pub resumes: bool,
}

impl<C> Driver<'_, C> {
    /// The mean interval between two operations of this client that the slice under way orders, nanoseconds. Absent
    /// where it orders no rate.
    pub(crate) fn ordered_interval_ns(&self) -> Option<f64> {
        let per_s = self.control.slices.per_s().filter(|_| self.parameters.is_searched(self.writes))?;
        let (_, clients) = self.parameters.share_of_schedule(self.index, self.writes);
        Some(1e9 * f64::from(clients) / per_s)
    }
}

/// When a part of a trial ends for a thread.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// At this moment, ticks.
    pub until: &'a AtomicU64,
    /// After this number of operations.
    pub operations: u64,
}

/// A thread's work: called for the warm-up and then for the measured part, so that it goes on where it was.
pub trait Work<C: Clock> {
    /// Works until the limit, and counts operations of its role's kinds in their order in `ops`.
    fn run(&mut self, driver: &mut Driver<'_, C>, ops: &ClientOps, limit: Limit<'_>);
}

impl<C> Driver<'_, C> {
    /// This client's own stream of random numbers.
    pub(crate) fn stream(&self) -> Stream {
        Stream::new(subseed(self.parameters.seed, &[self.writes.into(), self.index]))
    }
}

impl<C: Clock> Driver<'_, C> {
    pub(crate) fn verifies(&self) -> bool {
        self.parameters.verify == Verify::Full
    }

    /// Whether the limit is reached.
    pub(crate) fn is_over(&self, limit: Limit<'_>) -> bool {
        self.clock.now() >= limit.until.load(Ordering::Relaxed)
    }

    /// Whether the ledger may hold anything but zeros, from a writer beside or before this client.
    pub(crate) fn may_have_updates(&self) -> bool {
        self.parameters.writers > 0 || self.stats.version.load(Ordering::Relaxed) > 0
    }

    /// Writes the first `count` of `steps`: by a put if there is never more than one, else by one call for all.
    ///
    /// # Safety
    /// The keys and values that these steps point at live through the call.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, steps: &[abi::BatchEntry], count: usize) -> abi::Status {
        let (table, session) = self.session.raw();
        // SAFETY: the session is open and this thread's own; the rest is the caller's promise.
        unsafe {
            match (steps, table.put, table.write) {
                ([abi::BatchEntry { key, value, .. }], Some(put), _) => {
                    put(session, key.data, key.size, value.data, value.size)
                }
                (_, _, Some(write)) => write(session, steps.as_ptr(), count),
                _ => abi::UNSUPPORTED,
            }
        }
    }

    /// Notes a failed call. Returns whether the trial should go on in spite of failures.
    #[cold]
    pub(crate) fn engine_failed(&self, what: &str, status: abi::Status) -> bool {
        let error = self.session.error(status);
        self.control.first_failure(&format!("{what}: {}", error.reason));
        bump(&self.stats.errors, 1);
        if error.is_no_space() {
            self.control.no_space.store(1, Ordering::SeqCst);
        }
        let goes_on = !error.is_no_space() && self.stats.errors.load(Ordering::Relaxed) < MOST_ERRORS;
        if !goes_on {
            self.control.request_stop(self.clients);
        }
        goes_on
    }

    /// Notes a wrong answer to a read of `id`. False if the trial should end.
    #[cold]
    pub(crate) fn read_failed(&self, id: u64, min_version: u64, status: abi::Status, value: &[u8]) -> bool {
        match status {
            abi::OK => {
                self.wrong_value(id, min_version, value);
                true
            }
            abi::MISS => {
                self.control.first_failure(&format!("record {id} is missing"));
                bump(&self.stats.missing, 1);
                true
            }
            status => self.engine_failed(&format!("reading record {id}"), status),
        }
    }

    /// Whether an answer that does not have the fixed size of values is right, where sizes are drawn.
    ///
    /// # Safety
    /// As of [`lent`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn is_right_varied(
        &self,
        id: u64,
        min_version: u64,
        status: abi::Status,
        value: abi::Bytes,
    ) -> bool {
        // SAFETY: as the caller promises; a miss or an error lends nothing.
        self.values.is_varied() && status == abi::OK && self.values.is_right(id, min_version, unsafe { lent(value) })
    }

    #[cold]
    pub(crate) fn wrong_value(&self, id: u64, min_version: u64, value: &[u8]) {
        let (counter, text) = match self.values.fault(id, min_version, value) {
            ValueFault::Wrong(text) => (&self.stats.wrong, text),
            ValueFault::Torn(text) => (&self.stats.torn, text),
            ValueFault::Stale(text) => (&self.stats.stale, text),
        };
        bump(counter, 1);
        self.control.first_failure(&text);
    }
}

/// No bytes.
pub(crate) const NOTHING: abi::Bytes = abi::Bytes { data: std::ptr::null(), size: 0 };

/// Bytes that the engine lent.
///
/// # Safety
/// The engine filled `bytes` in the last call on the session, and no call on it comes while the slice is used.
#[inline(always)]
pub(crate) unsafe fn lent<'a>(bytes: abi::Bytes) -> &'a [u8] {
    match bytes.size {
        0 => &[],
        // SAFETY: as the caller promises; what has a size has an address.
        size => unsafe { std::slice::from_raw_parts(bytes.data.cast(), size) },
    }
}
