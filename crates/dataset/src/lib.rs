//! The records of a database: their contents, and the right answers to reads.
//!
//! A record is a number, its *id*, from 0 up. [`Keys`] spells an id as a key, [`Values`] makes and checks the value of
//! an id at a *version*, of one size or of [`ValueSizes`], [`RecordMaker`] has both in one call, [`Ledger`] remembers
//! which versions were acknowledged, [`Permutation`] visits every id once in a random order, [`Stream`] is a seeded
//! stream of random numbers. None of them needs memory for each record.

mod blocks;
mod key_error;
mod key_format;
mod keys;
mod ledger;
mod misfit;
mod permutation;
mod prefix;
mod random;
mod records;
mod size_histogram;
mod sizes;
mod values;
mod varied;

pub use key_error::KeyError;
pub use key_format::KeyFormat;
pub use keys::Keys;
pub use ledger::{DELETION_BLOCK, LEDGER_SLOTS, Ledger, WatchedIds, deletion_words};
pub use misfit::{misfit, misfit_of_two};
pub use permutation::Permutation;
pub use prefix::check_prefix_size;
pub use random::{Stream, subseed};
pub use records::{LentBytes, RecordMaker};
pub use size_histogram::{MOST_BINS, SizeHistogram};
pub use sizes::ValueSizes;
pub use values::{ValueFault, Values};
