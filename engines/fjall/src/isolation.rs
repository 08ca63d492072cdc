//! When reads and writes must be isolated from others.
//!
//! fjall's plain `get` reads whatever has been written, also of a batch that is being applied. Reading at a snapshot
//! costs more, and is needed only where there are batches: from the first one of an opening on. Plain writes are not
//! seen by the transactions beside them; writing in a transaction costs more, and is needed only where there are
//! transactions: from the first one on. An application that uses neither opens a plain `Database` and pays for neither.

use kvdyno_abi::adapter::Error;
use kvdyno_abi::adapter::support::SessionLocks;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The kinds of write in use since the database was opened.
#[derive(Debug, Default)]
pub struct Isolation {
    batches: AtomicBool,
    transactions: AtomicBool,
    /// Held by a session for a plain write.
    plain_writes: SessionLocks<()>,
}

impl Isolation {
    /// A session's lock for [`Self::write`].
    pub fn session(&self) -> Result<Arc<Mutex<()>>, Error> {
        self.plain_writes.part(|| ())
    }

    /// To be called before a batch is applied.
    pub fn batch_comes(&self) {
        // Looked at first: a store would take the cache line from the readers.
        if !self.batches.load(Ordering::Acquire) {
            self.batches.store(true, Ordering::SeqCst);
        }
    }

    /// To be called before a transaction begins. Plain writes under way end before this returns, and no more begin.
    pub fn transaction_comes(&self) -> Result<(), Error> {
        self.batch_comes();
        if self.transactions.load(Ordering::Acquire) {
            return Ok(());
        }
        self.plain_writes.with_all(|_| self.transactions.store(true, Ordering::SeqCst))
    }

    /// Reads plainly where that will do. Who saw some of a batch sees here that there are batches, and reads again.
    #[inline]
    pub fn read<T>(&self, plain: impl FnOnce() -> T, isolated: impl FnOnce() -> T) -> T {
        if !self.batches.load(Ordering::Acquire) {
            let found = plain();
            if !self.batches.load(Ordering::Acquire) {
                return found;
            }
        }
        isolated()
    }

    /// Writes plainly where that will do.
    pub fn write<T>(
        &self,
        session: &Mutex<()>,
        plain: impl FnOnce() -> Result<T, Error>,
        isolated: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        {
            let _plain = session.lock().map_err(Error::new)?;
            if !self.transactions.load(Ordering::Acquire) {
                return plain();
            }
        }
        isolated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn reads_are_plain_until_the_first_batch() {
        let isolation = Isolation::default();
        assert_eq!(isolation.read(|| "plain", || "isolated"), "plain");
        isolation.batch_comes();
        assert_eq!(isolation.read(|| "plain", || "isolated"), "isolated");
    }

    #[test]
    fn a_read_that_the_first_batch_ran_into_is_done_again() {
        let isolation = Isolation::default();
        let plain = || {
            isolation.batch_comes();
            "half a batch"
        };
        assert_eq!(isolation.read(plain, || "whole"), "whole");
    }

    #[test]
    fn writes_are_plain_until_the_first_transaction() {
        let isolation = Isolation::default();
        let session = isolation.session().unwrap();
        let kind = || isolation.write(&session, || Ok("plain"), || Ok("isolated")).unwrap();
        assert_eq!(kind(), "plain");
        isolation.batch_comes();
        assert_eq!(kind(), "plain");
        isolation.transaction_comes().unwrap();
        assert_eq!(kind(), "isolated");
        assert_eq!(isolation.read(|| "plain", || "isolated"), "isolated");
    }

    #[test]
    fn the_first_transaction_waits_for_plain_writes() {
        let isolation = Isolation::default();
        let session = isolation.session().unwrap();
        let written = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let begun = Cell::new(None);
            let write = || {
                begun.set(Some(scope.spawn(|| {
                    isolation.transaction_comes().unwrap();
                    written.load(Ordering::SeqCst)
                })));
                std::thread::sleep(std::time::Duration::from_millis(20));
                written.store(true, Ordering::SeqCst);
                Ok(())
            };
            isolation.write(&session, write, || Err(Error::new("isolated"))).unwrap();
            assert!(begun.take().unwrap().join().unwrap(), "it began before the write had ended");
        });
    }
}
