//! The engine ABI, version 1: the types of `include/kvdyno.h` in Rust, and [`adapter`], a trait and a macro to write an
//! adapter with.
//!
//! The header is the contract and documents every call; this file only spells it for Rust. `tests/layout.rs` compiles
//! the header and holds every size, offset and constant against these.

pub mod adapter;
pub mod build;
mod types;

pub use types::*;
