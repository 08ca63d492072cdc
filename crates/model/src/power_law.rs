//! The two-term power law of mixgraph (Cao, Dong, Vemuri and Du, "Characterizing, modeling, and benchmarking RocksDB
//! key-value workloads at Facebook", 2020): key ranges of which some are hot, and hot records in each of them.
//!
//! Key range i, counted from 1, is drawn in proportion to a e^(b i) + c e^(d i). Within it a rank r, counted from 1, is
//! drawn so that ranks up to r have the part A r^B of the draws, for all ranks that have a part.

/// Key ranges at the most.
pub const MOST_KEY_RANGES: u16 = 256;
/// Ranks at the most: beyond, a float would not tell them apart.
const MOST_RANKS: f64 = 4_503_599_627_370_496.0;

/// The numbers of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    ranges: f64,
    /// a, b, c and d.
    hotness: [f64; 4],
    coefficient: f64,
    exponent: f64,
}

impl PowerLaw {
    /// The law with the numbers in the order of a file: A, B, ranges, a, b, c, d.
    pub fn new([coefficient, exponent, ranges, a, b, c, d]: [f64; 7]) -> PowerLaw {
        PowerLaw { ranges, hotness: [a, b, c, d], coefficient, exponent }
    }

    /// Why there is no such law; absent if there is.
    pub fn fault(&self) -> Option<String> {
        let weights: f64 = (0..self.count(u64::MAX)).map(|range| self.weight(range)).sum();
        if !(weights.is_normal() && weights > 0.0) {
            return Some("the key ranges have weights that are 0, or too large for a number".to_owned());
        }
        (self.all_ranks() > MOST_RANKS).then(|| format!("it has {:.1e} ranks; 4.5e15 are the most", self.all_ranks()))
    }

    /// Key ranges of this number of ids: no more than there are ids.
    pub fn count(&self, ids: u64) -> u64 {
        (self.ranges as u64).min(ids)
    }

    /// Likelihood of a key range, counted from 0, up to a constant.
    pub fn weight(&self, range: u64) -> f64 {
        let ([a, b, c, d], number) = (self.hotness, (range + 1) as f64);
        a * (b * number).exp() + c * (d * number).exp()
    }

    fn all_ranks(&self) -> f64 {
        (1.0 / self.coefficient).powf(1.0 / self.exponent)
    }

    /// Ranks that have a part of the draws.
    pub fn ranks(&self) -> u64 {
        self.all_ranks().min(MOST_RANKS).ceil() as u64
    }

    /// The part of the draws of the ranks below `rank`, counted from 0, up to a constant.
    pub fn below(&self, rank: f64) -> f64 {
        rank.powf(self.exponent)
    }

    /// The first id of a key range, counted from 0 in the order in which they lie.
    pub fn first(&self, lies: u64, ids: u64) -> u64 {
        let (all, ranges) = (u128::from(ids), u128::from(self.count(ids)));
        (all * u128::from(lies) / ranges) as u64
    }

    /// The exponent of the law of ranks: B.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }
}
