//! Times as people write them: `5s`.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::KeyValue;

/// The longest time that makes sense, and can be added to others without care: 1000 days.
const MOST: Duration = Duration::from_secs(1000 * 86_400);

/// A time of at least this number of milliseconds: `5s`, `10m`, `1h 30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimeSpan<const LEAST_MS: u64 = 0>(pub Duration);

impl<const LEAST_MS: u64> TimeSpan<LEAST_MS> {
    /// A number of seconds.
    pub const fn seconds(seconds: u64) -> Self {
        TimeSpan(Duration::from_secs(seconds))
    }

    /// The time.
    pub fn get(self) -> Duration {
        self.0
    }
}

impl<const LEAST_MS: u64> KeyValue for TimeSpan<LEAST_MS> {
    const PLACEHOLDER: &'static str = "TIME";

    fn describe() -> String {
        match LEAST_MS {
            0 => "a time such as \"5s\"".to_owned(),
            least => format!("a time such as \"5s\", at least {least}ms"),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = |_| match text.parse::<f64>() {
            Ok(_) => format!("`{text}` is not a time such as 5s or 10m: it has no unit"),
            Err(_) => format!("`{text}` is not a time such as 5s or 10m"),
        };
        match humantime::parse_duration(text).map_err(wrong)? {
            time if time < Duration::from_millis(LEAST_MS) => {
                Err(format!("{text} is too short; {LEAST_MS}ms is the least"))
            }
            time if time > MOST => Err(format!("{text} is too long; 1000 days are the most")),
            time => Ok(TimeSpan(time)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^([0-9]+ *[a-zµ]+ *)+$" })
    }
}

impl<const LEAST_MS: u64> fmt::Display for TimeSpan<LEAST_MS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&humantime::format_duration(self.0).to_string())
    }
}

crate::read_by_text!(TimeSpan<LEAST_MS>, const LEAST_MS: u64);
crate::written_as_text!(TimeSpan<LEAST_MS>, const LEAST_MS: u64);

/// A part of a longer time: `from 5s until 10s`, `until 10s`. Empty without either.
pub fn part_of_time(from: Option<Duration>, until: Option<Duration>) -> String {
    let words = [("from", from), ("until", until)];
    let words = words.into_iter().filter_map(|(word, time)| Some(format!("{word} {}", TimeSpan::<0>(time?))));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_read_as_people_write_them() {
        let read = |text: &str| text.parse::<TimeSpan<1>>();
        assert_eq!(read("10m"), Ok(TimeSpan::seconds(600)));
        assert!(read("5").unwrap_err().contains("such as 5s or 10m: it has no unit"));
        assert_eq!(read("0s").unwrap_err(), "0s is too short; 1ms is the least");
        for text in ["18446744073709551615s", "1000y", "99999999999999999999s", "soon", "-5s", ""] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_time_is_told_by_its_ends() {
        let [five, ten] = [5, 10].map(|seconds| Some(Duration::from_secs(seconds)));
        let told =
            [(None, None), (five, ten), (None, ten), (five, None)].map(|(from, until)| part_of_time(from, until));
        assert_eq!(told, ["", "from 5s until 10s", "until 10s", "from 5s"]);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(millis in 0u64..86_400_000_000) {
            let time = TimeSpan::<0>(Duration::from_millis(millis));
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "[-0-9.smhdyé ]{0,30}") {
            let _ = text.parse::<TimeSpan>();
        }
    }
}
