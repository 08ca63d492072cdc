//! Text for terminals.

use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, CellAlignment, Color, LineStyle, Table, TableStyle};
use kvdyno_model::text::{of_the_rest, plain};

use super::Screen;
use super::blocks::{blocks, marked};
use super::screen::{words, wrapped};

use crate::document::{Document, Section};
use crate::grid::{ColumnGroup, Emphasis, Grid, GridCell, GridColumn, GridRow};
use crate::remarks::Remark;

/// No borders, a rule under the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

pub(super) const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const BOLD_YELLOW: Style = AnsiColor::Yellow.on_default().bold();

kvdyno_model::words! {
    /// The tables of a report on a terminal.
    pub enum Tables: "a choice of tables", "TABLES" {
        /// Rates and latencies.
        Main = "main",
        /// Those of CPU time, storage and amplification, too.
        All = "all",
    }
}

/// The tables beneath the experiment's setting, then notes, doubts and verdicts: of what scrolls away, a reader misses
/// the first the least.
pub(crate) fn render(document: &Document<'_>, screen: Screen, extent: Tables) -> String {
    let mut paragraphs = vec![heading(document, screen)];
    paragraphs.extend(document.sections.iter().flat_map(|section| tables(section, screen, extent)));
    paragraphs.extend(remarks("Notes", &document.notes, screen));
    paragraphs.extend(remarks("Doubts", &document.doubts, screen));
    paragraphs.extend(document.sections.iter().filter_map(|section| sentences(section, screen)));
    paragraphs.join("\n\n") + "\n"
}

/// Every table of some sections.
pub(crate) fn render_sections(sections: &[Section<'_>], screen: Screen) -> String {
    sections.iter().flat_map(|section| tables(section, screen, Tables::All)).collect::<Vec<_>>().join("\n\n")
}

fn heading(document: &Document<'_>, screen: Screen) -> String {
    let facts = |facts: &[(String, String)]| -> Vec<String> {
        facts.iter().map(|(name, value)| format!("{name} {value}")).collect()
    };
    let lines = [facts(&document.settings), document.versions.clone(), facts(&document.machine_facts)];
    let mut text = painted(document.name, BOLD, screen);
    if let Some(incomplete) = &document.incomplete {
        text.push('\n');
        text.push_str(&painted(&screen.broken(&format!("Incomplete: {incomplete}"), "  "), BOLD_YELLOW, screen));
    }
    for line in lines.iter().filter(|line| !line.is_empty()) {
        text.push('\n');
        text.push_str(&wrapped(line, " · ", screen.columns()));
    }
    text
}

/// The sentences of a section beneath its heading.
fn sentences(section: &Section<'_>, screen: Screen) -> Option<String> {
    let mut text = painted(&section.heading, BOLD, screen);
    let heading = text.len();
    for paragraph in section.paragraphs() {
        if !paragraph.title.is_empty() {
            text += &format!("\n{}", painted(&screen.broken(&paragraph.title, ""), BOLD, screen));
        }
        let indent = if paragraph.is_note { "" } else { "  " };
        let lead = Some(&paragraph.lead).filter(|lead| !lead.is_empty());
        for line in lead.into_iter().chain(paragraph.all_lines()) {
            let width = screen.columns().saturating_sub(2 * indent.len());
            let broken = wrapped(&words(line), " ", width).replace('\n', &format!("\n{indent}{indent}"));
            text += &format!("\n{indent}{broken}");
        }
    }
    (text.len() > heading).then_some(text)
}

/// Groups of columns that fit beside each other, with a title where they are a piece of a wide table.
const PIECES: [(&str, ColumnGroup); 2] =
    [("rates and latencies", ColumnGroup::Rates), ("what it cost", ColumnGroup::Costs)];

/// The tables of a section, each with its title. One that is wider than a screen comes in pieces.
fn tables(section: &Section<'_>, screen: Screen, extent: Tables) -> Vec<String> {
    let is_all = extent == Tables::All;
    let groups = [ColumnGroup::Names, ColumnGroup::Rates, ColumnGroup::Costs];
    let pieces = |grid: &Grid| -> Vec<String> {
        let title = section.title_of(grid);
        if !grid.is_wide() {
            return vec![table(&title, &grid.of_columns(&groups), screen)];
        }
        let piece = |(name, group)| table(&format!("{title}: {name}"), &piece_of(grid, group), screen);
        PIECES.into_iter().take(if is_all { PIECES.len() } else { 1 }).map(piece).collect()
    };
    section.tables(is_all).flat_map(pieces).collect()
}

fn piece_of(grid: &Grid, group: ColumnGroup) -> Grid {
    grid.of_columns(&[ColumnGroup::Names, group])
}

fn table(title: &str, grid: &Grid, screen: Screen) -> String {
    let mut text = painted(&screen.broken(title, ""), BOLD, screen);
    text.push('\n');
    let blocks: Vec<String> = blocks(grid, screen.columns()).iter().map(|block| body(block, screen)).collect();
    text.push_str(&blocks.join("\n\n"));
    let note = grid.note();
    if !note.is_empty() {
        text.push('\n');
        // As wide as the table may be, also where no terminal says how wide that is.
        let screen = Screen { width: Some(screen.columns()), ..screen };
        text.push_str(&note.split('\n').map(|line| screen.broken(line, "")).collect::<Vec<_>>().join("\n"));
    }
    text
}

/// A block without a title. It has one line for the heads, one for the rule and one for each row, so that a failure's
/// reason, for which there is no cell that spans columns, can be put at the end of its line.
fn body(grid: &Grid, screen: Screen) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).force_no_tty();
    if screen.colour {
        table.enforce_styling();
    }
    table.set_header(grid.columns.iter().map(|column| head(column, screen)));
    for row in &grid.rows {
        table.add_row(fields(row, grid.columns.len(), screen));
    }
    for (index, column) in grid.columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(index) {
            drawn.set_padding((0, u16::from(index + 1 < grid.columns.len())));
            drawn.set_cell_alignment(if column.is_number { CellAlignment::Right } else { CellAlignment::Left });
        }
    }
    let failures = grid.rows.iter().map(|row| row.failure.as_deref());
    let reasons = [None, None].into_iter().chain(failures);
    let lines = table.lines().zip(reasons).map(|(line, reason)| ended(&line, reason, screen));
    lines.collect::<Vec<_>>().join("\n")
}

/// Further lines of a reason begin here.
const REASON_INDENT: &str = "    ";

fn ended(line: &str, reason: Option<&str>, screen: Screen) -> String {
    let names = line.trim_end();
    let Some(reason) = reason else { return names.to_owned() };
    let reason = plain(reason);
    let is_short = names.chars().count() + 2 + reason.chars().count() <= screen.columns();
    if is_short || screen.width.is_none() {
        return format!("{names}  {}", painted(&reason, RED, screen));
    }
    let lines = screen.broken(&reason, REASON_INDENT);
    let painted: Vec<String> = lines.lines().map(|line| painted(line.trim_start(), RED, screen)).collect();
    format!("{names}\n{REASON_INDENT}{}", painted.join(&format!("\n{REASON_INDENT}")))
}

fn head(column: &GridColumn, screen: Screen) -> comfy_table::Cell {
    let cell = comfy_table::Cell::new(plain(&column.head));
    if screen.colour { cell.add_attribute(Attribute::Dim) } else { cell }
}

fn fields(row: &GridRow, columns: usize, screen: Screen) -> Vec<comfy_table::Cell> {
    let mut cells: Vec<comfy_table::Cell> = row.cells.iter().map(|cell| field(cell, screen)).collect();
    cells.resize(columns, comfy_table::Cell::new(""));
    cells
}

fn field(field: &GridCell, screen: Screen) -> comfy_table::Cell {
    let cell = comfy_table::Cell::new(marked(field));
    match field.emphasis {
        Emphasis::Best if screen.colour => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Emphasis::Missing | Emphasis::Untold if screen.colour => cell.add_attribute(Attribute::Dim),
        _ => cell,
    }
}

/// More remarks than this would push the tables off the screen.
const MOST_REMARKS: usize = 12;

fn remarks(title: &str, remarks: &[Remark], screen: Screen) -> Option<String> {
    let line = |remark: &Remark| format!("\n{}", screen.broken(&format!("- {}: {}", remark.trial, remark.text), "  "));
    let text = painted(title, BOLD_YELLOW, screen);
    let more = of_the_rest(remarks.len(), MOST_REMARKS, |more| format!("\n- and {more} more, on the page"));
    (!remarks.is_empty()).then(|| text + &remarks.iter().take(MOST_REMARKS).map(line).collect::<String>() + &more)
}

/// Lines with the terminal's codes, if it shows them.
pub(super) fn painted(text: &str, style: Style, screen: Screen) -> String {
    let text = text.split('\n').map(plain).collect::<Vec<_>>().join("\n");
    if screen.colour { format!("{style}{text}{style:#}") } else { text }
}
