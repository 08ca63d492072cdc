//! Rates of writes and of reads.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{ByteSize, KeyValue};

/// A rate of writes: `1000` or `10k` records a second, or `2MiB/s` of keys and values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteRate {
    /// A number of records a second.
    Records(f64),
    /// Bytes of keys and values a second.
    Bytes(ByteSize),
}

impl WriteRate {
    /// Records a second, of this size.
    pub fn records_per_s(self, record_bytes: u64) -> f64 {
        match self {
            WriteRate::Records(rate) => rate,
            WriteRate::Bytes(bytes) => bytes.0 as f64 / record_bytes.max(1) as f64,
        }
    }
}

impl KeyValue for WriteRate {
    const PLACEHOLDER: &'static str = "RATE";

    fn describe() -> String {
        "records a second, or a size such as 2MiB/s".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let rate = match text.strip_suffix("/s") {
            Some(bytes) => ByteSize::with_unit(bytes).map(|bytes| WriteRate::Bytes(ByteSize(bytes))),
            None => records(text).map(WriteRate::Records),
        };
        match rate {
            Some(rate) if rate.records_per_s(1) > 0.0 => Ok(rate),
            Some(_) => Err(format!("{text} is too small; it must be above 0 writes a second")),
            None => Err(format!("`{text}` is not a rate such as 1000 records or 2MiB/s")),
        }
    }

    fn schema() -> Value {
        json!({
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0 },
                { "type": "string", "pattern": "^[0-9][0-9_.]*([kKMG]| *([kKMGT]i?)?B?/s)?$" }
            ]
        })
    }
}

/// A rate of reads: `1000`, `"50k"` or `"50k/s"` operations a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadRate(pub f64);

impl KeyValue for ReadRate {
    const PLACEHOLDER: &'static str = "RATE";

    fn describe() -> String {
        "operations a second, such as 1000 or 50k/s".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match records(text.strip_suffix("/s").unwrap_or(text)) {
            Some(rate) if rate > 0.0 => Ok(ReadRate(rate)),
            Some(_) => Err(format!("{text} is too small; it must be above 0 operations a second")),
            None => Err(format!("`{text}` is not a rate such as 1000 or 50k/s")),
        }
    }

    fn schema() -> Value {
        json!({
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0 },
                { "type": "string", "pattern": "^[0-9][0-9_.]*[kKMG]?(/s)?$" }
            ]
        })
    }
}

impl fmt::Display for ReadRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

crate::read_by_text!(ReadRate);

/// Units a second, which need not be a whole number.
fn records(text: &str) -> Option<f64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    digits.replace('_', "").parse::<f64>().ok().map(|rate| rate * unit).filter(|rate| rate.is_finite())
}

impl fmt::Display for WriteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteRate::Records(rate) => rate.fmt(f),
            WriteRate::Bytes(bytes) => f.pad(&format!("{bytes}/s")),
        }
    }
}

impl Serialize for WriteRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WriteRate::Records(rate) => serializer.serialize_f64(*rate),
            WriteRate::Bytes(_) => serializer.collect_str(self),
        }
    }
}

crate::read_by_text!(WriteRate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_records_or_of_bytes() {
        assert_eq!("1000".parse(), Ok(WriteRate::Records(1000.0)));
        assert_eq!("20k".parse(), Ok(WriteRate::Records(20_000.0)));
        assert_eq!("2MiB/s".parse(), Ok(WriteRate::Bytes(ByteSize(2 << 20))));
        assert_eq!("2MiB/s".parse::<WriteRate>().unwrap().records_per_s(420).round(), 4993.0);
        assert!("2MiB".parse::<WriteRate>().unwrap_err().contains("such as 1000 records or 2MiB/s"));
        for text in ["0", "-5", "0B/s", "NaN", "inf", "/s", ""] {
            assert!(text.parse::<WriteRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_of_reads_are_of_operations() {
        for (text, rate) in [("0.5", 0.5), ("1000", 1e3), ("50k", 5e4), ("50k/s", 5e4), ("2M/s", 2e6), ("10G/s", 1e10)]
        {
            assert_eq!(text.parse(), Ok(ReadRate(rate)), "{text}");
        }
        for text in ["0", "0/s", "-5", "NaN", "inf", "2MiB/s", "/s", "", "50k/m"] {
            assert!(text.parse::<ReadRate>().is_err(), "{text}");
        }
    }
}
