//! Sizes and times as people write them: `512MiB`, `5s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number of bytes: `4096`, `64MiB`, `1GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A time: `5s`, `10m`, `1h 30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A rate of writes: `1000` records a second, or `2MiB/s` of keys and values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteRate {
    /// So many records.
    Records(f64),
    /// So many bytes of keys and values.
    Bytes(Bytes),
}

impl WriteRate {
    /// Records a second, where each has so many bytes.
    pub fn records_per_s(self, record_bytes: u64) -> f64 {
        match self {
            WriteRate::Records(rate) => rate,
            WriteRate::Bytes(bytes) => bytes.0 as f64 / record_bytes.max(1) as f64,
        }
    }
}

impl FromStr for WriteRate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a rate such as 1000 records or 2MiB/s");
        match (text.parse(), text.strip_suffix("/s")) {
            (Ok(rate), _) => Ok(WriteRate::Records(rate)),
            (_, Some(bytes)) => bytes.parse().map(WriteRate::Bytes).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for WriteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteRate::Records(rate) => rate.fmt(f),
            WriteRate::Bytes(bytes) => f.pad(&format!("{bytes}/s")),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<ByteSize>()
            .map(|size| Bytes(size.as_u64()))
            .map_err(|_| format!("`{text}` is not a size such as 64MiB"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.iter().find(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit)) {
            Some((unit, name)) => f.pad(&format!("{}{name}", self.0 / unit)),
            None => f.pad(&format!("{}B", self.0)),
        }
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        humantime::parse_duration(text).map(Span).map_err(|_| format!("`{text}` is not a time such as 5s or 10m"))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&humantime::format_duration(self.0).to_string())
    }
}

/// Reads a text, or a plain number where one makes sense.
struct Visitor<T> {
    expecting: &'static str,
    number: Option<fn(u64) -> T>,
}

impl<T: FromStr<Err = String>> de::Visitor<'_> for Visitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        match (self.number, u64::try_from(number)) {
            (Some(make), Ok(number)) => Ok(make(number)),
            _ => Err(E::invalid_type(de::Unexpected::Signed(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor { expecting: "a size such as \"64MiB\"", number: Some(Bytes) })
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor { expecting: "a time such as \"5s\"", number: None })
    }
}

impl<'de> Deserialize<'de> for WriteRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RateVisitor;
        impl de::Visitor<'_> for RateVisitor {
            type Value = WriteRate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("records a second, or a text such as \"2MiB/s\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<WriteRate, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<WriteRate, E> {
                Ok(WriteRate::Records(number as f64))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<WriteRate, E> {
                Ok(WriteRate::Records(number))
            }
        }
        deserializer.deserialize_any(RateVisitor)
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

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_and_times_read_as_people_write_them() {
        assert_eq!("64MiB".parse(), Ok(Bytes(64 << 20)));
        assert_eq!("1GB".parse(), Ok(Bytes(1_000_000_000)));
        assert_eq!("10m".parse(), Ok(Span(Duration::from_secs(600))));
        assert_eq!("1000".parse(), Ok(WriteRate::Records(1000.0)));
        assert_eq!("2MiB/s".parse(), Ok(WriteRate::Bytes(Bytes(2 << 20))));
        assert_eq!("2MiB/s".parse::<WriteRate>().unwrap().records_per_s(420).round(), 4993.0);
        assert!("2MiB".parse::<WriteRate>().unwrap_err().contains("such as 1000 records or 2MiB/s"));
        assert!("5".parse::<Span>().unwrap_err().contains("such as 5s"));
        assert!("big".parse::<Bytes>().unwrap_err().contains("such as 64MiB"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bytes: u64, millis in 0u64..1 << 40) {
            let bytes = bytes >> (bytes % 50);
            prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
            let span = Span(Duration::from_millis(millis));
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}
