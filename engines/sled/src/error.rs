//! sled's errors in the lab's.

use kvdyno_abi::adapter::Error;

/// Why sled failed: a full disk is told apart, everything else is said in sled's words.
#[cold]
pub fn failed(error: sled::Error) -> Error {
    match error {
        sled::Error::Io(error) => error.into(),
        other => Error::new(other),
    }
}
