//! A part of the records gets a part of the draws, both parts evenly.

use kvdyno_dataset::Stream;

use super::KeyChoice;

/// The first ids get a part of the draws, the others the rest.
#[derive(Clone)]
pub(super) struct Hotspot {
    hot: u64,
    cold: u64,
    /// The part of the draws, of 2^64, that the hot ones get.
    draws: u64,
    stream: Stream,
}

impl Hotspot {
    pub(super) fn new(ids: u64, part: f64, draws: f64, stream: Stream) -> Self {
        let hot = ((ids as f64 * part).ceil() as u64).clamp(1, ids);
        let draws = if hot == ids { u64::MAX } else { (draws * 2f64.powi(64)) as u64 };
        Hotspot { hot, cold: ids - hot, draws, stream }
    }
}

impl KeyChoice for Hotspot {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let (first, ids) = if self.stream.bits() <= self.draws { (0, self.hot) } else { (self.hot, self.cold) };
        first + self.stream.below(ids)
    }
}
