//! Clients are threads or processes.

pub use kvdyno_model::ClientKind;
