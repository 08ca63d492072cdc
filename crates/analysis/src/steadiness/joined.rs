//! Trials that are too short by themselves, put together: what all of them did in the same part of their time.
//!
//! A step in the middle of all trials is also a step of the joined series. A trial may be faster than another
//! throughout, because of the location of its database. This is no change, so each trial is divided by its own mean. A
//! change that takes longer than a trial is in no trial, and is not detected.

use kvdyno_results::Side;

use super::{FEWEST_POINTS, Rates, Steadiness, of_rates, rounds};
use crate::cells::PointRate;

/// Their verdict together; `None` if there is too little.
pub(super) fn steadiness(trials: &[Rates], detect: f64) -> Option<Steadiness> {
    let of_side = |side: Side| {
        let of_trial = |rates: &Rates| rates.iter().find(|(of, _)| *of == side).map(|(_, rates)| rates.clone());
        (side, joined(&trials.iter().filter_map(of_trial).collect::<Vec<_>>()))
    };
    let all: Rates = Side::ALL.into_iter().map(of_side).filter(|(_, rates)| rates.len() >= FEWEST_POINTS).collect();
    (!all.is_empty()).then(|| of_rates(&all, detect))
}

/// The points of all trials that have one for each round at least, by their place in their trial, each over its trial's
/// mean.
fn joined(trials: &[Vec<PointRate>]) -> Vec<PointRate> {
    let mut points: Vec<(f64, PointRate)> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.len() >= rounds::ROUNDS) {
        let mean = PointRate::together(trial);
        if mean > 0.0 {
            let position = |index: usize| (index as f64 + 0.5) / trial.len() as f64;
            points.extend(
                trial
                    .iter()
                    .enumerate()
                    .map(|(index, point)| (position(index), PointRate { records: point.records / mean, ..*point })),
            );
        }
    }
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    points.into_iter().map(|(_, point)| point).collect()
}
