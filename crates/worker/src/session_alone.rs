//! A session outside of the measured part.

use std::{mem, ptr};

use kvdyno_engine::{Database, EngineError, Host, Session};

/// A host without functions.
struct NoHost(Host);

// SAFETY: it holds no pointer but null, and nobody changes it.
unsafe impl Sync for NoHost {}

static NO_HOST: NoHost =
    NoHost(Host { size: mem::size_of::<Host>() as u32, reserved: 0, context: ptr::null_mut(), recall: None });

/// Opens a session whose engine is lent no host that could answer for it.
///
/// # Errors
/// The engine's.
pub(crate) fn session_alone(database: &Database) -> Result<Session<'_>, EngineError> {
    // SAFETY: the host is never changed and lives for ever.
    unsafe { database.session(&NO_HOST.0) }
}
