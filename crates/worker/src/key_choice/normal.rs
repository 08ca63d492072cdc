//! The normal distribution around the middle of the records, of whole numbers.

use kvdyno_dataset::Stream;

use super::KeyChoice;
use super::ranked::{Law, Ranked};

/// The half of it above the mean: the likelihood of a distance.
#[derive(Clone)]
struct Distance {
    deviation: f64,
}

impl Law for Distance {
    fn ln(&self, rank: f64) -> f64 {
        -0.5 * ((rank + 0.5) / self.deviation).powi(2)
    }

    fn rank(&self, ln: f64) -> f64 {
        (-2.0 * ln).sqrt() * self.deviation - 0.5
    }
}

/// Ids around the border between the lower and the upper half of them, of which the upper may have one more; what lies
/// beyond the ends is drawn again.
#[derive(Clone)]
pub(super) struct Normal {
    middle: u64,
    ids: u64,
    distance: Ranked<Distance>,
    side: Stream,
}

impl Normal {
    /// `part`: the standard deviation, of the number of ids.
    pub(super) fn new(ids: u64, part: f64, stream: Stream) -> Self {
        let law = Distance { deviation: ids as f64 * part };
        let mut side = stream.clone();
        let side = Stream::new(side.bits());
        Normal { middle: ids / 2, ids, distance: Ranked::new(ids.div_ceil(2), law, stream), side }
    }
}

impl KeyChoice for Normal {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        loop {
            let distance = self.distance.next();
            // Below the middle it goes down from the id before it.
            let up = self.side.bits() >> 63 == 1;
            let id = if up { self.middle + distance } else { self.middle.wrapping_sub(distance + 1) };
            if id < self.ids {
                return id;
            }
        }
    }
}
