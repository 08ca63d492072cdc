//! The page of an experiment: one file that needs no other.

use std::path::{Path, PathBuf};

use askama::Template;
use kvdyno_results::files;

use crate::charts::DrawnChart;
use crate::document::{Block, Document, Paragraph, Section};
use crate::error::ReportError;
use crate::grid::{Emphasis, Grid};

/// Writes `index.html` into a folder that is there.
pub(crate) fn write(document: &Document<'_>, folder: &Path) -> Result<PathBuf, ReportError> {
    let path = folder.join("index.html");
    let sections = document.sections.iter().map(PageSection::of).collect::<Result<_, _>>()?;
    let page = PageTemplate { document, sections, kvdyno: env!("CARGO_PKG_VERSION") };
    files::write_whole(&path, page.render()?.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    Ok(path)
}

/// The page.
#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    document: &'a Document<'a>,
    sections: Vec<PageSection<'a>>,
    kvdyno: &'static str,
}

/// A section with its charts drawn.
struct PageSection<'a> {
    section: &'a Section<'a>,
    blocks: Vec<PageBlock>,
}

/// A block with its charts drawn.
enum PageBlock {
    /// A table.
    Table(Grid),
    /// A table that is folded.
    Folded(Grid),
    /// Sentences.
    Sentences(Paragraph),
    /// Sentences that are folded.
    FoldedSentences(Paragraph),
    /// Charts beneath a heading.
    Charts(Option<String>, Vec<DrawnChart>),
}

impl<'a> PageSection<'a> {
    fn of(section: &'a Section<'a>) -> Result<PageSection<'a>, ReportError> {
        let blocks = section.blocks.iter().map(PageBlock::of).collect::<Result<Vec<_>, _>>()?;
        Ok(PageSection { section, blocks: blocks.into_iter().filter(|block| !block.is_empty()).collect() })
    }
}

impl PageBlock {
    fn of(block: &Block<'_>) -> Result<PageBlock, ReportError> {
        Ok(match block {
            Block::Table(grid) => PageBlock::Table(grid.clone()),
            Block::Details(grid) if grid.title.is_empty() => PageBlock::Table(grid.clone()),
            Block::Details(grid) => PageBlock::Folded(grid.clone()),
            Block::Paragraph(paragraph) => PageBlock::Sentences(paragraph.clone()),
            Block::FoldedParagraph(paragraph) => PageBlock::FoldedSentences(paragraph.clone()),
            Block::Charts(charts) => PageBlock::Charts(charts.heading(), charts.draw()?),
        })
    }

    fn is_empty(&self) -> bool {
        matches!(self, PageBlock::Charts(_, charts) if charts.is_empty())
    }
}

impl Emphasis {
    /// The class of a field in the style sheet.
    fn class(self) -> &'static str {
        match self {
            Emphasis::Plain => "",
            Emphasis::Best => " best",
            Emphasis::Near => " near",
            Emphasis::Untold => " untold",
            Emphasis::Missing => " missing",
        }
    }
}
