//! Published figures beside measured ones.

use super::dot_chart::{DotChart, NamedDots};
use super::drawn::DrawnChart;
use super::height::Height;
use super::paint::paint_dots;
use super::ticks::Axis;
use crate::error::ReportError;

/// A comparison, as its chart needs it.
pub(crate) struct PublishedChart {
    /// The name of the published table.
    pub(crate) table: &'static str,
    /// Stands above the chart.
    pub(crate) caption: String,
    /// The cells that the measured figures come from, in words.
    pub(crate) cells: String,
    /// The unit of the figures.
    pub(crate) unit: &'static str,
    /// The rows, from the top.
    pub(crate) rows: Vec<PublishedRow>,
    /// The function that prints a figure.
    pub(crate) print: fn(f64) -> String,
}

/// An entry of the published table.
pub(crate) struct PublishedRow {
    /// The name of the row for people.
    pub(crate) label: String,
    /// The figure as it was printed.
    pub(crate) published: f64,
    /// Absent where it was not measured.
    pub(crate) measured: Option<Height>,
}

/// The drawings of these charts.
pub(super) fn published(charts: &[PublishedChart]) -> Result<Vec<DrawnChart>, ReportError> {
    charts.iter().map(PublishedChart::draw).collect()
}

impl PublishedChart {
    fn draw(&self) -> Result<DrawnChart, ReportError> {
        let stem = format!("{} {}", self.table, self.caption);
        Ok(DrawnChart { stem, ..paint_dots(&self.chart())? })
    }

    /// Published figures have no interval, so their marks are hollow. The axis is logarithmic because the comparison is
    /// one of ratios: machines differ more than engines do.
    fn chart(&self) -> DotChart {
        let measured: Vec<Option<Height>> = self.rows.iter().map(|row| row.measured).collect();
        let printed = |row: &PublishedRow| Some(Height { value: row.published, interval: None });
        let published: Vec<Option<Height>> = self.rows.iter().map(printed).collect();
        let figures = measured.iter().chain(&published).flatten().flat_map(|height| height.figures());
        DotChart {
            caption: self.caption.clone(),
            description: format!(
                "{}: {}, measured beside published, a row for each entry of {}; measured: {}",
                self.caption, self.unit, self.table, self.cells
            ),
            x: Axis::powers(self.unit, figures),
            labels: self.rows.iter().map(|row| row.label.clone()).collect(),
            dots: vec![
                NamedDots { name: "measured", style: 0, of_each: measured },
                NamedDots { name: "published", style: 1, of_each: published },
            ],
            print: self.print,
        }
    }
}
