//! Reports on a results folder, for those who work on the report: `demo FOLDER [REPEATS [ENGINES [POINTS [REPORT]]]]`,
//! the points of each time series (`-`: as many as are made without), the published report to hold the page against. If
//! there is no folder, it is made up first. Tells how long the page took to make.

#[allow(missing_docs)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use kvdyno_report::{Format, Screen};
use kvdyno_results::folder::ResultsFolder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let repeats = arguments.next().map_or(Ok(1), |repeats| repeats.parse())?;
    let engines = arguments.next().map(|engines| engines.parse()).transpose()?;
    let points = arguments.next().filter(|points| points != "-").map(|points| points.parse()).transpose()?;
    let paper = arguments.next().map(|paper| paper.parse()).transpose()?;
    let results = ResultsFolder::open(&folder).unwrap_or_else(|_| {
        let results = match engines {
            Some(count) => match points {
                Some(points) => support::write_long(Path::new(&folder), repeats, count, points),
                None => support::write_of(Path::new(&folder), repeats, count),
            },
            None => support::write(Path::new(&folder), repeats),
        };
        support::stalls::stall(&results, "rocksdb");
        results
    });
    let begun = Instant::now();
    let page = match paper {
        Some(paper) => {
            let to = results.report_folder();
            kvdyno_report::against(&results, paper, Format::Table, Screen::default(), &to)?.page?
        }
        None => kvdyno_report::write_page(&results)?,
    };
    let made_s = begun.elapsed().as_secs_f64();
    let table = kvdyno_report::render_on(&results, Screen { width: None, colour: true })?;
    writeln!(std::io::stdout(), "{table}\n{}\nmade in {made_s:.3} s", page.display())?;
    Ok(())
}
