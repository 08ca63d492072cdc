//! Groups of a kvdyno that is no more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use procfs::process::Process;

use super::{group, hierarchy, owner};

/// A group whose kvdyno is no more.
#[derive(Debug)]
pub struct LeftoverGroup {
    /// Its folder below the mounted hierarchy.
    pub folder: PathBuf,
    /// Processes that are still in it.
    pub processes: Vec<u32>,
}

/// The groups whose kvdyno is no more.
pub fn leftovers() -> Vec<LeftoverGroup> {
    let mut leftovers = Vec::new();
    for (_, point) in hierarchy::points() {
        search(&point, &mut leftovers);
    }
    leftovers
}

fn search(folder: &Path, leftovers: &mut Vec<LeftoverGroup>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match entry.file_name().to_str().and_then(owner) {
            None => search(&entry.path(), leftovers),
            Some((pid, number)) if is_kvdyno(pid) || is_of_another(&entry.path(), number) => {}
            Some(_) => {
                let processes = group::processes(&entry.path()).into_iter();
                let processes = processes.map(|pid| pid.as_raw_pid() as u32).collect();
                leftovers.push(LeftoverGroup { folder: entry.path(), processes });
            }
        }
    }
}

/// Whether a process lives, as a kvdyno: another program may have got the number since.
fn is_kvdyno(pid: u32) -> bool {
    let name = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    name(pid).is_some_and(|other| name(std::process::id()) == Some(other))
}

/// Whether a kvdyno lives that this process knows by another number, or not at all, as that of a container. Group 0 has
/// itself in it, the others have its children; what cannot be seen from here shows as 0.
fn is_of_another(folder: &Path, number: u32) -> bool {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let parent = |pid: i32| Some(Process::new(pid).ok()?.stat().ok()?.ppid as u32);
    text.lines().filter_map(|line| line.trim().parse::<i32>().ok()).any(|pid| match (pid, number) {
        (0, _) => true,
        (pid, 0) => is_kvdyno(pid as u32),
        (pid, _) => parent(pid).is_some_and(is_kvdyno),
    })
}

impl LeftoverGroup {
    /// Ends its processes and removes it.
    pub fn remove(&self) -> io::Result<()> {
        group::remove(&self.folder)
    }
}
