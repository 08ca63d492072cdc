//! Errors of the lab itself around one trial, once its worker was started.

use std::fmt::Display;
use std::io;
use std::path::Path;

use kvdyno_results::{Failure, FailureKind, TrialOutcome};

/// An error of the lab while it watched, judged or saved a trial. It fails that trial, and the next one runs. Errors
/// before a trial's worker was started, and after its result was saved, end the run: they are plain [`io::Error`]s.
#[derive(Debug, thiserror::Error)]
#[error("the lab could not {what}: {cause}")]
pub struct LabError {
    what: String,
    cause: io::Error,
}

impl LabError {
    /// An error in an attempt: `look at the database`.
    pub fn new(what: impl Display, cause: io::Error) -> LabError {
        LabError { what: what.to_string(), cause }
    }

    /// The trial outcome of this error.
    pub fn outcome(&self) -> TrialOutcome {
        TrialOutcome::Failed(Failure { kind: FailureKind::LabError, reason: self.to_string() })
    }
}

/// Names the attempt and the path of an error.
pub(super) trait Attempt<T> {
    /// Turns an error into a [`LabError`] that names the attempt and the path.
    fn on(self, what: &str, path: &Path) -> Result<T, LabError>;
}

impl<T> Attempt<T> for io::Result<T> {
    fn on(self, what: &str, path: &Path) -> Result<T, LabError> {
        self.map_err(|cause| LabError::new(format_args!("{what} {}", path.display()), cause))
    }
}

/// The first of the errors around a trial; the steps after it are done all the same.
#[derive(Debug, Default)]
pub(super) struct FirstError(pub(super) Option<LabError>);

impl FirstError {
    /// The outcome of a step, if it went well.
    pub(super) fn note<T>(&mut self, step: Result<T, LabError>) -> Option<T> {
        step.map_err(|error| self.0.get_or_insert(error)).ok()
    }
}
