//! The page of an experiment: one file, whole without its flame graphs, which lie beside it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use kvdyno_results::files;
use sha2::{Digest, Sha256};

use crate::charts::{BEGIN, DrawnChart};
use crate::document::{Block, Document, Links, Paragraph, Section};
use crate::error::ReportError;
use crate::grid::{Emphasis, Grid};

/// The library that draws the page's charts, with its licence notice: `build.rs` has found it.
const ECHARTS: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.js"));
/// The page's own scripts.
const CHARTS: &str = include_str!("../../templates/charts.js");
const TABLES: &str = include_str!("../../templates/tables.js");
const BESIDE: &str = include_str!("../../templates/beside.js");
/// All that the page runs, in this order.
const SCRIPTS: [&str; 4] = [ECHARTS, TABLES, CHARTS, BESIDE];
/// The licence of the library.
const LICENCE: &str = include_str!("../../../../LICENSE-APACHE");
/// The notices of the library and of what is part of it. The package that carries the script has none of them; npm's of
/// the same script has them as files.
const NOTICES: &str = include_str!("../../templates/notices.txt");
/// The files that the page carries, so that it is whole where it stands alone.
const CARRIED: [&str; 4] = ["cells.csv", "verdicts.csv", "load.csv", "run.csv"];

/// Writes `index.html` into a folder that is there and has the tables as CSV, and the charts into `charts` beside it.
pub(crate) fn write(document: &Document<'_>, folder: &Path) -> Result<PathBuf, ReportError> {
    let path = folder.join("index.html");
    let mut sections = document.sections.iter().map(PageSection::of).collect::<Result<Vec<_>, _>>()?;
    write_charts(&sections, &folder.join("charts"))?;
    copy_drawings(&mut sections, &folder.join("charts"))?;
    let page = PageTemplate {
        document,
        first_chart: take_first_chart(&mut sections),
        sections,
        files: CARRIED.iter().map(|name| CarriedFile::read(folder, name)).collect::<Result<_, _>>()?,
        scripts: SCRIPTS,
        policy: format!("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {}", hashes()),
        licence: LICENCE,
        notices: NOTICES,
        kvdyno: env!("CARGO_PKG_VERSION"),
    };
    files::write_whole(&path, page.render()?.as_bytes()).map_err(ReportError::writing(path.clone()))?;
    Ok(path)
}

/// The page.
#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    document: &'a Document<'a>,
    /// The chart beside the verdicts, and the heading of its section.
    first_chart: Option<(&'a str, DrawnChart)>,
    sections: Vec<PageSection<'a>>,
    files: Vec<CarriedFile>,
    scripts: [&'static str; 4],
    /// The sources from which the browser may load anything: none, and it runs only these scripts.
    policy: String,
    licence: &'static str,
    notices: &'static str,
    kvdyno: &'static str,
}

/// A file that the page can save.
struct CarriedFile {
    name: &'static str,
    /// Compressed by gzip, in base64.
    content: String,
}

impl CarriedFile {
    fn read(folder: &Path, name: &'static str) -> Result<CarriedFile, ReportError> {
        let path = folder.join(name);
        let read = || {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&fs::read(&path)?)?;
            packed.finish()
        };
        let packed = read().map_err(ReportError::writing(folder.join("index.html")))?;
        Ok(CarriedFile { name, content: STANDARD.encode(packed) })
    }
}

/// The hashes of the scripts, as the policy wants them.
fn hashes() -> String {
    let hash = |script: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    SCRIPTS.map(hash).join(" ")
}

/// The first chart of a workload, or else of the loads, which stands beside the verdicts and no longer in its section.
/// None if there are no verdicts.
fn take_first_chart<'a>(sections: &mut [PageSection<'a>]) -> Option<(&'a str, DrawnChart)> {
    sections.iter().find(|page| page.section.id == VERDICTS)?;
    let of_run = sections.iter().position(|page| page.section.id.starts_with("run-") && page.has_charts());
    let nth = of_run.or_else(|| sections.iter().position(PageSection::has_charts))?;
    let page = &mut sections[nth];
    let chart = page.blocks.iter_mut().find_map(|block| match block {
        PageBlock::Charts(_, charts) => Some(charts.remove(0)),
        _ => None,
    });
    page.blocks.retain(|block| !block.is_empty());
    chart.map(|chart| (page.section.heading.as_str(), chart))
}

/// The section of verdicts.
const VERDICTS: &str = "verdicts";

/// Each chart as a file of its own, in the page's light colours, numbered as in the sections.
fn write_charts(sections: &[PageSection<'_>], folder: &Path) -> Result<(), ReportError> {
    let blocks = sections.iter().flat_map(|page| page.blocks.iter().map(move |block| (page.section, block)));
    let charts = blocks.filter_map(|(section, block)| match block {
        PageBlock::Charts(_, charts) => Some(charts.iter().map(move |chart| (section, chart))),
        _ => None,
    });
    fs::create_dir_all(folder).and_then(|()| remove_charts(folder)).map_err(ReportError::writing(folder.to_owned()))?;
    for (nth, (section, chart)) in charts.flatten().enumerate() {
        for (stem, svg) in chart.standalone() {
            let path = folder.join(format!("{:03}-{}-{}.svg", nth + 1, section.id, slug(&stem)));
            // The files are not synced: there are many, and a reader who loses them makes them again.
            let written = files::create_anew(&path).and_then(|mut file| file.write_all(svg.as_bytes()));
            written.map_err(ReportError::writing(path.clone()))?;
        }
    }
    Ok(())
}

/// Puts drawings of trials beside the charts, under the names of their trials; those that are gone are left out.
fn copy_drawings(sections: &mut [PageSection<'_>], folder: &Path) -> Result<(), ReportError> {
    for block in sections.iter_mut().flat_map(|page| &mut page.blocks) {
        let PageBlock::Links(links) = block else { continue };
        for (_, path) in &mut links.files {
            let trial = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
            let name = format!("{}-{}", trial, path.file_name().unwrap_or_default().to_string_lossy());
            let copied = fs::read(&*path).and_then(|drawing| files::write_whole(&folder.join(&name), &drawing));
            match copied {
                Err(error) if error.kind() == io::ErrorKind::NotFound => *path = PathBuf::new(),
                copied => {
                    copied.map_err(ReportError::writing(folder.join(&name)))?;
                    *path = Path::new("charts").join(name);
                }
            }
        }
        links.files.retain(|(_, path)| *path != PathBuf::new());
    }
    Ok(())
}

/// Removes the charts of an earlier page, of which this one may have fewer: files that are named and begin as
/// [`write_charts`] has it. Whatever else lies there is somebody's own.
fn remove_charts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_name_of_chart(&entry.file_name().to_string_lossy()) && entry.file_type()?.is_file() {
            let mut begin = Vec::new();
            File::open(entry.path())?.take(BEGIN.len() as u64).read_to_end(&mut begin)?;
            if begin == BEGIN.as_bytes() {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

/// `001-load-load-times.svg`.
fn is_name_of_chart(name: &str) -> bool {
    let number = name.split('-').next().unwrap_or_default();
    number.len() >= 3 && number.bytes().all(|digit| digit.is_ascii_digit()) && name.ends_with(".svg")
}

/// `Reads a second` as `reads-a-second`, of letters and digits alone.
fn slug(words: &str) -> String {
    let plain: String =
        words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    plain.split_whitespace().take(12).collect::<Vec<_>>().join("-")
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
    /// Files beside it.
    Links(Links),
}

impl<'a> PageSection<'a> {
    fn of(section: &'a Section<'a>) -> Result<PageSection<'a>, ReportError> {
        let blocks = section.blocks.iter().filter_map(|block| PageBlock::of(block).transpose());
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        Ok(PageSection { section, blocks: blocks.into_iter().filter(|block| !block.is_empty()).collect() })
    }

    fn has_charts(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, PageBlock::Charts(..)))
    }
}

impl PageBlock {
    /// None of what is for text alone.
    fn of(block: &Block<'_>) -> Result<Option<PageBlock>, ReportError> {
        Ok(Some(match block {
            Block::Table(grid) | Block::MoreTable(grid) => PageBlock::Table(grid.clone()),
            Block::Details(grid) if grid.title.is_empty() => PageBlock::Table(grid.clone()),
            Block::Details(grid) => PageBlock::Folded(grid.clone()),
            Block::TextParagraph(_) => return Ok(None),
            Block::Paragraph(paragraph) | Block::PageParagraph(paragraph) => PageBlock::Sentences(paragraph.clone()),
            Block::FoldedParagraph(paragraph) => PageBlock::FoldedSentences(paragraph.clone()),
            Block::Charts(charts) => PageBlock::Charts(charts.heading(), charts.draw()?),
            Block::Links(links) => PageBlock::Links(links.clone()),
        }))
    }

    fn is_empty(&self) -> bool {
        match self {
            PageBlock::Charts(_, charts) => charts.is_empty(),
            PageBlock::Links(links) => links.files.is_empty(),
            _ => false,
        }
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
            Emphasis::Differs => " differs",
        }
    }
}
