//! `make fidelity`: whether what kvdyno says is so. Each row of the study has targets, drives the program itself many
//! times, and holds what it said against what is known to be true.
//!
//! Results are kept in a folder: a try that is there is not done again, so that a study of hours can be interrupted. A
//! row is a module with a function that gives a [`FidelityTable`], and a line in [`ROWS`].

mod accuracy;
mod agreement;
mod designs;
mod draws;
mod driver;
mod intervals;
mod itself;
mod pairs;
mod slowdown;
mod table;
mod tries;
mod twentieth;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use table::FidelityTable;
use tries::Tries;

/// A row of the study.
struct FidelityRow {
    name: &'static str,
    measure: fn(&Tries) -> io::Result<FidelityTable>,
}

const ROWS: &[FidelityRow] = &[
    FidelityRow { name: "accuracy", measure: accuracy::measure },
    FidelityRow { name: "draws", measure: draws::measure },
    FidelityRow { name: "intervals", measure: intervals::measure },
    FidelityRow { name: "driver", measure: driver::measure },
    FidelityRow { name: "itself", measure: itself::measure },
    FidelityRow { name: "slowdown", measure: slowdown::burned },
    FidelityRow { name: "waiting", measure: slowdown::waited },
    FidelityRow { name: "designs", measure: designs::measure },
    FidelityRow { name: "twentieth", measure: twentieth::measure },
    FidelityRow { name: "agreement", measure: agreement::measure },
];

/// Which row, how often, and where things are.
#[derive(Debug, Parser)]
struct FidelityArguments {
    /// The row: accuracy, draws, intervals, driver, itself, slowdown, waiting, designs, twentieth or
    /// agreement; without one, all.
    row: Option<String>,
    /// Tries of each cell of a row.
    #[arg(long, default_value_t = 5)]
    tries: u32,
    /// The folder that keeps the results; a try that is there is not done again.
    #[arg(long, default_value = "target/fidelity")]
    folder: PathBuf,
    /// The program.
    #[arg(long, default_value = "target/release/kvdyno")]
    kvdyno: PathBuf,
    /// The document that keeps the tables.
    #[arg(long)]
    document: Option<PathBuf>,
}

fn main() -> ExitCode {
    match study(&FidelityArguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kvdyno-fidelity: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does the rows; whether all their targets are met.
fn study(arguments: &FidelityArguments) -> io::Result<bool> {
    let is_meant = |row: &&FidelityRow| arguments.row.as_deref().is_none_or(|name| name == row.name);
    let rows: Vec<&FidelityRow> = ROWS.iter().filter(is_meant).collect();
    if rows.is_empty() {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(io::Error::other(format!("there is no such row; there are: {}", known.join(", "))));
    }
    let mut all_met = true;
    for row in rows {
        let tries = Tries::new(&arguments.kvdyno, &arguments.folder.join(row.name), arguments.tries)?;
        let table = (row.measure)(&tries)?;
        writeln!(io::stdout(), "{table}")?;
        all_met &= table.is_met();
        if let Some(document) = &arguments.document {
            table.write_into(document, row.name)?;
        }
    }
    Ok(all_met)
}
