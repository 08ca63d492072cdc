//! A lock that costs the sessions next to nothing.

use crate::adapter::Error;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// A big-reader lock. Each session has a part of its own. In normal operation only that session locks the part, so its
/// cache line does not move between processors. An operation that must exclude all sessions locks every part.
///
/// A session that panics while it holds its part poisons it: from then on the lock cannot be had as a whole.
#[derive(Debug)]
pub struct SessionLocks<T>(Mutex<Vec<Weak<Mutex<T>>>>);

impl<T> SessionLocks<T> {
    /// Without a part yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A session's part, until it is dropped. It is made while no caller has the whole.
    pub fn part(&self, value: impl FnOnce() -> T) -> Result<Arc<Mutex<T>>, Error> {
        let mut parts = self.0.lock().map_err(Error::new)?;
        parts.retain(|part| part.strong_count() > 0);
        let part = Arc::new(Mutex::new(value()));
        parts.push(Arc::downgrade(&part));
        Ok(part)
    }

    /// Calls `work` while every part is locked. It may change the parts.
    pub fn with_all<R>(&self, work: impl FnOnce(&mut [MutexGuard<'_, T>]) -> R) -> Result<R, Error> {
        let parts = self.0.lock().map_err(Error::new)?;
        let parts: Vec<_> = parts.iter().filter_map(Weak::upgrade).collect();
        let mut held = parts.iter().map(|part| part.lock()).collect::<Result<Vec<_>, _>>().map_err(Error::new)?;
        Ok(work(&mut held))
    }
}

impl<T> Default for SessionLocks<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_whole_waits_for_every_part_that_is_held() {
        let locks = SessionLocks::new();
        let parts = [locks.part(|| 1).unwrap(), locks.part(|| 2).unwrap()];
        let released = AtomicBool::new(false);
        thread::scope(|scope| {
            let held = parts[1].lock().unwrap();
            let whole = scope.spawn(|| locks.with_all(|_| released.load(Ordering::SeqCst)));
            thread::sleep(Duration::from_millis(20));
            released.store(true, Ordering::SeqCst);
            drop(held);
            assert_eq!(whole.join().unwrap(), Ok(true));
        });
    }

    #[test]
    fn parts_can_be_changed_and_dropped_ones_are_forgotten() {
        let locks = SessionLocks::new();
        let kept = locks.part(|| 1).unwrap();
        drop(locks.part(|| 2).unwrap());
        let count = locks.with_all(|parts| {
            parts.iter_mut().for_each(|part| **part += 10);
            parts.len()
        });
        assert_eq!((count, *kept.lock().unwrap()), (Ok(1), 11));
    }

    #[test]
    fn no_part_is_made_while_somebody_has_the_whole() {
        let locks = SessionLocks::<()>::new();
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let made = locks.with_all(|_| {
                let made = scope.spawn(|| locks.part(|| assert!(over.load(Ordering::SeqCst))).is_ok());
                thread::sleep(Duration::from_millis(20));
                over.store(true, Ordering::SeqCst);
                made
            });
            assert!(made.unwrap().join().unwrap());
        });
    }
}
