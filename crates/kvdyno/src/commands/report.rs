//! `kvdyno report`: the tables of a results folder, and its page.

use std::io::{IsTerminal, Write, stdout};

use kvdyno_record::folder::Results;
use kvdyno_report::{Format, render, render_coloured, write_page};

use crate::cli::Report;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Report) -> Result<(), Error> {
    show(&Results::open(arguments.folder)?, arguments.format)
}

/// Prints the tables, and makes the page.
pub fn show(results: &Results, format: Format) -> Result<(), Error> {
    let text = match format {
        Format::Table if stdout().is_terminal() => render_coloured(results)?,
        format => render(results, format)?,
    };
    stdout().write_all(text.as_bytes()).map_err(Error::io("cannot print"))?;
    let page = write_page(results)?;
    eprintln!("charts: {}", page.display());
    Ok(())
}
