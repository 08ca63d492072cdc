//! The interference of others with a trial: the part of the machine that they took from it.

use kvdyno_model::Design;
use kvdyno_results::{Interference, Phase, TrialKey, TrialResult, Waits};

use crate::same_work::is_null;

/// Threshold of marked rates, a share of the time, of 1. From here on, CPU time of others or memory stalls can change a
/// rate by as much as the smallest difference that anybody wants to detect.
const MARKED: f64 = 0.03;

/// Threshold of stolen CPU time, of 1: from here on, a trial measures the interference more than the engine.
const STOLEN_TOO_MUCH: f64 = 0.25;

/// Threshold of the share of the time in which others had the clients' processors, of 1.
const OTHERS_TOO_MUCH: f64 = 0.25;

/// Threshold of memory stalls, a share of the time, of 1. It is lower because stalls change an engine's behaviour, and
/// not only its speed.
const STALLED_TOO_MUCH: f64 = 0.10;

/// Whether interference with a trial was strong enough for its rate to be marked. Notes mention weaker interference,
/// too.
pub fn is_marked(result: &TrialResult) -> bool {
    result.environment.interference.iter().any(is_strong)
}

/// Whether there was so much that the rate is about the others, and not comparable with one that was measured beside
/// it. Trials in slices share the processors that others leave, because each of them works for a moment in each round.
/// So these processors have no part in the ratio of such trials, and only widen its interval.
pub(crate) fn is_too_much(result: &TrialResult) -> bool {
    let counts = |one: &&Interference| !is_shared(result) || !matches!(one, Interference::ClientsProcessors { .. });
    result.environment.interference.iter().filter(counts).any(outweighs_engine)
}

/// Whether there was so much that the rate is about the others, and not comparable with one of another time.
pub(crate) fn is_too_much_by_itself(result: &TrialResult) -> bool {
    result.environment.interference.iter().any(outweighs_engine)
}

/// The logarithms of the factors by which the rate of a trial in turns would have been higher at least and at most, had
/// others left it its processors. Absent where that is not known, and where interference of another kind has a greater
/// part in the rate than the engine.
pub(crate) fn taken(result: &TrialResult) -> Option<[f64; 2]> {
    let window = result.window.as_ref().filter(|_| !is_shared(result))?;
    let Waits { least_s, most_s } = window.waits?;
    let is_other = |one: &Interference| !matches!(one, Interference::ClientsProcessors { .. });
    let outweighs = result.environment.interference.iter().any(|one| is_other(one) && outweighs_engine(one));
    let factor = |waited_s: f64| (window.seconds / (window.seconds - waited_s)).ln();
    let bounds = [least_s.min(most_s), most_s].map(factor);
    (window.seconds > most_s && !outweighs).then_some(bounds)
}

/// Whether it was measured in slices beside others, which shared the interference.
fn is_shared(result: &TrialResult) -> bool {
    result.design.as_ref().is_some_and(|design| design.design != Design::Turns)
}

/// The runs with so much interference that their rates are about others, each with a clause for each interference: they
/// are to be repeated. The null engine beside others decides nothing, and is not repeated for.
pub fn interfered_runs<'r>(results: &[&'r TrialResult]) -> Vec<(&'r TrialKey, String)> {
    let are_all_null = results.iter().all(|result| is_null(result));
    let counts = |result: &&&TrialResult| result.trial.phase == Phase::Run && (are_all_null || !is_null(result));
    let clauses = |result: &TrialResult| {
        result.environment.interference.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let interfered = results.iter().filter(counts).filter(|result| is_too_much(result));
    interfered.map(|result| (&result.trial, clauses(result))).collect()
}

fn is_strong(interference: &Interference) -> bool {
    match interference {
        Interference::ClientsProcessors { time_share: share }
        | Interference::StolenCpuTime { cpu_time_share: share }
        | Interference::MemoryStalls { time_share: share } => as_printed(*share) >= MARKED,
        Interference::OtherProcesses { .. }
        | Interference::WaitingTasks { .. }
        | Interference::SlowedCpu { .. }
        | Interference::ShortMemory { .. }
        | Interference::StoodStill { .. }
        | Interference::StoppedProcesses { .. }
        | Interference::Words(_) => true,
    }
}

/// A share with the digits of its clause, so that equal clauses have equal consequences.
fn as_printed(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// Whether it has a greater part in the rate than the engine. After a pause the rate is that of a time in which nobody
/// worked.
fn outweighs_engine(interference: &Interference) -> bool {
    match interference {
        Interference::ClientsProcessors { time_share } => as_printed(*time_share) >= OTHERS_TOO_MUCH,
        Interference::StolenCpuTime { cpu_time_share } => as_printed(*cpu_time_share) >= STOLEN_TOO_MUCH,
        Interference::MemoryStalls { time_share } => as_printed(*time_share) >= STALLED_TOO_MUCH,
        Interference::StoodStill { .. } | Interference::StoppedProcesses { .. } => true,
        Interference::OtherProcesses { .. }
        | Interference::WaitingTasks { .. }
        | Interference::SlowedCpu { .. }
        | Interference::ShortMemory { .. }
        | Interference::Words(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use kvdyno_results::DesignFacts;

    use super::*;
    use crate::testing::result;

    fn with(interference: Interference) -> TrialResult {
        let mut result = result("lmdb", 1, 1, 100.0);
        result.environment.interference = vec![interference];
        result
    }

    /// Whether its rate is marked, and whether there is too much.
    fn told(interference: Interference) -> (bool, bool) {
        let result = with(interference);
        (is_marked(&result), is_too_much(&result))
    }

    #[test]
    fn a_little_stolen_time_is_not_marked() {
        let stolen = |cpu_time_share| told(Interference::StolenCpuTime { cpu_time_share });
        assert_eq!([0.005, 0.016].map(stolen), [(false, false); 2]);
        assert_eq!([0.03, 0.249].map(stolen), [(true, false); 2]);
        assert_eq!(stolen(0.25), (true, true));
    }

    #[test]
    fn processors_that_others_had_are_judged_by_their_share() {
        let others = |time_share| told(Interference::ClientsProcessors { time_share });
        assert_eq!([0.03, 0.249, 0.25].map(others), [(true, false), (true, false), (true, true)]);
        // Both are printed as 3.0 %, and the next two as 25.0 %.
        assert_eq!([0.0296, 0.0304].map(others), [(true, false); 2]);
        assert_eq!([0.2496, 0.2504].map(others), [(true, true); 2]);
    }

    #[test]
    fn trials_in_slices_share_the_processors_that_others_leave() {
        let of = |design: Design| {
            let mut result = with(Interference::ClientsProcessors { time_share: 0.5 });
            result.design = Some(DesignFacts { design, ..DesignFacts::default() });
            [is_marked(&result), is_too_much(&result), is_too_much_by_itself(&result)]
        };
        assert_eq!([of(Design::Turns), of(Design::Slices)], [[true, true, true], [true, false, true]]);
    }

    #[test]
    fn a_pause_is_always_too_much() {
        assert_eq!(told(Interference::StoodStill { seconds: 0.6 }), (true, true));
        assert_eq!(told(Interference::StoppedProcesses { seconds: 4.0 }), (true, true));
    }

    #[test]
    fn stalls_are_judged_by_their_share() {
        let stalled = |time_share| told(Interference::MemoryStalls { time_share });
        assert_eq!([0.012, 0.03, 0.10].map(stalled), [(false, false), (true, false), (true, true)]);
    }

    #[test]
    fn the_rest_is_marked_and_never_too_much() {
        for interference in [
            Interference::OtherProcesses { cpus: 1.2 },
            Interference::WaitingTasks { tasks: 2.0 },
            Interference::SlowedCpu { lowest_khz: 1, highest_khz: 2, base_khz: None },
            Interference::ShortMemory { available_kib: 1, memory_kib: 100 },
            Interference::Words("90.0 % of CPU time was stolen by the hypervisor".to_owned()),
        ] {
            assert_eq!(told(interference.clone()), (true, false), "{interference}");
        }
        assert!(!is_marked(&result("lmdb", 1, 1, 100.0)));
    }

    #[test]
    fn all_clauses_say_why_a_trial_is_to_be_repeated() {
        let mut result = with(Interference::StoodStill { seconds: 0.6 });
        result.environment.interference.push(Interference::OtherProcesses { cpus: 1.2 });
        let why = "everything stood still for 0.6 s, other processes and the kernel's own threads used 1.2 CPUs";
        assert_eq!(interfered_runs(&[&result]), [(&result.trial, why.to_owned())]);
        assert_eq!(interfered_runs(&[&with(Interference::OtherProcesses { cpus: 1.2 })]), []);
    }

    #[test]
    fn nothing_is_repeated_for_a_load_or_for_the_null_engine_beside_others() {
        let paused = with(Interference::StoodStill { seconds: 0.6 });
        let mut load = paused.clone();
        load.trial.phase = Phase::Load;
        let mut null = paused.clone();
        null.engine.name = "null".into();
        let numbers = |results: &[&TrialResult]| interfered_runs(results).len();
        assert_eq!((numbers(&[&load, &paused]), numbers(&[&null, &paused]), numbers(&[&null, &null])), (1, 1, 2));
    }
}
