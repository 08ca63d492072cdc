//! Why an engine is not installed.

use std::io;

use crate::command::Failed;

/// Why it is not installed. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A command is missing.
    #[error("`{command}` is needed and not here; it comes with {package}")]
    Needs {
        /// Which.
        command: String,
        /// The package that has it.
        package: &'static str,
    },
    /// The archive is not the one that the recipe knows.
    #[error(
        "{file} has the checksum {actual}, the recipe says {wanted}: it was changed or not fetched whole; nothing of \
         it was used"
    )]
    Checksum {
        /// The archive.
        file: String,
        /// SHA-256 of what was fetched.
        actual: String,
        /// SHA-256 that the recipe has.
        wanted: String,
    },
    /// The client fetched something else than was expected.
    #[error("{0}")]
    Fetched(String),
    /// A client or a build failed; with the end of its output.
    #[error("{0}")]
    Command(String),
    /// The result does not work.
    #[error("it was built but is no good: {0}")]
    NoGood(String),
    /// Another version than the recipe's came out.
    #[error("{wanted} was asked for, and the library says that it is {actual}")]
    WrongVersion {
        /// By the recipe.
        wanted: String,
        /// By the library.
        actual: String,
    },
    /// It needs root.
    #[error("this needs root: {0}")]
    Rights(String),
    /// Files could not be read or written.
    #[error("cannot work in the folder for engines: {0}")]
    Io(#[from] io::Error),
}

impl From<Failed> for InstallError {
    fn from(failed: Failed) -> Self {
        InstallError::Command(failed.to_string())
    }
}
