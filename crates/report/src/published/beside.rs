//! Published and measured figures side by side.

use kvdyno_analysis::{Agreement, agreement};
use kvdyno_results::folder::ResultsFolder;

use super::comparison::{PublishedComparison, PublishedEntry};
use super::paper::Paper;
use super::printed;
use crate::document::{Block, Section};
use crate::error::ReportError;
use crate::format::{self, Format};
use crate::grid::{Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::study::{Contents, Study};

/// Swapped pairs that are named; how many more there are is said.
const SWAPS_NAMED: usize = 6;

/// Measured and published figures side by side, and where the published ones do not fit themselves.
///
/// # Errors
/// If the results folder cannot be read.
pub fn against(results: &ResultsFolder, paper: Paper, format: Format) -> Result<String, ReportError> {
    let contents = Contents::read(results)?;
    let study = Study::of(&contents)?;
    let comparisons = printed::comparisons(paper)?;
    let compared: Vec<Compared> = comparisons.iter().map(|comparison| Compared::of(comparison, &study)).collect();
    let mut grids = vec![summary(paper, &compared)];
    grids.extend(compared.iter().filter(|compared| !compared.pairs.is_empty()).map(side_by_side));
    let sections: Vec<Section<'_>> = grids.into_iter().map(section).collect();
    let tables = match format {
        Format::Markdown => format::markdown::render_sections(&sections),
        _ => format::table::render_sections(&sections),
    };
    Ok(format!("{}\n\n{}\n", tables.trim_end(), slips(paper)?))
}

/// Whether a format can hold the output of [`against`].
pub fn can_hold(format: Format) -> bool {
    matches!(format, Format::Table | Format::Markdown)
}

/// A table is a section of its own.
fn section<'a>(mut grid: Grid) -> Section<'a> {
    let heading = std::mem::take(&mut grid.title);
    Section::new("", heading, vec![Block::Table(grid)])
}

/// A comparison with the measured figures.
struct Compared<'a> {
    comparison: &'a PublishedComparison,
    /// Entries of both, with the measured figure.
    pairs: Vec<(&'a PublishedEntry, f64)>,
    agreement: Option<Agreement>,
}

impl<'a> Compared<'a> {
    fn of(comparison: &'a PublishedComparison, study: &Study<'_>) -> Self {
        let measured = |entry: &'a PublishedEntry| comparison.measured(entry, study).map(|figure| (entry, figure));
        let pairs: Vec<_> = comparison.entries.iter().filter_map(measured).collect();
        let figures: Vec<(f64, f64)> = pairs.iter().map(|(entry, figure)| (entry.published, *figure)).collect();
        Compared { comparison, agreement: agreement(&figures), pairs }
    }

    fn best(&self, figures: impl Iterator<Item = f64>) -> f64 {
        match self.comparison.figure.more_is_better() {
            true => figures.fold(f64::MIN, f64::max),
            false => figures.fold(f64::MAX, f64::min),
        }
    }

    /// 1 for the best.
    fn rank(&self, figure: f64, all: &[f64]) -> usize {
        let better =
            |other: &&f64| if self.comparison.figure.more_is_better() { **other > figure } else { **other < figure };
        1 + all.iter().filter(better).count()
    }

    /// Pairs that stand the other way round, the most distant in print first.
    fn swapped(&self) -> Vec<String> {
        let mut swaps = Vec::new();
        for (index, (a, a_here)) in self.pairs.iter().enumerate() {
            for (b, b_here) in &self.pairs[index + 1..] {
                if (a.published - b.published) * (a_here - b_here) < 0.0 {
                    let here_first = (a_here > b_here) == self.comparison.figure.more_is_better();
                    let (first, second) = if here_first { (a, b) } else { (b, a) };
                    let distance = (a.published / b.published).ln().abs();
                    swaps.push((distance, format!("{} before {}", first.label, second.label)));
                }
            }
        }
        swaps.sort_by(|a, b| b.0.total_cmp(&a.0));
        swaps.into_iter().map(|(_, text)| text).collect()
    }
}

const TAU: &str = "tau: Kendall's rank correlation; +1: the same order, 0: none in common, -1: the reverse. No \
                   interval for fewer than 5.";

fn numbers(head: &str) -> GridColumn {
    GridColumn::numbers(head)
}

fn row(words: Vec<String>) -> GridRow {
    GridRow { cells: words.into_iter().map(GridCell::words).collect(), ..GridRow::default() }
}

fn summary(paper: Paper, compared: &[Compared<'_>]) -> Grid {
    let line = |compared: &Compared<'_>| {
        let tau = compared.agreement.map_or("–".to_owned(), |agreement| format!("{:+.2}", agreement.tau));
        let interval = compared.agreement.and_then(|agreement| agreement.interval);
        let interval = interval.map_or("–".to_owned(), |(low, high)| format!("{low:+.2} to {high:+.2}"));
        let entries = compared.comparison.entries.len();
        row(vec![compared.comparison.title.clone(), format!("{} of {entries}", compared.pairs.len()), tau, interval])
    };
    Grid {
        title: format!("Against: {}", paper.title()),
        columns: vec![GridColumn::words("table"), numbers("in both"), numbers("tau"), numbers("95 % interval")],
        rows: compared.iter().filter(|compared| !compared.pairs.is_empty()).map(line).collect(),
        notes: vec![TableNote::Words(unmeasured(compared) + TAU)],
    }
}

/// How many of the paper's columns have no counterpart.
fn unmeasured(compared: &[Compared<'_>]) -> String {
    match compared.iter().filter(|compared| compared.pairs.is_empty()).count() {
        0 => String::new(),
        count => format!("{count} of the report's {} columns have nothing measured beside them. ", compared.len()),
    }
}

fn side_by_side(compared: &Compared<'_>) -> Grid {
    let figure = compared.comparison.figure;
    let here: Vec<f64> = compared.pairs.iter().map(|(_, measured)| *measured).collect();
    let there: Vec<f64> = compared.pairs.iter().map(|(entry, _)| entry.published).collect();
    let (best_here, best_there) = (compared.best(here.iter().copied()), compared.best(there.iter().copied()));
    let line = |(entry, measured): &(&PublishedEntry, f64)| {
        row(vec![
            entry.label.clone(),
            figure.text(*measured),
            format!("{:.3}", measured / best_here),
            compared.rank(*measured, &here).to_string(),
            figure.text(entry.published),
            format!("{:.3}", entry.published / best_there),
            compared.rank(entry.published, &there).to_string(),
        ])
    };
    let heads = ["measured", "of best", "rank", "published", "of best", "rank"];
    Grid {
        title: format!("{}: {}", compared.comparison.title, figure.unit()),
        columns: std::iter::once(GridColumn::words(compared.comparison.entry)).chain(heads.map(numbers)).collect(),
        rows: compared.pairs.iter().map(line).collect(),
        notes: vec![TableNote::Words(note(compared))],
    }
}

fn note(compared: &Compared<'_>) -> String {
    let swaps = compared.swapped();
    let more = match swaps.len().saturating_sub(SWAPS_NAMED) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    match swaps.as_slice() {
        [] => "The order is the published one.".to_owned(),
        swaps => format!("Other than published: {}{more}.", swaps[..swaps.len().min(SWAPS_NAMED)].join(", ")),
    }
}

fn slips(paper: Paper) -> Result<String, ReportError> {
    let slips = printed::slips(paper)?;
    Ok(match slips.as_slice() {
        [] => "The published tables agree with themselves as far as they can be checked.".to_owned(),
        slips => format!("The published tables do not agree with themselves:\n- {}", slips.join("\n- ")),
    })
}
