//! What surrounds a trial: what is [`requested`] of the environment, its processors, memory policy and allocator ([`surroundings`])
//! and what of them a process has [`found`], the measured [`process`] or a [`processes`] of several, the [`storage`] below its
//! database, the [`machine`] it runs on, what disturbs it ([`watch`]), and the [`lock`] that keeps two runs out of one
//! folder.
//!
//! Linux only: what a trial costs is read from the kernel's own accounts. A figure that the kernel does not give is
//! absent, never guessed.

pub mod abilities;
pub mod interference;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod observed;
pub mod process;
pub mod requested;
pub mod storage;
pub mod surroundings;
pub mod worker_processes;

mod tree;
