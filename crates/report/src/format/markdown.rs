//! Markdown for GitHub and the like.

use kvdyno_model::text::{counted, markdown};

use crate::document::{Document, Paragraph, Section};
use crate::grid::{Emphasis, Grid, GridCell, GridColumn, GridRow};

/// The tables of the reports.
pub(crate) fn render(document: &Document<'_>) -> String {
    let mut text = format!("# {}\n\n", markdown(document.name));
    text.push_str(&list(document));
    if let Some(incomplete) = &document.incomplete {
        text.push_str(&format!("**Incomplete**: {}\n\n", markdown(incomplete)));
    }
    text.push_str(&failures(document.failed));
    text.push_str(&render_sections(&document.sections));
    text.push_str(&remarks(document));
    text.trim_end().to_owned() + "\n"
}

/// Every table of some sections.
pub(crate) fn render_sections(sections: &[Section<'_>]) -> String {
    sections.iter().map(section).collect()
}

fn list(document: &Document<'_>) -> String {
    let engines = [("engines".to_owned(), document.versions.join(", "))];
    let facts = engines.iter().chain(&document.settings).chain(&document.machine_facts);
    let lines: String = facts.map(|(name, value)| format!("- {}: {}\n", markdown(name), markdown(value))).collect();
    lines + "\n"
}

fn failures(failed: usize) -> String {
    match failed {
        0 => String::new(),
        failed => format!("**{} failed**; the tables say why.\n\n", counted(failed, "trial")),
    }
}

fn remarks(document: &Document<'_>) -> String {
    let all: Vec<_> = document.doubts.iter().chain(&document.notes).collect();
    let lines: String = all.iter().map(|r| format!("- {}: {}\n", markdown(&r.trial), markdown(&r.text))).collect();
    if all.is_empty() { lines } else { format!("## Doubts and notes\n\n{lines}") }
}

/// A section that has tables.
fn section(section: &Section<'_>) -> String {
    let sentences: String = section.paragraphs().map(sentences).collect();
    let contents = section.tables(true).map(tables).fold(sentences, |all, table| all + &table);
    if contents.is_empty() { contents } else { format!("## {}\n\n{contents}", markdown(&section.heading)) }
}

fn sentences(paragraph: &Paragraph) -> String {
    let title =
        if paragraph.title.is_empty() { String::new() } else { format!("**{}**\n\n", markdown(&paragraph.title)) };
    let lead = if paragraph.lead.is_empty() { String::new() } else { format!("{}\n\n", markdown(&paragraph.lead)) };
    let bullet = if paragraph.is_note { "" } else { "- " };
    let lines: String = paragraph.lines.iter().map(|line| format!("{bullet}{}\n", markdown(line))).collect();
    format!("{title}{lead}{lines}\n")
}

/// A wide table becomes one for each group of its rows.
fn tables(grid: &Grid) -> String {
    if grid.is_wide() { grid.by_rows().iter().map(table).collect() } else { table(grid) }
}

fn table(grid: &Grid) -> String {
    let heads: Vec<String> = grid.columns.iter().map(|column| markdown(&column.head)).collect();
    let rules: Vec<&str> = grid.columns.iter().map(rule).collect();
    let rows: String = grid.rows.iter().map(|row| line(&fields(row, grid.columns.len()))).collect();
    let note = grid.note();
    let note = if note.is_empty() { note } else { format!("\n{}\n", markdown(&note)) };
    let title = if grid.title.is_empty() { String::new() } else { format!("### {}\n\n", markdown(&grid.title)) };
    format!("{title}{}| {} |\n{rows}{note}\n", line(&heads), rules.join(" | "))
}

fn line(fields: &[String]) -> String {
    format!("| {} |\n", fields.join(" | "))
}

fn rule(column: &GridColumn) -> &'static str {
    if column.is_number { "---:" } else { "---" }
}

/// GitHub's tables have no cells that span columns: a failure stands in the first free one.
fn fields(row: &GridRow, columns: usize) -> Vec<String> {
    let mut fields: Vec<String> = row.cells.iter().map(marked).collect();
    fields.extend(row.failure.as_ref().map(|reason| markdown(reason)));
    fields.resize(columns, String::new());
    fields
}

fn marked(cell: &GridCell) -> String {
    let words = markdown(&cell.content.to_string());
    match cell.emphasis {
        Emphasis::Plain | Emphasis::Missing => words,
        Emphasis::Best => format!("\\* **{words}**"),
        Emphasis::Near => format!("≈ {words}"),
        Emphasis::Untold => format!("? {words}"),
        Emphasis::Differs => format!("≠ {words}"),
    }
}
