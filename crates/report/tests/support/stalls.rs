//! Made-up runs in which an engine stalls.

use kvdyno_results::Percentiles;
use kvdyno_results::folder::ResultsFolder;

/// Makes an engine stall for a moment, in the middle of each of its runs: it does hardly anything, and that takes long.
pub fn stall(results: &ResultsFolder, engine: &str) {
    let runs = results.results().unwrap().into_iter().filter(|it| it.trial.engine == engine && it.trial.readers > 0);
    for result in runs {
        let mut points = results.series(&result.trial).unwrap();
        let middle = points.get(points.len() / 2).map_or(0.0, |point| point.end_s);
        for point in points.iter_mut().filter(|point| point.end_s == middle) {
            (point.records_per_s, point.records) = (point.records_per_s / 50.0, point.records / 50);
            point.operations /= 50;
            point.percentiles = Percentiles::from_fn(|percentile| 40 * point.percentiles[percentile]);
        }
        results.save_series(&result.trial, &points).unwrap();
    }
}
