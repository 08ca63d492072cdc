//! Scans: ranges of fjall's keyspace, in a snapshot or in a transaction.

use crate::database::Fjall;
use crate::error::failed;
use crate::session::FjallTransaction;
use fjall::{Guard, Iter, Readable, Slice, Snapshot};
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
}

impl<'db> KeyspaceRanges<'db> {
    pub fn new(engine: &'db Fjall, begun: Rc<RefCell<FjallTransaction>>) -> Self {
        Self { engine, begun, own: None }
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
        if let Some(snapshot) = &self.own {
            return Ok(KeyspaceIter(snapshot.range::<&[u8], _>(keyspace, bounds)));
        }
        match &*self.begun.borrow() {
            FjallTransaction::Snapshot(snapshot) => Ok(KeyspaceIter(snapshot.range::<&[u8], _>(keyspace, bounds))),
            FjallTransaction::Writing(transaction) => Ok(KeyspaceIter(transaction.range::<&[u8], _>(keyspace, bounds))),
            FjallTransaction::None => {
                Err(Error::new("the transaction that the cursor looked into has ended: seek again"))
            }
        }
    }

    fn record((key, value): &(Slice, Slice)) -> Record<'_> {
        (key, value)
    }
}

/// Records where fjall has them.
pub struct KeyspaceIter(Iter);

fn record(guard: Guard) -> Result<(Slice, Slice), Error> {
    guard.into_inner().map_err(failed)
}

impl Iterator for KeyspaceIter {
    type Item = Result<(Slice, Slice), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(record)
    }
}

impl DoubleEndedIterator for KeyspaceIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(record)
    }
}
