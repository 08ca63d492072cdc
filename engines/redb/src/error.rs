//! redb's errors in the lab's.

use kvdyno_abi::adapter::Error;

/// Why redb failed: a full disk is told apart, everything else is said in redb's words.
#[cold]
pub fn failed(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Io(error) => error.into(),
        other => Error::new(other),
    }
}
