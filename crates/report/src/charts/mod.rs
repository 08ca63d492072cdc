//! Charts as inline SVG.
//!
//! `plotters` draws them, in units of a tenth of a pixel because its coordinates are whole numbers. It knows nothing of
//! style sheets, so [`theme`] gives it colours that stand for roles and puts the page's CSS variables in their place.

mod bars;
mod canvas;
mod drawn;
mod latency;
mod line_chart;
mod marker;
mod over_time;
mod rates;
mod reference;
mod spread;
mod storage;
mod theme;
mod ticks;

pub(crate) use drawn::DrawnChart;
pub(crate) use reference::{ChartKind, ChartReference};
