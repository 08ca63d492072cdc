//! The exponential distribution, of whole numbers: geometric.

use kvdyno_dataset::Stream;

use super::ranked::{Law, Ranked};

/// Each id is less likely than the one before by the same factor; its logarithm is -1/mean.
#[derive(Clone)]
pub(super) struct Exponential {
    mean: f64,
}

impl Law for Exponential {
    fn ln(&self, rank: f64) -> f64 {
        -rank / self.mean
    }

    fn rank(&self, ln: f64) -> f64 {
        -ln * self.mean
    }
}

/// The first id is the likeliest. `part`: the mean without an end, of the number of ids.
pub(super) fn exponential(ids: u64, part: f64, stream: Stream) -> Ranked<Exponential> {
    Ranked::new(ids, Exponential { mean: ids as f64 * part }, stream)
}
