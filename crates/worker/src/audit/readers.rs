//! The sessions that read records back, each by a thread of its own.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, ptr, thread};

use kvdyno_dataset::ValueFault;
use kvdyno_engine::{Answer, Database, EngineError, Host, Session, abi};
use kvdyno_results::ReadBack;

use super::{Acknowledged, Expected};
use crate::workloads::NEVER_COMMITTED;

/// Records that a session takes at a time: neighbours, which often share a page.
const BATCH: usize = 64;

/// The most sessions. Each takes time to open, and a sample is soon read.
const MOST_SESSIONS: usize = 8;

/// Sessions that read the records of a database back, at the same time.
pub(crate) struct Readers<'a> {
    pub(crate) database: &'a Database,
    pub(crate) acknowledged: &'a Acknowledged<'a>,
    /// Records read so far, for who looks on.
    pub(crate) progress: &'a AtomicU64,
    /// Number of sessions.
    pub(crate) sessions: usize,
    /// Whether it is still wanted.
    pub(crate) goes_on: &'a (dyn Fn() -> bool + Sync),
}

/// The findings of sessions on the records of one part.
#[derive(Default)]
struct Tally {
    finding: ReadBack,
    /// The position of the first record that was not as it should be.
    first_at: Option<usize>,
    /// The sum of the versions that were read, and their number.
    versions: (u64, u64),
}

impl Tally {
    /// Notes a record at a position in order that was not as it should be.
    fn fail(&mut self, at: usize, counter: fn(&mut ReadBack) -> &mut u64, text: String) {
        *counter(&mut self.finding) += 1;
        if self.first_at.is_none_or(|first| at < first) {
            (self.first_at, self.finding.first) = (Some(at), Some(text));
        }
    }

    fn add(&mut self, other: Tally) {
        let (finding, of_other) = (&mut self.finding, other.finding);
        finding.read += of_other.read;
        finding.missing += of_other.missing;
        finding.stale += of_other.stale;
        finding.wrong += of_other.wrong;
        finding.errors += of_other.errors;
        if other.first_at.is_some_and(|at| self.first_at.is_none_or(|first| at < first)) {
            (self.first_at, finding.first) = (other.first_at, of_other.first);
        }
        self.versions = (self.versions.0.saturating_add(other.versions.0), self.versions.1 + other.versions.1);
    }
}

impl Readers<'_> {
    /// The number of sessions that read at the same time, where an engine was promised at most so many.
    pub(crate) fn at_most(promised: u32) -> usize {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        cpus.min(MOST_SESSIONS).min(promised as usize).max(1)
    }

    /// Reads ids back, each of one of `parts` parts. Returns the finding on each part, and the longest time that opening
    /// a session took.
    pub(crate) fn read(
        &self,
        parts: usize,
        ids: impl Iterator<Item = (usize, u64)> + Send,
    ) -> Result<(Vec<ReadBack>, Duration), EngineError> {
        let (tallies, opening) = self.share(parts, ids, |reader, at, id, tally| {
            reader.read(at, id, tally);
        })?;
        Ok((tallies.into_iter().map(|tally| tally.finding).collect(), opening))
    }

    /// Reads the records whose versions are added up, and compares their sum with the acknowledged updates.
    pub(crate) fn add_up(&self, expected: u64, finding: &mut ReadBack) -> Result<(), EngineError> {
        let ids = self.acknowledged.summed().map(|id| (0, id));
        let (tallies, _) = self.share(1, ids, |reader, at, id, tally| {
            let version = reader.read(at, id, tally).unwrap_or_default();
            if version >= NEVER_COMMITTED {
                let text = format!("record {id} is as a transaction wrote it that was never committed");
                tally.fail(at, |finding| &mut finding.wrong, text);
            }
            tally.versions = (tally.versions.0.saturating_add(version), tally.versions.1 + 1);
        })?;
        let mut tally = tallies.into_iter().next().unwrap_or_default();
        let (sum, count) = tally.versions;
        // A record that is wrong by itself is reported already.
        if (self.goes_on)() && sum != expected && tally.first_at.is_none() {
            let (less, more) = (expected.saturating_sub(sum), sum.saturating_sub(expected));
            let text = match less {
                0 => format!("{more} updates more than were acknowledged"),
                less => format!("{less} updates that were acknowledged are lost"),
            };
            let text = format!("the versions of {count} records are {sum} together: {text}");
            tally.fail(0, |finding| &mut finding.wrong, text);
        }
        let mut all = Tally { finding: mem::take(finding), ..Tally::default() };
        all.first_at = all.finding.first.as_ref().map(|_| 0);
        all.add(tally);
        *finding = all.finding;
        Ok(())
    }

    /// Shares records out among the sessions. `read` gets the position of each in order.
    fn share(
        &self,
        parts: usize,
        ids: impl Iterator<Item = (usize, u64)> + Send,
        read: impl Fn(&mut Reader<'_, '_>, usize, u64, &mut Tally) + Sync,
    ) -> Result<(Vec<Tally>, Duration), EngineError> {
        let ids = Mutex::new(ids.enumerate());
        let take = || -> Vec<_> { ids.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(BATCH).collect() };
        let work = || {
            let begun = Instant::now();
            let mut reader = Reader::open(self.database, self.acknowledged)?;
            let opening = begun.elapsed();
            let mut tallies: Vec<Tally> = (0..parts).map(|_| Tally::default()).collect();
            loop {
                let batch = take();
                if batch.is_empty() {
                    return Ok((tallies, opening));
                }
                for (at, (part, id)) in batch {
                    if !(self.goes_on)() {
                        return Ok((tallies, opening));
                    }
                    self.progress.fetch_add(1, Ordering::Relaxed);
                    tallies.get_mut(part).into_iter().for_each(|tally| read(&mut reader, at, id, tally));
                }
            }
        };
        // An engine without threads has one session, on the thread that opened the database.
        let others = if self.database.can(abi::IS_SINGLE) { 0 } else { self.sessions.saturating_sub(1) };
        thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let (mut all, mut opening) = work()?;
            for other in others {
                let (tallies, took) = other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                all.iter_mut().zip(tallies).for_each(|(all, tally)| all.add(tally));
                opening = opening.max(took);
            }
            Ok((all, opening))
        })
    }
}

/// A session that reads records back.
struct Reader<'a, 'db> {
    session: Session<'db>,
    acknowledged: &'a Acknowledged<'a>,
    key: Vec<u8>,
}

impl<'a, 'db> Reader<'a, 'db> {
    /// Opens it. The engine is lent no host that could answer for it.
    fn open(database: &'db Database, acknowledged: &'a Acknowledged<'a>) -> Result<Self, EngineError> {
        static NO_HOST: NoHost =
            NoHost(Host { size: mem::size_of::<Host>() as u32, reserved: 0, context: ptr::null_mut(), recall: None });
        // SAFETY: the host is never changed and lives for ever.
        let session = unsafe { database.session(&NO_HOST.0) }?;
        Ok(Reader { session, acknowledged, key: Vec::new() })
    }

    /// Reads `id` and notes the answer. Returns the version of a record that is there and right, if values carry one.
    fn read(&mut self, at: usize, id: u64, tally: &mut Tally) -> Option<u64> {
        let Acknowledged { records, ledger, .. } = self.acknowledged;
        records.spell(id, &mut self.key);
        let min_version = ledger.min_version(id);
        tally.finding.read += 1;
        let expected = self.acknowledged.expected(id);
        match self.session.get(&self.key) {
            Ok(Answer::Miss) if expected != Expected::Value => {}
            Ok(Answer::Hit(_)) if expected == Expected::Nothing => {
                let text = format!("record {id} is there, though it was deleted");
                tally.fail(at, |finding| &mut finding.wrong, text);
            }
            Ok(Answer::Hit(value)) => match records.fault(id, min_version, value) {
                None => return records.version(value),
                Some(ValueFault::Stale(text)) => tally.fail(at, |finding| &mut finding.stale, text),
                Some(ValueFault::Wrong(text) | ValueFault::Torn(text)) => {
                    tally.fail(at, |finding| &mut finding.wrong, text);
                }
            },
            Ok(Answer::Miss) => tally.fail(at, |finding| &mut finding.missing, format!("record {id} is missing")),
            Err(error) => {
                tally.fail(at, |finding| &mut finding.errors, format!("reading record {id}: {}", error.reason));
            }
        }
        None
    }
}

/// A host without functions.
struct NoHost(Host);

// SAFETY: it holds no pointer but null, and nobody changes it.
unsafe impl Sync for NoHost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_findings_of_sessions_the_first_record_in_order_is_told() {
        let tally = |failed: &[usize]| {
            let mut tally = Tally { finding: ReadBack { read: 10, ..ReadBack::default() }, ..Tally::default() };
            failed.iter().for_each(|at| tally.fail(*at, |finding| &mut finding.missing, format!("record {at}")));
            tally
        };
        for (one, other) in [(&[7, 3, 5][..], &[4, 9][..]), (&[], &[3]), (&[3], &[])] {
            let (mut all, failed) = (tally(one), (one.len() + other.len()) as u64);
            all.add(tally(other));
            let first = Some("record 3".to_owned());
            assert_eq!(all.finding, ReadBack { read: 20, missing: failed, first, ..ReadBack::default() });
        }
    }

    #[test]
    fn no_more_sessions_read_than_the_engine_was_promised() {
        assert_eq!((Readers::at_most(0), Readers::at_most(1)), (1, 1));
        assert!((1..=MOST_SESSIONS).contains(&Readers::at_most(u32::MAX)));
    }
}
