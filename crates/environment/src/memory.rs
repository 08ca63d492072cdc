//! A control group for each trial, which its processes cannot leave, and a limit on its memory, page cache included.
//!
//! Version 2 of the kernel's control groups is used where it has the memory controller, version 1 otherwise. A group is
//! in its maker's [`Register`](crate::ownership::Register), so that it is known when that was killed.
//!
//! A page of a file is charged to the group that first touched it, and stays so even when that group is gone. So pages
//! that a trial is to pay for must not be in the page cache when it begins.

mod cpu_account;
mod group;
mod hierarchy;
mod leftover;
pub mod scope;

pub use cpu_account::GroupCpuAccount;
pub use group::{ControlGroup, MemoryGroup};
pub use hierarchy::MemoryControl;
pub(crate) use leftover::{LeftoverGroup, leftover, lookalikes, remove_taken_over};

/// The least that a trial can be limited to: the worker itself, its libraries and the ledger need most of it.
pub const LEAST_LIMIT: u64 = 64 << 20;

/// One of the kernel's two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}
