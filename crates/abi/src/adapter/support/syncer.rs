//! Durability `interval`, for engines that do not sync in the background themselves.

use crate::adapter::Error;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A thread that syncs at an interval until it is stopped, dropped, or met an error.
#[derive(Debug)]
pub struct Syncer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Syncer {
    /// Starts the thread. An interval of 0 is taken as a millisecond.
    pub fn start(
        interval: Duration,
        mut sync: impl FnMut() -> Result<(), Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let (stop, stopped) = mpsc::channel();
        let interval = interval.max(Duration::from_millis(1));
        let thread = thread::Builder::new().name("kvdyno-sync".into());
        let thread = thread.spawn(move || every(interval, &stopped, &mut sync))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the thread and returns the error that it met, if it did.
    pub fn stop(mut self) -> Result<(), Error> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Error> {
        drop(self.stop.take());
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|_| Err(Error::new("the syncing thread panicked")))
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        // An error is ignored here; `stop` returns it.
        let _ = self.join();
    }
}

/// Begins a sync each `interval`, or at once where the last one took longer.
fn every(
    interval: Duration,
    stopped: &Receiver<()>,
    sync: &mut impl FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let mut next = Instant::now() + interval;
    while stopped.recv_timeout(next.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout) {
        next = (next + interval).max(Instant::now());
        sync()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::TryRecvError;

    #[test]
    fn it_syncs_until_it_is_stopped() {
        let (synced, syncs) = mpsc::channel();
        let syncer = Syncer::start(Duration::from_millis(1), move || {
            synced.send(()).unwrap();
            Ok(())
        });
        (0..3).for_each(|_| syncs.recv().unwrap());
        syncer.unwrap().stop().unwrap();
        // Syncs from before the stop may still be queued. After those, the sender is gone and no sync can follow.
        while syncs.try_recv().is_ok() {}
        assert_eq!(syncs.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn an_error_ends_it_and_is_kept() {
        let (synced, syncs) = mpsc::channel();
        let syncer = Syncer::start(Duration::ZERO, move || {
            synced.send(()).unwrap();
            Err(Error::new("the disk is gone"))
        });
        // The count ends when the thread drops the sender, although nobody stopped it.
        assert_eq!(syncs.iter().count(), 1);
        assert_eq!(syncer.unwrap().stop().unwrap_err().text(), "the disk is gone");
    }

    #[test]
    fn a_long_interval_does_not_hold_the_stop_up() {
        let begun = Instant::now();
        Syncer::start(Duration::from_secs(3600), || Ok(())).unwrap().stop().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
