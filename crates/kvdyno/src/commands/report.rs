//! `kvdyno report`: the tables of a results folder, and its page.

use std::io::{IsTerminal, Write, stdout};

use kvdyno_report::{Format, against, can_hold};
use kvdyno_results::folder::ResultsFolder;

use crate::cli::ReportArguments;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: ReportArguments) -> Result<(), Error> {
    let results = ResultsFolder::open(arguments.folder)?;
    let Some(paper) = arguments.against else { return show(&results, arguments.format) };
    if !can_hold(arguments.format) {
        return Err(Error::Input(format!("--against is printed as table or md, not as {}", arguments.format)));
    }
    let text = against(&results, paper, arguments.format)?;
    stdout().write_all(text.as_bytes()).map_err(Error::io("cannot print"))
}

/// Prints the tables, and makes the page.
pub fn show(results: &ResultsFolder, format: Format) -> Result<(), Error> {
    let report = kvdyno_report::report(results, format, stdout().is_terminal())?;
    stdout().write_all(report.text.as_bytes()).map_err(Error::io("cannot print"))?;
    eprintln!("charts: {}", report.page.display());
    Ok(())
}
