//! Why a call failed.

use crate::types as abi;
use std::any::Any;
use std::fmt;
use std::io;

/// The failures that the ABI distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The engine reported an error.
    Error,
    /// The engine cannot do this, or cannot honour this setting.
    Unsupported,
    /// The storage, or a fixed map, is full.
    NoSpace,
    /// The engine's own library was not found, or is not the right one.
    NoLibrary,
    /// The transaction was rolled back and may be tried again from its begin.
    Conflict,
}

impl Status {
    pub(super) fn code(self) -> abi::Status {
        match self {
            Self::Error => abi::ERROR,
            Self::Unsupported => abi::UNSUPPORTED,
            Self::NoSpace => abi::NO_SPACE,
            Self::NoLibrary => abi::NO_LIBRARY,
            Self::Conflict => abi::CONFLICT,
        }
    }
}

/// A failure: which, and in the engine's words why. One pointer wide, so that the calls that succeed do not carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<(Status, String)>);

impl Error {
    /// The engine reported an error.
    pub fn new(text: impl fmt::Display) -> Self {
        Self::with_status(Status::Error, text)
    }

    /// The engine cannot do this, or cannot honour this setting.
    pub fn unsupported(text: impl fmt::Display) -> Self {
        Self::with_status(Status::Unsupported, text)
    }

    /// The storage, or a fixed map, is full.
    pub fn no_space(text: impl fmt::Display) -> Self {
        Self::with_status(Status::NoSpace, text)
    }

    /// The engine's own library was not found, or is not the right one.
    pub fn no_library(text: impl fmt::Display) -> Self {
        Self::with_status(Status::NoLibrary, text)
    }

    /// The transaction was rolled back and may be tried again from its begin.
    pub fn conflict(text: impl fmt::Display) -> Self {
        Self::with_status(Status::Conflict, text)
    }

    /// A failure of the given kind.
    #[cold]
    pub fn with_status(status: Status, text: impl fmt::Display) -> Self {
        Self(Box::new((status, text.to_string())))
    }

    /// The same failure with what was being done before its text: `opening the log: Permission denied`.
    #[must_use]
    pub fn during(self, what: impl fmt::Display) -> Self {
        Self::with_status(self.status(), format_args!("{what}: {}", self.text()))
    }

    /// Which failure it is.
    pub fn status(&self) -> Status {
        self.0.0
    }

    /// Why, in words.
    pub fn text(&self) -> &str {
        &self.0.1
    }

    #[cold]
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no text");
        Self::new(format_args!("the adapter panicked: {text}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Error {}

/// A full storage is [`Status::NoSpace`].
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let status = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Status::NoSpace,
            _ => Status::Error,
        };
        Self::with_status(status, error)
    }
}

/// For an engine that is built in: refuses a library of the user's rather than ignore it.
///
/// # Errors
/// [`Error::no_library`] if one is named.
pub fn refuse_library(library: Option<&std::path::Path>) -> Result<(), Error> {
    match library {
        None => Ok(()),
        Some(path) => {
            Err(Error::no_library(format_args!("it is built in and loads no library, so not {}", path.display())))
        }
    }
}
