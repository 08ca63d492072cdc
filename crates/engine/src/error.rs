//! An engine's report of a failed call.

use kvdyno_abi as abi;

use crate::text::TextBuffer;

/// An error that the engine reported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EngineError {
    /// The ABI's status.
    pub status: abi::Status,
    /// In the engine's words.
    pub reason: String,
}

impl EngineError {
    /// Whether the storage, or the engine's own limit on it, is full.
    pub fn is_no_space(&self) -> bool {
        self.status == abi::NO_SPACE
    }
}

/// Calls `f` with memory for an error text and makes a `Result` of its status.
pub(crate) fn checked(name: &str, f: impl FnOnce(*mut abi::Text) -> abi::Status) -> Result<(), EngineError> {
    let mut error = TextBuffer::new();
    let mut text = error.as_abi();
    match f(&mut text) {
        abi::OK => Ok(()),
        status => {
            let otherwise = format!("{name} failed with status {status} and no reason");
            Err(EngineError { status, reason: error.read(&otherwise) })
        }
    }
}
