//! The bare loops: compiled when they are needed, with the C compiler that the adapters need anyway.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BenchError;
use crate::counting::Countable;
use crate::drive::{RECORDS, reader_seed};

/// `bare_lmdb.c`, compiled.
#[derive(Debug)]
pub struct BareLmdb {
    program: PathBuf,
    database: PathBuf,
    /// One transaction for all gets, instead of one for each.
    pub one_transaction: bool,
}

impl BareLmdb {
    /// Compiles it into `folder`, to read the database in `database`.
    pub fn compile(folder: &Path, database: &Path) -> Result<BareLmdb, BenchError> {
        let program = compile(folder, "bare_lmdb", include_str!("bare_lmdb.c"), &["-llmdb"])?;
        Ok(BareLmdb { program, database: database.to_owned(), one_transaction: false })
    }
}

/// Compiles the C program `name` into `folder`.
pub fn compile(folder: &Path, name: &str, text: &str, libraries: &[&str]) -> Result<PathBuf, BenchError> {
    let (source, program) = (folder.join(name).with_extension("c"), folder.join(name));
    std::fs::write(&source, text)?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(&compiler).args(["-O2", "-o"]).args([&program, &source]).args(libraries).output()?;
    match output.status.success() {
        true => Ok(program),
        false => Err(BenchError::Program(format!("{compiler}: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

impl Countable for BareLmdb {
    fn command(&self, operations: u64) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.database);
        command.args([reader_seed(), RECORDS, operations].map(|number| number.to_string()));
        command.arg(if self.one_transaction { "one" } else { "each" });
        command
    }
}
