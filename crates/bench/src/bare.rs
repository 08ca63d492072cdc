//! The bare loops: compiled when they are needed, with the C compiler that the adapters need anyway.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BenchError;
use crate::drive::{RECORDS, load, reader_seed, writer_seed};

/// A loop of `bare_lmdb.c`.
#[derive(Clone, Copy, Debug)]
pub enum BareLoop {
    /// Gets, a transaction for each.
    Each,
    /// Gets, one transaction for all.
    One,
    /// Steps of a cursor.
    Scan,
    /// Puts; the number is that of puts in a transaction.
    Put(u64),
}

/// An LMDB database that was loaded once. Each run that writes gets a copy, so that all runs start from the same
/// records.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// As it was loaded, for those who read.
    pub folder: PathBuf,
}

impl Loaded {
    /// Loads it beneath `folder`.
    pub fn make(folder: &Path) -> Result<Loaded, BenchError> {
        let loaded = Loaded { folder: folder.join("lmdb") };
        std::fs::create_dir(&loaded.folder)?;
        load("lmdb", &loaded.folder, RECORDS)?;
        Ok(loaded)
    }

    /// A copy for one run that writes, in the place of the copy before.
    pub fn copy(&self) -> std::io::Result<PathBuf> {
        let copy = self.folder.with_extension("copy");
        if copy.exists() {
            std::fs::remove_dir_all(&copy)?;
        }
        std::fs::create_dir(&copy)?;
        std::fs::copy(self.folder.join("data.mdb"), copy.join("data.mdb"))?;
        Ok(copy)
    }
}

/// `bare_lmdb.c`, compiled.
#[derive(Clone, Debug)]
pub struct BareLmdb {
    program: PathBuf,
    database: Loaded,
}

impl BareLmdb {
    /// Compiles it into `folder`, to work on `database`.
    pub fn compile(folder: &Path, database: &Loaded) -> Result<BareLmdb, BenchError> {
        let program = compile(folder, "bare_lmdb", include_str!("bare_lmdb.c"), &["-llmdb", "-pthread"])?;
        Ok(BareLmdb { program, database: database.clone() })
    }

    /// One of its loops, with so many operations.
    pub fn command(&self, bare_loop: BareLoop, operations: u64) -> std::io::Result<Command> {
        let (seed, name, batch) = match bare_loop {
            BareLoop::Each => (reader_seed(), "each", 1),
            BareLoop::One => (reader_seed(), "one", 1),
            BareLoop::Scan => (reader_seed(), "scan", 1),
            BareLoop::Put(batch) => (writer_seed(), "put", batch),
        };
        let mut command = Command::new(&self.program);
        command.arg(match bare_loop {
            BareLoop::Put(_) => self.database.copy()?,
            _ => self.database.folder.clone(),
        });
        command.args([seed, RECORDS, operations].map(|number| number.to_string()));
        command.args([name, &batch.to_string()]);
        Ok(command)
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
