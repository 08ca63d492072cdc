//! The interference of others with a trial: the part of the machine that they took from it.

use kvdyno_model::Design;
use kvdyno_results::TrialResult;

/// Threshold of marked rates, per cent of the time. From here on, CPU time of others or memory stalls can change a rate
/// by as much as the smallest difference that anybody wants to detect.
const MARKED_PCT: f64 = 3.0;

/// Threshold of stolen CPU time, per cent: from here on, a trial measures the interference more than the engine.
const STOLEN_TOO_MUCH_PCT: f64 = 25.0;

/// Threshold of the share of the time in which others had the clients' processors, per cent.
const OTHERS_TOO_MUCH_PCT: f64 = 25.0;

/// Threshold of memory stalls, per cent. It is lower because stalls change an engine's behaviour, and not only its
/// speed.
const STALLED_TOO_MUCH_PCT: f64 = 10.0;

/// Whether interference with a trial was strong enough for its rate to be marked. Notes mention weaker interference,
/// too.
pub fn is_marked(result: &TrialResult) -> bool {
    result.environment.interference.iter().any(|clause| share(clause).is_none_or(|(_, pct)| pct >= MARKED_PCT))
}

/// Whether there was so much that the rate is about the others, and not comparable with one that was measured beside
/// it. Trials in slices share the processors that others leave, because each of them works for a moment in each round.
/// So these processors have no part in the ratio of such trials, and only widen its interval.
pub(crate) fn is_too_much(result: &TrialResult) -> bool {
    let is_shared = result.design.as_ref().is_some_and(|design| design.design != Design::Turns);
    has_too_much(result, |share| share != Some(ShareOfTime::Others) || !is_shared)
}

/// Whether there was so much that the rate is about the others, and not comparable with one of another time.
pub(crate) fn is_too_much_by_itself(result: &TrialResult) -> bool {
    has_too_much(result, |_| true)
}

/// Whether there is too much in the clauses that count.
fn has_too_much(result: &TrialResult, counts: impl Fn(Option<ShareOfTime>) -> bool) -> bool {
    let too_much = |clause: &String| match share(clause) {
        Some((ShareOfTime::Stolen, pct)) => pct >= STOLEN_TOO_MUCH_PCT,
        Some((ShareOfTime::Others, pct)) => pct >= OTHERS_TOO_MUCH_PCT,
        Some((ShareOfTime::Stalled, pct)) => pct >= STALLED_TOO_MUCH_PCT,
        None => is_pause(clause),
    };
    let clauses = result.environment.interference.iter();
    clauses.filter(|clause| counts(share(clause).map(|(kind, _)| kind))).any(too_much)
}

/// The interference with a trial, a clause for each, if it was so much that its rate is about others: it is to be
/// repeated.
pub fn too_much_interference(result: &TrialResult) -> Option<String> {
    is_too_much(result).then(|| result.environment.interference.join(", "))
}

/// Shares of time that clauses of interference tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShareOfTime {
    Stolen,
    Others,
    Stalled,
}

/// Whether a clause tells of a pause: the rate is then that of a time in which nobody worked.
fn is_pause(clause: &str) -> bool {
    ["everything stood still for ", "its processes were stopped for "].iter().any(|words| clause.starts_with(words))
}

/// The per cent of a clause about a share of the time; absent of other clauses.
fn share(clause: &str) -> Option<(ShareOfTime, f64)> {
    let kind = match () {
        _ if clause.contains("stolen") => ShareOfTime::Stolen,
        _ if clause.starts_with("others had ") => ShareOfTime::Others,
        _ if clause.contains("stalled") => ShareOfTime::Stalled,
        _ => return None,
    };
    let before = clause.split(" %").next()?;
    Some((kind, before.split_whitespace().next_back()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use kvdyno_results::DesignFacts;

    use super::*;
    use crate::testing::result;

    fn with(clause: &str) -> TrialResult {
        let mut result = result("lmdb", 1, 1, 100.0);
        result.environment.interference = vec![clause.to_owned()];
        result
    }

    #[test]
    fn a_little_stolen_time_is_not_marked() {
        let stolen = |pct: &str| with(&format!("{pct} % of CPU time was stolen by the hypervisor"));
        assert!(!is_marked(&stolen("0.5")) && !is_marked(&stolen("1.6")));
        assert!(is_marked(&stolen("3.0")) && !is_too_much(&stolen("3.0")));
        assert!(is_too_much(&stolen("40.0")));
    }

    #[test]
    fn processors_that_others_had_are_told_apart_by_their_share() {
        let others = |pct: &str| with(&format!("others had the clients' processors for {pct} % of the time"));
        assert!(is_marked(&others("3.0")) && !is_too_much(&others("24.9")));
        assert!(is_too_much(&others("25.0")));
    }

    #[test]
    fn trials_in_slices_share_the_processors_that_others_leave() {
        let of = |design: Design| {
            let mut result = with("others had the clients' processors for 50.0 % of the time");
            result.design = Some(DesignFacts { design, ..DesignFacts::default() });
            [is_marked(&result), is_too_much(&result), is_too_much_by_itself(&result)]
        };
        assert_eq!([of(Design::Turns), of(Design::Slices)], [[true, true, true], [true, false, true]]);
    }

    #[test]
    fn a_pause_is_always_too_much() {
        for clause in ["everything stood still for 0.6 s", "its processes were stopped for 4.0 s"] {
            assert!(is_marked(&with(clause)) && is_too_much(&with(clause)), "{clause}");
        }
    }

    #[test]
    fn stalls_and_other_clauses_are_told_apart() {
        let stalled = with("tasks stalled for want of memory in 12.5 % of the time");
        assert!(is_marked(&stalled) && is_too_much(&stalled));
        assert!(!is_marked(&with("tasks stalled for want of memory in 1.2 % of the time")));
        let others = with("other processes and the kernel's own threads used 1.2 CPUs");
        assert!(is_marked(&others) && !is_too_much(&others));
        assert!(!is_marked(&result("lmdb", 1, 1, 100.0)));
    }
}
