//! `kvdyno report`: the tables of a results folder, and its page.

use std::io::{IsTerminal, Write, stdout};

use kvdyno_report::{Format, against, can_hold, render, render_coloured, write_page};
use kvdyno_results::folder::ResultsFolder;

use crate::cli::Report;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Report) -> Result<(), Error> {
    let results = ResultsFolder::open(arguments.folder)?;
    let Some(paper) = arguments.against else { return show(&results, arguments.format) };
    if !can_hold(arguments.format) {
        return Err(Error::Input(format!("--against is printed as table or md, not as {}", arguments.format)));
    }
    let text = against(&results, paper, arguments.format == Format::Markdown)?;
    stdout().write_all(text.as_bytes()).map_err(Error::io("cannot print"))
}

/// Prints the tables, and makes the page.
pub fn show(results: &ResultsFolder, format: Format) -> Result<(), Error> {
    let text = match format {
        Format::Table if stdout().is_terminal() => render_coloured(results)?,
        format => render(results, format)?,
    };
    stdout().write_all(text.as_bytes()).map_err(Error::io("cannot print"))?;
    let page = write_page(results)?;
    eprintln!("charts: {}", page.display());
    Ok(())
}
