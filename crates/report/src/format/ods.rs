//! All tables in one OpenDocument spreadsheet, a sheet each, numbers as numbers; and the data of all charts, a sheet
//! for those that stand together.
//!
//! The format: OASIS, *Open Document Format for Office Applications (OpenDocument) Version 1.3*; parts 2 (packages) and
//! 3 (schema), of which this takes what a sheet of values needs.

use std::io::{Cursor, Seek, Write};

use kvdyno_model::text::{plain, xml};
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{chart_sheets, csv};
use crate::charts::DrawnChart;
use crate::document::{Block, Document, Section};
use crate::error::ReportError;
use crate::grid::{Content, Grid, GridCell};

const MIME_TYPE: &str = "application/vnd.oasis.opendocument.spreadsheet";

/// A sheet: its name, its heads, its rows.
struct Sheet {
    name: String,
    heads: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// The file's bytes; the same for the same document.
pub(crate) fn render(document: &Document<'_>) -> Result<Vec<u8>, ReportError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let manifest = format!(
        "{PROLOGUE}<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\" \
         manifest:version=\"1.3\"><manifest:file-entry manifest:full-path=\"/\" manifest:media-type=\"{MIME_TYPE}\"/>\
         <manifest:file-entry manifest:full-path=\"content.xml\" manifest:media-type=\"text/xml\"/>\
         </manifest:manifest>"
    );
    let packed = SimpleFileOptions::default();
    // Readers know the file by its first entry, which is not compressed.
    let stored = packed.compression_method(zip::CompressionMethod::Stored);
    add(&mut zip, "mimetype", MIME_TYPE, stored)?;
    add(&mut zip, "META-INF/manifest.xml", &manifest, packed)?;
    add(&mut zip, "content.xml", &content(&sheets(document)?), packed)?;
    Ok(zip.finish()?.into_inner())
}

fn add(
    zip: &mut ZipWriter<impl Write + Seek>,
    name: &str,
    text: &str,
    options: SimpleFileOptions,
) -> Result<(), ReportError> {
    zip.start_file(name, options)?;
    zip.write_all(text.as_bytes()).map_err(zip::result::ZipError::from)?;
    Ok(())
}

/// Cells, verdicts and trials first, then the tables for people and the data of charts.
fn sheets(document: &Document<'_>) -> Result<Vec<Sheet>, ReportError> {
    let of_programs = ["cells", "verdicts", "loads", "runs"].into_iter().zip(csv::tables(document)?);
    let sheet = |(name, (heads, rows)): (&str, csv::ProgramTable)| Sheet { name: name.to_owned(), heads, rows };
    let mut sheets: Vec<Sheet> = of_programs.map(sheet).collect();
    for section in &document.sections {
        sheets.extend(section.tables(true).map(|grid| of_grid(section.title_of(grid), grid)));
    }
    for section in &document.sections {
        sheets.extend(of_charts(section)?);
    }
    let mut names = Vec::new();
    for sheet in &mut sheets {
        sheet.name = unique(&sheet.name, &names);
        names.push(sheet.name.to_lowercase());
    }
    Ok(sheets)
}

/// A sheet for each group of charts, named like the group, or like the first of them.
fn of_charts(section: &Section<'_>) -> Result<Vec<Sheet>, ReportError> {
    let mut sheets = Vec::new();
    for block in &section.blocks {
        let Block::Charts(charts) = block else { continue };
        let drawn = charts.draw()?;
        let named = |first: &DrawnChart| charts.heading().unwrap_or_else(|| first.caption.clone());
        let Some(name) = drawn.first().map(named) else { continue };
        let sheet = Sheet {
            name: format!("{name}, {}", section.heading),
            heads: chart_sheets::HEADS.map(str::to_owned).to_vec(),
            rows: chart_sheets::rows(&drawn)?,
        };
        sheets.extend((!sheet.rows.is_empty()).then_some(sheet));
    }
    Ok(sheets)
}

fn of_grid(name: String, grid: &Grid) -> Sheet {
    let heads = grid.columns.iter().map(|column| column.head.clone()).collect();
    let mut group = String::new();
    let mut rows = Vec::new();
    for row in &grid.rows {
        let mut values: Vec<Value> = row.cells.iter().map(value).collect();
        // A name that stands in the first row of a group alone is of all of them.
        if let Some(name) = &row.group {
            group.clone_from(name);
        }
        if let Some(first) = values.first_mut().filter(|first| first.is_null() && grid.is_grouped()) {
            *first = group.as_str().into();
        }
        values.extend(row.failure.as_deref().map(Value::from));
        rows.push(values);
    }
    Sheet { name, heads, rows }
}

fn value(cell: &GridCell) -> Value {
    match &cell.content {
        Content::Empty | Content::Absent => Value::Null,
        Content::Words(words) if words.is_empty() => Value::Null,
        Content::Words(words) => words.as_str().into(),
        Content::Number(value, unit) => unit.number(*value),
        Content::Rate { per_s, .. } => (*per_s).into(),
        Content::Uncertainty(relative) => (*relative).into(),
        Content::Latency(estimate) => estimate.value.into(),
    }
}

/// Characters of a sheet's name, at most, and those that none may have: other programs' bounds, which are narrower than
/// the format's.
const LONGEST_NAME: usize = 31;
const NOT_IN_NAMES: [char; 8] = ['[', ']', '*', '?', ':', '/', '\\', '\''];

fn unique(name: &str, taken: &[String]) -> String {
    let name = plain(name).replace(NOT_IN_NAMES, " ");
    let cut = |end: &str| {
        let begin: String = name.chars().take(LONGEST_NAME - end.chars().count()).collect();
        format!("{}{end}", begin.trim())
    };
    let with_number = |number: u32| if number == 1 { cut("") } else { cut(&format!(" {number}")) };
    let is_free = |name: &String| !name.is_empty() && !taken.contains(&name.to_lowercase());
    (1..).map(with_number).find(is_free).unwrap_or_default()
}

const PROLOGUE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

fn content(sheets: &[Sheet]) -> String {
    let mut text = format!(
        "{PROLOGUE}<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.3\">\
         <office:body><office:spreadsheet>"
    );
    for sheet in sheets {
        let columns = sheet.rows.iter().map(Vec::len).chain([sheet.heads.len(), 1]).max().unwrap_or(1);
        text += &format!("<table:table table:name=\"{}\">", xml(&sheet.name));
        text += &format!("<table:table-column table:number-columns-repeated=\"{columns}\"/>");
        text += "<table:table-header-rows>";
        row(&mut text, &sheet.heads.iter().map(|head| head.as_str().into()).collect::<Vec<_>>());
        text += "</table:table-header-rows>";
        sheet.rows.iter().for_each(|values| row(&mut text, values));
        text += "</table:table>";
    }
    text + "</office:spreadsheet></office:body></office:document-content>\n"
}

/// Every row has a cell, as the schema wants.
fn row(text: &mut String, values: &[Value]) {
    *text += "<table:table-row>";
    let empty = [Value::Null];
    for value in if values.is_empty() { &empty[..] } else { values } {
        match value {
            Value::Null => *text += "<table:table-cell/>",
            Value::Number(number) => {
                *text += &format!(
                    "<table:table-cell office:value-type=\"float\" office:value=\"{number}\"><text:p>{number}</text:p>\
                     </table:table-cell>"
                );
            }
            Value::Bool(is) => {
                // LibreOffice shows these words. pandas takes any other word for no.
                let shown = if *is { "TRUE" } else { "FALSE" };
                *text += &format!(
                    "<table:table-cell office:value-type=\"boolean\" office:boolean-value=\"{is}\">\
                     <text:p>{shown}</text:p></table:table-cell>"
                );
            }
            Value::String(words) => string(text, words),
            other => string(text, &other.to_string()),
        }
    }
    *text += "</table:table-row>";
}

fn string(text: &mut String, words: &str) {
    *text += "<table:table-cell office:value-type=\"string\">";
    for line in words.split('\n') {
        *text += &format!("<text:p>{}</text:p>", xml(line));
    }
    *text += "</table:table-cell>";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sheets_are_unique_and_short() {
        let long = "readwhilewriting, 16 + 100 bytes: CPU of an operation";
        let first = unique(long, &[]);
        assert_eq!(first, "readwhilewriting, 16 + 100 byte");
        assert_eq!(unique(long, &[first.to_lowercase()]), "readwhilewriting, 16 + 100 by 2");
        assert_eq!(unique("a/b:[c]", &[]), "a b  c");
    }

    #[test]
    fn text_is_no_markup() {
        let mut text = String::new();
        row(&mut text, &["<a & \"b\">\u{1b}".into(), Value::Null, 1.5.into(), true.into()]);
        assert!(text.contains("<text:p>&lt;a &amp; &quot;b&quot;&gt;␛</text:p>"), "{text}");
        assert!(
            text.contains("office:value=\"1.5\"") && text.contains("office:boolean-value=\"true\"><text:p>TRUE<"),
            "{text}"
        );
    }
}
