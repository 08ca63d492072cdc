//! Charts as inline SVG.
//!
//! `plotters` draws them, in units of a tenth of a pixel because its coordinates are whole numbers. It knows nothing of
//! style sheets, so [`theme`] gives it colours that stand for roles and puts the page's CSS variables in their place.

mod bars;
mod chart;
mod labels;
mod latency;
mod marker;
mod over_time;
mod rates;
mod storage;
mod theme;
mod ticks;

pub(crate) use bars::load_charts;
pub(crate) use latency::latencies;
pub(crate) use over_time::over_time;
pub(crate) use rates::rates;
pub(crate) use storage::storage;

/// A chart, ready for the page.
pub(crate) struct Figure {
    /// What it shows.
    pub(crate) caption: String,
    /// `<svg>…</svg>`.
    pub(crate) svg: String,
}

/// The side of an engine's work that a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Gets, scans.
    Reads,
    /// Puts, batches, deletes.
    Writes,
}

impl Side {
    /// Both.
    pub(crate) const ALL: [Side; 2] = [Side::Reads, Side::Writes];

    /// For headings.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Side::Reads => "Reads",
            Side::Writes => "Writes",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Side::Reads => "reads",
            Side::Writes => "writes",
        }
    }
}
