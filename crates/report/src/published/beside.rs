//! Published and measured figures side by side.

use kvdyno_analysis::{Agreement, agreement, agreement_interval};
use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;

use super::comparison::{PublishedComparison, PublishedEntry};
use super::paper::Paper;
use super::printed;
use super::swapped::{MeasuredEntry, SwappedPair, swapped};
use crate::document::{Block, Section};
use crate::error::ReportError;
use crate::format::{self, Format};
use crate::grid::{Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::study::{Contents, Study};
use crate::verdicts::terms;

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
    interval: Option<(f64, f64)>,
    swaps: Vec<SwappedPair>,
}

impl<'a> Compared<'a> {
    fn of(comparison: &'a PublishedComparison, study: &Study<'_>) -> Self {
        let measured = |entry: &'a PublishedEntry| {
            let (cell, figure) = comparison.measured(entry, study)?;
            Some(MeasuredEntry { entry, figure, cell })
        };
        let entries: Vec<_> = comparison.entries.iter().filter_map(measured).collect();
        let figures: Vec<(f64, f64)> = entries.iter().map(|one| (one.entry.published, one.figure)).collect();
        let repeats = |one: &MeasuredEntry<'_, '_, '_>| {
            let of = |result: &&TrialResult| comparison.figure.of_trial(result).filter(|figure| *figure > 0.0);
            (one.entry.published, one.cell.finished.iter().filter_map(of).collect())
        };
        Compared {
            comparison,
            agreement: agreement(&figures),
            interval: agreement_interval(&entries.iter().map(repeats).collect::<Vec<_>>()),
            swaps: swapped(&entries, comparison.figure, &terms(study)),
            pairs: entries.iter().map(|one| (one.entry, one.figure)).collect(),
        }
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
}

const TAU: &str = "tau: Kendall's rank correlation; +1: the same order, 0: none in common, -1: the reverse.
Its interval is made from the uncertainty of what was measured; none where that is of one repeat.
Decided: of the pairs in another order than published those whose order these repeats decide.";

fn numbers(head: &str) -> GridColumn {
    GridColumn::numbers(head)
}

fn row(words: Vec<String>) -> GridRow {
    GridRow { cells: words.into_iter().map(GridCell::words).collect(), ..GridRow::default() }
}

fn summary(paper: Paper, compared: &[Compared<'_>]) -> Grid {
    let line = |compared: &Compared<'_>| {
        let tau = compared.agreement.map_or("–".to_owned(), |agreement| format!("{:+.2}", agreement.tau));
        let interval = compared.interval.map_or("–".to_owned(), |(low, high)| format!("{low:+.2} to {high:+.2}"));
        let entries = compared.comparison.entries.len();
        let swaps = compared.swaps.len();
        let decided = format!("{} of {swaps}", compared.swaps.iter().filter(|swap| swap.is_decided).count());
        let in_both = format!("{} of {entries}", compared.pairs.len());
        row(vec![compared.comparison.title.clone(), in_both, tau, interval, decided])
    };
    Grid {
        title: format!("Against: {}", paper.title()),
        columns: std::iter::once(GridColumn::words("table"))
            .chain(["in both", "tau", "95 % interval", "decided"].map(numbers))
            .collect(),
        rows: compared.iter().filter(|compared| !compared.pairs.is_empty()).map(line).collect(),
        notes: vec![TableNote::Words(unmeasured(compared) + TAU)],
    }
}

/// How many of the paper's columns have no counterpart.
fn unmeasured(compared: &[Compared<'_>]) -> String {
    match compared.iter().filter(|compared| compared.pairs.is_empty()).count() {
        0 => String::new(),
        count => format!("{count} of the report's {} columns have nothing measured beside them.\n", compared.len()),
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
    let more = match compared.swaps.len().saturating_sub(SWAPS_NAMED) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let named = compared.swaps.iter().take(SWAPS_NAMED).map(|swap| swap.text.as_str());
    match compared.swaps.as_slice() {
        [] => "The order is the published one.".to_owned(),
        _ => format!("Other than published: {}{more}.", named.collect::<Vec<_>>().join(",\n  ")),
    }
}

fn slips(paper: Paper) -> Result<String, ReportError> {
    let slips = printed::slips(paper)?;
    Ok(match slips.as_slice() {
        [] => "The published tables agree with themselves as far as they can be checked.".to_owned(),
        slips => format!("The published tables do not agree with themselves:\n- {}", slips.join("\n- ")),
    })
}
