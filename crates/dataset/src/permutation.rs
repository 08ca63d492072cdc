//! Every number below a bound once, in a random order, without memory for each.

use crate::random::subseed;

/// A seeded permutation of the numbers below a bound.
///
/// A Feistel network over the next even number of bits, walked along its cycle until the result is below the bound
/// (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). The domain is less than four times the bound, so
/// the walk has fewer than four steps on average.
#[derive(Clone, Debug)]
pub struct Permutation {
    bound: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `0..bound` that belongs to `seed`. `bound` is at least 1.
    pub fn new(bound: u64, seed: u64) -> Self {
        let bits = 64 - bound.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        Permutation { bound, half_bits, keys: [0, 1, 2, 3].map(|round| subseed(seed, &[round])) }
    }

    /// The number that `index`, below the bound, is mapped to.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut number = self.shuffle(index);
        while number >= self.bound {
            number = self.shuffle(number);
        }
        number
    }

    #[inline]
    fn shuffle(&self, word: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (word >> self.half_bits, word & mask);
        for key in self.keys {
            let scrambled = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (left, right) = (right, left ^ ((scrambled ^ (scrambled >> 32)) & mask));
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(bound in 1u64..5000, seed: u64) {
            let permutation = Permutation::new(bound, seed);
            let mut seen = vec![false; bound as usize];
            for index in 0..bound {
                let number = permutation.at(index) as usize;
                prop_assert!(!seen[number]);
                seen[number] = true;
            }
        }

        #[test]
        fn it_stays_below_large_bounds(bound in 1u64..u64::MAX / 4, seed: u64, index: u64) {
            let permutation = Permutation::new(bound, seed);
            prop_assert!(permutation.at(index % bound) < bound);
        }
    }

    #[test]
    fn neighbours_do_not_stay_neighbours() {
        let permutation = Permutation::new(1_000_000, 1);
        let near = (0..999_999).filter(|&i| permutation.at(i).abs_diff(permutation.at(i + 1)) < 1000).count();
        // 0.2 % of pairs of independent numbers are that near.
        assert!((1000..3000).contains(&near), "{near} of 999,999 neighbours stayed within 1000");
    }
}
