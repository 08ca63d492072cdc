//! The latencies of a cell.

use hdrhistogram::Histogram;
use kvdyno_results::latency_log::{LatencyLog, merge};
use kvdyno_results::{Latency, OpKind, Percentile, Side, TrialResult};

use crate::Estimate;
use crate::estimate::{mean, median};
use crate::machines::RepeatMachines;

/// The latency of one kind of operation over the trials of a cell, nanoseconds.
///
/// Percentiles are those of the merged histograms of all trials. The mean of the trials' percentiles would not be a
/// percentile of any distribution, and would weight a trial of few operations as much as one of many.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLatency {
    /// The kind.
    pub kind: OpKind,
    /// Whether it reads or writes.
    pub side: Side,
    /// Operations of all trials.
    pub operations: u64,
    /// Least, mean and greatest, and the percentiles without their intervals.
    pub latency: Latency,
    /// The mean of the trials' own percentiles with its 95 % interval, in the order of [`Percentile::ALL`].
    own: [Estimate; Percentile::ALL.len()],
    /// Trials that made such operations.
    pub trials: usize,
    /// Whether the logs of all trials were there to be merged; if not, each figure is the median of the trials' own.
    pub is_merged: bool,
    /// The share of its time that went to operations of more than [`SLOW`] medians, of 1; absent if nothing is merged.
    pub slow_time_share: Option<f64>,
    /// The merged histogram as a curve, from the least latency to the greatest; empty if there is none.
    pub curve: Vec<CurvePoint>,
}

/// A point of a curve of latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The share of operations that took longer, as its negative decimal logarithm: 2 for 99 %, 3 for 99.9 %.
    pub nines: f64,
    /// The latency that the others had at most, nanoseconds.
    pub ns: u64,
}

/// From so many medians on an operation is a slow one.
pub const SLOW: u64 = 10;

/// Points of a curve for each nine. Ten nines are two hundred, and more than any trial has.
const POINTS_OF_A_NINE: u32 = 20;
/// Points of a curve at the most.
const MOST_POINTS: u32 = 200;

impl CellLatency {
    /// A percentile with the interval of the trials' own, nanoseconds.
    pub fn estimate(&self, percentile: Percentile) -> Estimate {
        let value = self.latency.at(percentile) as f64;
        let own = &self.own[percentile as usize];
        match own.high {
            Some(high) => Estimate::around(value, high - own.value, own.n, own.method),
            None => Estimate { value, ..own.clone() },
        }
    }
}

/// Takes in the trials of a cell one after the other, so that one log at a time is in memory.
#[derive(Default)]
pub(crate) struct LatencyPool {
    kinds: Vec<KindPool>,
}

/// The trials' latencies of one kind of operation.
struct KindPool {
    kind: OpKind,
    side: Side,
    operations: u64,
    /// Each with its repeat.
    own: Vec<(u32, Latency)>,
    merged: Option<Histogram<u64>>,
    is_complete: bool,
}

impl LatencyPool {
    /// Takes in a trial with its log.
    pub(crate) fn add(&mut self, result: &TrialResult, mut log: LatencyLog) {
        for operations in result.operations.iter().filter(|operations| operations.operations > 0) {
            let pool = self.of_kind(operations.kind, operations.side());
            pool.operations += operations.operations;
            pool.own.push((result.trial.repeat, operations.latency));
            pool.merge(log.remove(&operations.kind));
        }
    }

    /// The latency of each kind, in the order of their first appearance. `machines` are those of the repeats.
    pub(crate) fn finish(self, machines: &RepeatMachines) -> Vec<CellLatency> {
        self.kinds.into_iter().map(|pool| pool.finish(machines)).collect()
    }

    fn of_kind(&mut self, kind: OpKind, side: Side) -> &mut KindPool {
        let known = self.kinds.iter().position(|pool| pool.kind == kind);
        let index = known.unwrap_or(self.kinds.len());
        if known.is_none() {
            self.kinds.push(KindPool { kind, side, operations: 0, own: Vec::new(), merged: None, is_complete: true });
        }
        &mut self.kinds[index]
    }
}

impl KindPool {
    fn merge(&mut self, histogram: Option<Histogram<u64>>) {
        let done = match (&mut self.merged, histogram) {
            (Some(merged), Some(histogram)) => merge(merged, &histogram).is_ok(),
            (merged @ None, Some(histogram)) => {
                *merged = Some(histogram);
                true
            }
            (_, None) => false,
        };
        self.is_complete &= done;
    }

    fn finish(self, machines: &RepeatMachines) -> CellLatency {
        let merged = self.merged.filter(|_| self.is_complete);
        let own = |percentile: Percentile| {
            let values: Vec<(u32, f64)> =
                self.own.iter().map(|(repeat, latency)| (*repeat, latency.at(percentile) as f64)).collect();
            Estimate::of_repeats(&values, machines).unwrap_or_else(|| Estimate::single(0.0))
        };
        CellLatency {
            side: self.side,
            operations: self.operations,
            is_merged: merged.is_some(),
            slow_time_share: merged.as_ref().and_then(slow_time_share),
            curve: merged.as_ref().map(curve).unwrap_or_default(),
            latency: merged.as_ref().map_or_else(|| medians(&self.own), Latency::from),
            own: Percentile::ALL.map(own),
            trials: self.own.len(),
            kind: self.kind,
        }
    }
}

/// The share of all time in operations of more than [`SLOW`] medians; absent if all of them took none.
fn slow_time_share(histogram: &Histogram<u64>) -> Option<f64> {
    let least = SLOW * histogram.value_at_quantile(0.5);
    let (mut slow, mut all) = (0.0, 0.0);
    for step in histogram.iter_recorded() {
        let time = step.count_at_value() as f64 * histogram.median_equivalent(step.value_iterated_to()) as f64;
        all += time;
        slow += if step.value_iterated_to() > least { time } else { 0.0 };
    }
    (all > 0.0).then(|| slow / all)
}

/// The curve of a histogram, up to the last percentile that its operations resolve: 1000 of them resolve 99.9 %, but
/// not 99.99 %. The values are passed once.
fn curve(histogram: &Histogram<u64>) -> Vec<CurvePoint> {
    let all = histogram.len() as f64;
    let nines = |nth: u32| f64::from(nth) / f64::from(POINTS_OF_A_NINE);
    let known = (0..MOST_POINTS).take_while(|nth| 10f64.powf(nines(*nth)) <= all * (1.0 + 1e-9));
    let mut wanted = known.map(nines).peekable();
    let (mut points, mut passed) = (Vec::new(), 0.0);
    for step in histogram.iter_recorded() {
        passed += step.count_at_value() as f64;
        // The histogram defines percentiles so: the value that at least so many operations do not exceed.
        while let Some(nines) = wanted.next_if(|nines| (all * (1.0 - 10f64.powf(-nines))).max(1.0) <= passed + 1e-6) {
            points.push(CurvePoint { nines, ns: histogram.highest_equivalent(step.value_iterated_to()) });
        }
    }
    points
}

/// The trials' own figures combined, as a substitute where a log is missing: the median of each percentile, the mean of
/// the means, the least and the greatest latency.
fn medians(own: &[(u32, Latency)]) -> Latency {
    let own = || own.iter().map(|(_, latency)| latency);
    let values = |figure: &dyn Fn(&Latency) -> u64| own().map(|latency| figure(latency) as f64).collect::<Vec<_>>();
    let middle = |figure: &dyn Fn(&Latency) -> u64| median(values(figure)).unwrap_or(0.0).round() as u64;
    Latency {
        min_ns: own().map(|latency| latency.min_ns).min().unwrap_or(0),
        mean_ns: mean(&values(&|latency| latency.mean_ns)).round() as u64,
        percentiles: kvdyno_results::Percentiles::from_fn(|percentile| middle(&|latency| latency.at(percentile))),
        max_ns: own().map(|latency| latency.max_ns).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::result;

    fn trial(repeat: u32, values: &[u64]) -> (TrialResult, LatencyLog) {
        let mut histogram = Histogram::new(3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        let mut result = result("lmdb", 1, repeat, 100.0);
        result.operations[0].operations = values.len() as u64;
        result.operations[0].latency = Latency::from(&histogram);
        (result, LatencyLog::from([(OpKind::Get, histogram)]))
    }

    fn pooled(trials: Vec<(TrialResult, LatencyLog)>) -> CellLatency {
        pooled_on(trials, &RepeatMachines::new())
    }

    fn pooled_on(trials: Vec<(TrialResult, LatencyLog)>, machines: &RepeatMachines) -> CellLatency {
        let mut pool = LatencyPool::default();
        trials.into_iter().for_each(|(result, log)| pool.add(&result, log));
        let mut latencies = pool.finish(machines);
        assert_eq!(latencies.len(), 1);
        latencies.remove(0)
    }

    /// 99 operations of 100 ns in one trial, one of 1000 ns in the other: of the hundred together, all but one took at
    /// most 100 ns. The median of the two p99 would be 550.
    #[test]
    fn a_percentile_is_that_of_all_operations_together() {
        let pooled = pooled(vec![trial(1, &[100; 99]), trial(2, &[1000])]);
        assert!(pooled.is_merged && pooled.operations == 100 && pooled.trials == 2);
        assert_eq!(Percentile::ALL.map(|p| pooled.latency.at(p)), [100, 100, 100, 1000, 1000]);
        assert_eq!((pooled.latency.min_ns, pooled.latency.mean_ns, pooled.latency.max_ns), (100, 109, 1000));
    }

    #[test]
    fn slow_operations_are_those_of_more_than_ten_medians() {
        let of = |values: &[u64]| pooled(vec![trial(1, values)]).slow_time_share.unwrap();
        assert_eq!(of(&[100; 50]), 0.0);
        assert!((of(&[100, 100, 100, 900, 900]) - 0.0).abs() < 1e-9, "nine medians");
        assert!((of(&[100, 100, 100, 1200, 500]) - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_curve_is_that_of_all_operations_together_and_ends_with_them() {
        let pooled = pooled(vec![trial(1, &[100; 990]), trial(2, &[1000; 10])]);
        let (first, last) = (pooled.curve[0], pooled.curve[pooled.curve.len() - 1]);
        assert_eq!((first, last), (CurvePoint { nines: 0.0, ns: 100 }, CurvePoint { nines: 3.0, ns: 1000 }));
        let slow = pooled.curve.iter().find(|point| point.ns > 100).unwrap();
        assert!((slow.nines - 2.05).abs() < 1e-9, "{slow:?}");
        assert_eq!(pooled.curve.len(), 61);
    }

    #[test]
    fn a_curve_agrees_with_percentiles_and_is_short() {
        let mut histogram = Histogram::new(3).unwrap();
        (1..=100_000u64).for_each(|value| histogram.record_n(value * value, 1 << 40).unwrap());
        let curve = curve(&histogram);
        assert_eq!(curve.len(), MOST_POINTS as usize);
        let at = |nines: f64| curve.iter().find(|point| (point.nines - nines).abs() < 1e-9).unwrap().ns;
        for (nines, quantile) in [(1.0, 0.9), (2.0, 0.99), (3.0, 0.999), (4.0, 0.9999)] {
            assert_eq!(at(nines), histogram.value_at_quantile(quantile));
        }
    }

    /// The interval by hand: p50 of 10, 12 and 14 have s = 2, t(2) = 4.303: give and take 4.97.
    #[test]
    fn its_interval_is_that_of_the_repeats() {
        let pooled = pooled(vec![trial(1, &[10; 10]), trial(2, &[12; 10]), trial(3, &[14; 10])]);
        let estimate = pooled.estimate(Percentile::P50);
        assert_eq!((estimate.value, estimate.n, estimate.method.to_string()), (12.0, 3, "3 repeats".to_owned()));
        assert!((estimate.low.unwrap() - 7.032).abs() < 0.001 && (estimate.high.unwrap() - 16.968).abs() < 0.001);
    }

    /// Two repeats on each: the means of five machines are 10.5, 12.5 to 18.5 with s = 3.162, and t(4) = 2.776, so give
    /// and take 3.926. The ten repeats as if of one machine would have 2.166.
    #[test]
    fn repeats_on_several_machines_have_the_interval_of_machines() {
        let on = |machines: u32| {
            let trials = (0..2 * machines).map(|index| trial(index + 1, &[u64::from(10 + index); 10])).collect();
            let machines = (0..2 * machines).map(|index| (index + 1, index as usize / 2)).collect();
            pooled_on(trials, &machines).estimate(Percentile::P50)
        };
        let of_five = on(5);
        assert_eq!((of_five.n, of_five.method.to_string()), (10, "10 repeats on 5 machines".to_owned()));
        assert!((of_five.high.unwrap() - of_five.value - 3.926).abs() < 0.001, "{of_five:?}");
        assert_eq!((on(4).low, on(4).method.to_string()), (None, "8 repeats on 4 machines".to_owned()), "too few");
    }

    #[test]
    fn one_trial_has_no_interval() {
        let pooled = pooled(vec![trial(1, &[10, 20, 30])]);
        assert_eq!(pooled.estimate(Percentile::P50), Estimate::single(20.0));
    }

    #[test]
    fn where_a_log_is_missing_the_trials_own_figures_stand() {
        let without = |(result, _): (TrialResult, LatencyLog)| (result, LatencyLog::new());
        let pooled = pooled(vec![trial(1, &[100; 99]), without(trial(2, &[300])), trial(3, &[200])]);
        assert!(!pooled.is_merged && pooled.curve.is_empty());
        assert_eq!(pooled.latency.at(Percentile::P99), 200);
        assert_eq!((pooled.latency.min_ns, pooled.latency.mean_ns, pooled.latency.max_ns), (100, 200, 300));
        assert!(pooled.estimate(Percentile::P99).high.is_some());
    }
}
