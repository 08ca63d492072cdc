//! Latency against the rate that was tried, with the promise as a line and the rate that was found marked: searches.

use std::collections::BTreeMap;

use kvdyno_model::PromisedBound;
use kvdyno_model::text::threads;
use kvdyno_results::{RateProbe, RateSearch};

use super::drawn::DrawnChart;
use super::line_chart::{ChartLine, LineChart, Point};
use super::paint::paint_lines;
use super::ticks::Axis;
use super::time_charts::lines_by_threads;
use crate::error::ReportError;
use crate::study::{Study, StudyCell};

/// Rates are put together, those of a cell's repeats too, of which each is less than this factor from the next.
const SAME_RATE: f64 = 1.03;

/// A chart for each number of threads, a line an engine, of the first bound of the promise; none without a search.
pub(super) fn latencies_at_rates(study: &Study<'_>, workload: &str) -> Result<Vec<DrawnChart>, ReportError> {
    let searches = study.running(workload).into_iter().flat_map(|cell| searches_of(cell).collect::<Vec<_>>());
    let Some(bound) = searches.filter_map(|search| search.promise.bounds().next()).next() else {
        return Ok(Vec::new());
    };
    let by_count = lines_by_threads(study, workload, |cell| points(cell, bound));
    let all = || by_count.values().flatten().flat_map(|line| line.points.iter().flatten());
    let x = Axis::logarithmic_rate("operations a second", all().map(|point| 10f64.powf(point.x)));
    let most = bound.at_most.as_nanos() as f64;
    let y = Axis::latency(
        &format!("{} of operations", bound.latency),
        all().map(|point| 10f64.powf(point.y)).chain([most]),
    );
    let series = study.engines().len();
    let chart = |((readers, writers), mut lines): ((u32, u32), Vec<ChartLine>)| {
        let caption = format!("{} against the rate, {}", bound.latency, threads(readers, writers));
        let promise = [x.range.0, x.range.1].map(|x| Some(Point::bare(x, most.log10())));
        lines.push(ChartLine { name: bound.to_string(), series, points: promise.into() });
        paint_lines(&LineChart {
            description: format!(
                "{caption}: rates that were tried, a line for each engine; the highest that kept the promise are filled"
            ),
            caption,
            size: (480.0, 290.0),
            x: x.clone(),
            y: y.clone(),
            lines,
            has_markers: true,
            is_restless: false,
        })
    };
    by_count.into_iter().map(chart).collect()
}

fn searches_of<'a>(cell: &'a StudyCell<'_>) -> impl Iterator<Item = &'a RateSearch> {
    cell.finished.iter().filter_map(|result| result.search.as_ref())
}

/// The rates that a cell's repeats tried, from the least, with the middle of their latencies.
fn points(cell: &StudyCell<'_>, bound: PromisedBound) -> Vec<Point> {
    let mut bins: BTreeMap<i64, Vec<(&RateProbe, bool)>> = BTreeMap::new();
    for search in searches_of(cell) {
        for probe in search.probes.iter().filter(|probe| probe.reached_per_s > 0.0) {
            let is_highest = search.highest_per_s == Some(probe.per_s);
            bins.entry((probe.per_s.ln() / SAME_RATE.ln()).floor() as i64).or_default().push((probe, is_highest));
        }
    }
    let point = |probes: Vec<(&RateProbe, bool)>| {
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let latency = |(probe, _): &(&RateProbe, bool)| probe.latency.promised(bound.latency).as_nanos().max(1) as f64;
        let x = middle(probes.iter().map(|(probe, _)| probe.per_s).collect()).log10();
        let y = middle(probes.iter().map(latency).collect()).log10();
        // A point with an interval is filled.
        let is_highest = probes.iter().any(|(_, is_highest)| *is_highest);
        Point { interval: is_highest.then_some((y, y)), ..Point::bare(x, y) }
    };
    bins.into_values().map(point).collect()
}
