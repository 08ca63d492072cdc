//! The readers of foreign input, and how input is mutated: shared by `kvdyno-torment` and the
//! fuzz targets in `fuzz/`.

pub mod inputs;
pub mod mutation;
