//! For terminals.

use comfy_table::{Attribute, CellAlignment, Color, LineStyle, Table, TableStyle};

use crate::study::{Remark, Study};
use crate::tables::{
    Column, Grid, Mark, Room, Row, Text, environment, key_facts, load, load_storage, machine_facts, matrices,
    relative_grids, run_by_workload, run_cpu, run_storage, versions, workload_figures,
};

/// No borders, a rule under the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

const BOLD: &str = "1";
const RED: &str = "31";
const BOLD_YELLOW: &str = "1;33";

/// Lines of words are broken before they grow longer than this.
const WIDTH: usize = 120;

/// The tables of the reports, with the experiment's setting above and doubts and notes beneath.
pub(crate) fn render(study: &Study<'_>, colour: bool) -> String {
    let mut parts = vec![heading(study, colour)];
    parts.extend(load(study, Room::Screen).map(|grid| section(&grid, colour)));
    parts.extend(workload_figures(study).iter().map(|grid| section(grid, colour)));
    parts.extend(load_storage(study).map(|grid| section(&grid, colour)));
    parts.extend(relative_grids(study).iter().map(|grid| section(grid, colour)));
    for workload in study.workloads() {
        parts.extend(matrices(study, workload).iter().map(|grid| section(grid, colour)));
    }
    parts.extend(run_by_workload(study).iter().map(|grid| section(grid, colour)));
    let cpu = study.workloads().into_iter().filter_map(|workload| run_cpu(study, workload));
    parts.extend(cpu.map(|grid| section(&grid, colour)));
    let storage = study.workloads().into_iter().filter_map(|workload| run_storage(study, workload));
    parts.extend(storage.map(|grid| section(&grid, colour)));
    parts.extend(environment(study).map(|grid| section(&grid, colour)));
    parts.extend(remarks("Doubts", &study.doubts_told(), colour));
    parts.extend(remarks("Notes", &study.notes(), colour));
    parts.join("\n\n") + "\n"
}

fn heading(study: &Study<'_>, colour: bool) -> String {
    let facts = |facts: Vec<(String, String)>| -> Vec<String> {
        facts.into_iter().map(|(name, value)| format!("{name} {value}")).collect()
    };
    let machine = study.machine.map(machine_facts).unwrap_or_default();
    let lines = [facts(key_facts(study)), versions(study), facts(machine)];
    let mut text = painted(study.name, BOLD, colour);
    for line in lines.iter().filter(|line| !line.is_empty()) {
        text.push('\n');
        text.push_str(&wrapped(line, " · "));
    }
    text
}

/// Joins parts, beginning a new line where one grows too long.
fn wrapped(parts: &[String], between: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for part in parts {
        let length = part.chars().count();
        if width > 0 && width + between.len() + length > WIDTH {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push_str(between);
            width += between.chars().count();
        }
        text.push_str(part);
        width += length;
    }
    text
}

/// One table without colour.
pub(crate) fn grid(grid: &Grid) -> String {
    section(grid, false)
}

fn section(grid: &Grid, colour: bool) -> String {
    let mut text = painted(&grid.title, BOLD, colour);
    text.push('\n');
    text.push_str(&body(grid, colour));
    if !grid.note.is_empty() {
        text.push('\n');
        text.push_str(&grid.note);
    }
    text
}

/// The table without its title. It has one line for the heads, one for the rule and one for each row, so that a failure's
/// reason, for which there is no cell that spans columns, can be put at the end of its line.
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
    for (place, column) in grid.columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(place) {
            drawn.set_padding((0, u16::from(place + 1 < grid.columns.len())));
            drawn.set_cell_alignment(if column.number { CellAlignment::Right } else { CellAlignment::Left });
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

fn head(column: &Column, colour: bool) -> comfy_table::Cell {
    let cell = comfy_table::Cell::new(&column.head);
    if colour { cell.add_attribute(Attribute::Dim) } else { cell }
}

fn fields(row: &Row, columns: usize, colour: bool) -> Vec<comfy_table::Cell> {
    let mut cells: Vec<comfy_table::Cell> = row.cells.iter().map(|text| field(text, colour)).collect();
    cells.resize(columns, comfy_table::Cell::new(""));
    cells
}

fn field(text: &Text, colour: bool) -> comfy_table::Cell {
    let words = match text.mark {
        Mark::Best => format!("* {}", text.text),
        Mark::Near => format!("≈ {}", text.text),
        Mark::Plain | Mark::Missing => text.text.clone(),
    };
    let cell = comfy_table::Cell::new(plain(&words));
    match text.mark {
        Mark::Best if colour => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Mark::Missing if colour => cell.add_attribute(Attribute::Dim),
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

/// An engine's words must not move the cursor or end the line.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
