//! The marks of an axis, and their words.

use std::ops::Range;

use kvdyno_model::text::{bytes, duration, percentile, short};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use serde::Serialize;

/// A mark of an axis: its position in the drawing's coordinates, and its words.
pub(super) type Tick = (f64, String);

/// The way in which the page's script writes the figures of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AxisWords {
    /// Numbers, large ones with a letter: `1.5 M`.
    Numbers,
    /// Nanoseconds in a unit that fits.
    Nanoseconds,
    /// Bytes in a binary unit that fits.
    Bytes,
    /// The share that so many nines are: 99.9 % for 3.
    Nines,
    /// Only those of its marks.
    Marks,
}

/// An axis in coordinates that are linear on paper: a logarithmic one has logarithms for coordinates.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its title: the figure and its unit.
    pub(super) title: String,
    /// Its ends.
    pub(super) range: (f64, f64),
    /// Its marks.
    pub(super) ticks: Vec<Tick>,
    /// Whether its coordinates are logarithms to the base of ten.
    pub(super) is_logarithmic: bool,
    /// The words of its figures.
    pub(super) words: AxisWords,
}

impl Axis {
    /// An axis from 0 to a round number not under `most`, with about `count` steps.
    pub(super) fn from_zero(title: &str, most: f64, count: f64, words: fn(f64) -> String) -> Axis {
        let step = round_step(most.max(f64::MIN_POSITIVE) / count);
        let steps = (most / step).ceil().max(1.0) as u32;
        let ticks = (0..=steps).map(|n| f64::from(n) * step).map(|at| (at, words(at))).collect();
        let range = (0.0, f64::from(steps) * step);
        Axis { title: title.to_owned(), range, ticks, is_logarithmic: false, words: AxisWords::Numbers }
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
        let words = AxisWords::Nanoseconds;
        Axis { title: title.to_owned(), range: (low, high), ticks, is_logarithmic: true, words }
    }

    /// Whole powers of ten that hold all figures above 0.
    pub(super) fn powers(title: &str, figures: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = figures
            .filter(|figure| *figure > 0.0)
            .fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), figure| (low.min(figure), high.max(figure)));
        let low = low.min(high).log10().floor();
        let high = high.log10().ceil().max(low + 1.0);
        let words = |power: i32| if power < -2 { format!("1e{power}") } else { short(10f64.powi(power)) };
        let ticks = (low as i32..=high as i32).map(|power| (f64::from(power), words(power))).collect();
        let words = AxisWords::Numbers;
        Axis { title: title.to_owned(), range: (low, high), ticks, is_logarithmic: true, words }
    }

    /// Rates on a logarithmic scale, with marks at 1, 2 and 5 times each power of ten.
    pub(super) fn logarithmic_rate(title: &str, rates: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = rates.fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(rate), high.max(rate)));
        let range = ((low.min(high).max(1e-9) / 1.2).log10(), (high.max(1e-9) * 1.2).log10());
        let powers = range.0.floor() as i32..=range.1.ceil() as i32;
        let marks = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|times| times * 10f64.powi(power)));
        let ticks = marks.map(|mark| (mark.log10(), short(mark))).filter(|(at, _)| (range.0..=range.1).contains(at));
        Axis { title: title.to_owned(), range, ticks: ticks.collect(), is_logarithmic: true, words: AxisWords::Numbers }
    }

    /// Bytes from 0 to a round number of binary units not under `most`. The unit of all marks is that of the highest.
    pub(super) fn bytes(title: &str, most: f64) -> Axis {
        let unit = 1024f64.powi((most.max(1.0).log2() / 10.0).floor() as i32);
        let whole = Axis::from_zero(title, most / unit, 5.0, short);
        let ticks = whole.ticks.iter().map(|(at, _)| (at * unit, bytes_of(at * unit, unit))).collect();
        Axis { range: (0.0, whole.range.1 * unit), ticks, words: AxisWords::Bytes, ..whole }
    }

    /// Percentiles at equal distances for each further nine. With many nines the labels are long, so only every second
    /// one is shown.
    pub(super) fn nines(most: f64) -> Axis {
        let last = most.ceil().max(1.0);
        let step = if last > 5.0 { 2 } else { 1 };
        let ticks =
            (0..=last as i32).step_by(step).map(|nines| (f64::from(nines), percentile(f64::from(nines)))).collect();
        let title = "percentile".to_owned();
        Axis { title, range: (0.0, last), ticks, is_logarithmic: false, words: AxisWords::Nines }
    }

    /// Numbers of threads on a logarithmic scale: doubling is always the same distance.
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
        let range = (low - margin, high + margin);
        Axis { title: title.to_owned(), range, ticks, is_logarithmic: false, words: AxisWords::Marks }
    }

    /// Without those of its marks that its ends leave out.
    pub(super) fn without_marks_outside(mut self) -> Axis {
        let (low, high) = self.range;
        self.ticks.retain(|(at, _)| *at >= low && *at <= high * (1.0 + 1e-9));
        self
    }

    /// The place of a figure. 0 has none on a logarithmic axis, and stands left of it.
    pub(super) fn coordinate(&self, figure: f64) -> f64 {
        match (self.is_logarithmic, figure > 0.0) {
            (false, _) => figure,
            (true, true) => figure.log10(),
            (true, false) => f64::MIN,
        }
    }

    /// The part of the axis that a figure takes, 0 to 1. What lies beyond it is at its end.
    pub(super) fn part(&self, figure: f64) -> f64 {
        let (low, high) = self.range;
        ((self.coordinate(figure) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// The figure that stands at a coordinate.
    pub(super) fn figure(&self, coordinate: f64) -> f64 {
        if self.is_logarithmic { 10f64.powf(coordinate) } else { coordinate }
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

/// Bytes in the unit of so many.
fn bytes_of(count: f64, unit: f64) -> String {
    let name = bytes(unit);
    let name = name.split_once(' ').map_or("", |(_, name)| name);
    if count == 0.0 { "0".to_owned() } else { format!("{} {name}", short(count / unit)) }
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
    fn sizes_are_in_binary_units() {
        let words =
            |most: f64| -> Vec<String> { Axis::bytes("", most).ticks.into_iter().map(|(_, words)| words).collect() };
        assert_eq!(words(386_312.0 * 1024.0), ["0", "100 MiB", "200 MiB", "300 MiB", "400 MiB"]);
        assert_eq!(words(2.5 * 1024f64.powi(3)), ["0", "0.5 GiB", "1 GiB", "1.5 GiB", "2 GiB", "2.5 GiB"]);
        assert_eq!(words(0.0)[0], "0");
    }

    #[test]
    fn percentiles_are_marked_at_nines() {
        let axis = Axis::nines(3.4);
        let words: Vec<&str> = axis.ticks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }

    #[test]
    fn figures_far_apart_are_marked_at_powers_of_ten() {
        let words = |figures: &[f64]| -> Vec<String> {
            Axis::powers("", figures.iter().copied()).ticks.into_iter().map(|(_, words)| words).collect()
        };
        assert_eq!(words(&[0.5, 0.0, 1234.0]), ["0.1", "1", "10", "100", "1 k", "10 k"]);
        assert_eq!(words(&[100.0]), ["100", "1 k"]);
        assert!(words(&[]).len() > 1);
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
