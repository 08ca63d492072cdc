//! Scans: ranges of redb's table, in a snapshot or in a transaction that writes.

use crate::database::{ByteSlice, RECORDS, RecordTable};
use crate::error::failed;
use crate::session::{RedbTransaction, Shared};
use kvdyno_abi::adapter::support::Ranges;
use kvdyno_abi::adapter::{Error, Record};
use redb::{AccessGuard, Range, ReadableTable};
use std::ops::Bound;
use std::rc::Rc;

/// The ranges that a cursor goes through: of the begun transaction, or of a read transaction of its own, which is
/// renewed at each seek.
pub struct TableRanges<'db> {
    shared: Rc<Shared<'db>>,
    own: Option<RecordTable>,
}

impl<'db> TableRanges<'db> {
    pub fn new(shared: Rc<Shared<'db>>) -> Self {
        Self { shared, own: None }
    }
}

/// A record: where redb has it, or copied by [`Reopened`].
pub enum LentRecord {
    Page(AccessGuard<'static, ByteSlice>, AccessGuard<'static, ByteSlice>),
    Copy(Vec<u8>, Vec<u8>),
}

/// A range under way.
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is the usual one: in a box it would cost each seek a malloc"
)]
pub enum Under<'db> {
    Snapshot(Range<'static, ByteSlice, ByteSlice>),
    Writing(Reopened<'db>),
}

impl<'db> Ranges for TableRanges<'db> {
    type Item = LentRecord;
    type Iter = Under<'db>;

    fn renew(&mut self) -> Result<(), Error> {
        self.own = None;
        if let RedbTransaction::None = *self.shared.begun.borrow() {
            self.own = Some(self.shared.records()?);
        }
        Ok(())
    }

    fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<Under<'db>, Error> {
        if let Some(table) = &self.own {
            return Ok(Under::Snapshot(table.range::<&[u8]>((from, to)).map_err(failed)?));
        }
        match &*self.shared.begun.borrow() {
            RedbTransaction::Snapshot(table) => Ok(Under::Snapshot(table.range::<&[u8]>((from, to)).map_err(failed)?)),
            RedbTransaction::Writing { .. } => {
                let (from, to) = (from.map(<[u8]>::to_vec), to.map(<[u8]>::to_vec));
                Ok(Under::Writing(Reopened { shared: Rc::clone(&self.shared), from, to }))
            }
            RedbTransaction::None => Err(ended()),
        }
    }

    fn record(item: &LentRecord) -> Record<'_> {
        match item {
            LentRecord::Page(key, value) => (key.value(), value.value()),
            LentRecord::Copy(key, value) => (key, value),
        }
    }
}

fn ended() -> Error {
    Error::new("the transaction that the cursor looked into has ended: seek again")
}

impl Iterator for Under<'_> {
    type Item = Result<LentRecord, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Snapshot(range) => range.next().map(page),
            Self::Writing(range) => range.record(RangeEnd::First).transpose(),
        }
    }
}

impl DoubleEndedIterator for Under<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Snapshot(range) => range.next_back().map(page),
            Self::Writing(range) => range.record(RangeEnd::Last).transpose(),
        }
    }
}

fn page(
    record: redb::Result<(AccessGuard<'static, ByteSlice>, AccessGuard<'static, ByteSlice>)>,
) -> Result<LentRecord, Error> {
    record.map(|(key, value)| LentRecord::Page(key, value)).map_err(failed)
}

/// A range of a transaction that writes. redb's own would keep the table, which the session's next write must open; so
/// each step opens it, seeks anew and copies.
pub struct Reopened<'db> {
    shared: Rc<Shared<'db>>,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
}

enum RangeEnd {
    First,
    Last,
}

impl Reopened<'_> {
    fn record(&mut self, end: RangeEnd) -> Result<Option<LentRecord>, Error> {
        let begun = self.shared.begun.borrow();
        let RedbTransaction::Writing { transaction, .. } = &*begun else { return Err(ended()) };
        let table = transaction.open_table(RECORDS).map_err(failed)?;
        let bounds = (self.from.as_ref().map(Vec::as_slice), self.to.as_ref().map(Vec::as_slice));
        let mut range = table.range::<&[u8]>(bounds).map_err(failed)?;
        let found = match end {
            RangeEnd::First => range.next(),
            RangeEnd::Last => range.next_back(),
        };
        let Some((key, value)) = found.transpose().map_err(failed)? else { return Ok(None) };
        let (key, value) = (key.value().to_vec(), value.value().to_vec());
        match end {
            RangeEnd::First => self.from = Bound::Excluded(key.clone()),
            RangeEnd::Last => self.to = Bound::Excluded(key.clone()),
        }
        Ok(Some(LentRecord::Copy(key, value)))
    }
}
