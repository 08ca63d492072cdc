//! The findings of a check, and the verdict that follows from them.

use std::fmt;
use std::io;

use kvdyno_engine::{AdapterError, ChoiceError, EngineError, abi};
use serde::{Deserialize, Serialize};

/// Why a check does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The adapter does not do what the header says.
    Wrong(String),
    /// There is nothing to check, for this reason.
    NotApplicable(String),
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// The promise was kept, as far as the check can see.
    Passed,
    /// It was not, and how that showed.
    Failed(String),
    /// There was nothing to check, for this reason.
    NotApplicable(String),
    /// It was not run, for this reason.
    NotRun(String),
}

impl fmt::Display for CheckVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckVerdict::Passed => f.write_str("passed"),
            CheckVerdict::Failed(how) => write!(f, "FAILED: {how}"),
            CheckVerdict::NotApplicable(why) => write!(f, "not applicable: {why}"),
            CheckVerdict::NotRun(why) => write!(f, "not run: {why}"),
        }
    }
}

impl From<Result<(), Finding>> for CheckVerdict {
    fn from(result: Result<(), Finding>) -> Self {
        match result {
            Ok(()) => CheckVerdict::Passed,
            Err(Finding::Wrong(how)) => CheckVerdict::Failed(how),
            Err(Finding::NotApplicable(why)) => CheckVerdict::NotApplicable(why),
        }
    }
}

/// A [`Finding::Wrong`].
pub(crate) fn wrong(how: impl Into<String>) -> Finding {
    Finding::Wrong(how.into())
}

/// Gives a [`Finding::Wrong`] back unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::finding::wrong(format!($($text)+)));
        }
    };
}
pub(crate) use ensure;

/// Says what was being done when an error came.
pub(crate) trait During<T> {
    /// The error as a finding: `what`, and the error's own text.
    fn during(self, what: &str) -> Result<T, Finding>;
}

impl<T, E: Into<Finding>> During<T> for Result<T, E> {
    fn during(self, what: &str) -> Result<T, Finding> {
        self.map_err(|error| match error.into() {
            Finding::Wrong(how) => Finding::Wrong(format!("{what}: {how}")),
            other => other,
        })
    }
}

impl From<EngineError> for Finding {
    fn from(error: EngineError) -> Self {
        let status = match error.status {
            abi::CONFLICT => "CONFLICT",
            abi::UNSUPPORTED => "UNSUPPORTED",
            abi::NO_SPACE => "NO_SPACE",
            abi::NO_LIBRARY => "NO_LIBRARY",
            _ => "ERROR",
        };
        wrong(format!("{status}: {}", error.reason))
    }
}

impl From<ChoiceError> for Finding {
    fn from(error: ChoiceError) -> Self {
        wrong(error.to_string())
    }
}

impl From<AdapterError> for Finding {
    fn from(error: AdapterError) -> Self {
        wrong(error.to_string())
    }
}

impl From<io::Error> for Finding {
    fn from(error: io::Error) -> Self {
        wrong(error.to_string())
    }
}
