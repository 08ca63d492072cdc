//! Published and measured figures side by side.

use std::path::Path;

use kvdyno_analysis::{Agreement, agreement, agreement_interval};
use kvdyno_model::text::of_the_rest;
use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;

use super::comparison::{CellFilter, PublishedComparison, PublishedEntry};
use super::paper::Paper;
use super::printed;
use super::swapped::{MeasuredEntry, SwappedPair, swapped};
use crate::charts::{ChartKind, ChartReference, PublishedChart, PublishedRow};
use crate::document::{Block, Document, Paragraph, Section};
use crate::error::ReportError;
use crate::format::{self, Format, Screen};
use crate::grid::{Grid, GridCell, GridColumn, GridRow, TableNote};
use crate::study::{Contents, Study};
use crate::verdicts::terms;
use crate::{Rendered, page};

/// Swapped pairs that are named; how many more there are is said.
const SWAPS_NAMED: usize = 6;

/// Measured and published figures side by side, and where the published ones do not fit themselves; and the page in
/// `folder`, which has the same in a section of its own.
///
/// # Errors
/// If the results folder cannot be read.
pub fn against(
    results: &ResultsFolder,
    paper: Paper,
    format: Format,
    screen: Screen,
    folder: &Path,
) -> Result<Rendered, ReportError> {
    let contents = Contents::read(results)?;
    with_document_against(&Study::of(&contents)?, paper, |DocumentAgainst { document, grids, slips }| {
        let sections: Vec<Section<'_>> = grids.iter().cloned().map(section).collect();
        let slips = slips_in_words(slips);
        let (tables, slips) = match format {
            Format::Markdown => (format::markdown::render_sections(&sections), slips),
            _ => (format::table::render_sections(&sections, screen), screen.fitted(&slips)),
        };
        let text = format!("{}\n\n{slips}\n", tables.trim_end());
        Ok(Rendered { text, page: page(document, folder) })
    })
}

/// A document with published figures in its last section, and what that is made of.
pub(crate) struct DocumentAgainst<'a> {
    pub(crate) document: &'a Document<'a>,
    grids: &'a [Grid],
    slips: &'a [String],
}

/// Makes something of the document of an experiment with a paper beside it. Where none of its figures was measured the
/// document has no such section.
pub(crate) fn with_document_against<T>(
    study: &Study<'_>,
    paper: Paper,
    render: impl FnOnce(DocumentAgainst<'_>) -> Result<T, ReportError>,
) -> Result<T, ReportError> {
    let comparisons = printed::comparisons(paper)?;
    let compared: Vec<Compared> = comparisons.iter().map(|comparison| Compared::of(comparison, study)).collect();
    let measured: Vec<Compared<'_>> = compared.into_iter().filter(|compared| !compared.pairs.is_empty()).collect();
    let mut grids = vec![summary(paper, &measured, comparisons.len())];
    grids.extend(measured.iter().map(side_by_side));
    let charts: Vec<PublishedChart> = measured.into_iter().map(|compared| compared.chart).collect();
    let slips = printed::slips(paper)?;
    let mut document = Document::of(study);
    if !charts.is_empty() {
        document.sections.push(on_page(study, &charts, &grids, &slips));
    }
    render(DocumentAgainst { document: &document, grids: &grids, slips: &slips })
}

/// The section of the page.
fn on_page<'a>(study: &'a Study<'a>, charts: &'a [PublishedChart], grids: &[Grid], slips: &[String]) -> Section<'a> {
    let of_table = |charts| Block::Charts(ChartReference::new(study, "", ChartKind::Published(charts)));
    let tables = charts.chunk_by(|one, next| one.table == next.table).map(of_table);
    let (summary, details) = grids.split_at(1);
    let mut blocks: Vec<Block<'a>> = summary.iter().cloned().map(Block::Table).collect();
    blocks.extend(tables);
    blocks.extend(details.iter().cloned().map(Block::MoreTable));
    let words = match slips {
        [] => Paragraph::note(CONSISTENT.to_owned()),
        slips => Paragraph::of_lines(String::new(), slips.to_vec()),
    };
    blocks.extend((!slips.is_empty()).then(|| Block::Paragraph(Paragraph::note(INCONSISTENT.to_owned()))));
    blocks.push(Block::Paragraph(words));
    Section { names_tables: false, ..Section::new("published", "Published beside measured", blocks) }
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
    /// The comparison as a chart, which has the entries that were not measured too.
    chart: PublishedChart,
    agreement: Option<Agreement>,
    interval: Option<(f64, f64)>,
    swaps: Vec<SwappedPair>,
}

impl<'a> Compared<'a> {
    fn of(comparison: &'a PublishedComparison, study: &Study<'_>) -> Self {
        let measured = |entry: &'a PublishedEntry| {
            let (cell, height) = comparison.measured(entry, study)?;
            Some(MeasuredEntry { entry, figure: height.value, cell })
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
            chart: chart(comparison, study),
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

fn chart(comparison: &PublishedComparison, study: &Study<'_>) -> PublishedChart {
    let row = |entry: &PublishedEntry| PublishedRow {
        label: entry.label.clone(),
        published: entry.published,
        measured: comparison.measured(entry, study).map(|(_, height)| height),
    };
    PublishedChart {
        table: comparison.table,
        caption: comparison.title.clone(),
        cells: CellFilter::common(&comparison.entries),
        unit: comparison.figure.unit(),
        rows: comparison.entries.iter().map(row).collect(),
        print: comparison.figure.print(),
    }
}

const TAU: &str = "tau: Kendall's rank correlation; +1: the same order, 0: none in common, -1: the reverse.
Its interval is made from the uncertainty of what was measured; none where that is of one repeat.
Decided: of the pairs in another order than published those whose order these repeats decide.";

/// Parts and ranks are of the figure before them.
fn numbers(head: &str) -> GridColumn {
    GridColumn { continues: matches!(head, "of best" | "rank"), ..GridColumn::numbers(head) }
}

fn row(words: Vec<String>) -> GridRow {
    GridRow { cells: words.into_iter().map(GridCell::words).collect(), ..GridRow::default() }
}

/// The part of the paper's `columns` that was measured.
fn summary(paper: Paper, compared: &[Compared<'_>], columns: usize) -> Grid {
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
        rows: compared.iter().map(line).collect(),
        notes: vec![TableNote::Words(unmeasured(compared.len(), columns) + TAU)],
    }
}

/// The number of the paper's columns that have no counterpart, in words.
fn unmeasured(measured: usize, columns: usize) -> String {
    match columns - measured {
        0 => String::new(),
        count => format!("{count} of the report's {columns} columns have nothing measured beside them.\n"),
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
    let more = of_the_rest(compared.swaps.len(), SWAPS_NAMED, |more| format!("; {more} more"));
    let named = compared.swaps.iter().take(SWAPS_NAMED).map(|swap| swap.text.as_str());
    match compared.swaps.as_slice() {
        [] => "The order is the published one.".to_owned(),
        _ => format!("Other than published: {}{more}.", named.collect::<Vec<_>>().join(",\n  ")),
    }
}

const CONSISTENT: &str = "The published tables agree with themselves as far as they can be checked.";
const INCONSISTENT: &str = "The published tables do not agree with themselves:";

fn slips_in_words(slips: &[String]) -> String {
    match slips {
        [] => CONSISTENT.to_owned(),
        slips => format!("{INCONSISTENT}\n- {}", slips.join("\n- ")),
    }
}
