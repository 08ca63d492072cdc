//! Reports on a results folder, for those who work on the report: `demo FOLDER [REPEATS]`. If there is none, it is made
//! up first.

#[allow(missing_docs)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::Path;

use kvdyno_results::folder::ResultsFolder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let repeats = arguments.next().map_or(Ok(1), |repeats| repeats.parse())?;
    let results = ResultsFolder::open(&folder).unwrap_or_else(|_| support::write(Path::new(&folder), repeats));
    let page = kvdyno_report::write_page(&results)?;
    let table = kvdyno_report::render_coloured(&results)?;
    writeln!(std::io::stdout(), "{table}\n{}", page.display())?;
    Ok(())
}
