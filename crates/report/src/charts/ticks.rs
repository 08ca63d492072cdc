//! Where an axis is marked, and with what words.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::numbers::{duration, short};

/// A mark of an axis: its position in the drawing's coordinates, and its words.
pub(super) type Tick = (f64, String);

/// An axis in coordinates that are linear on paper: a logarithmic one has logarithms for coordinates.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its title: the figure and its unit.
    pub(super) title: String,
    /// Its ends.
    pub(super) range: (f64, f64),
    /// Its marks.
    pub(super) ticks: Vec<Tick>,
}

impl Axis {
    /// From 0 to a round number not under `most`, with about `count` steps.
    pub(super) fn from_zero(title: &str, most: f64, count: f64, words: fn(f64) -> String) -> Axis {
        let step = round_step(most.max(f64::MIN_POSITIVE) / count);
        let steps = (most / step).ceil().max(1.0) as u32;
        let ticks = (0..=steps).map(|n| f64::from(n) * step).map(|at| (at, words(at))).collect();
        Axis { title: title.to_owned(), range: (0.0, f64::from(steps) * step), ticks }
    }

    /// Rates a second.
    pub(super) fn rate(title: &str, most: f64) -> Axis {
        Axis::from_zero(title, most, 5.0, short)
    }

    /// Whole powers of ten of nanoseconds that hold all values.
    pub(super) fn latency(title: &str, values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values.fold((f64::MAX, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = (low.clamp(1.0, 1e12).log10().floor(), high.max(10.0).log10().ceil());
        let ticks = (low as i32..=high as i32).map(|power| (f64::from(power), power_of_ten(power))).collect();
        Axis { title: title.to_owned(), range: (low, high), ticks }
    }

    /// Numbers of threads, twice as many always as far away.
    pub(super) fn threads(title: &str, counts: &[u32]) -> Axis {
        let tick = |count: &u32| (f64::from((*count).max(1)).log2(), count.to_string());
        let ticks: Vec<Tick> = counts.iter().map(tick).collect();
        Axis::around(title, ticks)
    }

    /// Things that only have an order.
    pub(super) fn in_order(title: &str, words: impl Iterator<Item = String>) -> Axis {
        let ticks = words.enumerate().map(|(index, words)| (index as f64, words)).collect();
        Axis::around(title, ticks)
    }

    /// A little wider than its ticks, so that marks at its ends are whole.
    fn around(title: &str, ticks: Vec<Tick>) -> Axis {
        let low = ticks.iter().map(|(at, _)| *at).fold(f64::MAX, f64::min);
        let high = ticks.iter().map(|(at, _)| *at).fold(f64::MIN, f64::max);
        let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
        Axis { title: title.to_owned(), range: (low - margin, high + margin), ticks }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let (low, high) = self.range;
        start + (f64::from(end - start) * (value - low) / (high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, position: &f64) -> String {
        let here = |(at, _): &&Tick| (at - position).abs() < 1e-9 * (1.0 + position.abs());
        self.ticks.iter().find(here).map(|(_, words)| words.clone()).unwrap_or_default()
    }
}

/// 1, 2, 2.5 or 5 times a power of ten, not under `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

fn power_of_ten(power: i32) -> String {
    let text = duration(10f64.powi(power));
    text.replace(".00 ", " ").replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_from_zero_end_on_a_round_number() {
        let axis = Axis::rate("reads/s", 2_453_442.0);
        let words: Vec<&str> = axis.ticks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["0", "500 k", "1 M", "1.5 M", "2 M", "2.5 M"]);
        assert_eq!(axis.range, (0.0, 2.5e6));
    }

    #[test]
    fn an_axis_of_nothing_still_has_ends() {
        assert!(Axis::rate("reads/s", 0.0).range.1 > 0.0);
    }

    #[test]
    fn latencies_are_marked_at_powers_of_ten() {
        let axis = Axis::latency("", [850.0, 2.3e6].into_iter());
        let words: Vec<&str> = axis.ticks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
    }
}
