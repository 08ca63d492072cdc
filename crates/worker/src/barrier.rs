//! Barriers at which the readers and writers of a trial, threads or processes, wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::futex::{wait_while, wake_all};

/// More arrivals than there can be: the barrier is open for good, and nobody is waited for.
const ABORTED: u32 = 1 << 31;

/// A barrier that opens once, when enough have arrived. It lies in shared memory; all zero is a barrier without
/// arrivals.
#[repr(transparent)]
#[derive(Debug)]
pub struct Barrier(AtomicU32);

impl Barrier {
    /// Arrives as one of `count`, without waiting for the others.
    pub fn arrive(&self, count: u32) {
        if self.0.fetch_add(1, Ordering::SeqCst) + 1 >= count {
            wake_all(&self.0);
        }
    }

    /// Waits until `count` have arrived. False if the barrier was aborted: then nothing is to be done behind it.
    #[must_use]
    pub fn wait_for(&self, count: u32) -> bool {
        loop {
            let arrived = self.0.load(Ordering::SeqCst);
            if arrived >= count {
                return arrived < ABORTED;
            }
            wait_while(&self.0, arrived, None);
        }
    }

    /// Arrives as one of `count`, and waits for the others.
    #[must_use]
    pub fn pass(&self, count: u32) -> bool {
        self.arrive(count);
        self.wait_for(count)
    }

    fn abort(&self) {
        self.0.fetch_or(ABORTED, Ordering::SeqCst);
        wake_all(&self.0);
    }
}

/// The barriers of a trial, in the order in which they are passed.
#[repr(C)]
#[derive(Debug)]
pub struct Barriers {
    /// The first process has opened the database, and the others may.
    pub opened: Barrier,
    /// All sessions are open.
    pub ready: Barrier,
    /// The times are set, and all begin.
    pub go: Barrier,
    /// All have ended.
    pub end: Barrier,
    /// The other processes are through with the database, and the first may close it.
    pub left: Barrier,
}

impl Barriers {
    /// Releases everyone who waits at a barrier for processes or threads that will not arrive. The first process still
    /// waits until the others are through with the database: [`Barriers::left`] is not aborted.
    pub fn abort(&self) {
        [&self.opened, &self.ready, &self.go, &self.end].into_iter().for_each(Barrier::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    fn barrier() -> Barrier {
        Barrier(AtomicU32::new(0))
    }

    #[test]
    fn it_opens_for_all_when_the_last_arrives() {
        let (barrier, through) = (barrier(), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..7 {
                scope.spawn(|| {
                    assert!(barrier.pass(8));
                    through.fetch_add(1, Ordering::SeqCst);
                });
            }
            thread::sleep(Duration::from_millis(50));
            assert_eq!(through.load(Ordering::SeqCst), 0);
            barrier.arrive(8);
        });
        assert_eq!(through.load(Ordering::SeqCst), 7);
        assert!(barrier.wait_for(8), "and stays open");
    }

    #[test]
    fn who_waits_in_vain_is_told() {
        let barrier = barrier();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.pass(2));
            thread::sleep(Duration::from_millis(20));
            barrier.abort();
            assert!(!waiting.join().unwrap());
        });
        assert!(!barrier.pass(2), "also who comes later");
    }
}
