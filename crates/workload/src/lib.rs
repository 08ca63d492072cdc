//! What is asked of an engine, and what the answers must be.
//!
//! A record is a number, its *id*, from 0 up. [`Keys`] spells an id as a key, [`Values`] makes and checks the value of
//! an id at a *version*, [`Ledger`] remembers which versions were acknowledged, [`Permutation`] visits every id once in
//! a random order, [`Stream`] draws ids at random. None of them needs memory for each record. [`Workload`] says which
//! threads do what. [`cycles`] is the 3n+1 problem, whose records are its own.

mod blocks;
pub mod cycles;
mod key_value;
mod keys;
mod ledger;
mod permutation;
mod prefix;
mod random;
mod spec;
mod spelling;
mod values;

pub use cycles::Spelling;
pub use keys::{KeyError, KeyFormat, Keys};
pub use ledger::{LEDGER_SLOTS, Ledger, WatchedIds};
pub use permutation::Permutation;
pub use random::{Stream, subseed};
pub use spec::{Data, End, Kind, Reads, Role, Verify, Workload, WorkloadError};
pub use values::{Fault, Values};
