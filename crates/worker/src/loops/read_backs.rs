//! Records that their writer reads back while the trial goes on.
//!
//! An audit reads what a trial has left behind: a write that was lost and later written over is no loss there. So a
//! writer remembers one in [`EVERY`] records that it writes, and reads it back within its next [`WITHIN`] operations.
//! These reads are between operations: they are in no latency. The first record is chosen after so many that some were
//! written over: of a shorter trial the audit misses little.

use kvdyno_dataset::{Stream, subseed};
use kvdyno_engine::abi;
use kvdyno_model::Verify;

use super::{Driver, NOTHING, lent};
use crate::clock::Clock;
use crate::shared::bump;

/// Records that are written for each that is read back, on average.
const EVERY: u64 = 1024;
/// Operations of the writer until it is read back, at the most.
const WITHIN: u64 = 4096;
/// Records that wait to be read back, at the most: four do on average.
const MOST_WAITING: usize = 64;
/// Keeps the stream of choices from those of records and operations.
const CHOICES: u64 = 0x7265_6164;

/// A record that is to be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chosen {
    id: u64,
    /// The version that it has at the least.
    version: u64,
    /// The number of records written when it is read back.
    due: u64,
}

/// The records that one writer reads back, and their choice.
pub(crate) struct ReadBacks {
    /// Records to be written until something is to be done; at most 0 once it is.
    left: i64,
    /// The number of records written when that is so.
    next: u64,
    /// The number of records written when the next one is chosen.
    choice: u64,
    /// Records written until a chosen one is read back, at the most.
    within: u64,
    waiting: Vec<Chosen>,
    stream: Stream,
    key: Vec<u8>,
}

impl ReadBacks {
    /// For a writer that writes `records` in each of its operations, on average. Nothing is read back from an engine
    /// that keeps nothing, or where values are not verified.
    pub(crate) fn new<C>(records: f64, driver: &Driver<'_, C>) -> ReadBacks {
        let reads = driver.parameters.verify == Verify::Full && !driver.session.can(abi::IS_VOLATILE);
        let seed = subseed(driver.parameters.seed, &[CHOICES, driver.writes.into(), driver.index]);
        ReadBacks { key: driver.keys.blank(), ..ReadBacks::choosing(reads, (WITHIN as f64 * records) as u64, seed) }
    }

    /// For a load: its audit misses nothing, because nothing is written over.
    pub(crate) fn none() -> ReadBacks {
        ReadBacks::choosing(false, 1, 0)
    }

    fn choosing(reads: bool, within: u64, seed: u64) -> ReadBacks {
        let mut stream = Stream::new(seed);
        let choice = if reads { WITHIN + stream.below(EVERY) } else { i64::MAX as u64 };
        let waiting = Vec::with_capacity(MOST_WAITING);
        ReadBacks { left: choice as i64, next: choice, choice, within: within.max(1), waiting, stream, key: Vec::new() }
    }

    /// Counts records that were written. Returns whether [`ReadBacks::look`] is to be called.
    #[inline(always)]
    pub(crate) fn is_due(&mut self, records: u64) -> bool {
        self.left -= records as i64;
        self.left <= 0
    }

    /// Reads back what is due, and chooses the record `id` that was just written at `version`, if one is to be chosen.
    /// `may_be_gone`: others may have deleted a record by now. Returns whether the trial goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn look<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        id: u64,
        version: u64,
        may_be_gone: impl Fn(u64) -> bool,
    ) -> bool {
        let now = self.next + self.left.unsigned_abs();
        let mut goes_on = true;
        while let Some(index) = self.waiting.iter().position(|written| written.due <= now) {
            goes_on &= read_back(driver, &mut self.key, self.waiting.swap_remove(index), &may_be_gone);
        }
        self.choose(now, id, version);
        goes_on
    }

    /// Chooses a record if one is to be chosen, and counts anew until something is to be done.
    fn choose(&mut self, now: u64, id: u64, version: u64) {
        if now >= self.choice {
            if self.waiting.len() < MOST_WAITING {
                let due = now + 1 + self.stream.below(self.within);
                self.waiting.push(Chosen { id, version, due });
            }
            self.choice = now + 1 + self.stream.below(2 * EVERY - 1);
        }
        self.next = self.waiting.iter().map(|written| written.due).fold(self.choice, u64::min);
        self.left = (self.next - now) as i64;
    }
}

/// Reads a record of which nobody else writes versions before `version`. Returns whether the trial goes on.
fn read_back<C: Clock>(
    driver: &Driver<'_, C>,
    key: &mut [u8],
    Chosen { id, version, .. }: Chosen,
    may_be_gone: impl Fn(u64) -> bool,
) -> bool {
    let (table, session) = driver.session.raw();
    let Some(get) = table.get else { return true };
    let was_deleted = driver.ledger.is_deleted(id);
    let min_version = version.max(driver.ledger.min_version(id));
    driver.keys.write(id, key);
    let mut value = NOTHING;
    // SAFETY: the session is open and this thread's own; key and value live through the call.
    let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
    bump(&driver.stats.read_back, 1);
    // SAFETY: the engine lent it in the call just made; a miss or an error lends nothing.
    let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
    match status {
        abi::MISS if was_deleted || may_be_gone(id) => true,
        abi::OK if was_deleted => {
            driver.came_back(id);
            true
        }
        abi::OK if driver.values.is_right(id, min_version, value) => true,
        status => driver.read_failed(id, min_version, status, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions at which records were chosen, and those at which they were due, of `records` in steps of `step`.
    fn chosen(records: u64, step: u64, within: u64) -> Vec<(u64, u64)> {
        let mut backs = ReadBacks::choosing(true, within, 1);
        let mut all = Vec::new();
        for now in (step..=records).step_by(step as usize) {
            if backs.is_due(step) {
                assert_eq!(backs.next + backs.left.unsigned_abs(), now, "it knows how many were written");
                backs.waiting.retain(|written| written.due > now);
                let before = backs.waiting.len();
                backs.choose(now, now, 1);
                all.extend(backs.waiting[before..].iter().map(|written| (written.id, written.due)));
            }
        }
        all
    }

    #[test]
    fn one_record_in_1024_is_read_back_within_the_next_4096() {
        for (step, within) in [(1, WITHIN), (100, WITHIN), (1, 40)] {
            let all = chosen(WITHIN + 4_096_000, step, within);
            assert!((3_500..4_500).contains(&(all.len() as u64 * (1024 + step / 2) / 1024)), "{}: {step}", all.len());
            let delays = || all.iter().map(|(id, due)| due - id);
            assert!(delays().all(|delay| (1..=within).contains(&delay)), "{step}, {within}");
            let mean = delays().sum::<u64>() as f64 / all.len() as f64;
            assert!((0.9..1.1).contains(&(mean / (0.5 * (within + 1) as f64))), "{mean} of {within}");
        }
    }

    #[test]
    fn without_verification_nothing_is_ever_due() {
        let mut backs = ReadBacks::choosing(false, WITHIN, 1);
        assert!((0..1000).all(|_| !backs.is_due(1 << 40)));
    }
}
