//! Trials that repeat each other.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{CellKey, OpKind, RequestedWork, SeriesPoint, Side, TrialKey, TrialResult};

use crate::calm::{CalmRepeats, interfered_repeats};
use crate::estimate::median;
use crate::interference::is_too_much_by_itself;
use crate::latency::LatencyPool;
use crate::machines::{RepeatMachines, standing_out, values_of};
use crate::verdicts::Looks;
use crate::{CellLatency, Estimate};

/// The time series of trials. A trial without one need not be in it.
pub type Series = BTreeMap<TrialKey, Vec<SeriesPoint>>;

/// One cell of an experiment's matrix: the trials that repeat each other, and their figures together. Failed trials
/// are kept, and take no part in any figure.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// Its identity.
    pub key: CellKey,
    /// Trials that ended well, in order.
    pub finished: Vec<&'a TrialResult>,
    /// Trials that failed, in order.
    pub failed: Vec<&'a TrialResult>,
    /// Records read a second; absent if no trial finished, or none reads.
    pub reads_per_s: Option<Estimate>,
    /// Records written a second; absent if no trial finished, or none writes.
    pub writes_per_s: Option<Estimate>,
    /// From a worker's start to its end, seconds; absent if no trial finished.
    pub wall_s: Option<Estimate>,
    /// An entry for each kind of operation; none if no trial finished.
    pub latencies: Vec<CellLatency>,
    /// Repeats of its work in which others took so much of the machine from a trial, of this cell or of one beside it,
    /// that the figures are about them. While they are fewer than the others, rates and verdicts leave them out; else
    /// rates leave out those of the cell itself, while these are fewer.
    pub interfered: BTreeSet<u32>,
    /// The machine of each repeat, where they are of several: a machine is one value of figures and verdicts.
    pub machines: RepeatMachines,
}

impl<'a> Cell<'a> {
    /// One of its trials, a finished one if there is any; a cell has at least one.
    pub fn first(&self) -> Option<&'a TrialResult> {
        self.finished.first().or(self.failed.first()).copied()
    }

    /// The work that its trials were asked for.
    pub fn work(&self) -> Option<RequestedWork> {
        self.first().map(RequestedWork::of)
    }

    /// The median of a figure over the finished trials; absent where none of them has it.
    pub fn median(&self, figure: impl Fn(&TrialResult) -> Option<f64>) -> Option<f64> {
        median(self.finished.iter().filter_map(|result| figure(result)).collect())
    }

    /// The mean of a figure over the finished trials with its interval; absent where none of them has it.
    pub fn mean(&self, figure: impl Fn(&TrialResult) -> Option<f64>) -> Option<Estimate> {
        let with_repeat = |result: &&TrialResult| Some((result.trial.repeat, figure(result)?));
        let figures: Vec<(u32, f64)> = self.finished.iter().filter_map(with_repeat).collect();
        Estimate::of_repeats(&figures, &self.machines)
    }

    /// Another rate of its finished trials, in the middle, made as those of its sides are; absent where none has it.
    pub fn rate_by(&self, rate: impl Fn(&TrialResult) -> Option<f64>) -> Option<f64> {
        let calm = self.calm(&self.interfered).into_iter();
        let rates: Vec<(u32, f64)> = calm.filter_map(|result| Some((result.trial.repeat, rate(result)?))).collect();
        Some(rate_of_repeats(&rates, &self.machines, Looks::Once)?.value)
    }

    /// The rate of a side's records; absent if no trial finished, or none does such work.
    pub fn rate(&self, side: Side) -> Option<&Estimate> {
        match side {
            Side::Reads => self.reads_per_s.as_ref(),
            Side::Writes => self.writes_per_s.as_ref(),
        }
    }

    /// Its own repeats with too much interference to be compared with those of another time.
    pub(crate) fn interfered_by_itself(&self) -> BTreeSet<u32> {
        let interfered = self.finished.iter().filter(|result| is_too_much_by_itself(result));
        interfered.map(|result| result.trial.repeat).collect()
    }

    /// The machines on which a side's rate lies far from that of the others, each with its rate over the median of all.
    pub fn machines_standing_out(&self, side: Side) -> Vec<(usize, f64)> {
        let calm = self.finished.iter().filter(|result| !self.interfered.contains(&result.trial.repeat));
        let rates = calm.map(|result| (result.trial.repeat, result.rate(side)));
        standing_out(rates.filter(|(_, rate)| *rate > 0.0), &self.machines)
    }

    /// Sets its rates and the repeats that they leave out.
    fn rate_without(
        &mut self,
        interfered: BTreeSet<u32>,
        series: &Series,
        looks: impl Fn(&TrialResult, Side) -> Looks,
    ) {
        let calm = self.calm(&interfered);
        let looks = |side| self.finished.first().map_or(Looks::Once, |first| looks(first, side));
        self.reads_per_s = rate(&calm, (series, &self.machines), (Side::Reads, looks(Side::Reads)));
        self.writes_per_s = rate(&calm, (series, &self.machines), (Side::Writes, looks(Side::Writes)));
        self.interfered = interfered;
    }

    /// The finished trials that rates are made of, if these repeats were interfered with.
    fn calm(&self, interfered: &BTreeSet<u32>) -> Vec<&'a TrialResult> {
        let repeats = self.finished.iter().map(|result| result.trial.repeat).collect();
        let calm_repeats = CalmRepeats::of_cell(&repeats, interfered, &self.interfered_by_itself());
        self.finished.iter().copied().filter(|result| calm_repeats.keep(result.trial.repeat)).collect()
    }

    /// The latency of the kind of read or of write that it made most of.
    pub fn main_latency(&self, side: Side) -> Option<&CellLatency> {
        self.latencies.iter().filter(|latency| latency.side == side).max_by_key(|latency| latency.operations)
    }
}

/// Groups trials into cells, in the order in which each cell's first trial ran. Trials are pooled only if they did the
/// same work on the same version with the same settings: under one key there can be two cells if they did not.
/// `machines` are those of the repeats; `looks` are those at the interval of a side's rate of trials like one.
///
/// # Errors
/// If a trial's log of latencies, for which `log` is called, cannot be had; a trial without one has an empty one.
pub fn cells<'a, E>(
    results: &'a [TrialResult],
    (series, machines): (&Series, &RepeatMachines),
    looks: impl Fn(&TrialResult, Side) -> Looks,
    mut log: impl FnMut(&TrialKey) -> Result<LatencyLog, E>,
) -> Result<Vec<Cell<'a>>, E> {
    let mut groups: Vec<Vec<&TrialResult>> = Vec::new();
    for result in results {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| repeats(first, result))) {
            Some(group) => group.push(result),
            None => groups.push(vec![result]),
        }
    }
    let mut cells = groups
        .into_iter()
        .filter_map(|group| cell(group, machines, &mut log).transpose())
        .collect::<Result<Vec<_>, _>>()?;
    let interfered = interfered_repeats(&cells);
    cells.iter_mut().zip(interfered).for_each(|(cell, interfered)| cell.rate_without(interfered, series, &looks));
    Ok(cells)
}

/// The same of the results alone, for what needs no latencies and no intervals of single trials.
pub fn cells_of_results(results: &[TrialResult]) -> Vec<Cell<'_>> {
    cells_on_machines(results, &RepeatMachines::new())
}

/// The same of results that may be of several machines.
pub fn cells_on_machines<'a>(results: &'a [TrialResult], machines: &RepeatMachines) -> Vec<Cell<'a>> {
    let once = |_: &TrialResult, _| Looks::Once;
    let Ok(cells) = cells(results, (&Series::new(), machines), once, |_| Ok::<_, Infallible>(LatencyLog::new()));
    cells
}

/// Whether one trial repeats another. One that failed may know nothing of its engine, so its set-up does not count.
fn repeats(one: &TrialResult, other: &TrialResult) -> bool {
    let setup = |result: &TrialResult| (result.engine.version.clone(), result.engine.settings.clone());
    let same_setup = || !one.is_finished() || !other.is_finished() || setup(one) == setup(other);
    CellKey::from(&one.trial) == CellKey::from(&other.trial)
        && RequestedWork::of(one) == RequestedWork::of(other)
        && same_setup()
}

/// A cell whose rates and interference are not known yet: these depend on the cells beside it.
fn cell<'a, E>(
    trials: Vec<&'a TrialResult>,
    machines: &RepeatMachines,
    log: &mut impl FnMut(&TrialKey) -> Result<LatencyLog, E>,
) -> Result<Option<Cell<'a>>, E> {
    let Some(first) = trials.first() else { return Ok(None) };
    let key = CellKey::from(&first.trial);
    let (finished, failed): (Vec<_>, Vec<_>) = trials.into_iter().partition(|result| result.is_finished());
    let mut latencies = LatencyPool::default();
    for result in &finished {
        latencies.add(result, log(&result.trial)?);
    }
    let walls: Vec<(u32, f64)> = finished.iter().map(|result| (result.trial.repeat, result.os.wall_s)).collect();
    Ok(Some(Cell {
        key,
        reads_per_s: None,
        writes_per_s: None,
        wall_s: Estimate::of_repeats(&walls, machines),
        latencies: latencies.finish(machines),
        finished,
        failed,
        interfered: BTreeSet::new(),
        machines: machines.clone(),
    }))
}

/// The rate of one side: from the repeats if there are any, else from the only trial's own time series.
fn rate(
    finished: &[&TrialResult],
    (series, machines): (&Series, &RepeatMachines),
    (side, looks): (Side, Looks),
) -> Option<Estimate> {
    let has_rate = |result: &TrialResult| !result.has_no_rate() || !result.workload.is_searched(side);
    let does = |result: &&TrialResult| has_rate(result) && result.operations.iter().any(|o| o.side() == side);
    let with_repeat = |result: &TrialResult| (result.trial.repeat, result.rate(side));
    let rates: Vec<(u32, f64)> = finished.iter().copied().filter(does).map(with_repeat).collect();
    match (rates.as_slice(), finished) {
        ([(_, value)], [result]) => {
            // Parts of a window in which other roles work are no repeats of each other.
            let points = series.get(&result.trial).filter(|_| !result.workload.has_partial_roles());
            let points = points.map(|points| point_rates(result, points, side));
            Some(Estimate::from_series(*value, &points.unwrap_or_default()))
        }
        _ => rate_of_repeats(&rates, machines, looks),
    }
}

/// The rate that each repeat has; where they are of several machines, of the means of each.
fn rate_of_repeats(rates: &[(u32, f64)], machines: &RepeatMachines, looks: Looks) -> Option<Estimate> {
    if machines.is_empty() {
        return Estimate::of_rates(&rates.iter().map(|(_, rate)| *rate).collect::<Vec<_>>(), looks);
    }
    let logs = rates.iter().map(|(repeat, rate)| (*repeat, rate.ln()));
    Estimate::of_machines(&values_of(logs, machines), rates.len())
}

/// The work of one side at one point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointRate {
    /// The point's length.
    pub(crate) seconds: f64,
    /// Records of all kinds of the side.
    pub(crate) records: f64,
}

impl PointRate {
    /// Records a second.
    pub(crate) fn per_s(&self) -> f64 {
        self.records / self.seconds
    }

    /// Records a second of several points, each by its time.
    pub(crate) fn together(points: &[PointRate]) -> f64 {
        let sum = |of: fn(&PointRate) -> f64| points.iter().map(of).sum::<f64>();
        sum(|point| point.records) / sum(|point| point.seconds)
    }
}

/// Records a second at each point of [`whole_points`].
fn point_rates(result: &TrialResult, points: &[SeriesPoint], side: Side) -> Vec<f64> {
    whole_points(result, points, side).iter().map(PointRate::per_s).collect()
}

/// The points of the window in order, all kinds of the side together. A point at which nothing of the side ended counts
/// as 0, and one that the window's end cut short is left out.
pub(crate) fn whole_points(result: &TrialResult, points: &[SeriesPoint], side: Side) -> Vec<PointRate> {
    let wanted = |kind: OpKind| result.operations.iter().any(|o| o.kind == kind && o.side() == side);
    let mut sums: BTreeMap<i64, PointRate> = BTreeMap::new();
    for point in points.iter().filter(|point| point.end_s - point.seconds > -1e-3 && point.seconds > 0.0) {
        let empty = PointRate { seconds: point.seconds, records: 0.0 };
        let sum = sums.entry((point.end_s * 1e6) as i64).or_insert(empty);
        if wanted(point.kind) {
            sum.records += point.records as f64;
        }
    }
    let longest = sums.values().map(|point| point.seconds).fold(0.0, f64::max);
    sums.into_values().filter(|point| point.seconds > longest / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use kvdyno_results::Operations;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{failed, points, result};

    fn cells<'a>(results: &'a [TrialResult], series: &Series) -> Vec<Cell<'a>> {
        let none = |_: &TrialKey| Ok::<_, std::convert::Infallible>(LatencyLog::new());
        super::cells(results, (series, &RepeatMachines::new()), |_, _| Looks::Once, none).unwrap()
    }

    #[test]
    fn repeats_share_a_cell_and_failed_ones_stay_apart() {
        let results = [
            result("lmdb", 1, 1, 100.0),
            result("lmdb", 2, 1, 50.0),
            result("lmdb", 1, 2, 120.0),
            failed("lmdb", 1, 3),
        ];
        let cells = cells(&results, &Series::new());
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].key.readers, cells[0].finished.len(), cells[0].failed.len()), (1, 2, 1));
        let reads = cells[0].reads_per_s.as_ref().unwrap();
        assert!((reads.value - (100.0f64 * 120.0).sqrt()).abs() < 1e-9 && reads.n == 2, "{reads:?}");
        assert_eq!(cells[1].reads_per_s.as_ref().unwrap().low, None);
    }

    #[test]
    fn a_cell_of_failures_has_no_figures() {
        let results = [failed("lmdb", 1, 1)];
        let cells = cells(&results, &Series::new());
        assert_eq!(cells[0].failed.len(), 1);
        assert!(cells[0].reads_per_s.is_none() && cells[0].wall_s.is_none());
        assert_eq!(cells[0].median(|r| Some(r.os.wall_s)), None);
    }

    #[test]
    fn other_work_or_another_version_is_not_a_repeat() {
        let mut other = result("lmdb", 1, 2, 100.0);
        other.workload.value_size *= 2;
        let mut newer = result("lmdb", 1, 3, 100.0);
        newer.engine.version = "9".into();
        assert_eq!(cells(&[result("lmdb", 1, 1, 100.0), other, newer], &Series::new()).len(), 3);
    }

    #[test]
    fn another_seed_is_still_a_repeat() {
        let mut other = result("lmdb", 1, 2, 100.0);
        other.workload.seed = 99;
        assert_eq!(cells(&[result("lmdb", 1, 1, 100.0), other], &Series::new()).len(), 1);
    }

    #[test]
    fn one_trial_takes_its_interval_from_its_series() {
        let results = [result("lmdb", 1, 1, 100.0)];
        let rates = [100.0, 104.0, 97.0, 99.0, 102.0, 98.0, 101.0, 99.0];
        let series = Series::from([(results[0].trial.clone(), points(OpKind::Get, &rates))]);
        let cells = cells(&results, &series);
        let reads = cells[0].reads_per_s.as_ref().unwrap();
        assert_eq!(reads.method.to_string(), "1 trial, 8 points");
        assert!(reads.relative().unwrap() < 0.05);
    }

    #[test]
    fn parts_of_a_window_are_no_repeats_of_each_other() {
        let mut one = result("lmdb", 1, 1, 100.0);
        one.workload.roles = vec![crate::testing::role_until(5.0)];
        let results = [one];
        let series =
            Series::from([(results[0].trial.clone(), points(OpKind::Get, &[[200.0; 30], [0.0; 30]].concat()))]);
        let reads = cells(&results, &series).remove(0).reads_per_s.unwrap();
        assert_eq!((reads.value, reads.low), (100.0, None));
    }

    /// The warm-up, the stump at the end, and a point at which only the other kind ended.
    #[test]
    fn only_whole_points_of_the_window_count_and_silence_counts_as_nothing() {
        let mut result = result("lmdb", 1, 1, 100.0);
        result.operations.push(Operations { kind: OpKind::Put, ..result.operations[0].clone() });
        let mut all = points(OpKind::Get, &[100.0, 100.0, 100.0]);
        all[0].end_s = 0.0;
        all.extend(points(OpKind::Put, &[5.0, 5.0, 5.0, 5.0]));
        let mut stump = points(OpKind::Get, &[1.0]).remove(0);
        (stump.end_s, stump.seconds) = (4.1, 0.1);
        all.push(stump);
        assert_eq!(point_rates(&result, &all, Side::Reads), [0.0, 100.0, 100.0, 0.0]);
        assert_eq!(point_rates(&result, &all, Side::Writes), [5.0, 5.0, 5.0, 5.0]);
    }

    proptest! {
        #[test]
        fn no_trial_is_lost(trials in prop::collection::vec((1u32..4, 1u32..4, any::<bool>()), 0..40)) {
            let results: Vec<TrialResult> = trials
                .iter()
                .map(|(readers, repeat, good)| match good {
                    true => result("lmdb", *readers, *repeat, 100.0),
                    false => failed("lmdb", *readers, *repeat),
                })
                .collect();
            let cells = cells(&results, &Series::new());
            let kept: usize = cells.iter().map(|cell| cell.finished.len() + cell.failed.len()).sum();
            prop_assert_eq!(kept, results.len());
        }

        #[test]
        fn a_median_lies_between_its_values(walls in prop::collection::vec(0.1f64..1e5, 1..9)) {
            let results: Vec<TrialResult> = (1u32..)
                .zip(&walls)
                .map(|(repeat, wall)| {
                    let mut result = result("lmdb", 1, repeat, 100.0);
                    result.os.wall_s = *wall;
                    result
                })
                .collect();
            let cells = cells(&results, &Series::new());
            let median = cells[0].median(|r| Some(r.os.wall_s)).unwrap();
            let below = walls.iter().filter(|w| **w <= median).count();
            let above = walls.iter().filter(|w| **w >= median).count();
            prop_assert!(2 * below >= walls.len() && 2 * above >= walls.len());
        }
    }
}
