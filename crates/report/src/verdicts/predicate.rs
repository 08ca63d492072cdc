//! The words of a sentence for the work that two do.

use kvdyno_analysis::verdicts::Aspect;
use kvdyno_model::LatencyPromise;
use kvdyno_results::{Phase, TrialResult};

use super::sentences::{TIMES, per_cent, times};

/// The work of two whose figures are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Predicate {
    /// A verb: `read`.
    Verb(&'static str),
    /// They keep a promise, up to the rate that is compared.
    Keep(LatencyPromise),
}

impl Predicate {
    /// The work of a trial that an aspect is of.
    pub(crate) fn of(trial: Option<&TrialResult>, compared: Aspect) -> Predicate {
        let promise = |trial: &TrialResult| match compared {
            Aspect::Throughput(side) => trial.workload.find_max_rate.filter(|_| trial.workload.is_searched(side)),
            Aspect::CpuTime => None,
        };
        match (trial.and_then(promise), trial.map(|trial| trial.trial.phase), compared) {
            (Some(promise), ..) => Predicate::Keep(promise),
            (None, Some(Phase::Load), _) => Predicate::Verb("load"),
            (None, _, Aspect::Throughput(side)) => Predicate::Verb(side.verb()),
            (None, _, Aspect::CpuTime) => Predicate::Verb("work"),
        }
    }

    /// `reads`, `keeps p99=1ms up to`.
    pub(super) fn of_one(self) -> String {
        match self {
            Predicate::Verb(verb) => format!("{verb}s"),
            Predicate::Keep(promise) => format!("keeps {promise} up to"),
        }
    }

    /// `read the same`, `keep p99=1ms up to the same rate`.
    pub(super) fn alike(self) -> String {
        match self {
            Predicate::Verb(verb) => format!("{verb} the same"),
            Predicate::Keep(promise) => format!("keep {promise} up to the same rate"),
        }
    }

    /// By how much more one does than another; `ratio` is above 1: `4.21 times as fast as`, `a rate 20 % higher than`.
    pub(super) fn more(self, ratio: f64) -> String {
        match (self, ratio >= TIMES) {
            (Predicate::Verb(_), true) => format!("{} times as fast as", times(ratio)),
            (Predicate::Verb(_), false) => format!("{} % faster than", per_cent(ratio - 1.0)),
            (Predicate::Keep(_), true) => format!("{} times the rate of", times(ratio)),
            (Predicate::Keep(_), false) => format!("a rate {} % higher than", per_cent(ratio - 1.0)),
        }
    }

    /// By how much less; `ratio` is below 1: `4.00 times as slow as`, `a rate 20 % lower than`.
    pub(super) fn less(self, ratio: f64) -> String {
        match (self, self.is_less_in_times(ratio)) {
            (_, true) => format!("{} times as slow as", times(ratio.recip())),
            (Predicate::Verb(_), false) => format!("{} % slower than", per_cent(1.0 - ratio)),
            (Predicate::Keep(_), false) => format!("a rate {} % lower than", super::sentences::less(ratio)),
        }
    }

    /// Whether [`Predicate::less`] says how many times.
    pub(super) fn is_less_in_times(self, ratio: f64) -> bool {
        matches!(self, Predicate::Verb(_)) && ratio.recip() >= TIMES
    }

    /// The one that does a little more: `lmdb is 1.5 % faster`.
    pub(super) fn slightly(self, more: &str, ratio: f64) -> String {
        let per_cent = per_cent(ratio - 1.0);
        match self {
            Predicate::Verb(_) => format!("{more} is {per_cent} % faster"),
            Predicate::Keep(_) => format!("that of {more} is {per_cent} % higher"),
        }
    }
}
