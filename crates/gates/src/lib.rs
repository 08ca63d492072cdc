//! The gate of every change: the files as they were written ([`repository`], [`source`]), which the tests of this crate
//! hold against the style, and the failures of all tests ([`failures`]), which its program gathers.
//!
//! It depends on no other crate of the workspace, so that a breach of style is told before anything is built.

pub mod failures;
pub mod repository;
pub mod source;
