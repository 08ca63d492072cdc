//! Reading back what was acknowledged: after a trial by a fresh session of its worker, and after the last trial on a
//! database by a fresh process.

mod choice;
pub(crate) mod process;
mod session;

use std::sync::atomic::{AtomicU64, Ordering};
use std::{mem, ptr};

use kvdyno_dataset::{KeyError, Ledger, Stream, ValueFault, WatchedIds, subseed};
use kvdyno_engine::{Answer, Database, EngineError, Host, Session};
use kvdyno_model::Audit;
use kvdyno_results::{Failure, FailureKind, ReadBack};

use crate::shared::LedgerMemory;
use crate::spec::{TrialSpec, Written};
use crate::workloads::stored::StoredRecords;

/// Keeps an audit's choice apart from the streams of a trial.
const STREAM: u64 = 0x0061_7564_6974;

/// Records that are there, and what of them was acknowledged.
pub(crate) struct Acknowledged<'a> {
    records: Box<dyn StoredRecords>,
    pub(crate) ledger: Ledger<'a>,
    extent: Audit,
    seed: u64,
}

impl<'a> Acknowledged<'a> {
    /// Those of a trial's database.
    pub(crate) fn of(spec: &TrialSpec, ledger: &'a LedgerMemory) -> Result<Acknowledged<'a>, Failure> {
        let parameters = &spec.workload.parameters;
        let no_keys = |error: KeyError| Failure { kind: FailureKind::EngineError, reason: error.to_string() };
        Ok(Acknowledged {
            records: spec.workload.name.stored(&parameters.data).map_err(no_keys)?,
            ledger: Ledger::new(ledger.slots(), WatchedIds::over(parameters.data.records)),
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
            (Audit::Full, Written::Versions(versions)) => Box::new(choice::all_updated(self.ledger, count, versions)),
            (Audit::Sample, Written::Load) => Box::new(choice::any_of(count, &mut stream).into_iter()),
            (Audit::Sample, Written::Versions(versions)) => {
                Box::new(choice::updated(self.ledger, count, versions, &mut stream).into_iter())
            }
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

    /// Reads `id` and notes in `finding` what it was.
    pub(crate) fn read(&mut self, id: u64, finding: &mut ReadBack) {
        self.acknowledged.records.spell(id, &mut self.key);
        let min_version = self.acknowledged.ledger.min_version(id);
        finding.read += 1;
        self.progress.fetch_add(1, Ordering::Relaxed);
        let (counter, text) = match self.session.get(&self.key) {
            Ok(Answer::Hit(value)) => match self.acknowledged.records.fault(id, min_version, value) {
                None => return,
                Some(ValueFault::Stale(text)) => (&mut finding.stale, text),
                Some(ValueFault::Wrong(text) | ValueFault::Torn(text)) => (&mut finding.wrong, text),
            },
            Ok(Answer::Miss) => (&mut finding.missing, format!("record {id} is missing")),
            Err(error) => (&mut finding.errors, format!("reading record {id}: {}", error.reason)),
        };
        *counter += 1;
        finding.first.get_or_insert(text);
    }
}

/// A host without functions.
struct NoHost(Host);

// SAFETY: it holds no pointer but null, and nobody changes it.
unsafe impl Sync for NoHost {}
