//! Numbers with bounds.

use std::fmt;
use std::num::ParseFloatError;

use serde::Serialize;
use serde_json::{Value, json};

use crate::KeyValue;
use crate::size::ByteSize;

/// A count from `LEAST` to `MOST`: `1000000`, `1_000_000`, `10M`, `1.5M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Count<const LEAST: u64, const MOST: u64>(pub u64);

/// A number of bytes from `LEAST` to `MOST` that is no size of memory or storage: `16`, `4KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Length<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> Count<LEAST, MOST> {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number, where it is known to be small.
    pub fn get_u32(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<const LEAST: u64, const MOST: u64> Length<LEAST, MOST> {
    /// Bytes.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// `1 to 4096`, `1 to 2^48`, `at least 1`.
fn bounds(least: u64, most: u64) -> String {
    match most {
        _ if most >= i64::MAX as u64 => format!("at least {least}"),
        _ if most.is_power_of_two() && most > 1 << 20 => format!("from {least} to 2^{}", most.ilog2()),
        _ => format!("from {least} to {most}"),
    }
}

/// A whole number that may have a unit: a power of 1000.
fn count(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1_000u64),
        (at, 'M') => (&text[..at], 1_000_000),
        (at, 'G') => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let digits = digits.replace('_', "");
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, "0"));
    if !part.bytes().all(|byte| byte.is_ascii_digit()) || part.is_empty() || whole.starts_with('+') {
        return None;
    }
    let part = part.trim_end_matches('0');
    let tenths = 10u64.checked_pow(part.len() as u32)?;
    let numerator = unit.checked_mul(if part.is_empty() { 0 } else { part.parse().ok()? })?;
    let rest = numerator.is_multiple_of(tenths).then_some(numerator / tenths)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(rest)
}

/// Whether a number is negative: its text is no count, but it is below every bound.
fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| count(digits).is_some())
}

impl<const LEAST: u64, const MOST: u64> KeyValue for Count<LEAST, MOST> {
    const PLACEHOLDER: &'static str = "N";

    fn describe() -> String {
        format!("a count {}", bounds(LEAST, MOST))
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let out_of_bounds = |how| Err(format!("{text} is too {how}; it must be {}", bounds(LEAST, MOST)));
        match count(text) {
            Some(number) if number < LEAST => out_of_bounds("small"),
            Some(number) if number > MOST => out_of_bounds("large"),
            Some(number) => Ok(Count(number)),
            None if is_negative(text) => out_of_bounds("small"),
            None => Err(format!("`{text}` is not a whole number such as 1000000 or 10M")),
        }
    }

    fn schema() -> Value {
        json!({
            "anyOf": [
                { "type": "integer", "minimum": LEAST, "maximum": MOST },
                { "type": "string", "pattern": "^[0-9][0-9_]*([.][0-9]+)?[kKMG]?$" }
            ]
        })
    }
}

impl<const LEAST: u64, const MOST: u64> KeyValue for Length<LEAST, MOST> {
    const PLACEHOLDER: &'static str = "BYTES";

    fn describe() -> String {
        format!("{} bytes", bounds(LEAST, MOST).trim_start_matches("from "))
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = |how| Err(format!("{text} is too {how}; it must be {} bytes", bounds(LEAST, MOST)));
        match text.replace('_', "").parse().ok().or_else(|| ByteSize::with_unit(text)) {
            Some(number) if number < LEAST => wrong("short"),
            Some(number) if number > MOST => wrong("long"),
            Some(number) => Ok(Length(number)),
            None if is_negative(text) => wrong("short"),
            None => Err(format!("`{text}` is not a number of bytes such as 100 or 4KiB")),
        }
    }

    fn schema() -> Value {
        json!({
            "anyOf": [
                { "type": "integer", "minimum": LEAST, "maximum": MOST },
                { "type": "string", "pattern": "^[0-9][0-9_]*([.][0-9]+)? *([kKMG]i?)?B?$" }
            ]
        })
    }
}

macro_rules! number {
    ($type:ident) => {
        impl<const LEAST: u64, const MOST: u64> fmt::Display for $type<LEAST, MOST> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        crate::read_by_text!($type<LEAST, MOST>, const LEAST: u64, const MOST: u64);
    };
}

number!(Count);
number!(Length);

/// A part of a whole, 0 to 1: `0.03`, `3%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Fraction(pub f64);

/// A part of a whole, above 0: `0.03`, `3%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct PositiveFraction(pub f64);

/// A factor above 0 and at most 1000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Multiple(pub f64);

macro_rules! fraction {
    ($type:ident, $placeholder:literal, $bounds:literal, $fits:expr, $number:expr, $schema:expr) => {
        impl KeyValue for $type {
            const PLACEHOLDER: &'static str = $placeholder;

            fn describe() -> String {
                concat!("a number ", $bounds).to_owned()
            }

            fn from_text(text: &str) -> Result<Self, String> {
                let fits: fn(&f64) -> bool = $fits;
                let number: fn(&str) -> Result<f64, ParseFloatError> = $number;
                match number(text) {
                    Ok(number) if fits(&number) => Ok($type(number)),
                    Ok(_) => Err(format!(concat!("it is {}; it must be ", $bounds), text)),
                    Err(_) => Err(format!("`{text}` is not a number such as 0.5")),
                }
            }

            fn schema() -> Value {
                $schema
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        crate::read_by_text!($type);
    };
}

/// A number, or hundredths of it.
fn number_or_percentage(text: &str) -> Result<f64, ParseFloatError> {
    match text.strip_suffix('%') {
        Some(hundredths) => hundredths.trim_end().parse::<f64>().map(|hundredths| hundredths / 100.0),
        None => text.parse(),
    }
}

fraction!(
    Fraction,
    "FRACTION",
    "from 0 to 1, or a percentage",
    |number| (0.0..=1.0).contains(number),
    number_or_percentage,
    json!({
        "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^[0-9]+([.][0-9]+)? *%?$" }
        ]
    })
);
fraction!(
    PositiveFraction,
    "FRACTION",
    "above 0 and at most 1, or a percentage",
    |number| *number > 0.0 && *number <= 1.0,
    number_or_percentage,
    json!({
        "anyOf": [
            { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^[0-9]+([.][0-9]+)? *%?$" }
        ]
    })
);
fraction!(
    Multiple,
    "FRACTION",
    "above 0, at most 1000",
    |number| *number > 0.0 && *number <= 1000.0,
    str::parse,
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1000 })
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Some = Count<1, 1_000_000_000_000>;

    #[test]
    fn counts_have_units() {
        for (text, number) in
            [("10M", 10_000_000), ("1.5M", 1_500_000), ("1_000", 1000), ("2k", 2000), ("1.0", 1), ("0.001k", 1)]
        {
            assert_eq!(text.parse(), Ok(Count(number) as Some), "{text}");
        }
        for text in ["M", "", "-1", "99999999999G", "1.5", "1e3", ".5M", "1.M", "1.0005k", "+1", "1.-5M", "0"] {
            assert!(text.parse::<Some>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_says_on_which_side() {
        assert_eq!(
            "65536".parse::<Length<8, 65535>>(),
            Err("65536 is too long; it must be from 8 to 65535 bytes".into())
        );
        assert_eq!("4".parse::<Length<8, 65535>>(), Err("4 is too short; it must be from 8 to 65535 bytes".into()));
        assert_eq!("4KiB".parse(), Ok(Length(4096) as Length<8, 65535>));
        let count = |text: &str| text.parse::<Count<1, { 1 << 48 }>>().unwrap_err();
        assert_eq!(count("0"), "0 is too small; it must be from 1 to 2^48");
        assert_eq!(count("-5"), "-5 is too small; it must be from 1 to 2^48");
        assert!(count("many").contains("such as 1000000 or 10M"));
        assert!(["0", "0%", "-1%", "101%"].iter().all(|text| text.parse::<PositiveFraction>().is_err()));
        assert_eq!("100%".parse(), Ok(PositiveFraction(1.0)));
        assert!("2".parse::<Fraction>().unwrap_err().contains("from 0 to 1"));
        assert!(["3%", "3 %", "0.03"].iter().all(|text| text.parse() == Ok(Fraction(0.03))));
        assert!("101%".parse::<Fraction>().is_err() && "%".parse::<Fraction>().is_err());
        assert!("NaN".parse::<Fraction>().is_err() && "0".parse::<Multiple>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(number in 1u64..1_000_000_000_000) {
            prop_assert_eq!(number.to_string().parse(), Ok(Count(number) as Some));
            let text = serde_json::to_string(&(Count(number) as Some)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Some>(&text).unwrap(), Count(number));
        }

        #[test]
        fn no_text_brings_the_parsers_down(text in "[-+0-9._kKMGiBé ]{0,24}") {
            let _ = (text.parse::<Some>(), text.parse::<Length<1, 9>>(), text.parse::<Fraction>());
        }
    }
}
