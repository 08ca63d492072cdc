//! A thread's access to sled, and its scans.

use crate::database::Sled;
use crate::error::failed;
use kvdyno_abi::adapter::support::{RangeCursor, Ranges};
use kvdyno_abi::adapter::{Batch, BatchEntry, Change, CursorLimits, Error, Record, Session};
use sled::IVec;
use std::ops::Bound;

pub struct SledSession<'db> {
    engine: &'db Sled,
    /// A value: in the session, if it is short, or where sled has it.
    lent: Option<IVec>,
}

impl<'db> SledSession<'db> {
    pub fn new(engine: &'db Sled) -> Self {
        Self { engine, lent: None }
    }
}

impl<'db> Session for SledSession<'db> {
    type Cursor = RangeCursor<TreeRanges<'db>>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.lent = self.engine.db.get(key).map_err(failed)?;
        Ok(self.lent.as_deref())
    }

    fn contains(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.lent = None;
        self.engine.db.contains_key(key).map_err(failed)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.lent = None;
        self.engine.check(key, value)?;
        self.engine.db.insert(key, value).map_err(failed)?;
        self.engine.acknowledge()
    }

    fn insert_if_absent(&mut self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        self.lent = None;
        self.engine.check(key, value)?;
        match self.engine.db.compare_and_swap(key, None::<&[u8]>, Some(value)).map_err(failed)? {
            Ok(()) => self.engine.acknowledge().map(|()| true),
            Err(_) => Ok(false),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.lent = None;
        let old = self.engine.db.remove(key).map_err(failed)?;
        self.engine.acknowledge()?;
        Ok(old.is_some())
    }

    fn write(&mut self, steps: Batch<'_>) -> Result<(), Error> {
        self.lent = None;
        let mut batch = sled::Batch::default();
        for step in steps {
            match step {
                BatchEntry::Put { key, value } => {
                    self.engine.check(key, value)?;
                    batch.insert(key, value);
                }
                BatchEntry::Delete { key } => batch.remove(key),
            }
        }
        self.engine.db.apply_batch(batch).map_err(failed)?;
        self.engine.acknowledge()
    }

    /// As sled's own `update_and_fetch`, which could not be given up half-way.
    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        self.lent = None;
        let mut old = self.engine.db.get(key).map_err(failed)?;
        loop {
            let new = change.apply(old.as_deref())?;
            self.engine.check(key, new)?;
            match self.engine.db.compare_and_swap(key, old.as_ref(), Some(new)).map_err(failed)? {
                Ok(()) => return self.engine.acknowledge(),
                Err(changed) => old = changed.current,
            }
        }
    }

    fn cursor(&mut self) -> Result<Self::Cursor, Error> {
        self.lent = None;
        Ok(RangeCursor::new(TreeRanges(self.engine)))
    }

    fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<Self::Cursor, Error> {
        self.lent = None;
        Ok(RangeCursor::bounded(TreeRanges(self.engine), limits))
    }
}

/// sled's ranges are no snapshots: they show each record as it is when they come to it.
pub struct TreeRanges<'db>(&'db Sled);

impl Ranges for TreeRanges<'_> {
    type Item = (IVec, IVec);
    type Iter = TreeIter;

    fn renew(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn range(&mut self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<TreeIter, Error> {
        Ok(TreeIter(self.0.db.range::<&[u8], _>((from, to))))
    }

    fn prefixed(&mut self, prefix: &[u8]) -> Result<TreeIter, Error> {
        Ok(TreeIter(self.0.db.scan_prefix(prefix)))
    }

    fn record((key, value): &(IVec, IVec)) -> Record<'_> {
        (key, value)
    }
}

/// Records where sled has them.
pub struct TreeIter(sled::Iter);

impl Iterator for TreeIter {
    type Item = Result<(IVec, IVec), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|record| record.map_err(failed))
    }
}

impl DoubleEndedIterator for TreeIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|record| record.map_err(failed))
    }
}
