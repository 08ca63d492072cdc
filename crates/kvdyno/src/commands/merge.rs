//! `kvdyno merge`: puts the results of a plan's parts together.

use std::fs;

use kvdyno_environment::lock::FolderLock;
use kvdyno_model::text::counted;
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{Merge, MergeError};

use crate::cli::MergeArguments;
use crate::error::Error;
use crate::output::{print, tell};

/// Runs the command.
pub fn run(arguments: &MergeArguments) -> Result<(), Error> {
    let parts: Vec<ResultsFolder> = arguments.parts.iter().map(ResultsFolder::at).collect();
    let out = ResultsFolder::at(&arguments.out);
    // Refused before the folder is made.
    Merge::of(&parts, &out)?;
    let shown = arguments.out.display();
    fs::create_dir_all(out.root()).map_err(Error::io(format!("cannot make {shown}")))?;
    let _lock = FolderLock::acquire(out.root()).map_err(|error| Error::Input(error.to_string()))?;
    let merge = Merge::of(&parts, &out)?;
    merge.write()?;
    for (part, folder, left) in merge.unfinished() {
        let (folder, left) = (folder.display(), counted(left, "trial"));
        tell(format_args!("part {part} has {left} left: kvdyno run --resume {folder}, then merge again"));
    }
    if let Some(absent) = absent_parts(&merge.absent()) {
        tell(absent);
    }
    let (trials, parts) = (counted(merge.ended(), "trial"), counted(arguments.parts.len(), "part"));
    print(&format!("{trials} of {parts}: {shown}\n"))
}

/// The parts that are not there, for people; `None` if all are.
pub fn absent_parts(absent: &[u32]) -> Option<String> {
    let numbers: Vec<String> = absent.iter().map(u32::to_string).collect();
    match absent.len() {
        0 => None,
        1 => Some(format!("part {} is missing", numbers.concat())),
        _ => Some(format!("parts {} are missing", numbers.join(", "))),
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Error {
        match error {
            MergeError::Refused(why) => Error::Input(why),
            MergeError::Read(error) => Error::ResultsFolder(error),
            MergeError::Write { path, cause } => Error::Io { what: format!("cannot write {}", path.display()), cause },
        }
    }
}
