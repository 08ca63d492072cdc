//! One group: its contents, its limit, its use, and its end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::Timespec;

use super::{CgroupVersion, GroupCpuAccount};
use crate::ownership::Register;
use crate::patience::patiently;

/// Time that the kernel may take to release a group's processes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that the kernel may take to freeze a group's processes: a sync of a slow disk may take most of it.
const FREEZING: Duration = Duration::from_secs(60);

/// A group that holds the processes of one trial. Dropping it ends what is left in it and removes it.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
    register: Register,
    procs: File,
}

impl ControlGroup {
    pub(super) fn make(register: &Register, folder: &Path) -> io::Result<ControlGroup> {
        register.make_group(folder).map_err(|cause| told("cannot make", folder, &cause))?;
        let procs = File::options().write(true).open(folder.join("cgroup.procs")).inspect_err(|_| {
            // A group that no process can join is useless; the reason is returned.
            let _ = fs::remove_dir(folder).and_then(|()| register.gone(folder));
        })?;
        Ok(ControlGroup { folder: folder.to_owned(), register: register.clone(), procs })
    }

    /// Lets the process that `command` starts be in the group from its beginning.
    pub fn take_in(&self, command: &mut Command) -> io::Result<()> {
        let procs = self.procs.try_clone()?;
        let join = move || rustix::io::write(&procs, b"0").map(drop).map_err(io::Error::from);
        // SAFETY: the hook makes one system call, which is allowed between fork and exec.
        unsafe { command.pre_exec(join) };
        Ok(())
    }

    /// Whether the kernel can freeze it: not before Linux 5.2, and not in version 1, where another hierarchy does that.
    pub fn can_freeze(&self) -> bool {
        self.folder.join("cgroup.freeze").exists()
    }

    /// Orders all of its processes to freeze, or thaws them. [`ControlGroup::until_frozen`] waits until they have.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn freeze(&self, frozen: bool) -> io::Result<()> {
        let file = self.folder.join("cgroup.freeze");
        fs::write(&file, if frozen { "1" } else { "0" }).map_err(|cause| told("cannot set", &file, &cause))
    }

    /// Waits until all of its processes stand still, after they were ordered to. A process in a call that cannot be
    /// interrupted, such as a sync of a file, ends that call first.
    ///
    /// # Errors
    /// If the kernel does not say so within a minute.
    pub fn until_frozen(&self) -> io::Result<()> {
        let path = self.folder.join("cgroup.events");
        let events = File::open(&path).map_err(|cause| told("cannot open", &path, &cause))?;
        frozen_within(&events, FREEZING).map_err(|cause| told("cannot freeze", &self.folder, &cause))
    }

    /// The kernel's account of the CPU time of its processes; absent where it keeps none for this group.
    pub fn cpu_account(&self) -> Option<GroupCpuAccount> {
        GroupCpuAccount::of(&self.folder)
    }

    /// Ends what is left in it, and says how many processes that were.
    ///
    /// # Errors
    /// If some cannot be ended.
    pub fn end(&self) -> io::Result<usize> {
        let (since, survivors) = (Instant::now(), processes(&self.folder).len());
        while !processes(&self.folder).is_empty() {
            kill(&self.folder);
            if since.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("cannot end what is left in {}", self.folder.display())));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(survivors)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A destructor cannot report errors; `kvdyno clean` finds what stays.
        let _ = remove(&self.folder).and_then(|()| self.register.gone(&self.folder));
    }
}

/// The group of one trial whose memory is limited.
#[derive(Debug)]
pub struct MemoryGroup {
    version: CgroupVersion,
    group: ControlGroup,
    swap: Swap,
    seen: u64,
}

/// Whether its processes can be swapped out beyond the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Swap {
    Off,
    /// The kernel does not account swap.
    NotLimited,
}

impl MemoryGroup {
    pub(super) fn make(
        version: CgroupVersion,
        register: &Register,
        folder: &Path,
        limit: u64,
    ) -> io::Result<MemoryGroup> {
        let group = ControlGroup::make(register, folder)?;
        let swap = limited(version, folder, limit)?;
        Ok(MemoryGroup { version, group, swap, seen: 0 })
    }

    /// The group itself.
    pub fn group(&self) -> &ControlGroup {
        &self.group
    }

    /// The limit that the kernel has, bytes.
    pub fn limit(&self) -> Option<u64> {
        self.number(match self.version {
            CgroupVersion::One => "memory.limit_in_bytes",
            CgroupVersion::Two => "memory.max",
        })
    }

    /// Whether something could be swapped out, and so be beyond the limit.
    pub fn can_swap(&self) -> bool {
        let has_swap = || fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
        self.swap == Swap::NotLimited && has_swap()
    }

    /// Reads its use, page cache included; the highest is remembered.
    pub fn look(&mut self) {
        let usage = self.number(match self.version {
            CgroupVersion::One => "memory.usage_in_bytes",
            CgroupVersion::Two => "memory.current",
        });
        self.seen = self.seen.max(usage.unwrap_or(0));
    }

    /// The most that it ever used, bytes: the kernel's figure, or the highest that was seen where there is none
    /// (version 2 before Linux 5.19).
    pub fn peak(&self) -> Option<u64> {
        let peak = self.number(match self.version {
            CgroupVersion::One => "memory.max_usage_in_bytes",
            CgroupVersion::Two => "memory.peak",
        });
        peak.max(Some(self.seen).filter(|seen| *seen > 0))
    }

    /// Time that some thread of the group waited for memory; absent in version 1 and without PSI.
    pub fn stalled(&self) -> Option<Duration> {
        let text = fs::read_to_string(self.group.folder.join("memory.pressure")).ok()?;
        let some = text.lines().find(|line| line.starts_with("some "))?;
        some.rsplit_once("total=")?.1.parse().ok().map(Duration::from_micros)
    }

    /// Number of its processes that the kernel killed because the limit left no other way.
    pub fn killed(&self) -> u64 {
        let file = match self.version {
            CgroupVersion::One => "memory.oom_control",
            CgroupVersion::Two => "memory.events",
        };
        let text = fs::read_to_string(self.group.folder.join(file)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// `None` too for `max`.
    fn number(&self, file: &str) -> Option<u64> {
        fs::read_to_string(self.group.folder.join(file)).ok()?.trim().parse().ok()
    }
}

/// Waits until a group's `cgroup.events` says that it is frozen.
fn frozen_within(events: &File, patience: Duration) -> io::Result<()> {
    let since = Instant::now();
    loop {
        let mut text = [0; 256];
        let size = rustix::io::pread(events, &mut text, 0)?;
        if text[..size].split(|byte| *byte == b'\n').any(|line| line == b"frozen 1") {
            return Ok(());
        }
        if since.elapsed() > patience {
            let seconds = patience.as_secs();
            return Err(io::Error::other(format!("after {seconds} s its cgroup.events does not say `frozen 1`")));
        }
        // The kernel tells of a change by POLLPRI, but may take a hundredth of a second for it, as long as a slice.
        let look = Timespec { tv_sec: 0, tv_nsec: 500_000 };
        match poll(&mut [PollFd::new(events, PollFlags::PRI)], Some(&look)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn limited(version: CgroupVersion, folder: &Path, limit: u64) -> io::Result<Swap> {
    let set = |file: &str, text: &str| {
        let file = folder.join(file);
        fs::write(&file, text).map_err(|cause| told("cannot set", &file, &cause))
    };
    let limit = limit.to_string();
    let swap = match version {
        CgroupVersion::One => {
            set("memory.limit_in_bytes", &limit)?;
            set("memory.memsw.limit_in_bytes", &limit)
        }
        CgroupVersion::Two => {
            set("memory.max", &limit)?;
            set("memory.swap.max", "0")
        }
    };
    Ok(if swap.is_ok() { Swap::Off } else { Swap::NotLimited })
}

fn told(what: &str, path: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{what} {}: {cause}", path.display()))
}

/// Ends what is left in a group and removes it.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    // Processes that were killed leave it a little later.
    let removed = patiently(PATIENCE, || {
        kill(folder);
        // Version 1 only: pages of the group are given back, rather than charged to a group that has been removed.
        let _ = fs::write(folder.join("memory.force_empty"), "0");
        fs::remove_dir(folder)
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(|cause| told("cannot remove", folder, &cause)),
    }
}

/// Kills the processes of a group: all at once where the kernel has that (version 2, Linux 5.14), else one by one.
fn kill(folder: &Path) {
    if File::options().write(true).open(folder.join("cgroup.kill")).is_ok_and(|mut file| file.write_all(b"1").is_ok()) {
        return;
    }
    for pid in processes(folder) {
        // It may have ended just now.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The processes of a group.
pub(super) fn processes(folder: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> io::Result<()> {
        let mut events = tempfile::tempfile().unwrap();
        events.write_all(text.as_bytes()).unwrap();
        frozen_within(&events, Duration::ZERO)
    }

    #[test]
    fn a_group_is_frozen_when_the_kernel_says_so() {
        says("populated 1\nfrozen 1\n").unwrap();
        for other in ["populated 1\nfrozen 0\n", "populated 1\n", "frozen 10\n", ""] {
            let error = says(other).unwrap_err();
            assert!(error.to_string().contains("does not say `frozen 1`"), "{other:?}: {error}");
        }
    }
}
