//! The time that a row may take in one call.

use std::time::{Duration, Instant};

/// A clock that begins at 0, and the time at which no further try begins.
pub struct RowTime {
    elapsed: Box<dyn Fn() -> Duration>,
    most: Duration,
}

impl RowTime {
    /// The time `most` from now on.
    pub fn from_now(most: Duration) -> RowTime {
        let begun = Instant::now();
        RowTime::by(move || begun.elapsed(), most)
    }

    /// The time `most` by a clock that tells how much of it passed.
    pub fn by(elapsed: impl Fn() -> Duration + 'static, most: Duration) -> RowTime {
        RowTime { elapsed: Box::new(elapsed), most }
    }

    /// Whether there is some left for a try, and at least half of the time that it is given.
    pub fn is_enough(&self, given: Duration) -> bool {
        self.most.saturating_sub((self.elapsed)()) > given / 2
    }
}
