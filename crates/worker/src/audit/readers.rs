//! The sessions that read records back, each by a thread of its own.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, thread};

use kvdyno_dataset::ValueFault;
use kvdyno_engine::{Answer, Database, EngineError, Session, abi};
use kvdyno_results::ReadBack;

use super::{Acknowledged, Expected};
use crate::session_alone::session_alone;
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
struct Readings {
    finding: ReadBack,
    /// The position of the first record that was not as it should be.
    first_at: Option<usize>,
    /// The sum of the versions that were read, and their number.
    versions: (u64, u64),
}

impl Readings {
    /// Notes a record at a position in order that was not as it should be.
    fn fail(&mut self, at: usize, counter: fn(&mut ReadBack) -> &mut u64, text: String) {
        *counter(&mut self.finding) += 1;
        if self.first_at.is_none_or(|first| at < first) {
            (self.first_at, self.finding.first) = (Some(at), Some(text));
        }
    }

    fn add(&mut self, other: Readings) {
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

    /// Reads ids back, each of one of `parts` parts. Returns the finding on each part, and the longest time that
    /// opening a session took.
    pub(crate) fn read(
        &self,
        parts: usize,
        ids: impl Iterator<Item = (usize, u64)> + Send,
    ) -> Result<(Vec<ReadBack>, Duration), EngineError> {
        let (by_part, opening) = self.share(parts, ids, |reader, at, id, readings| {
            reader.read(at, id, readings);
        })?;
        Ok((by_part.into_iter().map(|readings| readings.finding).collect(), opening))
    }

    /// Reads the records whose versions are added up, and compares their sum with the acknowledged updates.
    pub(crate) fn add_up(&self, expected: u64, finding: &mut ReadBack) -> Result<(), EngineError> {
        let ids = self.acknowledged.summed().map(|id| (0, id));
        let (by_part, _) = self.share(1, ids, |reader, at, id, readings| {
            let version = reader.read(at, id, readings).unwrap_or_default();
            if version >= NEVER_COMMITTED {
                let text = format!("record {id} is as a transaction wrote it that was never committed");
                readings.fail(at, |finding| &mut finding.wrong, text);
            }
            readings.versions = (readings.versions.0.saturating_add(version), readings.versions.1 + 1);
        })?;
        let mut readings = by_part.into_iter().next().unwrap_or_default();
        let (sum, count) = readings.versions;
        // A record that is wrong by itself is reported already.
        if (self.goes_on)() && sum != expected && readings.first_at.is_none() {
            let (less, more) = (expected.saturating_sub(sum), sum.saturating_sub(expected));
            let text = match less {
                0 => format!("{more} updates more than were acknowledged"),
                less => format!("{less} updates that were acknowledged are lost"),
            };
            let text = format!("the versions of {count} records are {sum} together: {text}");
            readings.fail(0, |finding| &mut finding.wrong, text);
        }
        let mut all = Readings { finding: mem::take(finding), ..Readings::default() };
        all.first_at = all.finding.first.as_ref().map(|_| 0);
        all.add(readings);
        *finding = all.finding;
        Ok(())
    }

    /// Shares records out among the sessions. `read` gets the position of each in order.
    fn share(
        &self,
        parts: usize,
        ids: impl Iterator<Item = (usize, u64)> + Send,
        read: impl Fn(&mut Reader<'_, '_>, usize, u64, &mut Readings) + Sync,
    ) -> Result<(Vec<Readings>, Duration), EngineError> {
        let ids = Mutex::new(ids.enumerate());
        let take = || -> Vec<_> { ids.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(BATCH).collect() };
        let work = || {
            let begun = Instant::now();
            let mut reader = Reader::open(self.database, self.acknowledged)?;
            let opening = begun.elapsed();
            let mut by_part: Vec<Readings> = (0..parts).map(|_| Readings::default()).collect();
            loop {
                let batch = take();
                if batch.is_empty() {
                    return Ok((by_part, opening));
                }
                for (at, (part, id)) in batch {
                    if !(self.goes_on)() {
                        return Ok((by_part, opening));
                    }
                    self.progress.fetch_add(1, Ordering::Relaxed);
                    by_part.get_mut(part).into_iter().for_each(|readings| read(&mut reader, at, id, readings));
                }
            }
        };
        // An engine without threads has one session, on the thread that opened the database.
        let others = if self.database.can(abi::IS_SINGLE) { 0 } else { self.sessions.saturating_sub(1) };
        thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let (mut all, mut opening) = work()?;
            for other in others {
                let (by_part, took) = other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                all.iter_mut().zip(by_part).for_each(|(all, readings)| all.add(readings));
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
    /// Opens it.
    fn open(database: &'db Database, acknowledged: &'a Acknowledged<'a>) -> Result<Self, EngineError> {
        Ok(Reader { session: session_alone(database)?, acknowledged, key: Vec::new() })
    }

    /// Reads `id` and notes the answer. Returns the version of a record that is there and right, if values carry one.
    fn read(&mut self, at: usize, id: u64, readings: &mut Readings) -> Option<u64> {
        let Acknowledged { records, ledger, .. } = self.acknowledged;
        records.spell(id, &mut self.key);
        let min_version = ledger.min_version(id);
        readings.finding.read += 1;
        let expected = self.acknowledged.expected(id);
        match self.session.get(&self.key) {
            Ok(Answer::Miss) if expected != Expected::Value => {}
            Ok(Answer::Hit(_)) if expected == Expected::Nothing => {
                let text = format!("record {id} is there, though it was deleted");
                readings.fail(at, |finding| &mut finding.wrong, text);
            }
            Ok(Answer::Hit(value)) => match records.fault(id, min_version, value) {
                None => return records.version(value),
                Some(ValueFault::Stale(text)) => readings.fail(at, |finding| &mut finding.stale, text),
                Some(ValueFault::Wrong(text) | ValueFault::Torn(text)) => {
                    readings.fail(at, |finding| &mut finding.wrong, text);
                }
            },
            Ok(Answer::Miss) => readings.fail(at, |finding| &mut finding.missing, format!("record {id} is missing")),
            Err(error) => {
                readings.fail(at, |finding| &mut finding.errors, format!("reading record {id}: {}", error.reason));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_findings_of_sessions_the_first_record_in_order_is_told() {
        let readings = |failed: &[usize]| {
            let mut readings =
                Readings { finding: ReadBack { read: 10, ..ReadBack::default() }, ..Readings::default() };
            failed.iter().for_each(|at| readings.fail(*at, |finding| &mut finding.missing, format!("record {at}")));
            readings
        };
        for (one, other) in [(&[7, 3, 5][..], &[4, 9][..]), (&[], &[3]), (&[3], &[])] {
            let (mut all, failed) = (readings(one), (one.len() + other.len()) as u64);
            all.add(readings(other));
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
