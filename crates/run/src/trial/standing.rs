//! How long a trial that works in slices stood still between them.

use std::time::{Duration, Instant};

/// How long a trial has stood still.
#[derive(Debug)]
pub(super) struct Standing {
    /// Since when it does; absent in a slice, and when no more come.
    pub(super) since: Option<Instant>,
    /// The time for which it did before.
    pub(super) before: Duration,
    /// Whether its processes are frozen.
    pub(super) frozen: bool,
    /// When its slice must be over.
    pub(super) due: Instant,
}

impl Default for Standing {
    fn default() -> Self {
        let now = Instant::now();
        Standing { since: Some(now), before: Duration::ZERO, frozen: false, due: now }
    }
}
