//! A thread's access to fjall.

use crate::cursor::KeyspaceRanges;
use crate::database::Fjall;
use crate::error::failed;
use fjall::{OptimisticWriteTx, Readable, Slice, Snapshot};
use kvdyno_abi::adapter::support::RangeCursor;
use kvdyno_abi::adapter::{
    Batch, BatchEntry, Change, CursorLimits, Error, MultiGetAnswers, MultiGetKeys, Session, Transaction,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// fjall panics at an empty key, and at a longer one, after which the database is of no use.
pub const LONGEST_KEY: usize = u16::MAX as usize;
pub const LARGEST_VALUE: usize = u32::MAX as usize;

pub struct FjallSession<'db> {
    engine: &'db Fjall,
    plain_write: Arc<Mutex<()>>,
    begun: Rc<RefCell<FjallTransaction>>,
    lent: Option<Slice>,
    lent_many: Vec<Result<Option<Slice>, Error>>,
}

/// The transaction that the caller has begun; its cursors look into it.
pub enum FjallTransaction {
    None,
    Snapshot(Snapshot),
    Writing(OptimisticWriteTx),
}

fn check(step: BatchEntry<'_>) -> Result<(), Error> {
    let (key, value): (&[u8], &[u8]) = match step {
        BatchEntry::Put { key, value } => (key, value),
        BatchEntry::Delete { key } => (key, &[]),
    };
    match (key.len(), value.len()) {
        (1..=LONGEST_KEY, 0..=LARGEST_VALUE) => Ok(()),
        (key, value) => Err(Error::new(format_args!("fjall takes no key of {key} bytes with a value of {value}"))),
    }
}

fn read_only() -> Error {
    Error::unsupported("a read-only transaction is open on this session")
}

impl<'db> FjallSession<'db> {
    pub fn new(engine: &'db Fjall) -> Result<Self, Error> {
        let plain_write = engine.isolation.session()?;
        let begun = Rc::new(RefCell::new(FjallTransaction::None));
        Ok(Self { engine, plain_write, begun, lent: None, lent_many: Vec::new() })
    }

    /// Ends the loan of the values that the last call lent.
    fn settle(&mut self) {
        self.lent = None;
        self.lent_many.clear();
    }

    /// A write that is no part of a begun transaction.
    fn write_plainly(
        &self,
        plain: impl FnOnce() -> fjall::Result<()>,
        isolated: impl FnOnce(&mut OptimisticWriteTx),
    ) -> Result<(), Error> {
        let plain = || {
            plain().map_err(failed)?;
            self.engine.persist_plain_write()
        };
        self.engine.isolation.write(&self.plain_write, plain, || self.write_isolated(isolated))
    }

    fn write_isolated(&self, work: impl FnOnce(&mut OptimisticWriteTx)) -> Result<(), Error> {
        let mut transaction = self.engine.write_tx()?;
        work(&mut transaction);
        commit(transaction)
    }

    fn apply(&self, step: BatchEntry<'_>, transaction: &mut OptimisticWriteTx) {
        match step {
            BatchEntry::Put { key, value } => transaction.insert(&self.engine.keyspace, key, value),
            BatchEntry::Delete { key } => transaction.remove(&self.engine.keyspace, key),
        }
    }

    fn write_one(&mut self, step: BatchEntry<'_>) -> Result<(), Error> {
        self.settle();
        check(step)?;
        match &mut *self.begun.borrow_mut() {
            FjallTransaction::None => {
                let keyspace = self.engine.plain();
                let plain = || match step {
                    BatchEntry::Put { key, value } => keyspace.insert(key, value),
                    BatchEntry::Delete { key } => keyspace.remove(key),
                };
                self.write_plainly(plain, |transaction| self.apply(step, transaction))
            }
            FjallTransaction::Snapshot(_) => Err(read_only()),
            FjallTransaction::Writing(transaction) => {
                self.apply(step, transaction);
                Ok(())
            }
        }
    }

    fn write_batch(&self, steps: Batch<'_>) -> Result<(), Error> {
        self.engine.isolation.batch_comes();
        let plain = || {
            let keyspace = self.engine.plain();
            let mut batch = self.engine.batch(steps.len());
            for step in steps.clone() {
                match step {
                    BatchEntry::Put { key, value } => batch.insert(keyspace, key, value),
                    BatchEntry::Delete { key } => batch.remove(keyspace, key),
                }
            }
            batch.commit().map_err(failed)
        };
        let isolated =
            || self.write_isolated(|transaction| steps.clone().for_each(|step| self.apply(step, transaction)));
        self.engine.isolation.write(&self.plain_write, plain, isolated)
    }
}

/// A conflict undoes the transaction.
fn commit(transaction: OptimisticWriteTx) -> Result<(), Error> {
    transaction.commit().map_err(failed)?.map_err(Error::conflict)
}

fn change_in(
    transaction: &mut OptimisticWriteTx,
    engine: &Fjall,
    key: &[u8],
    change: &mut Change<'_>,
) -> Result<(), Error> {
    let old = transaction.get(&engine.keyspace, key).map_err(failed)?;
    let value = change.apply(old.as_deref())?;
    check(BatchEntry::Put { key, value })?;
    transaction.insert(&engine.keyspace, key, value);
    Ok(())
}

impl<'db> Session for FjallSession<'db> {
    type Cursor = RangeCursor<KeyspaceRanges<'db>>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.settle();
        let engine = self.engine;
        self.lent = match &*self.begun.borrow() {
            FjallTransaction::None => {
                let isolated = || engine.db.read_tx().get(&engine.keyspace, key);
                engine.isolation.read(|| engine.plain().get(key), isolated)
            }
            FjallTransaction::Snapshot(snapshot) => snapshot.get(&engine.keyspace, key),
            FjallTransaction::Writing(transaction) => transaction.get(&engine.keyspace, key),
        }
        .map_err(failed)?;
        Ok(self.lent.as_deref())
    }

    fn contains(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.settle();
        let engine = self.engine;
        match &*self.begun.borrow() {
            FjallTransaction::None => {
                let isolated = || engine.db.read_tx().contains_key(&engine.keyspace, key);
                engine.isolation.read(|| engine.plain().contains_key(key), isolated)
            }
            FjallTransaction::Snapshot(snapshot) => snapshot.contains_key(&engine.keyspace, key),
            FjallTransaction::Writing(transaction) => transaction.contains_key(&engine.keyspace, key),
        }
        .map_err(failed)
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        self.settle();
        let engine = self.engine;
        let mut read = |reader: &dyn Fn(&[u8]) -> fjall::Result<Option<Slice>>| {
            self.lent_many.extend(keys.clone().map(|key| reader(key).map_err(failed)));
        };
        match &*self.begun.borrow() {
            FjallTransaction::None => {
                let snapshot = engine.db.read_tx();
                read(&|key| snapshot.get(&engine.keyspace, key));
            }
            FjallTransaction::Snapshot(snapshot) => read(&|key| snapshot.get(&engine.keyspace, key)),
            FjallTransaction::Writing(transaction) => read(&|key| transaction.get(&engine.keyspace, key)),
        }
        for (index, value) in self.lent_many.iter().enumerate() {
            answers.set(index, value.as_ref().map(Option::as_deref).map_err(Error::clone));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.write_one(BatchEntry::Put { key, value })
    }

    /// fjall writes a tombstone and does not look what there was.
    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.write_one(BatchEntry::Delete { key }).map(|()| true)
    }

    fn write(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        self.settle();
        batch.clone().try_for_each(check)?;
        match &mut *self.begun.borrow_mut() {
            FjallTransaction::None => self.write_batch(batch),
            FjallTransaction::Snapshot(_) => Err(read_only()),
            FjallTransaction::Writing(transaction) => {
                batch.for_each(|step| self.apply(step, transaction));
                Ok(())
            }
        }
    }

    /// Tried again after a conflict, as fjall's own `fetch_update` does.
    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        self.settle();
        match &mut *self.begun.borrow_mut() {
            FjallTransaction::None => {
                self.engine.isolation.transaction_comes()?;
                loop {
                    let mut transaction = self.engine.write_tx()?;
                    change_in(&mut transaction, self.engine, key, change)?;
                    if transaction.commit().map_err(failed)?.is_ok() {
                        return Ok(());
                    }
                }
            }
            FjallTransaction::Snapshot(_) => Err(read_only()),
            FjallTransaction::Writing(transaction) => change_in(transaction, self.engine, key, change),
        }
    }

    fn begin(&mut self, kind: Transaction) -> Result<(), Error> {
        self.settle();
        let mut begun = self.begun.borrow_mut();
        if !matches!(*begun, FjallTransaction::None) {
            return Err(Error::new("a transaction is open already: they do not nest"));
        }
        *begun = match kind {
            Transaction::ReadOnly => FjallTransaction::Snapshot(self.engine.db.read_tx()),
            Transaction::ReadWrite => {
                self.engine.isolation.transaction_comes()?;
                FjallTransaction::Writing(self.engine.write_tx()?)
            }
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.settle();
        match self.begun.replace(FjallTransaction::None) {
            FjallTransaction::None => Err(Error::new("no transaction is open")),
            FjallTransaction::Snapshot(_) => Ok(()),
            FjallTransaction::Writing(transaction) => commit(transaction),
        }
    }

    fn abort(&mut self) -> Result<(), Error> {
        self.settle();
        match self.begun.replace(FjallTransaction::None) {
            FjallTransaction::None => Err(Error::new("no transaction is open")),
            FjallTransaction::Snapshot(_) => Ok(()),
            FjallTransaction::Writing(transaction) => {
                transaction.rollback();
                Ok(())
            }
        }
    }

    fn cursor(&mut self) -> Result<Self::Cursor, Error> {
        self.settle();
        Ok(RangeCursor::new(KeyspaceRanges::new(self.engine, Rc::clone(&self.begun), false)))
    }

    fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<Self::Cursor, Error> {
        self.settle();
        let ranges = KeyspaceRanges::new(self.engine, Rc::clone(&self.begun), limits.keys_only);
        Ok(RangeCursor::bounded(ranges, limits))
    }
}
