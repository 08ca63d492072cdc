//! Stopping in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A user's request to stop: the first for an orderly end, the second for an immediate one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// The counter to be raised, by a signal handler for example.
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Whether to stop without waiting for anything.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}
