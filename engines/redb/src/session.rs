//! A thread's access to redb.

use crate::cursor::TableRanges;
use crate::database::{ByteSlice, Door, RECORDS, RecordTable, Redb, records};
use crate::error::failed;
use crate::settings::{Commits, check_session};
use kvdyno_abi::adapter::support::RangeCursor;
use kvdyno_abi::adapter::{
    Batch, BatchEntry, Change, CursorLimits, DurabilityLevel, Error, MultiGetAnswers, MultiGetKeys, Session,
    Transaction,
};
use redb::{Database, OwnedAccessGuard, ReadableTable, Table, WriteTransaction};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

pub struct RedbSession<'db> {
    shared: Rc<Shared<'db>>,
    commits: Commits,
    lent: Option<Lent>,
    lent_many: Vec<Result<Option<Lent>, Error>>,
}

/// The state that a session and its cursors share.
pub struct Shared<'db> {
    engine: &'db Redb,
    door: Arc<Mutex<Door>>,
    pub begun: RefCell<RedbTransaction>,
}

/// The transaction that the caller has begun.
#[allow(clippy::large_enum_variant, reason = "there is one in a session")]
pub enum RedbTransaction {
    None,
    Snapshot(RecordTable),
    Writing {
        transaction: WriteTransaction,
        /// A batch failed half-way: it can only be aborted.
        broken: bool,
    },
}

/// A value that is lent out.
enum Lent {
    /// Where redb has it, with the read transaction that keeps it there.
    Page(OwnedAccessGuard<ByteSlice>),
    /// redb lends a writer's own records only as long as it leaves the table open, which the next write could not.
    Copy(Vec<u8>),
}

impl Lent {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Page(guard) => guard.value(),
            Self::Copy(bytes) => bytes,
        }
    }
}

impl Shared<'_> {
    fn with_database<T>(&self, call: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        match &*self.door.lock().map_err(Error::new)? {
            Some(database) => call(database),
            None => Err(Error::new("a compaction that failed has closed the database")),
        }
    }

    /// The records as they are now, outside of any begun transaction.
    pub fn records(&self) -> Result<RecordTable, Error> {
        self.with_database(records)
    }
}

fn read(table: &RecordTable, key: &[u8]) -> Result<Option<Lent>, Error> {
    Ok(table.get_owned(key).map_err(failed)?.map(Lent::Page))
}

fn read_own(transaction: &WriteTransaction, key: &[u8]) -> Result<Option<Lent>, Error> {
    let table = transaction.open_table(RECORDS).map_err(failed)?;
    let found = table.get(key).map_err(failed)?;
    Ok(found.map(|guard| Lent::Copy(guard.value().to_vec())))
}

impl<'db> RedbSession<'db> {
    pub fn new(engine: &'db Redb) -> Result<Self, Error> {
        let door = engine.doors.part(|| engine.handle().ok())?;
        let shared = Rc::new(Shared { engine, door, begun: RefCell::new(RedbTransaction::None) });
        Ok(Self { shared, commits: engine.commits, lent: None, lent_many: Vec::new() })
    }

    /// Ends the loan of the values that the last call lent, and the transactions that they came from.
    fn settle(&mut self) {
        self.lent = None;
        self.lent_many.clear();
    }

    /// Writes in the begun transaction, or in one of its own, which is committed if anything was changed.
    fn write_with(
        &mut self,
        work: impl FnOnce(&mut Table<'_, ByteSlice, ByteSlice>) -> Result<Changed, Error>,
    ) -> Result<Changed, Error> {
        self.settle();
        match &mut *self.shared.begun.borrow_mut() {
            RedbTransaction::None => {
                let transaction = self.shared.with_database(|database| self.commits.begin(database))?;
                let done = transaction.open_table(RECORDS).map_err(failed).and_then(|mut table| work(&mut table));
                match done {
                    Ok(true) => transaction.commit().map_err(failed)?,
                    _ => transaction.abort().map_err(failed)?,
                }
                done
            }
            RedbTransaction::Snapshot(_) => Err(Error::unsupported("a read-only transaction is open on this session")),
            RedbTransaction::Writing { broken: true, .. } => Err(broken_batch()),
            RedbTransaction::Writing { transaction, .. } => work(&mut transaction.open_table(RECORDS).map_err(failed)?),
        }
    }
}

type Changed = bool;

fn broken_batch() -> Error {
    Error::new("a batch failed in this transaction: it can only be aborted")
}

fn apply(step: BatchEntry<'_>, table: &mut Table<'_, ByteSlice, ByteSlice>) -> Result<Changed, Error> {
    match step {
        BatchEntry::Put { key, value } => table.insert(key, value).map(|_| true).map_err(failed),
        BatchEntry::Delete { key } => table.remove(key).map(|old| old.is_some()).map_err(failed),
    }
}

impl<'db> Session for RedbSession<'db> {
    type Cursor = RangeCursor<TableRanges<'db>>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.settle();
        self.lent = match &*self.shared.begun.borrow() {
            RedbTransaction::None => read(&self.shared.records()?, key)?,
            RedbTransaction::Snapshot(table) => read(table, key)?,
            RedbTransaction::Writing { transaction, .. } => read_own(transaction, key)?,
        };
        Ok(self.lent.as_ref().map(Lent::bytes))
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        self.settle();
        match &*self.shared.begun.borrow() {
            RedbTransaction::None => {
                let table = self.shared.records()?;
                self.lent_many.extend(keys.map(|key| read(&table, key)));
            }
            RedbTransaction::Snapshot(table) => self.lent_many.extend(keys.map(|key| read(table, key))),
            RedbTransaction::Writing { transaction, .. } => {
                self.lent_many.extend(keys.map(|key| read_own(transaction, key)));
            }
        }
        for (index, value) in self.lent_many.iter().enumerate() {
            answers.set(index, value.as_ref().map(|value| value.as_ref().map(Lent::bytes)).map_err(Error::clone));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.write_with(|table| apply(BatchEntry::Put { key, value }, table)).map(|_| ())
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.write_with(|table| apply(BatchEntry::Delete { key }, table))
    }

    fn write(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        let mut started = false;
        let done = self.write_with(|table| {
            started = true;
            batch.into_iter().try_fold(false, |changed, step| Ok(apply(step, table)? | changed))
        });
        if let (Err(_), true, RedbTransaction::Writing { broken, .. }) =
            (&done, started, &mut *self.shared.begun.borrow_mut())
        {
            *broken = true;
        }
        done.map(|_| ())
    }

    fn set_durability(&mut self, level: DurabilityLevel) -> Result<(), Error> {
        check_session(self.shared.engine.durability, level)?;
        self.commits = self.commits.at(level);
        Ok(())
    }

    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        let done = self.write_with(|table| {
            let value = {
                let old = table.get(key).map_err(failed)?;
                change.apply(old.as_ref().map(|guard| guard.value()))?
            };
            table.insert(key, value).map_err(failed)?;
            Ok(true)
        });
        done.map(|_| ())
    }

    fn begin(&mut self, kind: Transaction) -> Result<(), Error> {
        self.settle();
        let mut begun = self.shared.begun.borrow_mut();
        if !matches!(*begun, RedbTransaction::None) {
            return Err(Error::new("a transaction is open already: they do not nest"));
        }
        *begun = match kind {
            Transaction::ReadOnly => RedbTransaction::Snapshot(self.shared.records()?),
            Transaction::ReadWrite => {
                let commits = &self.commits;
                let transaction = self.shared.with_database(|database| commits.begin(database))?;
                RedbTransaction::Writing { transaction, broken: false }
            }
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.settle();
        match self.shared.begun.replace(RedbTransaction::None) {
            RedbTransaction::None => Err(Error::new("no transaction is open")),
            RedbTransaction::Snapshot(_) => Ok(()),
            RedbTransaction::Writing { transaction, broken: false } => transaction.commit().map_err(failed),
            RedbTransaction::Writing { transaction, broken: true } => {
                transaction.abort().map_err(failed)?;
                Err(broken_batch())
            }
        }
    }

    fn abort(&mut self) -> Result<(), Error> {
        self.settle();
        match self.shared.begun.replace(RedbTransaction::None) {
            RedbTransaction::None => Err(Error::new("no transaction is open")),
            RedbTransaction::Snapshot(_) => Ok(()),
            RedbTransaction::Writing { transaction, .. } => transaction.abort().map_err(failed),
        }
    }

    fn cursor(&mut self) -> Result<Self::Cursor, Error> {
        self.settle();
        Ok(RangeCursor::new(TableRanges::new(Rc::clone(&self.shared))))
    }

    fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<Self::Cursor, Error> {
        self.settle();
        Ok(RangeCursor::bounded(TableRanges::new(Rc::clone(&self.shared)), limits))
    }
}
