//! Zipf's law as in YCSB's workloads, for comparison with others' figures.
//!
//! YCSB draws of 10^10 items by an approximation (Gray, Sundaresan, Englert, Baclawski and Weinberger, "Quickly
//! generating billion-record synthetic databases", 1994) and hashes the item (FNV-1a, 64 bits) to a record: so some
//! records have several items, some none, and the law is flatter than Zipf's over the records.

use kvdyno_dataset::Stream;

use super::KeyChoice;

/// YCSB's exponent, number of items, and the sum of their weights, which it has as a constant.
const EXPONENT: f64 = 0.99;
const ITEMS: f64 = 1e10;
const WEIGHTS: f64 = 26.469_028_201_783_02;

/// YCSB's scrambled Zipf.
#[derive(Clone)]
pub(super) struct ZipfYcsb {
    ids: u64,
    /// The weights of the first two items.
    first_two: f64,
    eta: f64,
    stream: Stream,
}

impl ZipfYcsb {
    pub(super) fn new(ids: u64, stream: Stream) -> Self {
        let first_two = 1.0 + 0.5f64.powf(EXPONENT);
        let eta = (1.0 - (2.0 / ITEMS).powf(1.0 - EXPONENT)) / (1.0 - first_two / WEIGHTS);
        ZipfYcsb { ids, first_two, eta, stream }
    }

    /// The item at `part`, from 0 to 1, of all weights.
    fn item(&self, part: f64) -> u64 {
        let weight = part * WEIGHTS;
        match weight {
            _ if weight < 1.0 => 0,
            _ if weight < self.first_two => 1,
            _ => (ITEMS * (self.eta * part - self.eta + 1.0).powf(1.0 / (1.0 - EXPONENT))) as u64,
        }
    }
}

/// The likelihood of each of `ids`. The weights of the first items, one item for four draws, are added exactly; the
/// other items count as uniform. An id's share of these deviates by a thirteenth of the random deviation of the draws.
pub(super) fn likelihoods(ids: u64, draws: u64) -> Vec<f64> {
    let looked_at = (draws / 4).max(2);
    let choice = ZipfYcsb::new(ids, Stream::new(0));
    // The end of an item's interval, as a fraction of all weights: the inverse of `item`.
    let end = |item: u64| match item {
        0 => 1.0 / WEIGHTS,
        1 => choice.first_two / WEIGHTS,
        _ => ((((item + 1) as f64) / ITEMS).powf(1.0 - EXPONENT) - 1.0) / choice.eta + 1.0,
    };
    let mut parts = vec![(1.0 - end(looked_at - 1)) / ids as f64; ids as usize];
    let mut begin = 0.0;
    for item in 0..looked_at {
        let end = f64::max(begin, end(item));
        parts[(hash(item) % ids) as usize] += end - begin;
        begin = end;
    }
    parts
}

impl KeyChoice for ZipfYcsb {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let part = (self.stream.bits() >> 11) as f64 / 2f64.powi(53);
        hash(self.item(part)) % self.ids
    }
}

/// FNV-1a over the eight bytes of an item, the lowest first; of the result, which YCSB takes as a signed number, the
/// absolute value.
fn hash(item: u64) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    item.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, fold).cast_signed().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_as_often_as_the_weights_of_the_first_say() {
        let choice = ZipfYcsb::new(1, Stream::new(1));
        let end = |item: u64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if choice.item(middle) > item { high = middle } else { low = middle }
            }
            low
        };
        assert!((end(0) - 1.0 / WEIGHTS).abs() < 1e-9);
        assert!((end(1) - (1.0 + 0.5f64.powf(0.99)) / WEIGHTS).abs() < 1e-9);
        // The rest is an approximation: the third item gets a fifth more than Zipf's law has for it.
        let third = (end(2) - end(1)) * WEIGHTS / 3f64.powf(-0.99);
        assert!((1.19..1.21).contains(&third), "{third}");
        assert_eq!((choice.item(0.0), choice.item(1.0)), (0, 10_000_000_000));
    }

    #[test]
    fn hashes_are_those_of_fnv() {
        // The offset basis, eight times multiplied with the prime: as its authors' test vectors have eight zero bytes.
        assert_eq!(hash(0), 0xa8c7_f832_281a_39c5u64.cast_signed().unsigned_abs());
    }
}
