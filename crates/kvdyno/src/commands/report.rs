//! `kvdyno report`: the tables of a results folder, and its page.

use std::path::Path;

use jiff::Timestamp;
use kvdyno_report::{Format, Rendered, ReportError, Tables, against, can_hold, schema};
use kvdyno_results::ProfileFacts;
use kvdyno_results::folder::ResultsFolder;

use crate::cli::{ReportArguments, WatchArguments};
use crate::error::Error;
use crate::output::{print, print_json, print_painted, screen, tell};

/// Runs the command.
pub fn run(arguments: ReportArguments) -> Result<(), Error> {
    let Some(folder) = arguments.folder.filter(|_| !arguments.schema) else {
        return print_json(&schema());
    };
    let results = ResultsFolder::open(folder)?;
    if arguments.against.is_some() && !can_hold(arguments.format) {
        return Err(Error::Input(format!("--against is printed as table or md, not as {}", arguments.format)));
    }
    if let Some(ods) = &arguments.ods {
        kvdyno_report::write_ods(&results, arguments.against, ods)?;
    }
    if let Some(folder) = &arguments.parquet {
        kvdyno_report::write_parquet(&results, folder)?;
    }
    let out = arguments.out.as_deref();
    let wanted = (arguments.format, arguments.tables.tables);
    let Some(paper) = arguments.against else { return show(&results, wanted, out) };
    let folder = out.map_or_else(|| results.report_folder(), Path::to_owned);
    let report = against(&results, paper, arguments.format, screen(), &folder)?;
    show_rendered(&results, report, out)
}

/// After a run: prints the tables and makes the page, as far as the user wants to be told.
pub fn show_ended(results: &ResultsFolder, wanted: (Format, Tables), watch: &WatchArguments) -> Result<(), Error> {
    if watch.tells() {
        return show(results, wanted, None);
    }
    let report = report(results, wanted, &results.report_folder())?;
    let page = report.page.map_err(|error| Error::NoPage { error, root: results.root().to_owned() })?;
    match watch.json {
        false => print_painted(&report.text),
        true => {
            let line = serde_json::json!({ "time": Timestamp::now(), "event": "run-ended", "page": page });
            print(&format!("{line}\n"))
        }
    }
}

/// Prints the tables, and makes the page in `out`, else in the results folder. The tables are printed even where the
/// page cannot be written.
pub fn show(results: &ResultsFolder, wanted: (Format, Tables), out: Option<&Path>) -> Result<(), Error> {
    let folder = out.map_or_else(|| results.report_folder(), Path::to_owned);
    show_rendered(results, report(results, wanted, &folder)?, out)
}

fn report(results: &ResultsFolder, (format, tables): (Format, Tables), folder: &Path) -> Result<Rendered, ReportError> {
    kvdyno_report::report(results, format, (screen(), tables), folder)
}

/// Prints a report, and says where its page is.
fn show_rendered(results: &ResultsFolder, report: Rendered, out: Option<&Path>) -> Result<(), Error> {
    print_painted(&report.text)?;
    let page = report.page.map_err(|error| match (error, out) {
        (error @ ReportError::Write { .. }, None) => Error::NoPage { error, root: results.root().to_owned() },
        (error, _) => Error::Report(error),
    })?;
    tell_files(results, &page);
    Ok(())
}

/// Says where the page is, and the flame graphs if there are any.
pub fn tell_files(results: &ResultsFolder, page: &Path) {
    tell(format_args!("charts: {}", page.display()));
    let is_profiled = |results: &ResultsFolder| {
        let is_requested = results.experiment().is_ok_and(|experiment| experiment.lab.profile);
        is_requested && results.results().is_ok_and(|all| all.iter().any(|result| result.profile.is_some()))
    };
    if is_profiled(results) {
        tell(format_args!("flame graphs: {}/trials/*/{}", results.root().display(), ProfileFacts::FILE));
    }
}
