//! Memory, the device's reads and writes, and the engine's counters, over the measured window.

use kvdyno_results::ResourcePoint;

use super::drawn::DrawnChart;
use super::line_chart::Point;
use super::ticks::Axis;
use super::time_charts::{MOST_POINTS, TimeSubject, painted_time_charts};
use crate::error::ReportError;
use crate::study::{Study, StudyCell};

kvdyno_model::words! {
    /// A figure of the machine or the engine over time, in the order of a report, as headings name it.
    pub(crate) enum ResourceFigure {
        /// The resident size of its process.
        Memory = "memory",
        /// Bytes a second that are read from the device.
        DeviceReads = "reads of the device",
        /// Bytes a second that are written to it.
        DeviceWrites = "writes of the device",
        /// Bytes a second of new data that the engine writes to its files.
        Flushed = "flushed by the engine",
        /// Bytes a second that it writes anew.
        Compacted = "compacted by the engine",
        /// Writers held back, on average.
        Stalled = "writers stalled by the engine",
    }
}

impl ResourceFigure {
    fn axis(self, most: f64) -> Axis {
        match self {
            ResourceFigure::Memory => Axis::bytes("resident size", most),
            ResourceFigure::DeviceReads => Axis::bytes("read a second", most),
            ResourceFigure::DeviceWrites => Axis::bytes("written a second", most),
            ResourceFigure::Flushed => Axis::bytes("flushed a second", most),
            ResourceFigure::Compacted => Axis::bytes("compacted a second", most),
            ResourceFigure::Stalled => Axis::rate("writers", most),
        }
    }
}

/// The figure for each number of threads, a line an engine: of each cell, its first finished trial. None of engines of
/// which it was not seen.
pub(super) fn resources(
    study: &Study<'_>,
    workload: &str,
    figure: ResourceFigure,
) -> Result<Vec<DrawnChart>, ReportError> {
    let axis = |heights: &[f64]| figure.axis(heights.iter().copied().fold(0.0, f64::max));
    let points = |cell: &StudyCell<'_>| {
        let trial = cell.finished.first().map(|result| &result.trial);
        trial.and_then(|trial| study.resources.get(trial)).map(|all| heights(all, figure)).unwrap_or_default()
    };
    painted_time_charts(study, workload, &TimeSubject { what: figure.word(), axis: &axis }, points)
}

/// Merges neighbouring points where there are too many: memory is the maximum, traffic is the bytes of all points over
/// their time.
fn heights(points: &[ResourcePoint], figure: ResourceFigure) -> Vec<Point> {
    let size = points.len().div_ceil(MOST_POINTS).max(1);
    let together = |chunk: &[ResourcePoint]| {
        let per_s = |of: fn(&ResourcePoint) -> Option<f64>| {
            let sum: f64 = chunk.iter().map(of).sum::<Option<f64>>()?;
            let seconds: f64 = chunk.iter().map(|point| point.seconds).sum();
            (seconds > 0.0).then(|| sum / seconds)
        };
        let height = match figure {
            ResourceFigure::Memory => {
                chunk.iter().filter_map(|point| point.resident_kib).max().map(|kib| kib as f64 * 1024.0)
            }
            // A foreign file may have more bytes than whole numbers can count together.
            ResourceFigure::DeviceReads => per_s(|point| Some(point.device_read_bytes? as f64)),
            ResourceFigure::DeviceWrites => per_s(|point| Some(point.device_write_bytes? as f64)),
            ResourceFigure::Flushed => per_s(|point| Some(point.flushed_bytes? as f64)),
            ResourceFigure::Compacted => per_s(|point| Some(point.compacted_bytes? as f64)),
            ResourceFigure::Stalled => per_s(|point| point.stalled_s),
        };
        Some(Point::bare(chunk.last()?.end_s, height?))
    };
    points.chunks(size).filter_map(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: u32, device_write_bytes: Option<u64>) -> ResourcePoint {
        let (end_s, resident_kib) = (f64::from(at), Some(u64::from(at)));
        ResourcePoint { end_s, seconds: 1.0, resident_kib, device_write_bytes, ..ResourcePoint::default() }
    }

    #[test]
    fn neighbours_are_put_together_and_nothing_is_made_up() {
        let points: Vec<ResourcePoint> = (1..=1000).map(|at| point(at, Some(4096))).collect();
        let written = heights(&points, ResourceFigure::DeviceWrites);
        assert_eq!(written.len(), MOST_POINTS);
        assert!(written.iter().all(|point| point.y == 4096.0));
        let memory = heights(&points, ResourceFigure::Memory);
        assert_eq!((memory[0].x, memory[0].y, memory[199].y), (5.0, 5.0 * 1024.0, 1000.0 * 1024.0));
        assert!(heights(&points, ResourceFigure::DeviceReads).is_empty());
        assert!(heights(&[point(1, None), point(2, Some(1))], ResourceFigure::DeviceWrites).len() == 1);
        let most: Vec<ResourcePoint> = (1..=1000).map(|at| point(at, Some(u64::MAX))).collect();
        assert!(heights(&most, ResourceFigure::DeviceWrites).iter().all(|point| point.y > 1.8e19));
    }
}
