//! Whether runs were steady: whether a figure of their measured part is one of a state that lasts.
//!
//! Two rules examine the rates of the time series, [`rounds`] and [`change_point`]; one examines the work that the
//! engine reports as deferred, [`debt`]. A point of a series is one interval of the parent's observation. For a trial
//! in slices, a point is one slice in which the trial had the machine to itself, in the trial's own time: between two
//! slices the trial is frozen, together with its background threads. For a duet, a point is a slice beside the other
//! setup, with operations for each CPU second as its rate. If each trial of a cell is too short to be judged, the
//! trials are joined ([`joined`]). Loads are not judged: they go from an empty to a full database, and have no steady
//! state.

mod change_point;
mod debt;
mod joined;
mod rounds;
#[cfg(test)]
mod simulated;

use std::fmt;

use kvdyno_results::{DesignFacts, DuetSlice, Phase, SeriesPoint, Side, TrialResult};

use crate::cells::{PointRate, Series, whole_points};

pub use debt::Debt;

/// Fewer points of a series than this tell nothing: ten for each round. A round of fewer is as noisy as they are.
const FEWEST_POINTS: usize = 10 * rounds::ROUNDS;

/// Whether a run, or a cell of runs, was steady.
#[derive(Clone, Debug, PartialEq)]
pub enum Steadiness {
    /// No rule found anything.
    Steady,
    /// The rules that found something, in order.
    NotSteady(Vec<Unsteady>),
    /// There is too little to go by.
    NotTold(Untold),
}

/// A finding of one rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsteady {
    /// The rates of rounds lie too far apart.
    Excursion {
        /// The side whose rate it is.
        side: Side,
        /// Greatest less smallest, of their mean.
        share: f64,
    },
    /// They rise or fall.
    Trend {
        /// The side whose rate it is.
        side: Side,
        /// The change from the first round to the last, over their mean; negative if the rate falls.
        share: f64,
    },
    /// The rate changed at one point, and stayed so.
    Step {
        /// The side whose rate it is.
        side: Side,
        /// The change, of what was before; negative if it fell.
        share: f64,
        /// The place of the change in the measured part, from 0 to 1.
        at: f64,
    },
    /// The engine had much work left.
    Debt(Debt),
}

/// A reason for which nothing is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untold {
    /// The series is too short.
    TooShort,
    /// Roles work in parts of the window, so that rates change by themselves.
    PartialRoles,
}

/// The steadiness of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSteadiness {
    /// The steadiness of the cell: not steady if at least half of the trials that can be judged were not steady.
    pub steadiness: Steadiness,
    /// Trials of which it can be told.
    pub told: usize,
    /// The trials of these that were not steady.
    pub unsteady: usize,
}

impl CellSteadiness {
    /// Whether it is known that it was not steady.
    pub fn is_unsteady(&self) -> bool {
        matches!(self.steadiness, Steadiness::NotSteady(_))
    }
}

impl Steadiness {
    /// Its name in results for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Steadiness::Steady => "steady",
            Steadiness::NotSteady(_) => "not steady",
            Steadiness::NotTold(_) => "not told",
        }
    }
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| 100.0 * share.abs();
        match self {
            Unsteady::Excursion { side, share } => {
                write!(f, "its rate of {side} spans {:.0} % of its mean over five rounds", percent(share))
            }
            Unsteady::Trend { side, share } => {
                let way = if *share < 0.0 { "fell" } else { "rose" };
                write!(f, "its rate of {side} {way} by {:.0} % from the first round to the last", percent(share))
            }
            Unsteady::Step { side, share, at } => {
                let way = if *share < 0.0 { "fell" } else { "rose" };
                write!(
                    f,
                    "its rate of {side} {way} by {:.0} % after {:.0} % of the time and stayed so",
                    percent(share),
                    percent(at)
                )
            }
            Unsteady::Debt(debt) => debt.fmt(f),
        }
    }
}

kvdyno_model::written_as_text!(Unsteady);

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untold::TooShort => write!(f, "their time series have fewer than {FEWEST_POINTS} points"),
            Untold::PartialRoles => write!(f, "their roles work in parts of the measured window"),
        }
    }
}

/// The steadiness of trials that repeat each other; absent for loads, and where none finished. `detect` is the least
/// change that matters, of 1.
pub fn steadiness(finished: &[&TrialResult], series: &Series, detect: f64) -> Option<CellSteadiness> {
    let runs = finished.iter().filter(|result| result.trial.phase == Phase::Run && result.is_finished());
    let points = |result: &TrialResult| series.get(&result.trial).map_or(&[][..], Vec::as_slice);
    let rates: Vec<Rates> = runs.clone().map(|result| rates(result, points(result))).collect();
    let all: Vec<Steadiness> = runs.zip(&rates).map(|(result, rates)| of_trial(result, rates, detect)).collect();
    let told = all.iter().filter(|one| !matches!(one, Steadiness::NotTold(_))).count();
    if told == 0
        && let Some(steadiness) = joined::steadiness(&rates, detect)
    {
        let unsteady = if matches!(steadiness, Steadiness::NotSteady(_)) { all.len() } else { 0 };
        return Some(CellSteadiness { steadiness, told: all.len(), unsteady });
    }
    let mut unsteady = all.iter().filter(|one| matches!(one, Steadiness::NotSteady(_)));
    let first = unsteady.next();
    let unsteady = first.iter().count() + unsteady.count();
    let steadiness = match first {
        Some(first) if 2 * unsteady >= told => first.clone(),
        _ if told > 0 => Steadiness::Steady,
        _ => all.first()?.clone(),
    };
    Some(CellSteadiness { steadiness, told, unsteady })
}

/// The rates of a trial's points, by side.
type Rates = Vec<(Side, Vec<PointRate>)>;

/// The rates of a run. For a duet, whose verdict is made from the slices beside the other setup, they are the rates of
/// these slices, unless CPU time does not compare the two. None where roles work in parts of the window.
fn rates(result: &TrialResult, points: &[SeriesPoint]) -> Rates {
    let changes_by_itself = result.workload.has_partial_roles();
    let sides = Side::ALL.into_iter().filter(|_| !changes_by_itself);
    let done = sides.filter(|side| result.operations.iter().any(|o| o.side() == *side));
    let is_compared = |design: &&DesignFacts| design.duet.is_some() && result.against_cpu_time().is_none();
    let slices = result.design.as_ref().filter(is_compared).map(|design| &design.duet_slices);
    let of_slice = |slice: &DuetSlice| PointRate { seconds: slice.cpu_s, records: slice.operations as f64 };
    let is_some = |slice: &&DuetSlice| slice.cpu_s > 0.0;
    match slices {
        Some(slices) => done.map(|side| (side, slices.iter().filter(is_some).map(of_slice).collect())).collect(),
        None => done.map(|side| (side, whole_points(result, points, side))).collect(),
    }
}

/// The steadiness of one run.
fn of_trial(result: &TrialResult, rates: &Rates, detect: f64) -> Steadiness {
    let of_rates = of_rates(rates, detect);
    let debt = debt::finding(result).map(Unsteady::Debt);
    match (of_rates, debt) {
        (Steadiness::NotSteady(findings), debt) => Steadiness::NotSteady(findings.into_iter().chain(debt).collect()),
        (_, Some(debt)) => Steadiness::NotSteady(vec![debt]),
        _ if result.workload.has_partial_roles() => Steadiness::NotTold(Untold::PartialRoles),
        (of_rates, None) => of_rates,
    }
}

/// The verdict of the rates, of those sides of which there are enough points.
fn of_rates(rates: &Rates, detect: f64) -> Steadiness {
    let told: Vec<_> = rates.iter().filter(|(_, rates)| rates.len() >= FEWEST_POINTS).collect();
    let findings: Vec<Unsteady> = told
        .iter()
        .flat_map(|(side, rates)| {
            rounds::findings(rates, *side).into_iter().chain(change_point::finding(rates, *side, detect))
        })
        .collect();
    match (findings.is_empty(), told.is_empty()) {
        (false, _) => Steadiness::NotSteady(findings),
        (true, false) => Steadiness::Steady,
        (true, true) => Steadiness::NotTold(Untold::TooShort),
    }
}

#[cfg(test)]
mod tests {
    use kvdyno_model::Design;
    use kvdyno_results::{CpuAccount, OpKind};

    use super::simulated::noisy;
    use super::*;
    use crate::testing::{failed, points, result};

    const DETECT: f64 = 0.03;

    fn of(result: &TrialResult, rates: &[f64]) -> Steadiness {
        of_trial(result, &super::rates(result, &points(OpKind::Get, rates)), DETECT)
    }

    #[test]
    fn a_flat_series_is_steady_and_a_short_one_tells_nothing() {
        let run = result("lmdb", 1, 1, 100.0);
        assert_eq!(of(&run, &[100.0; 50]), Steadiness::Steady);
        assert_eq!(of(&run, &[100.0; 49]), Steadiness::NotTold(Untold::TooShort));
        assert_eq!(of(&run, &[]), Steadiness::NotTold(Untold::TooShort));
    }

    /// Their rates change when a role begins or ends.
    #[test]
    fn rates_of_roles_in_parts_of_the_window_are_not_judged() {
        let mut run = result("lmdb", 1, 1, 100.0);
        run.workload.roles = vec![crate::testing::role_until(5.0)];
        assert_eq!(of(&run, &[[100.0; 30], [0.0; 30]].concat()), Steadiness::NotTold(Untold::PartialRoles));
        let trials = [run.clone(), run];
        let all: Vec<&TrialResult> = trials.iter().collect();
        let series = trials.iter().map(|one| (one.trial.clone(), points(OpKind::Get, &[100.0; 60]))).collect();
        assert_eq!(steadiness(&all, &series, DETECT).unwrap().told, 0);
    }

    #[test]
    fn a_step_and_a_trend_are_told_in_words() {
        let run = result("lmdb", 1, 1, 100.0);
        let Steadiness::NotSteady(step) = of(&run, &[[100.0; 30], [80.0; 30]].concat()) else { panic!("steady") };
        let words: Vec<String> = step.iter().map(Unsteady::to_string).collect();
        assert!(words.contains(&"its rate of reads fell by 20 % after 50 % of the time and stayed so".to_owned()));
        let rising: Vec<f64> = (0..60).map(|i| 100.0 + 0.6 * f64::from(i)).collect();
        let Steadiness::NotSteady(trend) = of(&run, &rising) else { panic!("steady") };
        assert_eq!(trend[0].to_string(), "its rate of reads spans 25 % of its mean over five rounds");
        assert_eq!(trend[1].to_string(), "its rate of reads rose by 25 % from the first round to the last");
    }

    fn duet(slices: &[f64]) -> DesignFacts {
        let duet = CpuAccount { operations: 1, cpu_s: 1.0, client_cpu_s: 1.0 };
        let slice = |rate: &f64| DuetSlice { operations: (0.1 * rate) as u64, cpu_s: 0.1 };
        let duet_slices = slices.iter().map(slice).collect();
        DesignFacts { design: Design::Duet, duet: Some(duet), duet_slices, ..DesignFacts::default() }
    }

    #[test]
    fn a_duet_is_told_by_its_slices_beside_the_other() {
        let falling = [[1000.0; 30], [500.0; 30]].concat();
        let run = |slices: &[f64]| TrialResult { design: Some(duet(slices)), ..result("lmdb", 1, 1, 100.0) };
        assert_eq!(of(&run(&[1000.0; 60]), &falling), Steadiness::Steady, "those by itself do not count");
        assert!(matches!(of(&run(&falling), &[1000.0; 60]), Steadiness::NotSteady(_)));
        assert_eq!(of(&run(&[]), &falling), Steadiness::NotTold(Untold::TooShort));
    }

    /// A default comparison has trials so short.
    #[test]
    fn short_trials_are_judged_together() {
        let judge = |slices: &dyn Fn(u32) -> Vec<f64>| {
            let of = |repeat: u32| {
                let design = Some(duet(&slices(repeat)));
                TrialResult { design, ..result("lmdb", 1, repeat, 100.0) }
            };
            let trials: Vec<TrialResult> = (1..=6).map(of).collect();
            let told = steadiness(&trials.iter().collect::<Vec<_>>(), &Series::new(), DETECT).unwrap();
            (told.steadiness.name(), told.told, told.unsteady)
        };
        // Databases differ, and none changes.
        assert_eq!(judge(&|repeat| vec![1000.0 + 50.0 * f64::from(repeat); 10]), ("steady", 6, 0));
        let falls = |_| (0..10).map(|slice| 1000.0 - 40.0 * f64::from(slice)).collect();
        assert_eq!(judge(&falls), ("not steady", 6, 6));
        assert_eq!(judge(&|repeat| vec![1000.0; if repeat < 3 { 10 } else { 1 }]), ("not told", 0, 0));
    }

    #[test]
    fn a_cell_is_judged_by_half_of_its_trials_and_loads_are_not() {
        let trials: Vec<TrialResult> = (1..=4).map(|repeat| result("lmdb", 1, repeat, 100.0)).collect();
        let (flat, stepped) = ([100.0; 60], [[100.0; 30], [50.0; 30]].concat());
        let judge = |kinds: &[&[f64]]| {
            let series = trials.iter().zip(kinds).map(|(one, rates)| (one.trial.clone(), points(OpKind::Get, rates)));
            let series: Series = series.collect();
            let all: Vec<&TrialResult> = trials.iter().collect();
            let told = steadiness(&all, &series, DETECT).unwrap();
            (told.steadiness.name(), told.told, told.unsteady)
        };
        assert_eq!(judge(&[&flat, &flat, &flat, &stepped]), ("steady", 4, 1));
        assert_eq!(judge(&[&flat, &stepped, &flat, &stepped]), ("not steady", 4, 2));
        assert_eq!(judge(&[&stepped, &[], &flat[..3], &[]]), ("not steady", 1, 1));
        assert_eq!(judge(&[]), ("not told", 0, 0));
        let mut load = result("lmdb", 1, 1, 100.0);
        load.trial.phase = Phase::Load;
        assert_eq!(steadiness(&[&load], &Series::new(), DETECT), None);
        assert_eq!(steadiness(&[&failed("lmdb", 1, 1)], &Series::new(), DETECT), None);
    }

    /// The trials have 60 points that vary by a twentieth.
    #[test]
    fn few_steady_trials_are_taken_for_others() {
        let run = result("lmdb", 1, 1, 100.0);
        let unsteady = (0..400).filter(|seed| of(&run, &noisy(*seed, 60, 0.05, 0.3)) != Steadiness::Steady).count();
        assert!(unsteady <= 20, "{unsteady} of 400");
    }
}
