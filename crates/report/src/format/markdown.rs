//! Markdown for GitHub and the like.

use kvdyno_model::text::{counted, markdown, plain};

use crate::document::{Document, Paragraph, Section};
use crate::grid::{Emphasis, Grid, GridCell, GridColumn, GridRow};
use crate::verdicts::StudyAnswer;

/// The answer, and folded beneath it everything else: what one pastes into a pull request.
pub(crate) fn render(document: &Document<'_>) -> String {
    let mut text = format!("# {}\n\n", markdown(document.name));
    text.extend(document.question.iter().map(|question| format!("{}\n\n", markdown(question))));
    if let Some(incomplete) = &document.incomplete {
        text.push_str(&format!("**Incomplete**: {}\n\n", markdown(incomplete)));
    }
    text.push_str(&failures(document.failed));
    text.push_str(&answer(&document.answer));
    let settings = document.main_settings.iter().chain([&document.ran]).map(String::as_str);
    text.push_str(&format!("{}\n\n", markdown(&settings.collect::<Vec<_>>().join(" · "))));
    text.push_str(&folded("Verdicts and tables", &render_sections(&document.sections)));
    text.push_str(&folded("Doubts and notes", &remarks(document)));
    text.push_str(&folded("Setting and machine", &list(document)));
    text.push_str(&folded("The command that repeats it", &shell(&document.repeating)));
    text.trim_end().to_owned() + "\n"
}

/// A part that a reader opens; empty if it has nothing.
pub(crate) fn folded(title: &str, part: &str) -> String {
    match part.trim_end() {
        "" => String::new(),
        part => format!("<details><summary>{}</summary>\n\n{part}\n\n</details>\n\n", markdown(title)),
    }
}

/// A command of a shell as a block of code; empty if there is none. A longer fence than any in it ends it.
pub(crate) fn shell(command: &str) -> String {
    let mut fence = "```".to_owned();
    while command.contains(&fence) {
        fence.push('`');
    }
    let lines: String = command.lines().map(|line| plain(line) + "\n").collect();
    if command.is_empty() { lines } else { format!("{fence}sh\n{lines}{fence}\n") }
}

/// More sentences than these are read in their own section alone.
const MOST_SENTENCES: usize = 12;

/// The order of each group, with its sentences if all of them are few, and what cannot be told.
fn answer(answer: &StudyAnswer) -> String {
    let sentences: usize = answer.groups.iter().map(|group| group.sentences.len()).sum();
    let mut text = String::new();
    for group in &answer.groups {
        text += &format!("- **{}**: {}\n", markdown(&group.title), markdown(&group.line));
        // Without an order the line is the sentences.
        if sentences <= MOST_SENTENCES && group.has_order {
            text.extend(group.sentences.iter().map(|sentence| format!("  - {}\n", markdown(sentence))));
        }
    }
    let end: Vec<String> = answer.cannot_tell().into_iter().chain([answer.legend.clone()]).collect();
    let end = end.iter().filter(|line| !line.is_empty()).map(|line| format!("\n{}\n", markdown(line)));
    text.extend(end);
    if text.is_empty() { text } else { text + "\n" }
}

/// Every table of some sections.
pub(crate) fn render_sections(sections: &[Section<'_>]) -> String {
    sections.iter().map(section).collect()
}

fn list(document: &Document<'_>) -> String {
    let engines = [("engines".to_owned(), document.versions.join(", "))];
    let facts = engines.iter().chain(&document.settings).chain(&document.machine_facts);
    facts.map(|(name, value)| format!("- {}: {}\n", markdown(name), markdown(value))).collect()
}

fn failures(failed: usize) -> String {
    match failed {
        0 => String::new(),
        failed => format!("**{} failed**; the tables say why.\n\n", counted(failed, "trial")),
    }
}

fn remarks(document: &Document<'_>) -> String {
    let all: Vec<_> = document.doubts.iter().chain(&document.notes).collect();
    all.iter().map(|r| format!("- {}: {}\n", markdown(&r.trial), markdown(&r.text))).collect()
}

/// A section that has tables.
fn section(section: &Section<'_>) -> String {
    let sentences: String = section.paragraphs().map(sentences).collect();
    let contents = section.tables(true).map(table).fold(sentences, |all, table| all + &table);
    if contents.is_empty() { contents } else { format!("## {}\n\n{contents}", markdown(&section.heading)) }
}

fn sentences(paragraph: &Paragraph) -> String {
    let title =
        if paragraph.title.is_empty() { String::new() } else { format!("**{}**\n\n", markdown(&paragraph.title)) };
    let lead = if paragraph.lead.is_empty() { String::new() } else { format!("{}\n\n", markdown(&paragraph.lead)) };
    let bullet = if paragraph.is_note { "" } else { "- " };
    let lines: String = paragraph.all_lines().map(|line| format!("{bullet}{}\n", markdown(line))).collect();
    format!("{title}{lead}{lines}\n")
}

/// A table, with the engine in each row.
fn table(grid: &Grid) -> String {
    let grid = grid.ungrouped();
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
    let words = if cell.emphasis == Emphasis::Best { format!("**{words}**") } else { words };
    match cell.emphasis.mark() {
        "" => words,
        mark => format!("{} {words}", markdown(mark)),
    }
}
