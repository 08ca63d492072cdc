//! Tries: the program is run, and its results are kept and read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kvdyno_results::TrialResult;
use kvdyno_results::folder::ResultsFolder;

/// The program and the folder that keeps what it leaves.
#[derive(Debug)]
pub struct Tries {
    kvdyno: PathBuf,
    folder: PathBuf,
    /// Tries of each cell.
    pub count: u32,
}

impl Tries {
    /// Tries of a row.
    pub fn new(kvdyno: &Path, folder: &Path, count: u32) -> io::Result<Tries> {
        fs::create_dir_all(folder)?;
        Ok(Tries { kvdyno: kvdyno.canonicalize()?, folder: folder.canonicalize()?, count })
    }

    /// The results of the try `name`, which are those of `kvdyno compare` with `arguments`: as they were kept, or by
    /// running it now.
    pub fn results(&self, name: &str, arguments: &[String]) -> io::Result<Vec<TrialResult>> {
        let folder = self.folder.join(name);
        if !folder.exists() {
            self.run(&folder, arguments)?;
        }
        let folder = ResultsFolder::open(&folder).map_err(io::Error::other)?;
        folder.results().map_err(io::Error::other)
    }

    /// A folder has its name only when it is whole: what was interrupted is done again.
    fn run(&self, folder: &Path, arguments: &[String]) -> io::Result<()> {
        let unfinished = folder.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let mut command = Command::new(&self.kvdyno);
        command.arg("compare").args(arguments).arg("--out").arg(&unfinished).stdin(Stdio::null());
        let output = command.output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        fs::rename(&unfinished, folder)
    }
}
