//! Units of figures: how they are printed for people, and rounded for programs.

use kvdyno_model::text::{bytes, clock, duration, grouped, part_of_one, rate, three_digits};
use serde_json::Value;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds, for people as `time` prints them: `1:05.73`.
    Clock,
    /// Seconds, for people in a unit that fits.
    Seconds,
    /// Per cent.
    Percent,
    /// Things counted.
    Count,
    /// KiB.
    Kib,
    /// Bytes; for people in binary units.
    Bytes,
    /// Bytes; for people in millions of them.
    Megabytes,
    /// Per second.
    PerSecond,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// One number over another, often a small part of one.
    Ratio,
    /// One number over another, about one or more.
    Factor,
}

impl Unit {
    /// A figure for people.
    pub(crate) fn print(self, value: f64) -> String {
        match self {
            Unit::Clock => clock(value),
            Unit::Seconds => duration(1e9 * value),
            Unit::Nanos => duration(value),
            Unit::Percent | Unit::Count | Unit::Kib => grouped(value),
            Unit::Bytes => bytes(value),
            Unit::Megabytes => part_of_one(value / 1e6),
            Unit::PerSecond => rate(value),
            Unit::Micros if value < 99.95 => three_digits(value),
            Unit::Micros => grouped(value),
            Unit::Ratio => part_of_one(value),
            Unit::Factor => format!("{value:.2}"),
        }
    }

    /// A figure for programs, without digits that mean nothing.
    pub(crate) fn number(self, value: f64) -> Value {
        let scale = match self {
            Unit::Clock => 100.0,
            Unit::Seconds | Unit::Percent | Unit::Micros | Unit::Ratio | Unit::Factor => 1000.0,
            Unit::Count | Unit::Kib | Unit::Bytes | Unit::Megabytes | Unit::PerSecond | Unit::Nanos => 1.0,
        };
        let rounded = (value * scale).round() / scale;
        match rounded.fract() == 0.0 && rounded >= 0.0 {
            true => (rounded as u64).into(),
            false => rounded.into(),
        }
    }

    /// The unit's name in the documentation.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Clock | Unit::Seconds => "s",
            Unit::Percent => "%",
            Unit::Count => "",
            Unit::Kib => "KiB",
            Unit::Bytes | Unit::Megabytes => "bytes",
            Unit::PerSecond => "1/s",
            Unit::Micros => "µs",
            Unit::Nanos => "ns",
            Unit::Ratio | Unit::Factor => "ratio",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_read_the_same_figure() {
        let both = |unit: Unit, value: f64| (unit.print(value), unit.number(value).to_string());
        assert_eq!(both(Unit::Clock, 65.728), ("1:05.73".to_owned(), "65.73".to_owned()));
        assert_eq!(both(Unit::Clock, 13.0), ("0:13.00".to_owned(), "13".to_owned()));
        assert_eq!(both(Unit::Kib, 123_408.0), ("123,408".to_owned(), "123408".to_owned()));
        assert_eq!(both(Unit::PerSecond, 0.42), ("0.4".to_owned(), "0".to_owned()));
        assert_eq!(both(Unit::Micros, 3.1579), ("3.16".to_owned(), "3.158".to_owned()));
        assert_eq!(both(Unit::Micros, 2410.2), ("2,410".to_owned(), "2410.2".to_owned()));
        assert_eq!(both(Unit::Seconds, 0.0042), ("4.20 ms".to_owned(), "0.004".to_owned()));
        assert_eq!(both(Unit::Megabytes, 1.5e6), ("1.50".to_owned(), "1500000".to_owned()));
    }
}
