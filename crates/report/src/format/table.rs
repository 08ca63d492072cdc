//! For terminals.

use comfy_table::{Attribute, CellAlignment, Color, LineStyle, Table, TableStyle};

use crate::document::{Document, Section};
use crate::grid::{ColumnGroup, Emphasis, Grid, GridCell, GridColumn, GridRow};
use crate::remarks::Remark;
use crate::words::plain;

/// No borders, a rule under the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

const BOLD: &str = "1";
const RED: &str = "31";
const BOLD_YELLOW: &str = "1;33";

/// Lines of words are broken before they grow longer than this.
const WIDTH: usize = 120;

/// The tables, with the experiment's setting above and doubts and notes beneath.
pub(crate) fn render(document: &Document<'_>, colour: bool) -> String {
    let mut paragraphs = vec![heading(document, colour)];
    paragraphs.extend(document.sections.iter().flat_map(|section| contents(section, colour)));
    paragraphs.extend(remarks("Doubts", &document.doubts, colour));
    paragraphs.extend(remarks("Notes", &document.notes, colour));
    paragraphs.join("\n\n") + "\n"
}

/// Every table of some sections, without colour.
pub(crate) fn render_sections(sections: &[Section<'_>]) -> String {
    sections.iter().flat_map(|section| tables(section, false)).collect::<Vec<_>>().join("\n\n")
}

fn heading(document: &Document<'_>, colour: bool) -> String {
    let facts = |facts: &[(String, String)]| -> Vec<String> {
        facts.iter().map(|(name, value)| format!("{name} {value}")).collect()
    };
    let lines = [facts(&document.settings), document.versions.clone(), facts(&document.machine_facts)];
    let mut text = painted(document.name, BOLD, colour);
    if let Some(incomplete) = &document.incomplete {
        text.push('\n');
        text.push_str(&painted(&format!("Incomplete: {incomplete}"), BOLD_YELLOW, colour));
    }
    for line in lines.iter().filter(|line| !line.is_empty()) {
        text.push('\n');
        text.push_str(&wrapped(line, " · "));
    }
    text
}

/// The sentences of a section beneath its heading, and its tables.
fn contents(section: &Section<'_>, colour: bool) -> Vec<String> {
    let mut contents: Vec<String> = sentences(section, colour).into_iter().collect();
    contents.extend(tables(section, colour));
    contents
}

fn sentences(section: &Section<'_>, colour: bool) -> Option<String> {
    let mut text = painted(&section.heading, BOLD, colour);
    let heading = text.len();
    for paragraph in section.paragraphs() {
        if !paragraph.title.is_empty() {
            text += &format!("\n{}", painted(&paragraph.title, BOLD, colour));
        }
        let indent = if paragraph.is_note { "" } else { "  " };
        let lead = Some(&paragraph.lead).filter(|lead| !lead.is_empty());
        for line in lead.into_iter().chain(&paragraph.lines) {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let broken = wrapped(&words, " ").replace('\n', &format!("\n{indent}{indent}"));
            text += &format!("\n{indent}{broken}");
        }
    }
    (text.len() > heading).then_some(text)
}

/// Joins words, beginning a new line where one grows too long.
fn wrapped(words: &[String], between: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in words {
        let length = word.chars().count();
        if width > 0 && width + between.len() + length > WIDTH {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push_str(between);
            width += between.chars().count();
        }
        text.push_str(&plain(word));
        width += length;
    }
    text
}

/// Groups of columns that fit beside each other, with a title where they are a piece of a wide table.
const PIECES: [(&str, ColumnGroup); 2] =
    [("rates and latencies", ColumnGroup::Rates), ("what it cost", ColumnGroup::Costs)];

/// The tables of a section, each with its title. One that is wider than a screen comes in pieces.
fn tables(section: &Section<'_>, colour: bool) -> Vec<String> {
    let groups = [ColumnGroup::Names, ColumnGroup::Rates, ColumnGroup::Costs];
    let pieces = |grid: &Grid| -> Vec<String> {
        let title = section.title_of(grid);
        if !grid.is_wide() {
            return vec![table(&title, &grid.of_columns(&groups), colour)];
        }
        let piece = |(name, group)| table(&format!("{title}: {name}"), &piece_of(grid, group), colour);
        PIECES.into_iter().map(piece).collect()
    };
    section.tables().flat_map(pieces).collect()
}

fn piece_of(grid: &Grid, group: ColumnGroup) -> Grid {
    grid.of_columns(&[ColumnGroup::Names, group])
}

fn table(title: &str, grid: &Grid, colour: bool) -> String {
    let mut text = painted(title, BOLD, colour);
    text.push('\n');
    text.push_str(&body(grid, colour));
    let note = grid.note();
    if !note.is_empty() {
        text.push('\n');
        text.push_str(&note.split('\n').map(plain).collect::<Vec<_>>().join("\n"));
    }
    text
}

/// The table without its title. It has one line for the heads, one for the rule and one for each row, so that a
/// failure's reason, for which there is no cell that spans columns, can be put at the end of its line.
fn body(grid: &Grid, colour: bool) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).force_no_tty();
    if colour {
        table.enforce_styling();
    }
    table.set_header(grid.columns.iter().map(|column| head(column, colour)));
    for row in &grid.rows {
        table.add_row(fields(row, grid.columns.len(), colour));
    }
    for (index, column) in grid.columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(index) {
            drawn.set_padding((0, u16::from(index + 1 < grid.columns.len())));
            drawn.set_cell_alignment(if column.is_number { CellAlignment::Right } else { CellAlignment::Left });
        }
    }
    let failures = grid.rows.iter().map(|row| row.failure.as_deref());
    let reasons = [None, None].into_iter().chain(failures);
    let lines = table.lines().zip(reasons).map(|(line, reason)| ended(&line, reason, colour));
    lines.collect::<Vec<_>>().join("\n")
}

fn ended(line: &str, reason: Option<&str>, colour: bool) -> String {
    match reason {
        None => line.trim_end().to_owned(),
        Some(reason) => {
            format!("{}  {}", line.trim_end(), painted(reason, RED, colour))
        }
    }
}

fn head(column: &GridColumn, colour: bool) -> comfy_table::Cell {
    let cell = comfy_table::Cell::new(plain(&column.head));
    if colour { cell.add_attribute(Attribute::Dim) } else { cell }
}

fn fields(row: &GridRow, columns: usize, colour: bool) -> Vec<comfy_table::Cell> {
    let mut cells: Vec<comfy_table::Cell> = row.cells.iter().map(|cell| field(cell, colour)).collect();
    cells.resize(columns, comfy_table::Cell::new(""));
    cells
}

fn field(field: &GridCell, colour: bool) -> comfy_table::Cell {
    let words = match field.emphasis {
        Emphasis::Best => format!("* {}", field.content),
        Emphasis::Near => format!("≈ {}", field.content),
        Emphasis::Untold => format!("? {}", field.content),
        Emphasis::Plain | Emphasis::Missing => field.content.to_string(),
    };
    let cell = comfy_table::Cell::new(plain(&words));
    match field.emphasis {
        Emphasis::Best if colour => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Emphasis::Missing | Emphasis::Untold if colour => cell.add_attribute(Attribute::Dim),
        _ => cell,
    }
}

/// More remarks than this would push the tables off the screen.
const MOST_REMARKS: usize = 12;

fn remarks(title: &str, remarks: &[Remark], colour: bool) -> Option<String> {
    let line = |remark: &Remark| format!("\n- {}: {}", plain(&remark.trial), plain(&remark.text));
    let text = painted(title, BOLD_YELLOW, colour);
    let more = match remarks.len().saturating_sub(MOST_REMARKS) {
        0 => String::new(),
        more => format!("\n- and {more} more, on the page"),
    };
    (!remarks.is_empty()).then(|| text + &remarks.iter().take(MOST_REMARKS).map(line).collect::<String>() + &more)
}

/// A line with the terminal's codes, if it shows them.
fn painted(text: &str, code: &str, colour: bool) -> String {
    let text = plain(text);
    if !colour {
        return text;
    }
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}
