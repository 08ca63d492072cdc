//! Rates and latencies over the measured window.

use std::collections::BTreeMap;

use kvdyno_results::{Percentile, SeriesPoint, Side, TrialResult};

use super::drawn::{DrawnChart, FurtherDrawing};
use super::line_chart::{LineChart, Point};
use super::paint::paint_choices;
use super::script_chart::ChartChoice;
use super::ticks::Axis;
use super::time_charts::{MOST_POINTS, TimeSubject, painted_time_charts, time_charts};
use crate::error::ReportError;
use crate::study::{Study, StudyCell};

/// An engine stalls where it does less than this part of its median rate.
const STALL: f64 = 0.1;

/// A figure over time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeFigure {
    /// Records a second.
    Rate,
    /// Percentiles of latencies: one is shown, the page has a switch for the others.
    Latency,
}

/// The percentiles over time. The first is shown: the tail that every point has operations enough for.
const PERCENTILES: [Percentile; 3] = [Percentile::P99, Percentile::P50, Percentile::P99_9];

/// One point of a trial, all kinds of a side together.
#[derive(Clone, Copy, Default)]
struct Moment {
    end_s: f64,
    rate: f64,
    /// The latencies at [`PERCENTILES`].
    latencies_ns: [f64; PERCENTILES.len()],
    is_stall: bool,
}

/// A figure of one side over time for each number of threads, a line an engine: of each cell, its first finished trial.
/// The measured windows of all begin together.
pub(super) fn over_time(
    study: &Study<'_>,
    workload: &str,
    side: Side,
    figure: TimeFigure,
) -> Result<Vec<DrawnChart>, ReportError> {
    if figure == TimeFigure::Rate {
        let axis = |heights: &[f64]| Axis::rate(&format!("{side}/s"), heights.iter().copied().fold(0.0, f64::max));
        let subject = TimeSubject { what: &format!("{side} a second"), axis: &axis };
        return painted_time_charts(study, workload, &subject, |cell| points(study, cell, side, |moment| moment.rate));
    }
    let of_percentile = |nth: usize| {
        let what = format!("{} of {side}", PERCENTILES[nth]);
        let axis = |heights: &[f64]| Axis::latency(&what, heights.iter().map(|height| 10f64.powf(*height)));
        let height = |moment: &Moment| moment.latencies_ns[nth].max(1.0).log10();
        time_charts(study, workload, &TimeSubject { what: &what, axis: &axis }, |cell| {
            points(study, cell, side, height)
        })
    };
    let [shown, others @ ..] = [0, 1, 2].map(of_percentile);
    let paint = |(nth, chart): (usize, &LineChart)| with_choices(chart, others.each_ref().map(|charts| &charts[nth]));
    shown.iter().enumerate().map(paint).collect()
}

/// A chart of the first percentile that the page can switch to the others. On paper there is the first; files have all.
fn with_choices(chart: &LineChart, others: [&LineChart; 2]) -> Result<DrawnChart, ReportError> {
    let [shown, names @ ..] = PERCENTILES.map(|percentile| percentile.to_string());
    let choices: [ChartChoice<'_>; 2] =
        std::array::from_fn(|nth| ChartChoice { name: &names[nth], chart: others[nth] });
    let further = |choice: &ChartChoice<'_>| {
        let svg = choice.chart.draw()?;
        Ok(FurtherDrawing { words: format!("instead {}", choice.name), svg, is_on_paper: false })
    };
    let drawn = paint_choices(chart, &shown, &choices)?;
    let stem = format!("{} {shown}", drawn.caption);
    let further = choices.iter().map(further).collect::<Result<_, ReportError>>()?;
    Ok(DrawnChart { further, stem, ..drawn })
}

fn points(study: &Study<'_>, cell: &StudyCell<'_>, side: Side, height: impl Fn(&Moment) -> f64) -> Vec<Point> {
    let result = cell.finished.first();
    let Some((result, series)) = result.and_then(|result| Some((result, study.series.get(&result.trial)?))) else {
        return Vec::new();
    };
    let point = |moment: &Moment| Point { is_stall: moment.is_stall, ..Point::bare(moment.end_s, height(moment)) };
    thinned(&moments(result, series, side)).iter().map(point).collect()
}

/// The points of the window in order. Kinds of operation that end together are one point: the sum of their rates and
/// the worst of their latencies.
fn moments(result: &TrialResult, points: &[SeriesPoint], side: Side) -> Vec<Moment> {
    let wanted = |point: &&SeriesPoint| {
        let of_side = result.operations.iter().any(|o| o.kind == point.kind && o.side() == side);
        of_side && point.end_s > 0.0
    };
    let mut moments: BTreeMap<i64, Moment> = BTreeMap::new();
    for point in points.iter().filter(wanted) {
        let moment = moments.entry((point.end_s * 1e6) as i64).or_default();
        moment.end_s = point.end_s;
        moment.rate += point.records_per_s;
        let latencies_ns = PERCENTILES.map(|percentile| point.percentiles[percentile] as f64);
        moment.latencies_ns = worst(moment.latencies_ns, latencies_ns);
    }
    let mut moments: Vec<Moment> = moments.into_values().collect();
    // Where roles work in parts of the window, rates fall because some of them have ended.
    if !result.workload.has_partial_roles() {
        mark_stalls(&mut moments);
    }
    moments
}

/// The greater of two latencies, for each percentile.
fn worst(one: [f64; PERCENTILES.len()], other: [f64; PERCENTILES.len()]) -> [f64; PERCENTILES.len()] {
    std::array::from_fn(|nth| one[nth].max(other[nth]))
}

fn mark_stalls(moments: &mut [Moment]) {
    let mut rates: Vec<f64> = moments.iter().map(|moment| moment.rate).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
    for moment in moments {
        moment.is_stall = moment.rate < STALL * median;
    }
}

/// Neighbours put together: the mean rate, the worst latencies, a stall where there was any.
fn thinned(moments: &[Moment]) -> Vec<Moment> {
    let size = moments.len().div_ceil(MOST_POINTS).max(1);
    let together = |chunk: &[Moment]| {
        let mean = |figure: fn(&Moment) -> f64| chunk.iter().map(figure).sum::<f64>() / chunk.len() as f64;
        Moment {
            end_s: mean(|moment| moment.end_s),
            rate: mean(|moment| moment.rate),
            latencies_ns: chunk.iter().map(|moment| moment.latencies_ns).fold(Default::default(), worst),
            is_stall: chunk.iter().any(|moment| moment.is_stall),
        }
    };
    moments.chunks(size).map(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_rates(rates: impl IntoIterator<Item = f64>) -> Vec<Moment> {
        let moment = |(at, rate): (usize, f64)| Moment { end_s: at as f64, rate, ..Moment::default() };
        rates.into_iter().enumerate().map(moment).collect()
    }

    #[test]
    fn a_stall_is_a_tenth_of_the_median_and_survives_the_thinning() {
        let mut moments = of_rates((0..1000).map(|at| if at == 500 { 9.0 } else { 100.0 }));
        mark_stalls(&mut moments);
        assert_eq!(moments.iter().filter(|moment| moment.is_stall).count(), 1);
        let thinned = thinned(&moments);
        assert_eq!(thinned.len(), MOST_POINTS);
        assert!(thinned[100].is_stall && thinned.iter().filter(|moment| moment.is_stall).count() == 1);
    }

    #[test]
    fn of_latencies_the_worst_stands_for_neighbours() {
        let moment = |at: u32| Moment { latencies_ns: [f64::from(at), 1.0, 2.0], ..Moment::default() };
        let thinned = thinned(&(1..=400).map(moment).collect::<Vec<_>>());
        assert_eq!((thinned[0].latencies_ns, thinned[199].latencies_ns), ([2.0, 1.0, 2.0], [400.0, 1.0, 2.0]));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(thinned(&of_rates([1.0, 2.0, 3.0])).iter().map(|moment| moment.rate).sum::<f64>(), 6.0);
    }
}
