//! Calls that wait, so that sessions meet. Without that, who gets a processor when decides how many writes of the
//! client beside it a reader finds, and whether two transactions are open at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Conditions that calls wait for.
#[derive(Debug)]
pub struct CallOrder {
    /// Writes that come before any read.
    writes_first: u64,
    /// Steps of transactions take a moment.
    lingers: bool,
    /// Other processes have the database open, too.
    shared: bool,
    /// Sessions that are open in this one.
    open: AtomicUsize,
    /// Those of them that wait for writes.
    waiting: AtomicUsize,
    /// Several sessions were all waiting: none of them writes.
    nobody_writes: AtomicBool,
}

/// A session that is open.
#[derive(Debug)]
pub struct OpenSession<'db>(&'db CallOrder);

impl CallOrder {
    pub fn new(writes_first: u64, lingers: bool, shared: bool) -> Self {
        let (open, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { writes_first, lingers, shared, open, waiting, nobody_writes: AtomicBool::new(false) }
    }

    /// A session begins.
    pub fn enter(&self) -> OpenSession<'_> {
        self.open.fetch_add(1, Relaxed);
        OpenSession(self)
    }

    /// Before a read or a seek, while no lock is held: waits for the writes, of which there are `begun`. A session that
    /// is alone waits for nobody, nor do several that all read.
    ///
    /// # Errors
    /// If `begun` gives one.
    pub fn let_writes_come_first<E>(&self, begun: impl Fn() -> Result<u64, E>) -> Result<(), E> {
        if self.writes_first == 0 {
            return Ok(());
        }
        self.waiting.fetch_add(1, Relaxed);
        let waited = loop {
            match begun() {
                Ok(begun) if begun < self.writes_first && self.may_be_written() => {
                    thread::sleep(Duration::from_millis(1));
                }
                other => break other.map(drop),
            }
        };
        self.waiting.fetch_sub(1, Relaxed);
        waited
    }

    fn may_be_written(&self) -> bool {
        let open = self.open.load(Relaxed);
        if open > 1 && self.waiting.load(Relaxed) == open {
            self.nobody_writes.store(true, Relaxed);
        }
        self.shared || (open > 1 && !self.nobody_writes.load(Relaxed))
    }

    /// Keeps a transaction open for a moment.
    pub fn let_others_meet_it(&self) {
        if self.lingers {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

impl Drop for OpenSession<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_read_waits_for_the_writes_of_others_and_for_nobody_when_all_read() {
        let (order, writes) = (CallOrder::new(3, false, false), AtomicU64::new(0));
        let wait = || {
            order.let_writes_come_first(|| Ok::<_, ()>(writes.load(Relaxed))).unwrap();
            writes.load(Relaxed)
        };
        let alone = order.enter();
        assert_eq!(wait(), 0);
        thread::scope(|scope| {
            let writer = order.enter();
            let reader = scope.spawn(wait);
            writes.store(3, Relaxed);
            assert_eq!(reader.join().unwrap(), 3);
            writes.store(0, Relaxed);
            let reader = scope.spawn(wait);
            drop(writer);
            assert_eq!(reader.join().unwrap(), 0);
            let other = order.enter();
            let readers = [scope.spawn(wait), scope.spawn(wait)];
            assert_eq!(readers.map(|reader| reader.join().unwrap()), [0, 0]);
            drop(other);
        });
        drop(alone);
        assert_eq!(order.open.load(Relaxed), 0);
    }
}
