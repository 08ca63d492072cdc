//! What surrounds a trial: what is [`asked`] of the stage, its processors, memory policy and allocator ([`surroundings`])
//! and what of them a process has [`found`], the measured [`process`] or a [`crew`] of several, the [`storage`] below its
//! database, the [`machine`] it runs on, what disturbs it ([`watch`]), and the [`lock`] that keeps two runs out of one
//! folder.
//!
//! Linux only: what a trial costs is read from the kernel's own accounts. A figure that the kernel does not give is
//! absent, never guessed.

pub mod abilities;
pub mod asked;
pub mod crew;
pub mod found;
pub mod lock;
pub mod machine;
pub mod memory;
pub mod process;
pub mod storage;
pub mod surroundings;
pub mod watch;

mod tree;
