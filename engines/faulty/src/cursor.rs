//! Cursors, with what goes wrong in scans.

use kvdyno_abi::adapter::{Cursor, CursorLimits, Direction, Error, Record};

use crate::Faulty;
use crate::fault::Fault;
use crate::store::{Blob, Store, Version};
use crate::transactions::OpenTransaction;
use std::sync::Arc;

/// A position among the keys.
pub struct FaultyCursor<'db> {
    db: &'db Faulty,
    /// The state that its transaction sees, where that is not the committed one.
    view: Option<Arc<Store>>,
    at: Option<Blob>,
    lent: Option<(Blob, Blob)>,
    /// A record that another one came before.
    held_back: Option<(Blob, Blob)>,
    /// No key before this one is there for it.
    from: Blob,
    /// Nor this one and those after it.
    to: Option<Blob>,
    /// All begin with it.
    prefix: Blob,
    keys_only: bool,
}

impl Cursor for FaultyCursor<'_> {
    fn seek(&mut self, key: Option<&[u8]>, direction: Direction) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("seek")?;
        self.db.let_writes_come_first()?;
        let (view, committed) = (self.view.clone(), self.db.reading()?);
        let store = view.as_deref().unwrap_or(&committed);
        let found = match (key, direction) {
            (key, Direction::Forward) => return Ok(self.seek_forward(store, key.unwrap_or(&[]))),
            (key, Direction::Backward) => match &self.to {
                Some(to) if key.is_none_or(|key| *key >= **to) => store.backward(to, false),
                _ => key.map_or_else(|| store.last(), |key| store.backward(key, true)),
            },
        };
        let found = found.filter(|(key, _)| self.is_found(key));
        self.stand_at(store, found);
        Ok(self.record())
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("next")?;
        self.step(|store, key| store.forward(key, false))
    }

    fn previous(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.db.hostile.at("previous")?;
        self.step(|store, key| store.backward(key, false))
    }
}

impl<'db> FaultyCursor<'db> {
    /// One that stands nowhere yet.
    pub fn new(db: &'db Faulty, open: Option<&OpenTransaction>, limits: CursorLimits<'_>) -> Result<Self, Error> {
        let from = limits.prefix.or(limits.from).unwrap_or(&[]).into();
        let (to, prefix) = (limits.to.map(Blob::from), limits.prefix.unwrap_or(&[]).into());
        let view = match open {
            Some(open) => open.seen(&*db.reading()?, &db.faults),
            None => None,
        };
        let keys_only = limits.keys_only;
        Ok(FaultyCursor { db, view, at: None, lent: None, held_back: None, from, to, prefix, keys_only })
    }
}

impl FaultyCursor<'_> {
    /// Goes to the first record from `key` on, or, where a fault strikes, to one before or after it.
    fn seek_forward(&mut self, store: &Store, key: &[u8]) -> Option<Record<'_>> {
        let (faults, key) = (&self.db.faults, key.max(&self.from));
        let first = store.forward(key, true).filter(|(key, _)| self.is_found(key));
        let second = || store.forward(first?.0, false).filter(|(key, _)| self.has(key));
        let found = faults.strike(Fault::SeekSkip, second).or(first);
        let dead = found.and_then(|(found, _)| faults.at_seek(store, key, found));
        self.stand_at(store, found);
        if let Some((key, value)) = dead {
            let value = if self.keys_only { Blob::from([]) } else { value };
            (self.at, self.lent) = (Some(Blob::clone(&key)), Some((key, value)));
        }
        self.record()
    }

    fn stand_at(&mut self, store: &Store, found: Option<(&Blob, &Version)>) {
        self.held_back = None;
        self.at = found.map(|(key, _)| Blob::clone(key));
        self.lent = found.map(|(key, version)| record_of(self.db, store, self.keys_only, key, version));
    }

    /// Goes to the record `beside` the present one. At the end it stays where it was.
    fn step(
        &mut self,
        beside: impl for<'s> Fn(&'s Store, &[u8]) -> Option<(&'s Blob, &'s Version)>,
    ) -> Result<Option<Record<'_>>, Error> {
        self.lent = self.held_back.take();
        if self.lent.is_some() {
            return Ok(self.record());
        }
        let (view, committed) = (self.view.clone(), self.db.reading()?);
        let store = view.as_deref().unwrap_or(&committed);
        let faults = &self.db.faults;
        let next = |at: &Blob| {
            let next = beside(store, at)?;
            let is_there = self.has(next.0) || faults.strikes(Fault::Unbounded);
            is_there.then_some(next)
        };
        let Some(first) = self.at.as_ref().and_then(next) else { return Ok(None) };
        let second = || next(first.0);
        let (db, keys_only) = (self.db, self.keys_only);
        let out = |(key, version): (&Blob, &Version)| record_of(db, store, keys_only, key, version);
        if faults.strikes(Fault::ScanShort) {
            return Ok(None);
        }
        let given = if let Some(second) = faults.strike(Fault::ScanSkip, second) {
            second
        } else if faults.strikes(Fault::ScanTwice) {
            self.held_back = Some(out(first));
            first
        } else if let Some(second) = faults.strike(Fault::ScanOrder, second) {
            self.held_back = Some(out(first));
            second
        } else {
            first
        };
        self.lent = Some(out(given));
        self.at = Some(Blob::clone(given.0));
        Ok(self.record())
    }

    /// Whether a key lies within the bounds.
    fn has(&self, key: &[u8]) -> bool {
        *key >= *self.from && self.to.as_ref().is_none_or(|to| *key < **to) && key.starts_with(&self.prefix)
    }

    /// Whether a seek finds it: it lies within the bounds, or a fault strikes.
    fn is_found(&self, key: &[u8]) -> bool {
        self.has(key) || self.db.faults.strikes(Fault::UnboundedSeek)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.lent.as_ref().map(|(key, value)| (&**key, &**value))
    }
}

/// A record as a cursor hands it out.
fn record_of(db: &Faulty, store: &Store, keys_only: bool, key: &Blob, version: &Version) -> (Blob, Blob) {
    let value = if keys_only { Blob::from([]) } else { db.value(store, key, version) };
    (Blob::clone(key), value)
}
