//! Sizes of values by their weights.

use crate::sizes::drawn_size;

/// The most sizes of a histogram, so that its tables stay in a processor's caches: 64 KiB.
pub const MOST_BINS: usize = 4096;

/// A size and its weight, as a file has them.
#[derive(Clone, Copy, Debug)]
struct WeightedSize {
    size: DrawnLength,
    weight: f64,
}

/// Bytes of a value that is drawn.
type DrawnLength = u32;

/// Sizes, each with how likely it is.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeHistogram {
    /// The bins by which sizes are drawn.
    bins: Vec<SizeBin>,
    /// Likelihood of each size, up to a constant; not used for drawing.
    weights: Vec<f64>,
}

/// A size as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SizeBin {
    /// The part of the draws that are this size or one before it, of 2^64.
    below: u64,
    size: DrawnLength,
}

impl SizeHistogram {
    /// Sizes with their weights, a pair in each line; what follows a # is left out.
    pub(crate) fn of_lines(lines: &str) -> Result<SizeHistogram, String> {
        let lines = lines.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let given = lines.zip(1..).filter(|(line, _)| !line.is_empty());
        let given = given.map(|(line, number)| parse(line).map_err(|error| format!("line {number}: {error}")));
        SizeHistogram::of(&given.collect::<Result<Vec<_>, _>>()?)
    }

    /// Sizes with their weights, with commas between the pairs.
    pub(crate) fn of_words(words: &str) -> Result<SizeHistogram, String> {
        SizeHistogram::of(&words.split(',').map(|pair| parse(pair.trim())).collect::<Result<Vec<_>, _>>()?)
    }

    fn of(given: &[WeightedSize]) -> Result<SizeHistogram, String> {
        if given.len() > MOST_BINS {
            return Err(format!("it has {} sizes; a histogram has at most {MOST_BINS}", given.len()));
        }
        let weights: Vec<f64> = given.iter().map(|given| given.weight).collect();
        let all: f64 = weights.iter().sum();
        if !all.is_normal() {
            return Err("it has no sizes with their weights: a line is a size and a weight, such as 100 0.5".to_owned());
        }
        let mut below = 0.0;
        let bins = given.iter().map(|given| {
            below += given.weight;
            SizeBin { below: (below / all * 2f64.powi(64)) as u64, size: given.size }
        });
        Ok(SizeHistogram { bins: bins.collect(), weights })
    }

    /// Each size with its weight, in the order of the file.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u64, f64)> {
        self.bins.iter().map(|bin| bin.size.into()).zip(self.weights.iter().copied())
    }

    /// The mean, bytes.
    pub(crate) fn mean(&self) -> f64 {
        let (sizes, weights) =
            self.parts().fold((0.0, 0.0), |(s, w), (size, weight)| (s + size as f64 * weight, w + weight));
        sizes / weights
    }

    /// The size that 64 random bits draw, bytes.
    #[inline]
    pub(crate) fn drawn(&self, bits: u64) -> u64 {
        let bins = &self.bins;
        bins[bins.partition_point(|bin| bin.below <= bits).min(bins.len() - 1)].size.into()
    }
}

/// A size and its weight.
fn parse(pair: &str) -> Result<WeightedSize, String> {
    let mut words = pair.split_whitespace();
    let (Some(size), Some(weight), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("`{pair}` is not a size with its weight, such as 100 0.5"));
    };
    // All sizes that can be drawn are below 2^32.
    let size = drawn_size(size)? as DrawnLength;
    let weight: Option<f64> = weight.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    let weight = weight.ok_or_else(|| format!("`{pair}` has no weight of 0 or more"))?;
    Ok(WeightedSize { size, weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_sizes_are_drawn_by_takes_at_most_64_kib() {
        let text: String = (0..MOST_BINS).map(|bin| format!("{} 1\n", 24 + bin)).collect();
        let histogram = SizeHistogram::of_lines(&text).unwrap();
        assert_eq!(histogram.bins.len(), MOST_BINS);
        let bytes = size_of_val(histogram.bins.as_slice());
        assert!(bytes <= 64 << 10, "{bytes}");
    }
}
