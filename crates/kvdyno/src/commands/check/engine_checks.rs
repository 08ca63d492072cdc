//! The checks of one engine: what came of them, and what that decides.

use kvdyno_conformance::{CheckOutcome, CheckVerdict, Suite};

/// The outcomes of an engine's checks.
pub(super) struct EngineChecks<'a> {
    /// The engine, as the user named it.
    pub name: &'a str,
    pub version: String,
    pub suite: Suite,
    /// The command that runs a check alone, but for the check's name.
    pub alone: String,
    pub outcomes: Vec<CheckOutcome>,
    /// Outcomes of checks that failed and were run again, alone.
    pub again: Vec<CheckOutcome>,
}

/// The weight of an outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CheckStanding<'c> {
    /// Nothing is wrong.
    Sound,
    /// It failed in this way, and in this way again if it was run again.
    Failed(&'c str),
    /// It failed in this way, and then it passed.
    Flaky(&'c str),
    /// It failed in the first way, and the second is the reason why that was to be expected.
    Known(&'c str, &'c str),
    /// It passed, though there is this reason for it to fail.
    KnownPassed(&'c str),
}

impl EngineChecks<'_> {
    pub fn standing<'c>(&'c self, outcome: &'c CheckOutcome) -> CheckStanding<'c> {
        let known = self.suite.known.get(outcome.check.name);
        match (&outcome.verdict, known) {
            (CheckVerdict::Failed(how), Some(reason)) => CheckStanding::Known(how, reason),
            (CheckVerdict::Failed(how), None) => match self.again(outcome) {
                Some(again) if again.verdict == CheckVerdict::Passed => CheckStanding::Flaky(how),
                _ => CheckStanding::Failed(how),
            },
            (CheckVerdict::Passed, Some(reason)) => CheckStanding::KnownPassed(reason),
            _ => CheckStanding::Sound,
        }
    }

    /// The outcome of the same check when it was run again.
    fn again(&self, outcome: &CheckOutcome) -> Option<&CheckOutcome> {
        self.again.iter().find(|again| again.check.name == outcome.check.name)
    }

    /// Whether running it again is useful. It is not for a known failure, nor if other checks were not run because of
    /// it: no later pass makes up for those.
    pub fn may_be_flaky(&self, outcome: &CheckOutcome) -> bool {
        let all_were_run = !self.outcomes.iter().any(|other| matches!(other.verdict, CheckVerdict::NotRun(_)));
        all_were_run && matches!(self.standing(outcome), CheckStanding::Failed(_))
    }
}
