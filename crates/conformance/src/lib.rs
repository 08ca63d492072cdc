//! The conformance suite: what `kvdyno.h` promises, as checks that an adapter passes or fails.
//!
//! [`checks()`] lists them. A [`Suite`] runs them on a [`Subject`], each in a process of its own, so that an engine
//! that crashes or hangs fails one check and not the suite: the program that runs the suite starts itself again and
//! passes its task to [`child()`].
//!
//! A check is a function that gets a [`bench::Bench`] and returns its findings. To add one, write it in the file of its
//! group under `checks/` and add it to the group's list.

pub mod bench;
mod check;
mod checks;
mod child;
mod finding;
mod flushed_device;
mod known;
mod process;
mod progress;
mod reader;
mod records;
mod refused;
mod resources;
mod scanning;
mod small_filesystem;
mod subject;
mod suite;
mod together;
mod writer;

pub use bench::{Effort, Relaunch};
pub use check::{Check, Needs};
pub use checks::checks;
pub use child::{ChildError, child};
pub use finding::{CheckVerdict, Finding};
pub use known::{KnownChecks, KnownFailure, KnownOfEngines, SlowCheck};
pub use subject::Subject;
pub use suite::{CheckOutcome, Suite};
