//! The ratios of the repeats of two cells, made from their trials.

use std::collections::BTreeMap;

use kvdyno_results::{Side, TrialResult};

use super::rivals::MeasuredCell;
use super::verdict::{PairedRatios, Unsure, VerdictFigure};
use crate::Cell;
use crate::interference::is_too_much;

/// The operations of a duet for each CPU second. Absent if the trial was none, failed, did nothing, or if CPU time does
/// not compare it with the other.
fn by_cpu_time(result: &TrialResult) -> Option<f64> {
    result.operations_per_cpu_s_in_duets().filter(|_| result.is_finished())
}

/// Records a second of the side that the workload is about: reads if it reads, else writes. For a duet's trial it is
/// the rate of the slices. Absent if the trial failed or did nothing.
fn rate_by_itself(result: &TrialResult) -> Option<f64> {
    let reads = result.operations.iter().any(|operations| operations.side() == Side::Reads);
    let rate = result.rate(if reads { Side::Reads } else { Side::Writes });
    (result.is_finished() && rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// The measured figures of a cell: CPU time, which has the narrower interval, if every trial has it, else rates. No
/// other function chooses the figure.
pub fn measured(cell: &Cell<'_>) -> MeasuredCell {
    let by_rate = measured_by(cell, &rate_by_itself);
    let by_cpu_time = measured_by(cell, &by_cpu_time);
    match !by_cpu_time.figures.is_empty() && by_cpu_time.figures.len() == cell.finished.len() {
        true => MeasuredCell { figure: VerdictFigure::CpuTime, rates: by_rate.figures, ..by_cpu_time },
        false => by_rate,
    }
}

/// The ratios of two cells as [`measured`] sees them.
pub fn paired(one: &Cell<'_>, other: &Cell<'_>) -> PairedRatios {
    measured(one).over(&measured(other))
}

/// The ratios of two cells, by another figure of a trial.
pub fn paired_by(one: &Cell<'_>, other: &Cell<'_>, figure: impl Fn(&TrialResult) -> Option<f64>) -> PairedRatios {
    measured_by(one, &figure).over(&measured_by(other, &figure))
}

/// The measured figures of a cell, with `figure` of each trial.
pub fn measured_by(cell: &Cell<'_>, figure: &dyn Fn(&TrialResult) -> Option<f64>) -> MeasuredCell {
    let value = |result: &&TrialResult| Some((result.trial.repeat, figure(result).filter(|value| *value > 0.0)?));
    let figures: BTreeMap<u32, f64> = cell.finished.iter().filter_map(value).collect();
    let too_much = |result: &&&TrialResult| is_too_much(result);
    MeasuredCell {
        figures,
        figure: VerdictFigure::Rate,
        rates: BTreeMap::new(),
        copies: cell.finished.iter().filter_map(|result| Some((result.trial.repeat, result.copied_from?))).collect(),
        keeps_nothing: cell.finished.iter().any(|result| result.audit.as_ref().is_some_and(|audit| audit.volatile)),
        with_interference: cell.finished.iter().filter(too_much).map(|result| result.trial.repeat).collect(),
        unsure: hindrance(cell),
    }
}

/// The reason why nothing may be said of a cell.
fn hindrance(cell: &Cell<'_>) -> Option<Unsure> {
    if !cell.failed.is_empty() {
        return Some(Unsure::Failed);
    }
    cell.finished.iter().any(|result| was_not_read_back(result)).then_some(Unsure::NotAudited)
}

/// Whether a trial wrote, and no fresh process read back what. One that read back something else than was acknowledged
/// makes the trial a failed one.
fn was_not_read_back(result: &TrialResult) -> bool {
    result.audit.as_ref().is_some_and(|audit| !audit.volatile && audit.process.is_none())
}

#[cfg(test)]
mod tests {
    use kvdyno_model::Design;
    use kvdyno_results::latency_log::LatencyLog;
    use kvdyno_results::{Audit, AuditFacts, CpuAccount, DesignFacts, ReadBack, TrialKey};

    use super::super::{Rivals, Terms, Verdict, compare};
    use super::*;
    use crate::Series;
    use crate::testing::{failed, result};

    fn of(results: &[TrialResult]) -> PairedRatios {
        let none = |_: &TrialKey| Ok::<_, std::convert::Infallible>(LatencyLog::new());
        let cells = crate::cells(results, &Series::new(), none).unwrap();
        paired(&cells[0], &cells[1])
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
        let stolen = vec!["31.0 % of CPU time was stolen by the hypervisor".to_owned()];
        results[1].environment.interference = stolen.clone();
        assert_eq!(compare(&of(&results), &Terms::default()).verdict, Verdict::Faster);
        results[2].environment.interference = stolen;
        assert_eq!(compare(&of(&results), &Terms::default()).unsure, Some(Unsure::Interference));
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
    fn a_duet_that_slices_contradict_is_decided_by_them() {
        let contradicted = compare(&of(&duets((1e6, 1e6), (1e6, 8e5), 0.0)), &Terms::default());
        assert_eq!((contradicted.verdict, contradicted.by_slices), (Verdict::Faster, true));
        assert_eq!(contradicted.figure, VerdictFigure::Rate);
        let agreed = compare(&of(&duets((1e6, 8e5), (1e6, 8e5), 0.0)), &Terms::default());
        assert_eq!((agreed.verdict, agreed.by_slices), (Verdict::Faster, false));
        assert_eq!(agreed.figure, VerdictFigure::CpuTime);
    }

    /// One of two may have run again by itself. Its operations for each CPU second are not held against a rate.
    #[test]
    fn a_repeat_that_was_no_duet_makes_rates_of_all() {
        let mut results = duets((1e6, 1e6), (1e6, 5e5), 0.0);
        let design = results.iter_mut().find(|result| result.trial.repeat == 3).unwrap().design.as_mut().unwrap();
        (design.design, design.duet) = (Design::Turns, None);
        let ratios = of(&results);
        assert_eq!((ratios.figure, ratios.ratios.len()), (VerdictFigure::Rate, 5));
        assert!(ratios.ratios.iter().all(|pair| (pair.log_ratio - 2f64.ln()).abs() < 0.01), "{ratios:?}");
        let none = |_: &TrialKey| Ok::<_, std::convert::Infallible>(LatencyLog::new());
        let cells = crate::cells(&results, &Series::new(), none).unwrap();
        let rivals = Rivals::of(cells.iter().map(measured).collect());
        assert!(rivals.cells.iter().all(|cell| cell.figure == VerdictFigure::Rate));
        assert_eq!(rivals.neighbours(&Terms::default())[0].comparison.figure, VerdictFigure::Rate);
    }

    /// Slices also decide where the difference is too small for a bias to be seen.
    #[test]
    fn a_duet_whose_clients_slept_is_decided_by_slices() {
        let comparison =
            |slept| compare(&of(&duets((1e6, 1e6), (1e6, 9.6e5), slept)), &Terms { detect: 0.05, ..Terms::default() });
        assert_eq!(comparison(0.005).ratio.map(|ratio| (100.0 * ratio).round()), Some(100.0));
        assert_eq!(comparison(0.02).ratio.map(|ratio| (100.0 * ratio).round()), Some(104.0));
        assert_eq!((comparison(0.005).figure, comparison(0.02).figure), (VerdictFigure::CpuTime, VerdictFigure::Rate));
    }

    #[test]
    fn a_workload_that_reads_is_compared_by_what_it_reads() {
        let mut both = result("lmdb", 1, 1, 100.0);
        let writes = kvdyno_results::Operations {
            kind: kvdyno_results::OpKind::Put,
            records_per_s: 7.0,
            ..both.operations[0].clone()
        };
        both.operations.insert(0, writes.clone());
        assert_eq!(rate_by_itself(&both), Some(100.0));
        both.operations = vec![writes];
        assert_eq!(rate_by_itself(&both), Some(7.0));
        assert_eq!(rate_by_itself(&failed("lmdb", 1, 1)), None);
    }
}
