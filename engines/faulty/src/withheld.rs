//! Writes that only the session which made them sees.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use kvdyno_abi::adapter::{BatchEntry, Error};

use crate::FaultySession;
use crate::fault::Fault;
use crate::store::{Blob, Store};

/// The writes of a session that nobody else knows of: values, and keys that it deleted.
#[derive(Debug, Default)]
pub struct Withheld(BTreeMap<Blob, Option<Blob>>);

impl Withheld {
    pub fn apply(&mut self, entries: &[BatchEntry<'_>]) {
        for entry in entries {
            match entry {
                BatchEntry::Put { key, value } => self.0.insert((*key).into(), Some((*value).into())),
                BatchEntry::Delete { key } => self.0.insert((*key).into(), None),
            };
        }
    }

    /// The value that it has of a key, or none where it deleted it; absent where it knows nothing.
    pub fn of(&self, key: &[u8]) -> Option<Option<Blob>> {
        self.0.get(key).cloned()
    }

    /// The keys from `from` on that come before `to`, its own and those of the store.
    pub fn keys(&self, store: &Store, from: &[u8], to: &[u8]) -> BTreeSet<Blob> {
        let own = self.0.range::<[u8], _>((Included(from), Excluded(to))).map(|(key, _)| Blob::clone(key));
        own.chain(store.keys(from, to)).collect()
    }
}

impl FaultySession<'_> {
    /// Writes, for all to see or not.
    pub fn apply(&mut self, entries: &[BatchEntry<'_>]) -> Result<(), Error> {
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            for entry in entries {
                match entry {
                    BatchEntry::Put { key, value } => open.put(key, value, &self.db.uncommitted),
                    BatchEntry::Delete { key } => open.delete(key),
                }
            }
            self.db.order.let_others_meet_it();
            return Ok(());
        }
        match self.db.faults.fault {
            _ if !self.db.faults.withholds() => return self.db.apply(entries, self.level),
            Fault::Private => self.withheld.apply(entries),
            _ => {}
        }
        Ok(())
    }

    /// The value that it finds.
    pub fn reads(&mut self, key: &[u8]) -> Result<Option<Blob>, Error> {
        self.db.faults.count_read(&mut self.reads_seen);
        if let Some(answer) = self.open.as_ref().and_then(|open| open.in_snapshot(key)) {
            return Ok(answer);
        }
        let now = self.sees(key)?;
        Ok(match &mut self.open {
            Some(open) => {
                let value = open.read(key, now, &self.db.faults, &self.db.uncommitted);
                self.db.order.let_others_meet_it();
                value
            }
            None => now,
        })
    }

    /// The value that it finds outside its transaction.
    pub fn sees(&mut self, key: &[u8]) -> Result<Option<Blob>, Error> {
        let own = match self.db.faults.fault {
            _ if !self.db.faults.withholds() => None,
            Fault::Recalled => Some(self.host.recall(key).unwrap_or(None).map(Blob::from)),
            _ => self.withheld.of(key),
        };
        own.map_or_else(|| self.db.read(key), Ok)
    }
}
