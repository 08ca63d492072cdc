//! Transactions of sessions, with option `transactions`: what one writes only it sees until the commit, and what it has
//! read must still be so then. Who comes too late is answered with a conflict.

use crate::fault::Fault;
use crate::store::{Blob, Store, WrittenKey, entries};
use crate::striking::Faults;
use kvdyno_abi::adapter::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl Fault {
    /// Whether it can strike only while two transactions are open.
    pub fn needs_two_transactions(self) -> bool {
        matches!(self, Self::DirtyRead | Self::LostUpdate | Self::UnrepeatedRead)
    }
}

/// The writes of all transactions that are open: what no reader may see.
#[derive(Debug, Default)]
pub struct Uncommitted(Mutex<BTreeMap<Blob, Blob>>);

impl Uncommitted {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Blob, Blob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open transaction.
#[derive(Debug, Default)]
pub struct OpenTransaction {
    /// It only reads.
    is_snapshot: bool,
    /// The state at its begin, which it sees then.
    state: Option<Arc<Store>>,
    /// In the order in which they came.
    writes: Vec<WrittenKey>,
    reads: Vec<(Blob, Option<Blob>)>,
}

impl OpenTransaction {
    /// One that only reads.
    pub fn snapshot(store: &Store, faults: &Faults) -> Self {
        let state = (!faults.strikes(Fault::LateSnapshot)).then(|| Arc::new(store.with(&[])));
        Self { is_snapshot: true, state, ..Self::default() }
    }

    /// Refuses to write where it only reads.
    pub fn writable(&self, faults: &Faults) -> Result<(), Error> {
        match self.is_snapshot {
            true if faults.strikes(Fault::WrittenSnapshot) => Ok(()),
            true => Err(Error::unsupported("a write in a transaction that only reads")),
            false => Ok(()),
        }
    }

    /// The value in the state that it sees, if it sees one.
    pub fn in_snapshot(&self, key: &[u8]) -> Option<Option<Blob>> {
        self.state.as_ref().map(|state| state.get(key).map(|version| Blob::clone(&version.now)))
    }

    /// All that it sees, where that is not what is committed.
    pub fn seen(&self, committed: &Store, faults: &Faults) -> Option<Arc<Store>> {
        match &self.state {
            Some(state) => Some(Arc::clone(state)),
            None if self.is_snapshot || self.writes.is_empty() => None,
            None if faults.strikes(Fault::BlindTransaction) => None,
            None => Some(Arc::new(committed.with(&entries(&self.writes)))),
        }
    }

    pub fn put(&mut self, key: &[u8], value: &[u8], uncommitted: &Uncommitted) {
        uncommitted.all().insert(key.into(), value.into());
        self.writes.push((key.into(), Some(value.into())));
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.writes.push((key.into(), None));
    }

    /// Deletes `there`, the keys from `from` on before `to` that are committed, and those that it wrote itself.
    pub fn delete_range(&mut self, there: Vec<Blob>, from: &[u8], to: &[u8]) {
        let own = self.writes.iter().map(|(key, _)| key).filter(|key| (from..to).contains(&&***key)).cloned();
        for key in own.chain(there).collect::<Vec<_>>() {
            self.delete(&key);
        }
    }

    /// The value that the transaction sees, where `now` is the one that was committed last.
    pub fn read(&mut self, key: &[u8], now: Option<Blob>, faults: &Faults, uncommitted: &Uncommitted) -> Option<Blob> {
        let own = self.writes.iter().rev().find(|(written, _)| **written == *key);
        if let Some((_, own)) = own
            && faults.strike(Fault::BlindTransaction, || (*own != now).then_some(())).is_none()
        {
            return own.clone();
        }
        let dirty = || uncommitted.all().get(key).cloned().filter(|value| now.as_ref() != Some(value));
        if let Some(dirty) = faults.strike(Fault::DirtyRead, dirty) {
            return Some(dirty);
        }
        match self.reads.iter().find(|(read, _)| **read == *key) {
            Some((_, before)) if faults.strike(Fault::UnrepeatedRead, || (*before != now).then_some(())).is_none() => {
                before.clone()
            }
            Some(_) => now,
            None => {
                self.reads.push((key.into(), now.clone()));
                now
            }
        }
    }

    /// Ends it. Commits what it wrote, if what it has read is still so.
    pub fn commit(mut self, store: &mut Store, faults: &Faults, uncommitted: &Uncommitted) -> Result<(), Error> {
        self.forget(uncommitted);
        let is_so = |(key, value): &(Blob, Option<Blob>)| store.get(key).map(|version| &version.now) == value.as_ref();
        let late = !self.writes.is_empty() && !self.reads.iter().all(is_so);
        if late && faults.strike(Fault::LostUpdate, || Some(())).is_none() {
            return Err(Error::conflict("another transaction has written what this one read"));
        }
        if faults.strike(Fault::HalfTransaction, || (self.writes.len() > 1).then_some(())).is_some() {
            self.writes.truncate(1);
        }
        store.apply(&entries(&self.writes))
    }

    /// Ends it; what it wrote, for who commits it otherwise.
    pub fn into_writes(self, uncommitted: &Uncommitted) -> Vec<WrittenKey> {
        self.forget(uncommitted);
        self.writes
    }

    /// Ends it, and undoes what it wrote.
    pub fn abort(self, uncommitted: &Uncommitted) {
        self.forget(uncommitted);
    }

    fn forget(&self, uncommitted: &Uncommitted) {
        let mut all = uncommitted.all();
        for (key, value) in &self.writes {
            if all.get(key) == value.as_ref() {
                all.remove(key);
            }
        }
    }
}
