//! `kvdyno merge`: puts the results of a plan's parts together.

use kvdyno_environment::lock::FolderLock;
use kvdyno_model::text::{counted, of_the_rest};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{Merge, MergeError};
use shlex::Quoter;

use crate::cli::MergeArguments;
use crate::commands::run::new_folder;
use crate::error::Error;
use crate::output::{print, tell};

/// Runs the command.
pub fn run(arguments: &MergeArguments) -> Result<(), Error> {
    let parts: Vec<ResultsFolder> = arguments.parts.iter().map(ResultsFolder::at).collect();
    // Refused before the folder is made.
    let merge = Merge::of(&parts, &ResultsFolder::at(&arguments.out))?;
    let out = new_folder(&arguments.out)?;
    let _lock = FolderLock::acquire(out.root()).map_err(|error| Error::Input(error.to_string()))?;
    merge.write()?;
    for (part, folder) in merge.unfinished() {
        let word = Quoter::new().quote(&folder.to_string_lossy()).map(String::from).unwrap_or_default();
        tell(format_args!(
            "part {part} is not complete; to go on with it, before merging again: kvdyno run --resume {word}"
        ));
    }
    if let Some(absent) = absent_parts(&merge.absent()) {
        tell(absent);
    }
    let (trials, parts) = (counted(merge.ended(), "trial"), counted(arguments.parts.len(), "part"));
    print(&format!("{trials} of {parts}: {}\n", arguments.out.display()))
}

/// More parts than this are not read.
const MOST_NAMED: usize = 20;

/// The parts that are not there, for people; `None` if all are.
pub fn absent_parts(absent: &[u32]) -> Option<String> {
    let numbers: Vec<String> = absent.iter().take(MOST_NAMED).map(u32::to_string).collect();
    let more = of_the_rest(absent.len(), MOST_NAMED, |more| format!(" and {more} more"));
    match absent.len() {
        0 => None,
        1 => Some(format!("part {} is missing", numbers.concat())),
        _ => Some(format!("parts {}{more} are missing", numbers.join(", "))),
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
