//! When operations that come at a rate arrive, as an experiment file has it: a word, and the period of a rate that
//! varies.

use std::fmt;
use std::time::Duration;

use crate::distribution::words_of;
use crate::{Json, KeyValue, TimeSpan, read_by_text, words, written_as_text};

words! {
    /// Arrival of operations that come at a rate of their own.
    #[derive(Default)]
    pub enum ArrivalKind: "an arrival", "ARRIVAL" {
        /// Operations arrive at equal intervals; those of the clients are interleaved.
        Fixed = "fixed" as default,
        /// Operations arrive independently of each other, as from very many users.
        Poisson = "poisson",
        /// All operations arrive in the first quarter of each period, at four times the rate: `bursty 10s`; alone 1 s.
        Bursty = "bursty",
        /// The rate varies between 0.5 and 1.5 times its mean, with a period: `sine 60s`; alone 1 s.
        Sine = "sine",
    }
}

/// A period of at least a millisecond.
pub type ArrivalPeriod = TimeSpan<1>;

/// The period where none is given.
const PERIOD: ArrivalPeriod = TimeSpan::seconds(1);

/// Arrival of operations that come at a rate of their own: one of the kinds, with its period if the rate varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// [`ArrivalKind::Fixed`].
    #[default]
    Fixed,
    /// [`ArrivalKind::Poisson`].
    Poisson,
    /// [`ArrivalKind::Bursty`].
    Bursty(ArrivalPeriod),
    /// [`ArrivalKind::Sine`].
    Sine(ArrivalPeriod),
}

impl Arrival {
    /// One with the default period.
    pub fn of(kind: ArrivalKind) -> Arrival {
        match kind {
            ArrivalKind::Fixed => Arrival::Fixed,
            ArrivalKind::Poisson => Arrival::Poisson,
            ArrivalKind::Bursty => Arrival::Bursty(PERIOD),
            ArrivalKind::Sine => Arrival::Sine(PERIOD),
        }
    }

    /// Its kind.
    pub fn kind(self) -> ArrivalKind {
        match self {
            Arrival::Fixed => ArrivalKind::Fixed,
            Arrival::Poisson => ArrivalKind::Poisson,
            Arrival::Bursty(_) => ArrivalKind::Bursty,
            Arrival::Sine(_) => ArrivalKind::Sine,
        }
    }

    /// The time after which the rate repeats itself; absent if the rate does not vary.
    pub fn period(self) -> Option<Duration> {
        match self {
            Arrival::Fixed | Arrival::Poisson => None,
            Arrival::Bursty(period) | Arrival::Sine(period) => Some(period.get()),
        }
    }

    /// The same with a period of at most `longest`.
    #[must_use]
    pub fn within(mut self, longest: Duration) -> Arrival {
        if let Arrival::Bursty(period) | Arrival::Sine(period) = &mut self {
            period.0 = period.0.min(longest);
        }
        self
    }
}

/// The default period is left out, so that the text is the same as in results of versions without a period.
impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrival::Bursty(period) | Arrival::Sine(period) if *period != PERIOD => {
                f.pad(&format!("{} {period}", self.kind()))
            }
            _ => f.pad(self.kind().word()),
        }
    }
}

impl KeyValue for Arrival {
    const PLACEHOLDER: &'static str = "ARRIVAL";

    fn describe() -> String {
        format!("{}, the last two with a period", ArrivalKind::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut words = words_of(text);
        let mut arrival = Arrival::of(ArrivalKind::from_text(words.next().unwrap_or_default())?);
        let rest: Vec<&str> = words.collect();
        match &mut arrival {
            _ if rest.is_empty() => {}
            Arrival::Fixed | Arrival::Poisson => {
                return Err(format!("`{text}`: {arrival} has no period; bursty and sine have one"));
            }
            Arrival::Bursty(period) | Arrival::Sine(period) => {
                *period = rest.join(" ").parse().map_err(|error| format!("`{text}`: the period {error}"))?;
            }
        }
        Ok(arrival)
    }

    fn schema() -> Json {
        let words: Vec<&str> = ArrivalKind::ALL.iter().map(|kind| kind.word()).collect();
        let pattern = format!("^({})(( +| *: *)([0-9]+ *[a-zµ]+ *)+)?$", words.join("|"));
        serde_json::json!({ "type": "string", "pattern": pattern })
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        ArrivalKind::words()
    }
}

read_by_text!(Arrival);
written_as_text!(Arrival);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    #[test]
    fn an_arrival_is_read_with_and_without_its_period() {
        for (text, seconds, written) in [
            ("sine", 1.0, "sine"),
            ("sine 1s", 1.0, "sine"),
            ("sine 60s", 60.0, "sine 1m"),
            ("sine:60s", 60.0, "sine 1m"),
            ("bursty : 500ms", 0.5, "bursty 500ms"),
            ("bursty 1h 30m", 5400.0, "bursty 1h 30m"),
            ("sine 1day", 86_400.0, "sine 1day"),
        ] {
            let arrival: Arrival = text.parse().unwrap();
            assert_eq!(arrival.period(), Some(Duration::from_secs_f64(seconds)), "{text}");
            assert_eq!(arrival.to_string(), written);
        }
        assert_eq!(["fixed", "poisson"].map(str::parse), [Ok(Arrival::Fixed), Ok(Arrival::Poisson)]);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (text, reason) in [
            ("sin", "`sin` is not an arrival; it can be fixed, poisson, bursty or sine; did you mean `sine`?"),
            ("poisson 5s", "`poisson 5s`: poisson has no period; bursty and sine have one"),
            ("sine 60", "`sine 60`: the period `60` is not a time such as 5s or 10m: it has no unit"),
            ("sine soon", "`sine soon`: the period `soon` is not a time such as 5s or 10m"),
            ("sine:", "`sine:`: the period `` is not a time such as 5s or 10m"),
            ("bursty 0s", "`bursty 0s`: the period 0s is too short; 1ms is the least"),
            ("bursty -5s", "the period `-5s` is not a time"),
            ("sine 5y", "the period 5y is too long; 1000 days are the most"),
            ("sine 5s 0.3", "the period `5s 0.3` is not a time"),
        ] {
            let error = text.parse::<Arrival>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_period_is_cut_to_the_longest() {
        let within = |text: &str| text.parse::<Arrival>().unwrap().within(Duration::from_secs(2)).to_string();
        assert_eq!(
            ["sine 60s", "sine 2s", "bursty", "poisson"].map(within),
            ["sine 2s", "sine 2s", "bursty", "poisson"]
        );
    }

    proptest! {
        #[test]
        fn an_arrival_reads_back_whatever_separates_its_words(
            kind in select(ArrivalKind::ALL),
            millis in 1u64..86_400_000_000,
            separator in select(vec![" ", ":", "  ", " : "]),
        ) {
            let period = TimeSpan(Duration::from_millis(millis));
            let arrival = match Arrival::of(kind) {
                Arrival::Bursty(_) => Arrival::Bursty(period),
                Arrival::Sine(_) => Arrival::Sine(period),
                other => other,
            };
            let text = arrival.to_string();
            prop_assert_eq!(text.replacen(' ', separator, 1).parse(), Ok(arrival));
            prop_assert_eq!(text.parse(), Ok(arrival));
        }

        #[test]
        fn no_text_brings_the_parser_down(text in "(sine|bursty|fixed)?[-0-9.smhdyé: ]{0,30}") {
            let _ = text.parse::<Arrival>();
        }
    }
}
