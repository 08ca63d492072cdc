//! Charts, each described once and painted twice: as inline SVG here, and by the page's script from JSON
//! ([`script_chart`]).
//!
//! `plotters` draws them, in units of a tenth of a pixel because its coordinates are whole numbers. It knows nothing of
//! style sheets, so [`theme`] gives it colours that stand for roles and puts the page's CSS variables in their place.

mod amplification;
mod bar_chart;
mod bars;
mod canvas;
mod dot_chart;
mod drawn;
mod efficiency;
mod height;
mod latency;
mod latency_at_rate;
mod latency_curves;
mod line_chart;
mod marker;
mod over_time;
mod paint;
mod published;
mod rates;
mod reference;
mod resources;
mod script_chart;
mod spread;
mod storage;
mod theme;
mod ticks;
mod time_charts;
mod triangle_chart;

pub(crate) use drawn::DrawnChart;
pub(crate) use height::Height;
pub(crate) use over_time::TimeFigure;
pub(crate) use published::{PublishedChart, PublishedRow};
pub(crate) use reference::{ChartKind, ChartReference};
pub(crate) use resources::ResourceFigure;
pub(crate) use theme::BEGIN;
