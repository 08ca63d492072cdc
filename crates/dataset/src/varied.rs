//! Values of different sizes: how long each is, and its filler.

use crate::blocks::{BLOCK, is_masked, mask, mask_short};
use crate::random::{Stream, mix, subseed};
use crate::sizes::ValueSizes;
use crate::values::{HEADER, random_part};

/// Sizes and fillers of values whose sizes are drawn. All have a whole header.
#[derive(Clone, Debug)]
pub(crate) struct Varied {
    sizes: ValueSizes,
    key: u64,
    compressibility: f64,
    /// Random bytes for the largest filler, and as many zeros: the template of a size is the part of it that begins so
    /// far before the zeros as this size has random bytes.
    templates: Vec<u8>,
    zeros_from: usize,
}

impl Varied {
    pub(crate) fn new(sizes: ValueSizes, compressibility: f64, seed: u64) -> Varied {
        let zeros_from = sizes.largest() as usize - HEADER;
        let mut templates = vec![0; 2 * zeros_from + BLOCK];
        let mut stream = Stream::new(subseed(seed, &[0x7465_6d70]));
        for byte in &mut templates[..zeros_from] {
            *byte = (stream.bits() >> 56) as u8;
        }
        Varied { sizes, key: subseed(seed, &[0x7369_7a65]), compressibility, templates, zeros_from }
    }

    /// Bytes of the largest value.
    pub(crate) fn largest(&self) -> usize {
        self.zeros_from + HEADER
    }

    /// Bytes of the value whose id and version have this word.
    #[inline]
    pub(crate) fn size_of(&self, word: u64) -> usize {
        self.sizes.drawn(mix(word ^ self.key)) as usize
    }

    fn template(&self, filler: usize) -> &[u8] {
        &self.templates[self.zeros_from - random_part(filler + HEADER, filler, self.compressibility)..]
    }

    /// Makes the filler of a word.
    #[inline]
    pub(crate) fn fill(&self, word: u64, filler: &mut [u8]) {
        let template = self.template(filler.len());
        match filler.len() {
            BLOCK.. => mask(filler, template, word, last(word, filler.len())),
            _ => mask_short(filler, template, word),
        }
    }

    /// Whether this is the filler of a word.
    #[inline]
    pub(crate) fn is_filler(&self, word: u64, filler: &[u8]) -> bool {
        let template = self.template(filler.len());
        if filler.len() >= BLOCK {
            return is_masked(filler, template, word, last(word, filler.len()));
        }
        let mut expected = [0; BLOCK];
        let expected = &mut expected[..filler.len()];
        mask_short(expected, template, word);
        expected == filler
    }

    /// A number that differs between values of other sizes.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.sizes.to_string().bytes().fold(mix(self.key), |sum, byte| mix(sum ^ u64::from(byte)))
    }
}

/// A word as it lies over the last block of a filler.
fn last(word: u64, filler: usize) -> u64 {
    word.rotate_right(8 * (filler % 8) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::values::{HEADER, ValueFault, Values};

    fn value(values: &Values, id: u64, version: u64) -> Vec<u8> {
        let mut made = vec![0; values.largest()];
        let size = values.write(id, version, &mut made);
        made.truncate(size);
        made
    }

    /// Sizes of every law, some of them too small for a block.
    const SIZES: [&str; 5] =
        ["uniform 24 60", "uniform 24 3000", "normal 200 50", "pareto 0.2615 25.45", "histogram 24 1, 100 2, 4000 1"];

    fn varied(sizes: usize, seed: u64) -> Values {
        Values::varied(SIZES[sizes].parse().unwrap(), 0.5, seed)
    }

    proptest! {
        #[test]
        fn a_value_of_a_drawn_size_is_right_for_its_id_and_for_no_older_version(
            sizes in 0..SIZES.len(), seed: u64, id: u64, version in 0u64..1 << 40, bit: prop::sample::Index,
        ) {
            let values = varied(sizes, seed);
            let mut made = value(&values, id, version);
            prop_assert_eq!(made.len(), values.size_of(id, version));
            prop_assert!((HEADER..=values.largest()).contains(&made.len()));
            prop_assert!(values.is_right(id, version, &made));
            prop_assert!(!values.is_right(id, version + 1, &made));
            prop_assert!(matches!(values.fault(id, version + 1, &made), ValueFault::Stale(_)));
            prop_assert!(matches!(values.fault(id ^ 1, 0, &made), ValueFault::Wrong(_)));
            for other in [&made[..made.len() - 1], &[&made[..], &[0]].concat()] {
                prop_assert!(!values.is_right(id, 0, other));
            }
            let bit = bit.index(8 * made.len());
            made[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!values.is_right(id, 0, &made));
        }
    }

    #[test]
    fn values_of_drawn_sizes_compress_as_asked() {
        for requested in [0.0, 0.25, 0.5, 0.75] {
            let values = Values::varied("uniform 100 4000".parse().unwrap(), requested, 1);
            let block: Vec<u8> = (0..32).flat_map(|id| value(&values, 7919 * id, id)).collect();
            let saved = 1.0 - lz4_flex::compress(&block).len() as f64 / block.len() as f64;
            // The random bytes of sizes are the same, but for where they begin.
            assert!((saved - requested).abs() < 0.07, "at {requested}: LZ4 saved {saved:.3}");
        }
    }

    #[test]
    fn values_of_other_sizes_are_told_by_their_fingerprint() {
        let prints: std::collections::HashSet<u64> =
            (0..SIZES.len()).map(|sizes| varied(sizes, 1).fingerprint()).collect();
        assert_eq!(prints.len(), SIZES.len());
    }
}
