//! Sizes of memory and storage as people write them: `512MiB`.

use std::fmt;

use serde_json::{Value, json};

use crate::KeyValue;

/// A number of bytes: `64MiB`, `1GB`, `4096`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// Units in which a size is written, each with its bytes.
const UNITS: [(u64, &str); 8] = [
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1_000_000_000_000, "TB"),
    (1_000_000_000, "GB"),
    (1_000_000, "MB"),
    (1_000, "kB"),
];

/// No size of memory or storage is smaller; a smaller number lacks its unit.
const LEAST_WITHOUT_UNIT: u64 = 4096;

impl ByteSize {
    /// A number of MiB.
    pub const fn mib(count: u64) -> ByteSize {
        ByteSize(count << 20)
    }

    /// Bytes.
    pub fn get(self) -> u64 {
        self.0
    }

    /// A text that may have a unit, as bytes. Whole numbers of the units of [`UNITS`] are exact.
    pub(crate) fn with_unit(text: &str) -> Option<u64> {
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let exact =
            if unit == "B" { Some(1) } else { UNITS.iter().find(|(_, name)| *name == unit).map(|(size, _)| *size) };
        if let (Ok(number), Some(unit)) = (number.parse::<u64>(), exact) {
            return number.checked_mul(unit);
        }
        let size: f64 = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ').parse().ok()?;
        // The library takes a size beyond 64 bits for the greatest.
        let bytes = text.parse::<bytesize::ByteSize>().ok()?.as_u64();
        (size.is_finite() && bytes < u64::MAX).then_some(bytes)
    }
}

impl KeyValue for ByteSize {
    const PLACEHOLDER: &'static str = "SIZE";

    fn describe() -> String {
        "a size such as 64MiB".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.parse::<u64>() {
            Ok(bytes @ 1..LEAST_WITHOUT_UNIT) => Err(format!(
                "`{bytes}` has no unit, and is only {bytes} bytes; if that is not meant, write {bytes}MiB, else \
                 {bytes}B"
            )),
            Ok(bytes) => Ok(ByteSize(bytes)),
            Err(_) => {
                ByteSize::with_unit(text).map(ByteSize).ok_or_else(|| format!("`{text}` is not a size such as 64MiB"))
            }
        }
    }

    fn schema() -> Value {
        json!({
            "anyOf": [
                { "type": "integer", "minimum": LEAST_WITHOUT_UNIT },
                { "const": 0 },
                { "type": "string", "pattern": "^[0-9]+([.][0-9]+)? *([kKMGTPE]i?)?B?$" }
            ]
        })
    }
}

/// Exact, in the unit that takes the smallest number.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().filter(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit));
        match whole.min_by_key(|(unit, _)| self.0 / unit) {
            Some((unit, name)) => f.pad(&format!("{}{name}", self.0 / unit)),
            None => f.pad(&format!("{}B", self.0)),
        }
    }
}

crate::read_by_text!(ByteSize);
crate::written_as_text!(ByteSize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("64MiB", 64 << 20),
            ("1GB", 1_000_000_000),
            ("512M", 512_000_000),
            ("4096", 4096),
            ("512B", 512),
            ("1.5GiB", 3 << 29),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["big", "", "-1", "1e30GiB", "99999999999TiB", "MiB"] {
            assert!(text.parse::<ByteSize>().unwrap_err().contains("such as 64MiB"), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_doubted_where_it_is_small() {
        let error = "512".parse::<ByteSize>().unwrap_err();
        assert_eq!(error, "`512` has no unit, and is only 512 bytes; if that is not meant, write 512MiB, else 512B");
    }

    #[test]
    fn sizes_are_written_in_the_unit_that_fits() {
        for text in ["512MB", "512MiB", "375001KiB", "1GiB", "270KiB", "1000001B", "0B", "18446744073709551615B"] {
            assert_eq!(text.parse::<ByteSize>().unwrap().to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bytes: u64) {
            let bytes = bytes >> (bytes % 50);
            prop_assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "[-+0-9.eKMGTiBé ]{0,24}") {
            let _ = text.parse::<ByteSize>();
        }
    }
}
