//! The ratios of the repeats of two cells, made from their trials.

use std::collections::BTreeMap;

use kvdyno_results::{Phase, Side, TrialResult};

use super::rivals::MeasuredCell;
use super::verdict::{Aspect, PairedRatios, SHORTEST_LOAD_S, Unsure};
use crate::Cell;
use crate::interference::taken;

/// The operations of a duet for each CPU second. Absent if the trial was none, failed, did nothing, or if CPU time does
/// not compare it with the other.
fn by_cpu_time(result: &TrialResult) -> Option<f64> {
    result.operations_per_cpu_s_in_duets().filter(|_| result.is_finished())
}

/// The same of the slices that each had to itself.
fn by_cpu_time_alone(result: &TrialResult) -> Option<f64> {
    result.operations_per_cpu_s_alone().filter(|_| result.is_finished())
}

/// Records a second of one side; for a duet's trial it is the rate of the slices. Absent if the trial failed or did
/// nothing of that side.
fn throughput(result: &TrialResult, side: Side) -> Option<f64> {
    let rate = result.rate(side);
    (result.is_finished() && rate > 0.0 && rate.is_finite()).then_some(rate)
}

fn does_side(result: &TrialResult, side: Side) -> bool {
    result.operations.iter().any(|one| one.side() == side)
}

/// The aspects by which cells of one work are judged: the throughput of each side that works. A side with a rate of its
/// own is judged only where no other is, because the rate that was asked for decides its throughput.
pub fn judged(cells: &[&Cell<'_>]) -> Vec<Aspect> {
    let is_without_rate = |cell: &Cell<'_>, side: Side| {
        let searched_in_vain = |one: &&TrialResult| one.has_no_rate() && one.workload.is_searched(side);
        cell.finished.iter().any(|one| searched_in_vain(one) && does_side(one, side))
    };
    let does = |side: &Side| cells.iter().any(|cell| cell.rate(*side).is_some() || is_without_rate(cell, *side));
    let is_paced = |side: &Side| cells.iter().any(|cell| cell.first().is_some_and(|one| one.workload.is_paced(*side)));
    let sides: Vec<Side> = Side::ALL.into_iter().filter(does).collect();
    let free: Vec<Side> = sides.iter().copied().filter(|side| !is_paced(side)).collect();
    let judged = if free.is_empty() { sides.into_iter().take(1).collect() } else { free };
    judged.into_iter().map(Aspect::Throughput).collect()
}

/// Whether the CPU time of most finished trials of each of these cells is known, so that they can be compared by it.
/// The other repeats count nothing then: by chance a client slept in their measured part.
pub fn have_cpu_time(cells: &[&Cell<'_>]) -> bool {
    let with = |cell: &Cell<'_>| cell.finished.iter().filter(|result| by_cpu_time(result).is_some()).count();
    let has = |cell: &&Cell<'_>| cell.finished.is_empty() || 2 * with(cell) > cell.finished.len();
    cells.iter().any(|cell| !cell.finished.is_empty()) && cells.iter().all(has)
}

/// The measured figures of a cell. No other function chooses them.
pub fn measured(cell: &Cell<'_>, compared: Aspect) -> MeasuredCell {
    match compared {
        Aspect::Throughput(side) => {
            let rate = cell.rate(side).map(|rate| rate.value).filter(|rate| *rate > 0.0);
            let is_searched = cell.first().is_some_and(|first| first.workload.is_searched(side));
            let searched_in_vain = if is_searched { without_rate(cell) } else { 0 };
            MeasuredCell {
                rate,
                is_searched,
                searched_in_vain,
                ..measured_by(cell, &|result| throughput(result, side))
            }
        }
        Aspect::CpuTime => {
            let [duets, alone] = [measured_by(cell, &by_cpu_time), measured_by(cell, &by_cpu_time_alone)];
            let without = Unsure::NoCpuTime { repeats: cell.finished.len() };
            let unsure = duets.unsure.or(duets.figures.is_empty().then_some(without));
            MeasuredCell { figure: compared.figure(), alone: alone.figures, unsure, ..duets }
        }
    }
}

/// The ratios of two cells as [`measured`] sees them.
pub fn paired(one: &Cell<'_>, other: &Cell<'_>, compared: Aspect) -> PairedRatios {
    measured(one, compared).over(&measured(other, compared))
}

/// The ratios of two cells, by another figure of a trial.
pub fn paired_by(one: &Cell<'_>, other: &Cell<'_>, figure: impl Fn(&TrialResult) -> Option<f64>) -> PairedRatios {
    measured_by(one, &figure).over(&measured_by(other, &figure))
}

/// The measured figures of a cell, with `figure` of each trial.
fn measured_by(cell: &Cell<'_>, figure: &dyn Fn(&TrialResult) -> Option<f64>) -> MeasuredCell {
    let value = |result: &&TrialResult| Some((result.trial.repeat, figure(result).filter(|value| *value > 0.0)?));
    let figures: BTreeMap<u32, f64> = cell.finished.iter().filter_map(value).collect();
    MeasuredCell {
        figures,
        machines: cell.machines.clone(),
        copies: cell.finished.iter().filter_map(|result| Some((result.trial.repeat, result.copied_from?))).collect(),
        keeps_nothing: cell.finished.iter().any(|result| result.audit.as_ref().is_some_and(|audit| audit.volatile)),
        with_interference: cell.interfered.clone(),
        with_interference_of_its_own: cell.interfered_by_itself(),
        taken: cell.finished.iter().filter_map(|result| Some((result.trial.repeat, taken(result)?))).collect(),
        unsure: hindrance(cell),
        ..MeasuredCell::default()
    }
}

/// The reason why nothing may be said of a cell.
fn hindrance(cell: &Cell<'_>) -> Option<Unsure> {
    if !cell.failed.is_empty() {
        return Some(Unsure::Failed);
    }
    if cell.finished.iter().any(|result| was_not_read_back(result)) {
        return Some(Unsure::NotAudited);
    }
    let without_rate = without_rate(cell);
    if without_rate > 0 && 2 * without_rate >= cell.finished.len() {
        return Some(Unsure::KeptAtNoRate);
    }
    let is_load = cell.key.phase == Phase::Load;
    let is_beside = |result: &&TrialResult| result.design.as_ref().is_some_and(|facts| !facts.beside.is_empty());
    if is_load && cell.finished.iter().any(is_beside) {
        return Some(Unsure::LoadedAtOnce);
    }
    let loaded = is_load && !cell.finished.is_empty();
    let seconds: f64 = cell.finished.iter().filter_map(|result| result.window.as_ref()).map(|one| one.seconds).sum();
    (loaded && seconds < SHORTEST_LOAD_S).then_some(Unsure::ShortLoad)
}

/// Its searches that found no rate.
fn without_rate(cell: &Cell<'_>) -> usize {
    cell.finished.iter().filter(|result| result.has_no_rate()).count()
}

/// Whether a trial wrote, and no fresh process read back what. One that read back something else than was acknowledged
/// makes the trial a failed one.
fn was_not_read_back(result: &TrialResult) -> bool {
    result.audit.as_ref().is_some_and(|audit| !audit.volatile && audit.process.is_none())
}

#[cfg(test)]
mod tests {
    use kvdyno_model::Design;
    use kvdyno_results::{Audit, AuditFacts, CpuAccount, DesignFacts, Interference, OpKind, ReadBack, Waits};

    use super::super::level::Looks;
    use super::super::{Comparison, Terms, Verdict, VerdictFigure, compare};
    use super::*;
    use crate::testing::{failed, result};

    fn of(results: &[TrialResult]) -> PairedRatios {
        let cells = crate::cells_of_results(results);
        let judged = judged(&[&cells[0], &cells[1]]);
        paired(&cells[0], &cells[1], judged[0])
    }

    fn beside(rates: &[(f64, f64)]) -> Vec<TrialResult> {
        let both = |(repeat, (one, other)): (u32, &(f64, f64))| {
            [result("lmdb", 1, repeat, *one), result("bdb", 1, repeat, *other)]
        };
        (1..).zip(rates).flat_map(both).collect()
    }

    #[test]
    fn repeats_of_one_number_are_pairs_and_others_are_left() {
        let mut results = beside(&[(200.0, 100.0), (400.0, 100.0)]);
        results.push(result("lmdb", 1, 3, 300.0));
        let ratios = of(&results).ratios;
        let expected = [(1, 2f64.ln()), (2, 4f64.ln())];
        assert_eq!(ratios.iter().map(|pair| (pair.repeat, pair.log_ratio)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_repeat_is_no_verdict() {
        let comparison = compare(&of(&beside(&[(900.0, 100.0)])), &Terms::default());
        assert_eq!((comparison.verdict, comparison.unsure), (Verdict::CannotTell, Some(Unsure::OneRepeat)));
        assert_eq!((comparison.interval(), comparison.repeats), (None, 1));
        assert!((comparison.ratio.unwrap() - 9.0).abs() < 1e-9);
    }

    #[test]
    fn a_failed_trial_is_no_verdict() {
        let mut results = beside(&[(900.0, 100.0), (901.0, 100.0), (902.0, 100.0)]);
        assert_eq!(compare(&of(&results), &Terms::default()).verdict, Verdict::Faster);
        results.push(failed("bdb", 1, 4));
        assert_eq!(compare(&of(&results), &Terms::default()).unsure, Some(Unsure::Failed));
    }

    /// Where the audit is off, what a trial wrote may not have been stored.
    #[test]
    fn what_was_not_read_back_wins_nothing() {
        let mut results = beside(&[(900.0, 100.0), (901.0, 100.0), (902.0, 100.0)]);
        let passed = AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() };
        results.iter_mut().for_each(|result| result.audit = Some(passed.clone()));
        assert_eq!(compare(&of(&results), &Terms::default()).verdict, Verdict::Faster);
        results[0].audit = Some(AuditFacts { extent: Audit::Off, process: None, ..passed.clone() });
        let comparison = compare(&of(&results), &Terms::default());
        assert_eq!((comparison.verdict, comparison.unsure), (Verdict::CannotTell, Some(Unsure::NotAudited)));
        results[0].audit = Some(AuditFacts { volatile: true, process: None, ..passed });
        assert_eq!(compare(&of(&results), &Terms::default()).unsure, Some(Unsure::KeepsNothing));
    }

    #[test]
    fn half_of_the_repeats_without_the_machine_are_no_verdict() {
        let mut results = beside(&[(900.0, 100.0), (901.0, 100.0), (902.0, 100.0), (903.0, 100.0)]);
        let stolen = vec![Interference::StolenCpuTime { cpu_time_share: 0.31 }];
        results[1].environment.interference = stolen.clone();
        assert_eq!(compare(&of(&results), &Terms::default()).verdict, Verdict::Faster);
        results[2].environment.interference = stolen;
        assert_eq!(compare(&of(&results), &Terms::default()).unsure, Some(Unsure::Interference));
    }

    fn interfere_with(result: &mut TrialResult) {
        result.environment.interference = vec![Interference::ClientsProcessors { time_share: 0.48 }];
    }

    #[test]
    fn a_repeat_with_interference_is_dropped() {
        let mut results = beside(&[(900.0, 100.0), (50.0, 100.0), (902.0, 100.0), (898.0, 100.0)]);
        assert_eq!(compare(&of(&results), &Terms::default()).verdict, Verdict::CannotTell);
        interfere_with(&mut results[2]);
        let ratios = of(&results);
        assert_eq!(
            (ratios.ratios.iter().map(|pair| pair.repeat).collect::<Vec<_>>(), ratios.dropped),
            (vec![1, 3, 4], 1)
        );
        assert_eq!(compare(&ratios, &Terms::default()).verdict, Verdict::Faster);
    }

    /// Four repeats in which others had the client's processor for up to `waited` of the time, of 1.
    fn beside_others(rates: (f64, f64), waited: Option<f64>) -> Vec<TrialResult> {
        let up_and_down = [1.0, 1.01, 0.99, 1.005].map(|off| (rates.0 * off, rates.1));
        let mut results = beside(&up_and_down);
        for result in &mut results {
            interfere_with(result);
            let window = result.window.as_mut().unwrap();
            window.waits = waited.map(|waited| Waits { least_s: 0.0, most_s: waited * window.seconds });
        }
        results
    }

    #[test]
    fn what_others_may_have_taken_is_allowed_for() {
        let told = |rates, waited| {
            let comparison = compare(&of(&beside_others(rates, waited)), &Terms::default());
            (comparison.verdict, comparison.unsure, comparison.waited.map(|waited| (100.0 * waited).round()))
        };
        assert_eq!(told((900.0, 100.0), Some(0.5)), (Verdict::Faster, None, Some(50.0)));
        assert_eq!(told((100.0, 900.0), Some(0.5)), (Verdict::Slower, None, Some(50.0)));
        // Without others the slower one may have been as fast.
        assert_eq!(told((190.0, 100.0), Some(0.5)), (Verdict::CannotTell, Some(Unsure::Interference), Some(50.0)));
        assert_eq!(told((900.0, 100.0), None), (Verdict::CannotTell, Some(Unsure::Interference), None));
        assert_eq!(told((900.0, 100.0), Some(1.0)).1, Some(Unsure::Interference));
        let mut results = beside_others((900.0, 100.0), Some(0.5));
        results[0].environment.interference.push(Interference::StoodStill { seconds: 1.0 });
        assert_eq!(compare(&of(&results), &Terms::default()).unsure, Some(Unsure::Interference));
    }

    /// By hand: the second one may have been twice as fast, and the first one by a quarter faster.
    #[test]
    fn the_interval_holds_the_ratio_without_others() {
        let mut results = beside_others((900.0, 100.0), Some(0.5));
        wait_for(&mut results, "lmdb", [0.0, 0.2]);
        let [with, without] = [results.clone(), calm(results)].map(|results| compare(&of(&results), &Terms::default()));
        let factor = |end: fn(&Comparison) -> Option<f64>| end(&with).unwrap() / end(&without).unwrap();
        assert!((factor(|comparison| comparison.low) - 0.5).abs() < 1e-6, "{with:?}");
        assert!((factor(|comparison| comparison.high) - 1.25).abs() < 1e-6, "{with:?}");
        assert_eq!((with.ratio, without.waited), (without.ratio, None));
    }

    /// Lets the trials of an engine have lost at least and at most these shares of their time.
    fn wait_for(results: &mut [TrialResult], engine: &str, [least, most]: [f64; 2]) {
        for window in results.iter_mut().filter(|result| result.trial.engine == engine).map(|one| &mut one.window) {
            let window = window.as_mut().unwrap();
            window.waits = Some(Waits { least_s: least * window.seconds, most_s: most * window.seconds });
        }
    }

    /// If both certainly lost half of their time, nothing was taken from the ratio. If one lost more, the ratio of the
    /// rates as they were measured is still in the interval.
    #[test]
    fn what_both_lost_is_allowed_for_once() {
        let told = |of_lmdb, of_bdb| {
            let mut results = beside_others((130.0, 100.0), Some(0.5));
            wait_for(&mut results, "lmdb", of_lmdb);
            wait_for(&mut results, "bdb", of_bdb);
            compare(&of(&results), &Terms::default())
        };
        assert_eq!(told([0.5, 0.5], [0.5, 0.5]).verdict, Verdict::Faster);
        assert_eq!(told([0.0, 0.5], [0.5, 0.5]).verdict, Verdict::CannotTell);
        let more = told([0.6, 0.6], [0.1, 0.1]);
        assert!(more.low.unwrap() < 1.31 && more.high.unwrap() > 1.29 * 0.9 / 0.4, "{more:?}");
    }

    fn calm(mut results: Vec<TrialResult>) -> Vec<TrialResult> {
        results.iter_mut().for_each(|result| result.environment.interference.clear());
        results
    }

    #[test]
    fn too_few_repeats_are_left_because_of_others() {
        let mut results = beside(&[(900.0, 100.0), (50.0, 100.0), (902.0, 100.0)]);
        interfere_with(&mut results[3]);
        let terms = Terms { looks: Looks::AfterEach, ..Terms::default() };
        assert_eq!(compare(&of(&results), &terms).unsure, Some(Unsure::Interference));
    }

    /// Trials of a duet: operations for each CPU second, and the rates of each by itself, of `lmdb` and `bdb`.
    fn duets(by_cpu: (f64, f64), rates: (f64, f64), slept: f64) -> Vec<TrialResult> {
        let up_and_down = [1.0, 1.001, 0.999, 1.002, 0.998];
        let of = |engine: &str, repeat: u32, cpu: f64, rate: f64| {
            let up_and_down = up_and_down[(repeat as usize + engine.len()) % 5];
            let mut result = result(engine, 1, repeat, rate * up_and_down);
            let operations = (cpu * up_and_down) as u64;
            result.design = Some(DesignFacts {
                design: Design::Duet,
                why: "it was requested".into(),
                beside: vec![1],
                slices: 10,
                slept: Some(slept),
                duet: Some(CpuAccount { operations, cpu_s: 1.0, client_cpu_s: 0.9 }),
                ..DesignFacts::default()
            });
            result
        };
        (1..=5).flat_map(|n| [of("lmdb", n, by_cpu.0, rates.0), of("bdb", 6 - n, by_cpu.1, rates.1)]).collect()
    }

    #[test]
    fn a_duet_says_nothing_of_throughput() {
        let results = duets((1e6, 2e6), (1e6, 8e5), 0.0);
        let throughput = compare(&of(&results), &Terms::default());
        assert_eq!((throughput.verdict, throughput.figure), (Verdict::Faster, VerdictFigure::Throughput));
        let cpu_time = compare(&by_duets(&results), &Terms::default());
        assert_eq!((cpu_time.verdict, cpu_time.figure), (Verdict::Slower, VerdictFigure::CpuTime));
    }

    fn by_duets(results: &[TrialResult]) -> PairedRatios {
        let cells = crate::cells_of_results(results);
        paired(&cells[0], &cells[1], Aspect::CpuTime)
    }

    /// One of two may have run again by itself, and clients may have slept.
    #[test]
    fn cpu_time_is_compared_where_most_trials_have_it() {
        let have = |results: &[TrialResult]| {
            let cells = crate::cells_of_results(results);
            have_cpu_time(&[&cells[0], &cells[1]])
        };
        let mut results = duets((1e6, 1e6), (1e6, 5e5), 0.0);
        assert!(have(&results));
        assert!(!have(&duets((1e6, 1e6), (1e6, 5e5), 0.02)));
        let in_turns = |results: &mut [TrialResult], repeat: u32| {
            let of = |result: &&mut TrialResult| result.trial.repeat == repeat && result.trial.engine == "lmdb";
            let design = results.iter_mut().find(of).unwrap().design.as_mut().unwrap();
            (design.design, design.duet) = (Design::Turns, None);
        };
        [3, 4].into_iter().for_each(|repeat| in_turns(&mut results, repeat));
        let left = by_duets(&results).ratios.into_iter().map(|ratio| ratio.repeat).collect::<Vec<_>>();
        assert!(have(&results) && left == [1, 2, 5], "{left:?}");
        in_turns(&mut results, 5);
        assert!(!have(&results));
        let without = duets((1e6, 1e6), (1e6, 5e5), 0.02);
        let unsure = |repeats: usize| {
            by_duets(&without.iter().filter(|one| one.trial.repeat as usize <= repeats).cloned().collect::<Vec<_>>())
                .unsure
                .unwrap()
        };
        assert_eq!(unsure(5), Unsure::NoCpuTime { repeats: 5 });
        assert!(unsure(2).may_pass() && !unsure(3).may_pass(), "by chance none has it, but not thrice");
    }

    #[test]
    fn each_side_without_a_rate_of_its_own_is_judged() {
        let mut both = result("lmdb", 1, 1, 100.0);
        let writes = kvdyno_results::Operations { kind: OpKind::Put, records_per_s: 7.0, ..both.operations[0].clone() };
        both.operations.insert(0, writes.clone());
        let of = |result: &TrialResult| {
            let results = [result.clone()];
            let cells = crate::cells_of_results(&results);
            let figure = |compared| measured(&cells[0], compared).figures.get(&1).copied();
            judged(&[&cells[0]]).into_iter().map(|compared| (compared, figure(compared))).collect::<Vec<_>>()
        };
        let [reads, written] = [Side::Reads, Side::Writes].map(Aspect::Throughput);
        assert_eq!(of(&both), [(reads, Some(100.0)), (written, Some(7.0))]);
        both.workload.write_rate = Some(7.0);
        assert_eq!(of(&both), [(reads, Some(100.0))]);
        both.operations = vec![writes];
        assert_eq!(of(&both), [(written, Some(7.0))]);
        assert_eq!(of(&failed("lmdb", 1, 1)), []);
    }

    #[test]
    fn a_load_of_a_moment_is_not_judged() {
        let loaded = |seconds: f64| {
            let mut results = beside(&[(900.0, 100.0), (901.0, 100.0), (902.0, 100.0)]);
            results.iter_mut().for_each(|result| result.trial.phase = Phase::Load);
            results.iter_mut().for_each(|result| result.window.as_mut().unwrap().seconds = seconds / 3.0);
            compare(&of(&results), &Terms::default())
        };
        assert_eq!(loaded(0.21).verdict, Verdict::Faster);
        assert_eq!((loaded(0.19).verdict, loaded(0.19).unsure), (Verdict::CannotTell, Some(Unsure::ShortLoad)));
    }

    #[test]
    fn loads_that_ran_at_once_are_not_judged_but_runs_beside_each_other_are() {
        let with = |phase: Phase| {
            let mut results = beside(&[(900.0, 100.0), (901.0, 100.0), (902.0, 100.0)]);
            for result in &mut results {
                result.trial.phase = phase;
                result.design = Some(DesignFacts { beside: vec![7], ..DesignFacts::default() });
            }
            compare(&of(&results), &Terms::default())
        };
        assert_eq!(with(Phase::Run).verdict, Verdict::Faster);
        assert_eq!(
            (with(Phase::Load).verdict, with(Phase::Load).unsure),
            (Verdict::CannotTell, Some(Unsure::LoadedAtOnce))
        );
    }
}
