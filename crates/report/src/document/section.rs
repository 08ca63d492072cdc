//! Sections.

use std::path::PathBuf;

use crate::charts::ChartReference;
use crate::grid::Grid;

/// A part of a report with a heading of its own.
pub(crate) struct Section<'a> {
    /// Names it in links; unique.
    pub(crate) id: String,
    /// Its heading.
    pub(crate) heading: String,
    /// Whether its heading belongs to the titles of its tables, where they stand alone.
    pub(crate) names_tables: bool,
    /// A paragraph beneath the heading, where there is space for one; may be empty.
    pub(crate) text: &'static str,
    /// The blocks, from the top.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A block of a section.
pub(crate) enum Block<'a> {
    /// A table.
    Table(Grid),
    /// A table that text has where all are wanted.
    MoreTable(Grid),
    /// A table that only a page has space for.
    Details(Grid),
    /// Charts, where the format can show them.
    Charts(ChartReference<'a>),
    /// Sentences.
    Paragraph(Paragraph),
    /// Sentences for text alone: a page has more of them.
    TextParagraph(Paragraph),
    /// Sentences that only a page has space for.
    PageParagraph(Paragraph),
    /// The same, folded.
    FoldedParagraph(Paragraph),
    /// Files beside a page.
    Links(Links),
}

/// Drawings of trials beneath a title.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    pub(crate) title: &'static str,
    /// The words for each file, and its path; a page has a copy beside its charts.
    pub(crate) files: Vec<(String, PathBuf)>,
}

/// Sentences beneath a title.
#[derive(Clone, Debug)]
pub(crate) struct Paragraph {
    /// May be empty.
    pub(crate) title: String,
    /// The line that says it all; may be empty.
    pub(crate) lead: String,
    /// A line each.
    pub(crate) lines: Vec<String>,
    /// A line for each pair of which nothing can be told: a page folds them beneath their count.
    pub(crate) untold: Vec<String>,
    /// Lines that qualify those above.
    pub(crate) remarks: Vec<String>,
    /// Whether it explains what stands above it.
    pub(crate) is_note: bool,
}

impl Paragraph {
    /// Lines beneath a title.
    pub(crate) fn of_lines(title: String, lines: Vec<String>) -> Paragraph {
        Paragraph { title, lead: String::new(), lines, untold: Vec::new(), remarks: Vec::new(), is_note: false }
    }

    /// An explanation of what stands above it.
    pub(crate) fn note(text: String) -> Paragraph {
        Paragraph { is_note: true, ..Paragraph::of_lines(String::new(), vec![text]) }
    }

    /// All of its lines but the lead, as text has them.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().chain(&self.untold).chain(&self.remarks)
    }
}

impl<'a> Section<'a> {
    /// A section whose heading names its tables.
    pub(crate) fn new(id: impl Into<String>, heading: impl Into<String>, blocks: Vec<Block<'a>>) -> Self {
        Section { id: id.into(), heading: heading.into(), names_tables: true, text: "", blocks }
    }

    /// Its tables for text: all of them, or those that answer its question.
    pub(crate) fn tables(&self, is_all: bool) -> impl Iterator<Item = &Grid> {
        self.blocks.iter().filter_map(move |block| match block {
            Block::Table(grid) => Some(grid),
            Block::MoreTable(grid) => Some(grid).filter(|_| is_all),
            _ => None,
        })
    }

    /// Its sentences for text.
    pub(crate) fn paragraphs(&self) -> impl Iterator<Item = &Paragraph> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Paragraph(paragraph) | Block::TextParagraph(paragraph) => Some(paragraph),
            _ => None,
        })
    }

    /// The title of one of its tables, where that stands alone.
    pub(crate) fn title_of(&self, grid: &Grid) -> String {
        match (self.names_tables, grid.title.as_str()) {
            (_, "") => self.heading.clone(),
            (true, title) => format!("{}: {title}", self.heading),
            (false, title) => title.to_owned(),
        }
    }
}
