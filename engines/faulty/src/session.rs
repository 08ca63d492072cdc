//! A session of a thread: each call, what a fault makes of it, and its answer.

use kvdyno_abi::adapter::{
    Batch, BatchEntry, Change, CursorLimits, DurabilityLevel, Error, Host, MultiGetAnswers, MultiGetKeys, Session,
    Transaction,
};

use crate::cursor::FaultyCursor;
use crate::fault::Fault;
use crate::order::OpenSession;
use crate::single::Guest;
use crate::store::{Blob, entries};
use crate::transactions::OpenTransaction;
use crate::withheld::Withheld;
use crate::{Faulty, entries_of};

/// A thread's access, with the values that its last call lent out.
pub(crate) struct FaultySession<'db> {
    pub(crate) db: &'db Faulty,
    lent: Option<Blob>,
    lent_many: Vec<Result<Option<Blob>, Error>>,
    pub(crate) withheld: Withheld,
    pub(crate) open: Option<OpenTransaction>,
    pub(crate) level: DurabilityLevel,
    pub(crate) host: Host,
    /// The reads of all sessions that it knows of, where a fault needs them.
    pub(crate) reads_seen: u64,
    _guest: Guest<'db>,
    _open: OpenSession<'db>,
}

impl<'db> FaultySession<'db> {
    pub(crate) fn begin(db: &'db Faulty, host: Host) -> Result<Self, Error> {
        Ok(Self {
            db,
            level: db.level,
            lent: None,
            lent_many: Vec::new(),
            withheld: Withheld::default(),
            open: None,
            host,
            reads_seen: 0,
            _guest: db.home.enter()?,
            _open: db.order.enter(),
        })
    }
}

impl<'db> Session for FaultySession<'db> {
    type Cursor = FaultyCursor<'db>;

    fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, Error> {
        self.db.hostile.at("get")?;
        self.lent = self.reads(key)?;
        Ok(self.lent.as_deref())
    }

    fn multi_get<'s>(&'s mut self, keys: MultiGetKeys<'_>, answers: &mut MultiGetAnswers<'_, 's>) -> Result<(), Error> {
        self.db.hostile.at("multi-get")?;
        let lent = keys.map(|key| self.reads(key)).collect();
        self.lent_many = lent;
        for (index, value) in self.lent_many.iter().enumerate() {
            answers.set(index, value.as_ref().map(Option::as_deref).map_err(Error::clone));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.db.hostile.at("put")?;
        let takes = self.db.takes()? && !self.db.faults.drops_beside_reads(&mut self.reads_seen);
        match (takes, self.db.faults.at_late_put(key, value)) {
            (false, _) => Ok(()),
            (true, None) => self.apply(&[BatchEntry::Put { key, value }]),
            (true, Some(late)) => self.db.apply(&entries_of(&late), self.level),
        }
    }

    fn contains(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("contains")?;
        if self.db.faults.cannot_tell(&self.db.folder) {
            return Ok(false);
        }
        self.get(key).map(|value| value.is_some())
    }

    fn insert_if_absent(&mut self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("insert-if-absent")?;
        let (takes, faults) = (self.db.takes()?, &self.db.faults);
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            let now = self.db.reading()?.get(key).map(|version| Blob::clone(&version.now));
            let absent = open.read(key, now, faults, &self.db.uncommitted).is_none();
            if absent && takes {
                open.put(key, value, &self.db.uncommitted);
            }
            return Ok(absent);
        }
        if faults.withholds() {
            let absent = self.sees(key)?.is_none();
            let put = [BatchEntry::Put { key, value }];
            return self.apply(if absent { &put } else { &[] }).map(|()| absent);
        }
        let mut store = self.db.writing_at(self.level)?;
        let inserts = match store.get(key) {
            Some(_) => faults.strikes(Fault::BlindInsert),
            None => !faults.strikes(Fault::RefusedInsert),
        };
        if inserts && takes {
            faults.after_change(store.apply(&[BatchEntry::Put { key, value }]))?;
        }
        Ok(inserts)
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.db.hostile.at("remove")?;
        let takes = self.db.takes()?;
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            if takes {
                open.delete(key);
            }
            return Ok(true);
        }
        if self.db.faults.withholds() {
            let there = self.sees(key)?.is_some();
            return self.apply(&[BatchEntry::Delete { key }]).map(|()| there);
        }
        let mut store = self.db.writing_at(self.level)?;
        let there = store.get(key).is_some();
        let (back, is_done) = self.db.faults.at_delete(&store, key);
        let delete = (takes && is_done).then_some(BatchEntry::Delete { key });
        let back = back.as_ref().map(|(key, value)| BatchEntry::Put { key, value });
        let entries: Vec<_> = delete.into_iter().chain(back).collect();
        self.db.faults.after_change(store.apply(&entries))?;
        Ok(there)
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), Error> {
        self.db.hostile.at("delete-range")?;
        self.delete_keys(from, to)
    }

    fn write(&mut self, batch: Batch<'_>) -> Result<(), Error> {
        self.db.hostile.at("write")?;
        let mut entries = Vec::with_capacity(batch.len());
        for entry in batch {
            if self.db.takes()? {
                entries.push(entry);
            }
        }
        self.apply(&entries)
    }

    fn set_durability(&mut self, level: DurabilityLevel) -> Result<(), Error> {
        if self.db.faults.fault != Fault::WeakWrite {
            self.level = level;
        }
        Ok(())
    }

    fn begin(&mut self, kind: Transaction) -> Result<(), Error> {
        self.db.hostile.at("begin")?;
        self.open = Some(match kind {
            Transaction::ReadWrite => OpenTransaction::default(),
            Transaction::ReadOnly => OpenTransaction::snapshot(&*self.db.reading()?, &self.db.faults),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.db.hostile.at("commit")?;
        let open = self.open.take().ok_or_else(|| Error::new("commit: no transaction is open"))?;
        if self.db.faults.withholds() {
            return self.apply(&entries(&open.into_writes(&self.db.uncommitted)));
        }
        open.commit(&mut *self.db.writing_at(self.level)?, &self.db.faults, &self.db.uncommitted)
    }

    fn abort(&mut self) -> Result<(), Error> {
        self.db.hostile.at("abort")?;
        let open = self.open.take().ok_or_else(|| Error::new("abort: no transaction is open"))?;
        open.abort(&self.db.uncommitted);
        Ok(())
    }

    /// While the change is asked for, nobody else writes: there is one lock.
    fn read_modify_write(&mut self, key: &[u8], change: &mut Change<'_>) -> Result<(), Error> {
        self.db.hostile.at("read-modify-write")?;
        let (takes, faults) = (self.db.takes()?, &self.db.faults);
        if faults.withholds() {
            let old = self.sees(key)?;
            let value = change.apply(old.as_deref())?;
            return self.apply(&[BatchEntry::Put { key, value }]);
        }
        let mut store = self.db.writing_at(self.level)?;
        let version = store.get(key);
        let missed = || version.and_then(|version| version.before.clone());
        let wrong = faults.strike(Fault::LostAtomicUpdate, missed);
        let old = wrong.or_else(|| version.map(|version| self.db.value(&store, key, version)));
        let value = change.apply(old.as_deref())?;
        let put = [BatchEntry::Put { key, value }];
        faults.after_write(store.apply(if takes { &put } else { &[] }))
    }

    fn cursor(&mut self) -> Result<FaultyCursor<'db>, Error> {
        self.db.hostile.at("cursor")?;
        FaultyCursor::new(self.db, self.open.as_ref(), CursorLimits::default())
    }

    fn cursor_with(&mut self, limits: CursorLimits<'_>) -> Result<FaultyCursor<'db>, Error> {
        self.db.hostile.at("cursor-with")?;
        FaultyCursor::new(self.db, self.open.as_ref(), limits)
    }
}

impl Drop for FaultySession<'_> {
    fn drop(&mut self) {
        // The end of a session answers nothing.
        let _ = self.db.hostile.at("session-close");
    }
}
