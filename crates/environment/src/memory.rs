//! A limit on a trial's memory, page cache included: a control group for each trial.
//!
//! Version 2 of the kernel's control groups is used where it has the memory controller, version 1 otherwise. A group is
//! called `kvdyno-PID-NUMBER`, so that one whose kvdyno was killed is known as one of the [`leftovers`].
//!
//! A page of a file is charged to the group that first touched it, and stays so even when that group is gone. What a
//! trial is to pay for must therefore not be in the page cache when it begins.

mod group;
mod hierarchy;
mod leftover;
pub mod scope;

pub use group::MemoryGroup;
pub use hierarchy::MemoryControl;
pub use leftover::{LeftoverGroup, leftovers};

/// The least that a trial can be limited to: the worker itself, its libraries and the ledger need most of it.
pub const LEAST_LIMIT: u64 = 64 << 20;

/// One of the kernel's two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

/// The name of a process's group.
fn name(pid: u32, number: u32) -> String {
    format!("kvdyno-{pid}-{number}")
}

/// The process whose group has this name, and the group's number.
fn owner(name: &str) -> Option<(u32, u32)> {
    let (pid, number) = name.strip_prefix("kvdyno-")?.split_once('-')?;
    Some((pid.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_owner() {
        assert_eq!(owner(&name(12, 3)), Some((12, 3)));
        for other in ["kvdyno-12", "kvdyno-x-3", "kvdyno-12-3-4", "user-12-3", "kvdyno--3"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
