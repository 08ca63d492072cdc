//! fjall's errors in the lab's.

use kvdyno_abi::adapter::Error;

/// Why fjall failed: a full disk is told apart, everything else is said in fjall's words.
#[cold]
pub fn failed(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => error.into(),
        fjall::Error::Poisoned => Error::new("Poisoned: a write or a sync failed before, perhaps in the background"),
        other => Error::new(other),
    }
}
