//! For GitHub and the like.

use crate::study::Study;
use crate::tables::{
    Column, Grid, Mark, Room, Row, Text, environment, key_facts, load, load_storage, machine_facts, matrices,
    relative_grids, run_by_engine, run_cpu, run_storage, versions, workload_figures,
};

/// The tables of the reports.
pub(crate) fn render(study: &Study<'_>) -> String {
    let mut text = format!("# {}\n\n", escaped(study.name));
    text.push_str(&list(study));
    text.push_str(&failures(study));
    for grid in load(study, Room::Page).into_iter().chain(load_storage(study)) {
        text.push_str(&section(2, &grid));
    }
    for grid in workload_figures(study).into_iter().chain(relative_grids(study)) {
        text.push_str(&section(2, &grid));
    }
    for workload in study.workloads() {
        text.push_str(&format!("## {}\n\n", escaped(workload)));
        let matrices = matrices(study, workload).into_iter();
        for grid in matrices
            .chain(run_by_engine(study, workload))
            .chain(run_cpu(study, workload))
            .chain(run_storage(study, workload))
        {
            text.push_str(&section(3, &grid));
        }
    }
    text.extend(environment(study).map(|grid| section(2, &grid)));
    text.push_str(&remarks(study));
    text.trim_end().to_owned() + "\n"
}

fn list(study: &Study<'_>) -> String {
    let machine = study.machine.map(machine_facts).unwrap_or_default();
    let engines = ("engines".to_owned(), versions(study).join(", "));
    let facts = std::iter::once(engines).chain(key_facts(study)).chain(machine);
    let lines: String = facts.map(|(name, value)| format!("- {}: {}\n", escaped(&name), escaped(&value))).collect();
    lines + "\n"
}

fn failures(study: &Study<'_>) -> String {
    match study.failures().len() {
        0 => String::new(),
        1 => "**1 trial failed**; the tables say why.\n\n".to_owned(),
        n => format!("**{n} trials failed**; the tables say why.\n\n"),
    }
}

fn remarks(study: &Study<'_>) -> String {
    let all: Vec<_> = study.doubts_told().into_iter().chain(study.notes()).collect();
    let lines: String = all.iter().map(|r| format!("- {}: {}\n", escaped(&r.trial), escaped(&r.text))).collect();
    if all.is_empty() { lines } else { format!("## Doubts and notes\n\n{lines}") }
}

/// One table.
pub(crate) fn grid(grid: &Grid) -> String {
    section(2, grid)
}

fn section(level: usize, grid: &Grid) -> String {
    let heads: Vec<String> = grid.columns.iter().map(|column| escaped(&column.head)).collect();
    let rules: Vec<&str> = grid.columns.iter().map(rule).collect();
    let rows: String = grid.rows.iter().map(|row| line(&fields(row, grid.columns.len()))).collect();
    let note = if grid.note.is_empty() { String::new() } else { format!("\n{}\n", escaped(&grid.note)) };
    let title = escaped(&grid.title);
    format!("{} {title}\n\n{}| {} |\n{rows}{note}\n", "#".repeat(level), line(&heads), rules.join(" | "))
}

fn line(fields: &[String]) -> String {
    format!("| {} |\n", fields.join(" | "))
}

fn rule(column: &Column) -> &'static str {
    if column.number { "---:" } else { "---" }
}

/// GitHub's tables have no cells that span columns: a failure stands in the first free one.
fn fields(row: &Row, columns: usize) -> Vec<String> {
    let mut fields: Vec<String> = row.cells.iter().map(marked).collect();
    fields.extend(row.failure.as_ref().map(|reason| escaped(reason)));
    fields.resize(columns, String::new());
    fields
}

fn marked(text: &Text) -> String {
    let words = escaped(&text.text);
    match text.mark {
        Mark::Plain | Mark::Missing => words,
        Mark::Best => format!("\\* **{words}**"),
        Mark::Near => format!("≈ {words}"),
    }
}

/// What would be markup, or end the cell.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
