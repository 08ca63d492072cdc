//! The deletion of a range, with what goes wrong in it.

use std::thread;
use std::time::Duration;

use kvdyno_abi::adapter::{BatchEntry, Error};

use crate::FaultySession;
use crate::fault::Fault;
use crate::store::Blob;

/// How long others see a range delete half done, where it is done by halves.
const HALF_TIME: Duration = Duration::from_millis(1);

impl FaultySession<'_> {
    /// Deletes the keys from `from` on that come before `to`.
    pub fn delete_keys(&mut self, from: &[u8], to: &[u8]) -> Result<(), Error> {
        let (takes, faults) = (self.db.takes()?, &self.db.faults);
        if let Some(open) = &mut self.open {
            open.writable(&self.db.faults)?;
            if takes {
                open.delete_range(self.db.reading()?.keys(from, to), from, to);
            }
            return Ok(());
        }
        if faults.withholds() {
            let keys = self.withheld.keys(&*self.db.reading()?, from, to);
            return self.apply(&keys.iter().map(|key| BatchEntry::Delete { key }).collect::<Vec<_>>());
        }
        let mut store = self.db.writing_at(self.level)?;
        let mut keys = store.keys(from, to);
        if keys.is_empty() && faults.strikes(Fault::EmptyRange) {
            return Err(Error::new("injected by fault=empty-range"));
        }
        // Each key is an operation that a fault can hit.
        if keys.iter().filter(|_| faults.strikes(Fault::LongRange)).count() > 0 {
            keys.extend(store.forward(to, true).map(|(key, _)| Blob::clone(key)));
        }
        let is_halved = keys.iter().filter(|_| faults.strikes(Fault::HalfRange)).count() > 0;
        let (mut done, mut back) = (Vec::new(), Vec::new());
        for key in keys {
            let (ghost, is_done) = faults.at_delete(&store, &key);
            back.extend(ghost);
            done.extend((takes && is_done).then_some(key));
        }
        let halves = if is_halved { done.split_at(done.len() / 2) } else { (&done[..], &[][..]) };
        let deletes = |key| BatchEntry::Delete { key };
        let back = back.iter().map(|(key, value)| BatchEntry::Put { key, value });
        let first: Vec<_> = halves.0.iter().map(|key| deletes(key)).chain(back).collect();
        faults.after_change(store.apply(&first))?;
        if is_halved {
            drop(store);
            thread::sleep(HALF_TIME);
            let second: Vec<_> = halves.1.iter().map(|key| deletes(key)).collect();
            faults.after_change(self.db.writing_at(self.level)?.apply(&second))?;
        }
        Ok(())
    }
}
