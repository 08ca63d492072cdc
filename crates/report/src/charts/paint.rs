//! Both painters at work on one description of a chart.

use super::bar_chart::BarChart;
use super::dot_chart::DotChart;
use super::drawn::DrawnChart;
use super::line_chart::LineChart;
use super::script_chart::{ChartChoice, ScriptChart, for_script};
use super::triangle_chart::TriangleChart;
use crate::error::ReportError;

/// A chart of lines.
pub(super) fn paint_lines(chart: &LineChart) -> Result<DrawnChart, ReportError> {
    Ok(painted(&chart.caption, chart.draw()?, for_script(&ScriptChart::of_lines(chart, "", &[]))?))
}

/// A chart of lines, and other figures at the same places for the page's switch. `shown` names those of the chart
/// itself.
pub(super) fn paint_choices(
    chart: &LineChart,
    shown: &str,
    others: &[ChartChoice<'_>],
) -> Result<DrawnChart, ReportError> {
    Ok(painted(&chart.caption, chart.draw()?, for_script(&ScriptChart::of_lines(chart, shown, others))?))
}

/// A chart of bars.
pub(super) fn paint_bars(chart: &BarChart) -> Result<DrawnChart, ReportError> {
    Ok(painted(chart.caption, chart.draw()?, for_script(&ScriptChart::of_bars(chart))?))
}

/// A chart of dots.
pub(super) fn paint_dots(chart: &DotChart) -> Result<DrawnChart, ReportError> {
    Ok(painted(&chart.caption, chart.draw()?, for_script(&ScriptChart::of_dots(chart))?))
}

/// A chart of triangles.
pub(super) fn paint_triangle(chart: &TriangleChart) -> Result<DrawnChart, ReportError> {
    Ok(painted(&chart.caption, chart.draw()?, for_script(&ScriptChart::of_triangle(chart))?))
}

/// Its file is named by its caption.
fn painted(caption: &str, svg: String, data: String) -> DrawnChart {
    DrawnChart { caption: caption.to_owned(), stem: caption.to_owned(), svg, further: Vec::new(), data }
}
