//! Several threads on one database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use kvdyno_engine::{Database, Session, guarded};

use crate::bench::session;
use crate::finding::{Finding, wrong};

/// Does `work` on this number of threads at once, each with a session of its own.
pub(crate) fn side_by_side(
    database: &Database,
    threads: u64,
    work: impl Fn(u64, &mut Session<'_>) -> Result<(), Finding> + Sync,
) -> Result<(), Finding> {
    thread::scope(|scope| {
        let work = &work;
        let start = |number| scope.spawn(move || guarded(|| work(number, &mut session(database)?)));
        let started: Vec<_> = (0..threads).map(start).collect();
        let ended: Vec<_> = started.into_iter().map(joined).collect();
        ended.into_iter().collect()
    })
}

/// Does `work` on another thread with a session of its own, and waits for its end.
pub(crate) fn elsewhere<T: Send>(
    database: &Database,
    work: impl FnOnce(&mut Session<'_>) -> Result<T, Finding> + Send,
) -> Result<T, Finding> {
    thread::scope(|scope| joined(scope.spawn(|| guarded(|| work(&mut session(database)?)))))
}

/// Does `work` here while another thread, with a session of its own, does `round` after round of something else.
pub(crate) fn beside<T>(
    database: &Database,
    round: impl Fn(u64, &mut Session<'_>) -> Result<(), Finding> + Sync,
    work: impl FnOnce() -> Result<T, Finding>,
) -> Result<T, Finding> {
    let ended = AtomicBool::new(false);
    let rounds = || {
        let mut session = session(database)?;
        (1..).take_while(|_| !ended.load(Ordering::Relaxed)).try_for_each(|number| round(number, &mut session))
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| guarded(rounds));
        let done = work();
        ended.store(true, Ordering::Relaxed);
        joined(other)?;
        done
    })
}

/// The outcome of a thread.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, Finding>>) -> Result<T, Finding> {
    thread.join().unwrap_or_else(|_| Err(wrong("the check itself failed: a thread of it panicked")))
}
