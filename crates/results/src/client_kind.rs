//! What readers and writers are.

pub use kvdyno_model::ClientKind;
