//! Tries: the program is run, and its results are kept and read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

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

    /// The results of the try `name`, which are those of `kvdyno compare` with `words`: as they were kept, or by
    /// running it now.
    pub fn results(&self, name: &str, words: &[String]) -> io::Result<Vec<TrialResult>> {
        Ok(self.kept(name, "compare", words, &[0])?.0)
    }

    /// The same of `kvdyno diff`, whatever its verdict, with the seconds that it took.
    pub fn diff(&self, name: &str, words: &[String]) -> io::Result<(Vec<TrialResult>, f64)> {
        self.kept(name, "diff", words, &[0, 3, 4])
    }

    fn kept(&self, name: &str, command: &str, words: &[String], codes: &[i32]) -> io::Result<(Vec<TrialResult>, f64)> {
        let folder = self.folder.join(name);
        if !folder.exists() {
            self.run(&folder, command, words, codes)?;
        }
        let wall_s = fs::read_to_string(folder.join(WALL))?.trim().parse().map_err(io::Error::other)?;
        let folder = ResultsFolder::open(&folder).map_err(io::Error::other)?;
        Ok((folder.results().map_err(io::Error::other)?, wall_s))
    }

    /// A folder has its name only when it is whole: what was interrupted is done again.
    fn run(&self, folder: &Path, name: &str, words: &[String], codes: &[i32]) -> io::Result<()> {
        let unfinished = folder.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        let mut command = Command::new(&self.kvdyno);
        command.arg(name).args(words).arg("--out").arg(&unfinished).stdin(Stdio::null());
        let begun = Instant::now();
        let output = command.output()?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {}", folder.display(), said.trim())));
        }
        fs::write(unfinished.join(WALL), begun.elapsed().as_secs_f64().to_string())?;
        fs::rename(&unfinished, folder)
    }
}

/// The file beside the results with the seconds that the command took.
const WALL: &str = "wall_s";
