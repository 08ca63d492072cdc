//! Reading back what was acknowledged: after a trial by fresh sessions of its worker, and after the last trial on a
//! database by a fresh process.

pub(crate) mod choice;
pub(crate) mod process;
mod readers;
mod session;

use kvdyno_dataset::{KeyError, Ledger, Stream, subseed};
use kvdyno_model::Audit;
use kvdyno_results::{Failure, FailureKind};

use crate::shared::LedgerMemory;
use crate::spec::{KnownContents, PresentIds, TrialSpec, Written};
use crate::workloads::stored::StoredRecords;
use choice::SummedIds;
pub(crate) use readers::Readers;

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
    pub(crate) fn ids<'b>(&'b self, written: &'b Written) -> Box<dyn Iterator<Item = u64> + Send + 'b> {
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
    fn summed(&self) -> Box<dyn Iterator<Item = u64> + Send + 'a> {
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
