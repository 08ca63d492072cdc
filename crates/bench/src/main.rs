//! The driver's own cost, beside bare loops written by hand: `make bench`.
//!
//! ```text
//! kvdyno-bench                  everything, as a table
//! kvdyno-bench --check          instructions only, held against the limits in limits.rs; fails if one is passed
//! kvdyno-bench adapters NAME…   what adapters of C libraries spend on a get themselves
//! kvdyno-bench 3n1 [STARTS [THREADS [PAIRS]]]  the 3n+1 computation on Berkeley DB beside a bare C program
//! kvdyno-bench drive …          one loop in this process (started by the above)
//! ```

mod adapters;
mod bare;
mod counting;
mod cycles;
mod drive;
mod limits;
mod pairs;
mod table;

use std::process::ExitCode;

/// Reasons for a failure.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A program that is measured did not work.
    #[error("{0}")]
    Program(String),
    /// Something of the system's.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// More instructions than allowed.
    #[error("the driver has become dearer: {0}")]
    Limit(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["drive", task] => drive::run(task),
        ["3n1", rest @ ..] => cycles::run(rest),
        ["drive-3n1", rest @ ..] => cycles::drive(rest),
        ["--check"] => limits::check(),
        ["adapters", engines @ ..] if !engines.is_empty() => adapters::run(engines),
        [] => table::run(),
        _ => Err(BenchError::Program(
            "usage: kvdyno-bench [--check | adapters ENGINE… | 3n1 [STARTS [THREADS [PAIRS]]]]".to_owned(),
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kvdyno-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
