//! A chart for the page's script, as JSON: the same series, labels and points as in the SVG.

use serde::{Serialize, Serializer};

use super::bar_chart::BarChart;
use super::dot_chart::DotChart;
use super::height::Height;
use super::line_chart::{ChartLine, LineChart, Point};
use super::ticks::{Axis, AxisWords, Tick};
use super::triangle_chart::TriangleChart;
use crate::error::ReportError;

/// A chart.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum ScriptChart<'a> {
    /// Lines.
    Lines {
        description: &'a str,
        x: ScriptAxis<'a>,
        y: ScriptAxis<'a>,
        markers: bool,
        series: Vec<ScriptSeries<'a>>,
        /// The name of these figures; empty where there are no others.
        #[serde(skip_serializing_if = "str::is_empty")]
        shown: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        choices: Vec<ScriptChoice<'a>>,
    },
    /// Bars, beneath each other.
    Bars { description: &'a str, unit: &'a str, words: AxisWords, labels: &'a [String], series: Vec<ScriptSeries<'a>> },
    /// Dots, a row for each label.
    Dots { description: &'a str, x: ScriptAxis<'a>, labels: &'a [String], series: Vec<ScriptSeries<'a>> },
    /// Triangles, a corner for each label.
    Triangle { description: &'a str, x: ScriptAxis<'a>, labels: &'a [String], series: Vec<ScriptSeries<'a>> },
}

/// Other figures at the places of a chart, by a name for the page's switch.
pub(super) struct ChartChoice<'a> {
    /// `p50`.
    pub(super) name: &'a str,
    /// The chart, which has as many lines, and as many points in each.
    pub(super) chart: &'a LineChart,
}

/// A choice: only what differs from the chart travels.
#[derive(Serialize)]
pub(super) struct ScriptChoice<'a> {
    name: &'a str,
    description: &'a str,
    y: ScriptAxis<'a>,
    /// A figure for each point of each series.
    figures: Vec<Vec<Option<f64>>>,
}

impl<'a> ScriptChoice<'a> {
    fn of(choice: &ChartChoice<'a>) -> ScriptChoice<'a> {
        let ChartChoice { name, chart } = *choice;
        let figure = |point: &Option<Point>| point.as_ref().map(|point| six_digits(chart.y.figure(point.y)));
        let figures = chart.lines.iter().map(|line| line.points.iter().map(figure).collect());
        ScriptChoice { name, description: &chart.description, y: ScriptAxis::of(&chart.y), figures: figures.collect() }
    }
}

/// An axis. Its ends and marks are coordinates; figures of points are none.
#[derive(Serialize)]
pub(super) struct ScriptAxis<'a> {
    title: &'a str,
    words: AxisWords,
    log: bool,
    range: (f64, f64),
    ticks: &'a [Tick],
}

/// A line, or the bars or dots of one name.
#[derive(Serialize)]
pub(super) struct ScriptSeries<'a> {
    name: &'a str,
    /// Decides colour and mark.
    style: usize,
    points: Vec<Option<ScriptPoint>>,
}

/// A point: its coordinate, its figure, the ends of its interval, whether it is a stall.
pub(super) struct ScriptPoint(f64, f64, Option<(f64, f64)>, bool);

/// Most points have no interval and are no stall: these stand at the end, so that points travel without.
impl Serialize for ScriptPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ScriptPoint(x, y, None, false) => (x, y).serialize(serializer),
            ScriptPoint(x, y, Some(interval), false) => (x, y, interval).serialize(serializer),
            ScriptPoint(x, y, interval, true) => (x, y, interval, true).serialize(serializer),
        }
    }
}

impl<'a> ScriptChart<'a> {
    /// Lines.
    pub(super) fn of_lines(chart: &'a LineChart, shown: &'a str, choices: &[ChartChoice<'a>]) -> ScriptChart<'a> {
        ScriptChart::Lines {
            description: &chart.description,
            x: ScriptAxis::of(&chart.x),
            y: ScriptAxis::of(&chart.y),
            markers: chart.has_markers,
            series: chart.lines.iter().map(|line| ScriptSeries::of_line(line, &chart.y)).collect(),
            shown,
            choices: choices.iter().map(ScriptChoice::of).collect(),
        }
    }

    /// Bars.
    pub(super) fn of_bars(chart: &'a BarChart) -> ScriptChart<'a> {
        let series = chart.bars.iter().map(|bars| ScriptSeries {
            name: bars.name,
            style: bars.colour,
            points: bars.of_each.iter().enumerate().map(|(nth, bar)| Some(of_row(nth, *bar))).collect(),
        });
        ScriptChart::Bars {
            description: &chart.description,
            unit: chart.unit,
            words: if chart.is_bytes { AxisWords::Bytes } else { AxisWords::Numbers },
            labels: &chart.labels,
            series: series.collect(),
        }
    }

    /// Dots.
    pub(super) fn of_dots(chart: &'a DotChart) -> ScriptChart<'a> {
        let series = chart.dots.iter().map(|dots| ScriptSeries {
            name: dots.name,
            style: dots.style,
            points: dots.of_each.iter().enumerate().map(|(nth, dot)| dot.map(|dot| of_row(nth, dot))).collect(),
        });
        ScriptChart::Dots {
            description: &chart.description,
            x: ScriptAxis::of(&chart.x),
            labels: &chart.labels,
            series: series.collect(),
        }
    }

    /// Triangles.
    pub(super) fn of_triangle(chart: &'a TriangleChart) -> ScriptChart<'a> {
        let series = chart.corners.iter().map(|corners| ScriptSeries {
            name: &corners.name,
            style: corners.style,
            points: corners.of_each.iter().enumerate().map(|(nth, corner)| Some(of_row(nth, *corner))).collect(),
        });
        ScriptChart::Triangle {
            description: &chart.description,
            x: ScriptAxis::of(&chart.axis),
            labels: &chart.labels,
            series: series.collect(),
        }
    }
}

impl<'a> ScriptAxis<'a> {
    fn of(axis: &'a Axis) -> ScriptAxis<'a> {
        ScriptAxis {
            title: &axis.title,
            words: axis.words,
            log: axis.is_logarithmic,
            range: axis.range,
            ticks: &axis.ticks,
        }
    }
}

impl<'a> ScriptSeries<'a> {
    fn of_line(line: &'a ChartLine, y: &Axis) -> ScriptSeries<'a> {
        let figure = |coordinate: f64| six_digits(y.figure(coordinate));
        let point = |point: &Point| {
            let interval = point.interval.map(|(low, high)| (figure(low), figure(high)));
            ScriptPoint(six_digits(point.x), figure(point.y), interval, point.is_stall)
        };
        let points = line.points.iter().map(|there| there.as_ref().map(point)).collect();
        ScriptSeries { name: &line.name, style: line.series, points }
    }
}

/// A figure of the row of a label.
fn of_row(nth: usize, height: Height) -> ScriptPoint {
    ScriptPoint(nth as f64, height.value, height.interval, false)
}

/// More digits nobody sees, and all of them travel.
fn six_digits(figure: f64) -> f64 {
    if figure == 0.0 || !figure.is_finite() {
        return figure;
    }
    let scale = 10f64.powi(5 - figure.abs().log10().floor() as i32);
    (figure * scale).round() / scale
}

/// The chart as JSON that may stand within `<script>`.
pub(super) fn for_script(chart: &ScriptChart<'_>) -> Result<String, ReportError> {
    Ok(serde_json::to_string(chart)?.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_six_digits() {
        let given = [0.0, 1.0, 1_234_567.8, 0.012_345_678, -3.0];
        assert_eq!(given.map(six_digits), [0.0, 1.0, 1_234_570.0, 0.012_345_7, -3.0]);
    }
}
