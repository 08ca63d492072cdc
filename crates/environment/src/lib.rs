//! The environment of a trial: what is [`requested`] of it and [`observed`] in it; processors, NUMA policy and
//! allocator ([`placement`]); the measured [`process`], or several ([`worker_processes`]); its limit of [`memory`]; the
//! [`storage`] below its database; the [`machine`] it runs on, the [`interference`] of others there, the [`lock`] that
//! keeps two runs out of one folder, and each one's [`claim`] to a part of what several machines share; whose things
//! are ([`ownership`]), and the [`leftovers`] of killed runs.
//!
//! Linux only: what a trial costs is read from the kernel's own accounts. A figure that the kernel does not give is
//! absent, never guessed.

pub mod abilities;
pub mod claim;
pub mod costs;
pub mod event_counter;
pub mod interference;
pub mod leftovers;
pub mod limits;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod observed;
pub mod outside;
pub mod ownership;
pub mod placement;
pub mod process;
pub mod profiler;
mod random;
pub mod requested;
pub mod storage;
pub mod syncs;
pub mod worker_processes;

mod age;
mod keeper;
mod mount;
mod patience;
mod tree;

pub use age::process_age;
pub use random::random_bits;
