//! `make fidelity`: whether what kvdyno says is so. Each row of the study has targets, drives the program itself many
//! times, and holds what it said against what is known to be true.
//!
//! Results are kept in a folder: a try that is there is not done again. In one call a row takes an hour at most, and
//! the next call goes on where it ended. A row is a module with a function that gives the lines of a [`FidelityTable`],
//! and a line in [`ROWS`].

mod accuracy;
mod agreement;
mod arrivals;
mod background;
mod designs;
mod draws;
mod driver;
mod interference;
mod intervals;
mod itself;
mod pairs;
mod program;
mod promises;
mod row_time;
mod said;
mod same;
mod slowdown;
mod table;
mod tries;
mod twentieth;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use kvdyno_model::{KeyValue, TimeSpan};

use program::TriedProgram;
use row_time::RowTime;
use table::{FidelityLine, FidelityTable};
use tries::Tries;

/// A row of the study.
struct FidelityRow {
    name: &'static str,
    measure: fn(&Tries) -> io::Result<Vec<FidelityLine>>,
}

const ROWS: &[FidelityRow] = &[
    FidelityRow { name: "accuracy", measure: accuracy::measure },
    FidelityRow { name: "draws", measure: draws::measure },
    FidelityRow { name: "intervals", measure: intervals::measure },
    FidelityRow { name: "driver", measure: driver::measure },
    FidelityRow { name: "itself", measure: itself::measure },
    FidelityRow { name: "same", measure: same::measure },
    FidelityRow { name: "slowdown", measure: slowdown::burned },
    FidelityRow { name: "waiting", measure: slowdown::waited },
    FidelityRow { name: "arrivals", measure: arrivals::measure },
    FidelityRow { name: "promises", measure: promises::measure },
    FidelityRow { name: "designs", measure: designs::measure },
    FidelityRow { name: "twentieth", measure: twentieth::measure },
    FidelityRow { name: "agreement", measure: agreement::measure },
    FidelityRow { name: "background", measure: background::measure },
    FidelityRow { name: "interference", measure: interference::measure },
];

/// Which row, how often, how long, and where things are.
///
/// The exit code is 0 if all tries are there and every target is met, 3 if one is not met, 4 if tries are left, which
/// another call does; 1 if the study cannot work, 2 if the arguments are wrong.
#[derive(Debug, Parser)]
struct FidelityArguments {
    /// The row: accuracy, draws, intervals, driver, itself, same, slowdown, waiting, arrivals, promises, designs,
    /// twentieth, agreement, background or interference; without one, all.
    row: Option<String>,
    /// Tries of each cell of a row.
    #[arg(long, default_value_t = 5)]
    tries: u32,
    /// The time after which no further try of a row begins, such as 60m; another call goes on.
    #[arg(long = "for", value_name = "TIME", default_value = "60m", value_parser = time)]
    time: Duration,
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

fn time(text: &str) -> Result<Duration, String> {
    TimeSpan::<0>::from_text(text).map(TimeSpan::get)
}

/// The outcome of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StudyOutcome {
    /// All tries are there, and every target is met.
    Met = 0,
    /// All tries are there, and a target is not met.
    NotMet = 3,
    /// Tries are left: whether targets are met is not known.
    NotComplete = 4,
}

impl StudyOutcome {
    fn of(table: &FidelityTable) -> StudyOutcome {
        match (table.is_complete(), table.is_met()) {
            (false, _) => StudyOutcome::NotComplete,
            (true, false) => StudyOutcome::NotMet,
            (true, true) => StudyOutcome::Met,
        }
    }
}

fn main() -> ExitCode {
    match study(&FidelityArguments::parse()) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(error) => {
            eprintln!("kvdyno-fidelity: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does the rows, each in its own time. Of several the outcome is that of the one which is furthest from the targets.
fn study(arguments: &FidelityArguments) -> io::Result<StudyOutcome> {
    let is_meant = |row: &&FidelityRow| arguments.row.as_deref().is_none_or(|name| name == row.name);
    let rows: Vec<&FidelityRow> = ROWS.iter().filter(is_meant).collect();
    if rows.is_empty() {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(io::Error::other(format!("there is no such row; there are: {}", known.join(", "))));
    }
    let program = TriedProgram::of(&arguments.kvdyno, &std::env::current_dir()?)?;
    let mut all = StudyOutcome::Met;
    for row in rows {
        let time = RowTime::from_now(arguments.time);
        let tries = Tries::new(&program, &arguments.folder.join(row.name), arguments.tries, time)?;
        let lines = (row.measure)(&tries)?;
        let progress = tries.progress();
        let table = FidelityTable::new(lines, &program.commit, progress);
        let goes_on = if table.is_complete() { "" } else { "; the time is over, and the same call goes on" };
        let (kept, done, left) = (progress.kept, progress.done, progress.left);
        writeln!(io::stdout(), "{table}\n{}: tries: {done} now, {kept} before, {left} left{goes_on}", row.name)?;
        if let Some(document) = &arguments.document
            && !table.write_into(document, row.name)?
        {
            writeln!(io::stdout(), "{} is left as it was", document.display())?;
        }
        all = all.max(StudyOutcome::of(&table));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tries::RowProgress;

    #[test]
    fn the_exit_code_tells_what_is_not_complete_from_what_is_not_met() {
        let outcome = |is_met, left| {
            let (target, figure, bound) = (String::new(), String::new(), String::new());
            let line = FidelityLine { target, tries: 1, figure, bound, is_met };
            StudyOutcome::of(&FidelityTable::new(vec![line], "1a2b3c4d5e6f", RowProgress { kept: 1, done: 0, left }))
                as u8
        };
        assert_eq!((outcome(true, 0), outcome(false, 0)), (0, 3));
        assert_eq!((outcome(true, 1), outcome(false, 1)), (4, 4));
    }

    #[test]
    fn the_time_of_a_row_is_an_hour_unless_another_is_given() {
        let time = |words: &[&str]| FidelityArguments::try_parse_from([&["x"], words].concat()).map(|all| all.time);
        assert_eq!(time(&[]).unwrap(), Duration::from_secs(3600));
        assert_eq!(time(&["--for", "90s"]).unwrap(), Duration::from_secs(90));
        assert!(time(&["--for", "90"]).is_err());
    }
}
