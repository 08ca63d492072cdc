//! Reading back what was acknowledged: after a trial by a fresh session of its worker, and after the last trial on a
//! database by a fresh process.

pub(crate) mod choice;
pub(crate) mod process;
mod session;

use std::sync::atomic::{AtomicU64, Ordering};
use std::{mem, ptr};

use kvdyno_dataset::{KeyError, Ledger, Stream, ValueFault, subseed};
use kvdyno_engine::{Answer, Database, EngineError, Host, Session};
use kvdyno_model::Audit;
use kvdyno_results::{Failure, FailureKind, ReadBack};

use crate::shared::LedgerMemory;
use crate::spec::{KnownContents, PresentIds, TrialSpec, Written};
use crate::workloads::NEVER_COMMITTED;
use crate::workloads::stored::StoredRecords;
use choice::SummedIds;

/// Keeps an audit's choice apart from the streams of a trial.
const STREAM: u64 = 0x0061_7564_6974;

/// Records that are there, and what of them was acknowledged.
pub(crate) struct Acknowledged<'a> {
    records: Box<dyn StoredRecords>,
    pub(crate) ledger: Ledger<'a>,
    extent: Audit,
    seed: u64,
    /// Records that were loaded.
    pub(crate) loaded: u64,
    present: PresentIds,
}

/// The finding that is right of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Its value.
    Value,
    /// Nothing: it was deleted.
    Nothing,
    /// One or the other: its deletion was begun and not acknowledged.
    Either,
}

impl<'a> Acknowledged<'a> {
    /// The acknowledged versions of a trial's database, in which the ids of `present` are now.
    pub(crate) fn of(
        spec: &TrialSpec,
        present: PresentIds,
        ledger: &'a LedgerMemory,
    ) -> Result<Acknowledged<'a>, Failure> {
        let parameters = &spec.workload.parameters;
        let no_keys = |error: KeyError| Failure { kind: FailureKind::EngineError, reason: error.to_string() };
        let records = spec.workload.name.stored(&parameters.data).map_err(no_keys)?;
        Ok(Acknowledged {
            loaded: records.count(),
            records,
            ledger: ledger.of(parameters.data.records),
            present,
            extent: spec.audit,
            seed: parameters.seed,
        })
    }

    /// The ids to read back of what was written, in order.
    pub(crate) fn ids<'b>(&'b self, written: &'b Written) -> Box<dyn Iterator<Item = u64> + 'b> {
        let (count, mut stream) = (self.records.count(), Stream::new(subseed(self.seed, &[STREAM])));
        match (self.extent, written) {
            (Audit::Off, _) => Box::new(std::iter::empty()),
            (Audit::Full, Written::Load) => Box::new(0..count),
            (Audit::Full, Written::Run { versions, inserted, taken }) => {
                let updated = choice::all_updated(self.ledger, count, versions);
                Box::new(updated.chain(inserted.clone()).chain(taken.clone()))
            }
            (Audit::Sample, Written::Load) => Box::new(choice::any_of(count, &mut stream).into_iter()),
            (Audit::Sample, Written::Run { versions, inserted, taken }) => {
                let mut ids = choice::updated(self.ledger, count, versions, &mut stream);
                for part in [inserted, taken] {
                    let indices = choice::any_of(part.end.saturating_sub(part.start), &mut stream);
                    ids.extend(indices.into_iter().map(|index| part.start + index));
                }
                Box::new(ids.into_iter())
            }
        }
    }
}

impl<'a> Acknowledged<'a> {
    /// The ids of the records whose versions are added up.
    fn summed(&self) -> Box<dyn Iterator<Item = u64> + 'a> {
        let count = self.records.count();
        match self.extent {
            Audit::Off => Box::new(std::iter::empty()),
            Audit::Full => Box::new(0..count),
            Audit::Sample => Box::new(SummedIds::of(count).below(count)),
        }
    }

    /// The expected sum of the versions that are added up; `None` if it is not known.
    pub(crate) fn version_sum(&self, contents: &KnownContents) -> Option<u64> {
        match self.extent {
            Audit::Off => None,
            Audit::Full => contents.version_sum,
            Audit::Sample => contents.sampled_version_sum,
        }
    }
}

impl Acknowledged<'_> {
    fn expected(&self, id: u64) -> Expected {
        let PresentIds { gone, taken, .. } = self.present;
        match id {
            _ if id < gone || self.ledger.is_deleted(id) => Expected::Nothing,
            _ if id < taken => Expected::Either,
            _ => Expected::Value,
        }
    }
}

/// A session that reads records back.
pub(crate) struct Reader<'a, 'db> {
    session: Session<'db>,
    acknowledged: &'a Acknowledged<'a>,
    key: Vec<u8>,
    /// Records read so far, for who looks on.
    progress: &'a AtomicU64,
}

impl<'a, 'db> Reader<'a, 'db> {
    /// Opens it. The engine is lent no host that could answer for it.
    pub(crate) fn open(
        database: &'db Database,
        acknowledged: &'a Acknowledged<'a>,
        progress: &'a AtomicU64,
    ) -> Result<Self, EngineError> {
        static NO_HOST: NoHost =
            NoHost(Host { size: mem::size_of::<Host>() as u32, reserved: 0, context: ptr::null_mut(), recall: None });
        // SAFETY: the host is never changed and lives for ever.
        let session = unsafe { database.session(&NO_HOST.0) }?;
        Ok(Reader { session, acknowledged, key: Vec::new(), progress })
    }

    /// Reads the records whose versions are added up, and compares their sum with the acknowledged updates.
    pub(crate) fn add_up(&mut self, expected: u64, goes_on: impl Fn() -> bool, finding: &mut ReadBack) {
        let (mut sum, mut count) = (0u64, 0u64);
        let failures = |finding: &ReadBack| finding.wrong + finding.stale + finding.missing + finding.errors;
        let before = failures(finding);
        for id in self.acknowledged.summed() {
            if !goes_on() {
                return;
            }
            let version = self.read(id, finding).unwrap_or_default();
            if version >= NEVER_COMMITTED {
                finding.wrong += 1;
                let text = format!("record {id} is as a transaction wrote it that was never committed");
                finding.first.get_or_insert(text);
            }
            sum = sum.saturating_add(version);
            count += 1;
        }
        // A record that is wrong by itself was reported already.
        if sum != expected && failures(finding) == before {
            finding.wrong += 1;
            let (less, more) = (expected.saturating_sub(sum), sum.saturating_sub(expected));
            let text = match less {
                0 => format!("{more} updates more than were acknowledged"),
                less => format!("{less} updates that were acknowledged are lost"),
            };
            finding.first.get_or_insert(format!("the versions of {count} records are {sum} together: {text}"));
        }
    }

    /// Reads `id` and notes the answer in `finding`. Returns the version of a record that is there and right, if values
    /// carry one.
    pub(crate) fn read(&mut self, id: u64, finding: &mut ReadBack) -> Option<u64> {
        self.acknowledged.records.spell(id, &mut self.key);
        let min_version = self.acknowledged.ledger.min_version(id);
        finding.read += 1;
        self.progress.fetch_add(1, Ordering::Relaxed);
        let expected = self.acknowledged.expected(id);
        let (counter, text) = match self.session.get(&self.key) {
            Ok(Answer::Miss) if expected != Expected::Value => return None,
            Ok(Answer::Hit(_)) if expected == Expected::Nothing => {
                (&mut finding.wrong, format!("record {id} is there, though it was deleted"))
            }
            Ok(Answer::Hit(value)) => match self.acknowledged.records.fault(id, min_version, value) {
                None => return self.acknowledged.records.version(value),
                Some(ValueFault::Stale(text)) => (&mut finding.stale, text),
                Some(ValueFault::Wrong(text) | ValueFault::Torn(text)) => (&mut finding.wrong, text),
            },
            Ok(Answer::Miss) => (&mut finding.missing, format!("record {id} is missing")),
            Err(error) => (&mut finding.errors, format!("reading record {id}: {}", error.reason)),
        };
        *counter += 1;
        finding.first.get_or_insert(text);
        None
    }
}

/// A host without functions.
struct NoHost(Host);

// SAFETY: it holds no pointer but null, and nobody changes it.
unsafe impl Sync for NoHost {}
