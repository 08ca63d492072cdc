//! The counters of the store: bytes that a flush saved.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kvdyno_abi::adapter::Counters;

use crate::fault::Fault;
use crate::striking::Faults;

/// Counts what is flushed.
#[derive(Debug, Default)]
pub struct Flushed(AtomicU64);

impl Flushed {
    /// Counts the bytes of a record that is flushed.
    pub fn add(&self, key: &[u8], value: &[u8]) {
        self.0.fetch_add((key.len() + value.len()) as u64, Relaxed);
    }

    /// Bytes flushed so far, or 0 where the fault `counters-back` strikes.
    pub fn told(&self, faults: &Faults) -> Counters {
        let counted = if faults.strikes(Fault::CountersBack) { 0 } else { self.0.load(Relaxed) };
        Counters { flushed_bytes: Some(counted), ..Counters::default() }
    }
}
