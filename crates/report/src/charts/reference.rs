//! A chart that stands in a document, and is drawn where the format can show it.

use kvdyno_results::Side;

use super::drawn::{DrawnChart, noun};
use super::{bars, latency, over_time, rates, storage};
use crate::error::ReportError;
use crate::study::Study;

/// Charts that belong together, not drawn yet.
#[derive(Clone, Copy)]
pub(crate) struct ChartReference<'a> {
    study: &'a Study<'a>,
    workload: &'a str,
    kind: ChartKind,
}

/// The subject of charts.
#[derive(Clone, Copy)]
pub(crate) enum ChartKind {
    /// Times and sizes of the loads.
    Load,
    /// Rates against threads.
    Rates,
    /// Traffic to and from the storage against threads.
    Storage,
    /// Latencies of a side, percentile by percentile.
    Latency(Side),
    /// Rates of a side over the measured part.
    OverTime(Side),
}

impl<'a> ChartReference<'a> {
    /// Charts of a workload.
    pub(crate) fn new(study: &'a Study<'a>, workload: &'a str, kind: ChartKind) -> Self {
        ChartReference { study, workload, kind }
    }

    /// The heading above them, where they have one.
    pub(crate) fn heading(&self) -> Option<String> {
        match self.kind {
            ChartKind::Latency(side) => Some(format!("Latency: {}", noun(side))),
            ChartKind::OverTime(side) => Some(format!("Over time: {}", noun(side))),
            ChartKind::Load | ChartKind::Rates | ChartKind::Storage => None,
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
            ChartKind::Storage => storage::storage(study, workload),
            ChartKind::Latency(side) => latency::latencies(study, workload, side),
            ChartKind::OverTime(side) => over_time::over_time(study, workload, side),
        }
    }
}
