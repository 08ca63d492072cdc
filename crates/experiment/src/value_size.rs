//! The key `data.value_size`: one size, or how sizes are drawn.

use std::fmt;
use std::path::{Path, PathBuf};

use kvdyno_dataset::ValueSizes;
use kvdyno_model::{Json, KeyValue, Length, read_by_text};
use serde::{Serialize, Serializer};

/// The size of every value.
type OneSize = Length<0, { 1 << 30 }>;

/// The size of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSize {
    /// All have this one, bytes.
    One(u64),
    /// Drawn.
    Drawn(ValueSizes),
    /// Drawn by the histogram in a file, until that is read.
    File(PathBuf),
}

/// A histogram's file is not larger: of as many lines as it may have, each with a remark.
const MOST_BYTES: u64 = 1 << 20;

impl ValueSize {
    /// The size of all values, or the mean of what is drawn, bytes.
    pub fn mean(&self) -> Option<u64> {
        match self {
            ValueSize::One(size) => Some(*size),
            ValueSize::Drawn(sizes) => Some(sizes.mean().round() as u64),
            ValueSize::File(_) => None,
        }
    }

    /// Distribution of the sizes; absent if they are not drawn.
    pub fn drawn(&self) -> Option<ValueSizes> {
        match self {
            ValueSize::Drawn(sizes) => Some(sizes.clone()),
            ValueSize::One(_) | ValueSize::File(_) => None,
        }
    }

    /// The histogram itself, where a file has it. A path lies below `base`.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn with_file(self, base: &Path) -> Result<ValueSize, String> {
        let ValueSize::File(path) = self else { return Ok(self) };
        let path = base.join(path);
        let wrong = |error: &dyn fmt::Display| format!("the histogram {}: {error}", path.display());
        let size = std::fs::metadata(&path).map_err(|error| wrong(&error))?.len();
        if size > MOST_BYTES {
            return Err(wrong(&format!("it has {size} bytes; a histogram has at most {MOST_BYTES}")));
        }
        let lines = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
        ValueSizes::histogram(&lines).map(ValueSize::Drawn).map_err(|error| wrong(&error))
    }
}

/// The path of `histogram PATH`. A text that begins with a number is the histogram itself.
fn file_of(text: &str) -> Option<PathBuf> {
    let path = text.strip_prefix("histogram ")?.trim();
    let is_pair = path.starts_with(|first: char| first.is_ascii_digit()) && path.contains(char::is_whitespace);
    (!path.is_empty() && !is_pair).then(|| path.into())
}

impl KeyValue for ValueSize {
    const PLACEHOLDER: &'static str = "SIZE";

    fn describe() -> String {
        format!(
            "{}; or sizes drawn: uniform LEAST MOST, normal MEAN DEVIATION, pareto K SIGMA, histogram FILE",
            OneSize::describe()
        )
    }

    fn from_text(text: &str) -> Result<Self, String> {
        if let Some(path) = file_of(text) {
            return Ok(ValueSize::File(path));
        }
        match text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            true => ValueSizes::from_text(text).map(ValueSize::Drawn),
            false => OneSize::from_text(text).map(|size| ValueSize::One(size.get())),
        }
    }

    fn schema() -> Json {
        serde_json::json!({ "anyOf": [OneSize::schema(), ValueSizes::schema()] })
    }
}

impl fmt::Display for ValueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSize::One(size) => fmt::Display::fmt(size, f),
            ValueSize::Drawn(sizes) => fmt::Display::fmt(sizes, f),
            ValueSize::File(path) => write!(f, "histogram {}", path.display()),
        }
    }
}

impl Serialize for ValueSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ValueSize::One(size) => serializer.serialize_u64(*size),
            _ => serializer.collect_str(self),
        }
    }
}

read_by_text!(ValueSize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_one_or_drawn() {
        assert_eq!("4KiB".parse(), Ok(ValueSize::One(4096)));
        for text in ["100", "uniform 24 100", "pareto 0.2615 25.45 1024", "histogram 24 1, 100 2", "histogram a/b.txt"]
        {
            assert_eq!(text.parse::<ValueSize>().unwrap().to_string(), text);
        }
        assert_eq!("histogram 24 1".parse::<ValueSize>().unwrap().mean(), Some(24));
        assert_eq!("histogram 24".parse(), Ok(ValueSize::File("24".into())));
        assert!("lots".parse::<ValueSize>().unwrap_err().contains("`lots` is not a distribution of sizes"));
    }

    #[test]
    fn a_histogram_is_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sizes"), "24 1\n100 3\n").unwrap();
        let read = |text: &str| text.parse::<ValueSize>().unwrap().with_file(folder.path());
        assert_eq!(read("histogram sizes").unwrap().to_string(), "histogram 24 1, 100 3");
        assert!(read("histogram none").unwrap_err().contains("none: No such file"));
        assert_eq!(read("100"), Ok(ValueSize::One(100)));
    }
}
