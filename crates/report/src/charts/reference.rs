//! A chart that stands in a document, and is drawn where the format can show it.

use kvdyno_results::Side;

use super::drawn::DrawnChart;
use super::over_time::TimeFigure;
use super::published::PublishedChart;
use super::resources::ResourceFigure;
use super::{
    amplification, bars, efficiency, latency, latency_at_rate, latency_curves, over_time, published, rates, resources,
    storage,
};
use crate::error::ReportError;
use crate::study::Study;

/// Charts that belong together, not drawn yet.
#[derive(Clone, Copy)]
pub(crate) struct ChartReference<'a> {
    study: &'a Study<'a>,
    workload: &'a str,
    kind: ChartKind<'a>,
}

/// The subject of charts.
#[derive(Clone, Copy)]
pub(crate) enum ChartKind<'a> {
    /// Times and sizes of the loads.
    Load,
    /// Rates against threads.
    Rates,
    /// Rates of each thread against threads.
    Efficiency,
    /// CPU time and context switches against threads.
    Cpu,
    /// Traffic to and from the storage against threads.
    Storage,
    /// Read, update and space amplification.
    Amplification,
    /// Latencies of a side, percentile by percentile.
    Latency(Side),
    /// Latency against the rates that searches tried.
    LatencyAtRate,
    /// Latencies of a side as curves.
    LatencyCurve(Side),
    /// A figure of a side over the measured part.
    OverTime(Side, TimeFigure),
    /// Memory or device over the measured window.
    Resources(ResourceFigure),
    /// Published figures beside measured ones, of one published table.
    Published(&'a [PublishedChart]),
}

impl<'a> ChartReference<'a> {
    /// Charts of a workload.
    pub(crate) fn new(study: &'a Study<'a>, workload: &'a str, kind: ChartKind<'a>) -> Self {
        ChartReference { study, workload, kind }
    }

    /// The heading above them, where they have one.
    pub(crate) fn heading(&self) -> Option<String> {
        match self.kind {
            ChartKind::Latency(side) => Some(format!("Latency: {side}")),
            ChartKind::LatencyAtRate => Some("Latency against rate".to_owned()),
            ChartKind::LatencyCurve(side) => Some(format!("Latency curves: {side}")),
            ChartKind::Resources(figure) => Some(format!("Over time: {}", figure.word())),
            ChartKind::OverTime(side, TimeFigure::Rate) => Some(format!("Over time: {side}")),
            ChartKind::OverTime(side, TimeFigure::Latency) => Some(format!("Over time: latency of {side}")),
            ChartKind::Published(charts) => charts.first().map(|chart| format!("published/{}.csv", chart.table)),
            ChartKind::Amplification => Some("Amplification".to_owned()),
            ChartKind::Load | ChartKind::Rates | ChartKind::Efficiency | ChartKind::Cpu | ChartKind::Storage => None,
        }
    }

    /// Draws them; none if there is nothing to show.
    pub(crate) fn draw(&self) -> Result<Vec<DrawnChart>, ReportError> {
        let (study, workload) = (self.study, self.workload);
        match self.kind {
            ChartKind::Load => bars::load_charts(study),
            ChartKind::Rates => {
                Side::ALL.iter().filter_map(|side| rates::rates(study, workload, *side).transpose()).collect()
            }
            ChartKind::Efficiency => {
                let of = |side: &Side| efficiency::efficiency(study, workload, *side).transpose();
                Side::ALL.iter().filter_map(of).collect()
            }
            ChartKind::Cpu => storage::cpu(study, workload),
            ChartKind::Storage => storage::storage(study, workload),
            ChartKind::Amplification => amplification::amplification(study, workload),
            ChartKind::Latency(side) => latency::latencies(study, workload, side),
            ChartKind::LatencyAtRate => latency_at_rate::latencies_at_rates(study, workload),
            ChartKind::LatencyCurve(side) => latency_curves::latency_curves(study, workload, side),
            ChartKind::Resources(figure) => resources::resources(study, workload, figure),
            ChartKind::OverTime(side, figure) => over_time::over_time(study, workload, side, figure),
            ChartKind::Published(charts) => published::published(charts),
        }
    }
}
