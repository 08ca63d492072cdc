//! The kernel's account of the CPU time of a group: of all processes that were ever in it, living or not.
//!
//! While its threads work the account advances by the ticks of the scheduler, so that it may lag behind by several
//! milliseconds for each of them. It is exact when they stand still or have ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The files that have it: of version 2, whether the group has controllers or not, and of version 1.
const FILES: [&str; 2] = ["cpu.stat", "cpuacct.usage"];

/// The account of one group. It can be handed to another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupCpuAccount(PathBuf);

impl GroupCpuAccount {
    /// The account of the group in this folder; absent where none is kept.
    pub fn of(group: &Path) -> Option<GroupCpuAccount> {
        let account = |file: &str| Some(GroupCpuAccount(group.join(file))).filter(|account| account.read().is_ok());
        FILES.into_iter().find_map(account)
    }

    /// The CPU time so far.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self) -> io::Result<Duration> {
        let told = |cause: io::Error| io::Error::new(cause.kind(), format!("{}: {cause}", self.0.display()));
        let text = fs::read_to_string(&self.0).map_err(told)?;
        cpu_time(&text).ok_or_else(|| told(io::Error::other("it has no CPU time")))
    }
}

/// `usage_usec N` of `cpu.stat` (the kernel's Documentation/admin-guide/cgroup-v2.rst), or the nanoseconds that are all
/// of `cpuacct.usage` (Documentation/admin-guide/cgroup-v1/cpuacct.rst).
fn cpu_time(text: &str) -> Option<Duration> {
    match text.trim().parse() {
        Ok(nanoseconds) => Some(Duration::from_nanos(nanoseconds)),
        Err(_) => {
            let usage = text.lines().find_map(|line| line.strip_prefix("usage_usec "));
            usage?.parse().ok().map(Duration::from_micros)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_the_same() {
        let of = |file: &str, text: &str| {
            let group = tempfile::tempdir().unwrap();
            fs::write(group.path().join(file), text).unwrap();
            GroupCpuAccount::of(group.path()).map(|account| account.read().unwrap())
        };
        let expected = Some(Duration::from_micros(1_234_567));
        assert_eq!(of("cpu.stat", "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n"), expected);
        assert_eq!(of("cpuacct.usage", "1234567000\n"), expected);
        assert_eq!(of("cpu.stat", "nr_periods 0\n"), None, "version 1's file of that name has another account");
        assert_eq!(of("cgroup.procs", "1\n"), None);
    }
}
