//! Scans: ranges of fjall's keyspace, in a snapshot or in a transaction.

use crate::database::Fjall;
use crate::error::failed;
use crate::session::FjallTransaction;
use fjall::{Guard, Iter, OptimisticWriteTx, Readable, Slice, Snapshot};
use kvdyno_abi::adapter::support::Ranges;
use kvdyno_abi::adapter::{Error, Record};
use std::cell::RefCell;
use std::ops::Bound;
use std::rc::Rc;

/// The ranges that a cursor goes through: of the begun transaction, or of a snapshot of its own, which is renewed at
/// each seek.
pub struct KeyspaceRanges<'db> {
    engine: &'db Fjall,
    begun: Rc<RefCell<FjallTransaction>>,
    own: Option<Snapshot>,
    /// Values are not asked for: those that lie in files of their own are not read.
    keys_only: bool,
}

impl<'db> KeyspaceRanges<'db> {
    pub fn new(engine: &'db Fjall, begun: Rc<RefCell<FjallTransaction>>, keys_only: bool) -> Self {
        Self { engine, begun, own: None, keys_only }
    }
}

impl KeyspaceRanges<'_> {
    /// Records of what the cursor looks into: a snapshot, or the transaction that writes.
    fn iterated(
        &self,
        of_snapshot: impl FnOnce(&Snapshot) -> Iter,
        of_writing: impl FnOnce(&OptimisticWriteTx) -> Iter,
    ) -> Result<KeyspaceIter, Error> {
        let guards = match (&self.own, &*self.begun.borrow()) {
            (Some(snapshot), _) | (None, FjallTransaction::Snapshot(snapshot)) => of_snapshot(snapshot),
            (None, FjallTransaction::Writing(transaction)) => of_writing(transaction),
            (None, FjallTransaction::None) => {
                return Err(Error::new("the transaction that the cursor looked into has ended: seek again"));
            }
        };
        Ok(KeyspaceIter { guards, keys_only: self.keys_only })
    }
}

impl Ranges for KeyspaceRanges<'_> {
    type Item = (Slice, Slice);
    type Iter = KeyspaceIter;

    fn renew(&mut self) -> Result<(), Error> {
        self.own = match *self.begun.borrow() {
            FjallTransaction::None => Some(self.engine.db.read_tx()),
            _ => None,
        };
        Ok(())
    }

    fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<KeyspaceIter, Error> {
        let (keyspace, bounds) = (&self.engine.keyspace, (from, to));
        self.iterated(
            |snapshot| snapshot.range::<&[u8], _>(keyspace, bounds),
            |transaction| transaction.range::<&[u8], _>(keyspace, bounds),
        )
    }

    fn prefixed(&mut self, prefix: &[u8]) -> Result<KeyspaceIter, Error> {
        let keyspace = &self.engine.keyspace;
        self.iterated(|snapshot| snapshot.prefix(keyspace, prefix), |transaction| transaction.prefix(keyspace, prefix))
    }

    fn record((key, value): &(Slice, Slice)) -> Record<'_> {
        (key, value)
    }
}

/// Records where fjall has them.
pub struct KeyspaceIter {
    guards: Iter,
    keys_only: bool,
}

impl KeyspaceIter {
    fn record(&self, guard: Guard) -> Result<(Slice, Slice), Error> {
        match self.keys_only {
            false => guard.into_inner().map_err(failed),
            true => guard.key().map(|key| (key, Slice::empty())).map_err(failed),
        }
    }
}

impl Iterator for KeyspaceIter {
    type Item = Result<(Slice, Slice), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let guard = self.guards.next()?;
        Some(self.record(guard))
    }
}

impl DoubleEndedIterator for KeyspaceIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        let guard = self.guards.next_back()?;
        Some(self.record(guard))
    }
}
