//! Limits and states that the parent sets around one trial, observes beside what was requested, and undoes after it.

use std::io;
use std::process::Command;

use kvdyno_environment::memory::{ControlGroup, GroupCpuAccount, MemoryGroup};
use kvdyno_environment::requested::CacheState;
use kvdyno_environment::storage::{filesystem, is_device, pages};
use kvdyno_results::{CachedPages, ObservedEnvironment, Phase};

use super::context::TrialContext;
use crate::databases::fetch_pages;
use kvdyno_model::ByteSize;

/// The share of a database that may stay in the page cache without a note, of 1.
const STAYING_SHARE: f64 = 0.01;

/// The most read-ahead without a note, KiB: beyond it, reading ahead decides the cost of a small read of a mapped file.
const MUCH_AHEAD_KIB: u64 = 1024;

/// Undoes what was set when it is dropped.
pub(super) struct Bounds {
    group: Option<MemoryGroup>,
    /// The group of a trial without a memory limit; or why there is none.
    held: Result<ControlGroup, String>,
    cached: Option<CachedPages>,
}

impl Bounds {
    pub(super) fn set(context: &TrialContext<'_>) -> io::Result<Bounds> {
        let limit = context.environment.requested.memory.map(ByteSize::get);
        // Pages that an earlier trial left in the page cache are charged to nobody: a limited trial has to begin
        // without them.
        let drops = context.environment.requested.cache_state == CacheState::Dropped || limit.is_some();
        let cached = match context.planned.key.phase == Phase::Run && drops {
            true => {
                pages::drop_cached(&context.database)?;
                let pages = pages::cached(&context.database)?;
                // A database takes only a part of a raw device.
                let taken = context.backing_store.device_kib().map_or(pages.total, |kib| kib << 10);
                Some(CachedPages { total: pages.total.min(taken), ..pages })
            }
            false => None,
        };
        if !drops && context.copied_from.is_some() {
            fetch_pages(&context.database)?;
        }
        let group = match (&context.environment.memory, limit) {
            (Some(control), Some(limit)) => Some(control.group(context.register, context.planned.key.number, limit)?),
            _ => None,
        };
        let held = match &group {
            Some(_) => Err(String::new()),
            None => {
                ControlGroup::of_trial(context.register, context.planned.key.number).map_err(|cause| cause.to_string())
            }
        };
        Ok(Bounds { group, held, cached })
    }

    fn control_group(&self) -> Option<&ControlGroup> {
        self.group.as_ref().map(MemoryGroup::group).or(self.held.as_ref().ok())
    }

    /// The means that hold the trial's processes together.
    fn held_by(&self) -> String {
        match (self.control_group(), &self.held) {
            (None, Err(why)) => format!("keeper; no control group: {why}"),
            _ => "control group, keeper".to_owned(),
        }
    }

    /// The account of the CPU time of the trial's processes; absent where none is kept, as of a group of version 1 that
    /// limits memory.
    pub(super) fn cpu_account(&self) -> Option<GroupCpuAccount> {
        self.control_group().and_then(ControlGroup::cpu_account)
    }

    /// Ends what is left of the trial's processes, and says how many that were.
    pub(super) fn end(&self) -> io::Result<usize> {
        self.control_group().map_or(Ok(0), ControlGroup::end)
    }

    /// The control group that can freeze the trial's processes; absent where none can.
    pub(super) fn freezer(&self) -> Option<&ControlGroup> {
        self.control_group().filter(|group| group.can_freeze())
    }

    /// Lets the process that `command` starts be held, and limited.
    pub(super) fn take_in(&self, command: &mut Command) -> io::Result<()> {
        self.control_group().map_or(Ok(()), |group| group.take_in(command))
    }

    /// Looks at the memory in use.
    pub(super) fn look(&mut self) {
        if let Some(group) = &mut self.group {
            group.look();
        }
    }

    /// Adds what the parent observed to what the worker observed of itself.
    pub(super) fn complete(
        &self,
        context: &TrialContext<'_>,
        wall_s: f64,
        of_worker: ObservedEnvironment,
    ) -> ObservedEnvironment {
        let group = self.group.as_ref();
        let pressure = |group: &MemoryGroup| Some((group.stalled()?.as_secs_f64() / wall_s).min(1.0));
        ObservedEnvironment {
            memory_limit: group.and_then(MemoryGroup::limit),
            memory_peak: group.and_then(MemoryGroup::peak),
            memory_pressure: group.and_then(pressure),
            cached: self.cached,
            storage: context.environment.requested.storage.to_string(),
            filesystem: lies_on(context),
            read_ahead_kib: filesystem(&context.database).read_ahead_kib,
            held_by: self.held_by(),
            ..of_worker
        }
    }

    /// Why the kernel killed a process of the trial; absent if it did not.
    pub(super) fn exceeded(&self) -> Option<String> {
        let group = self.group.as_ref().filter(|group| group.killed() > 0)?;
        let limit = group.limit().map(|limit| format!(" = {}", ByteSize(limit))).unwrap_or_default();
        Some(format!("killed for exceeding environment.memory{limit}"))
    }

    /// Notes for a reader of the figures.
    pub(super) fn notes(&self, context: &TrialContext<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(pages) = self.cached.filter(|pages| pages.cached as f64 > pages.total as f64 * STAYING_SHARE) {
            let (cached, total) = (ByteSize(pages.cached), ByteSize(pages.total));
            notes.push(format!("{cached} of the database's {total} could not be dropped from the page cache"));
        }
        if self.group.as_ref().is_some_and(MemoryGroup::can_swap) {
            notes.push("the memory limit excludes swapped memory: the kernel does not account for swap".to_owned());
        }
        let ahead =
            filesystem(&context.database).read_ahead_kib.filter(|kib| self.group.is_some() && *kib > MUCH_AHEAD_KIB);
        if let Some(kib) = ahead {
            notes.push(format!(
                "the kernel reads {} ahead of the storage at each page fault of a mapped file (blockdev --setra)",
                ByteSize(kib << 10)
            ));
        }
        if is_device(&context.database) && context.backing_store.device_kib().is_none() {
            notes.push(
                "the space that the database takes of the block device is unknown: its size counts as 0".to_owned(),
            );
        }
        notes
    }
}

/// `ext4 (rw,relatime)`, or `raw`.
fn lies_on(context: &TrialContext<'_>) -> String {
    if is_device(&context.database) {
        return "raw".to_owned();
    }
    let filesystem = filesystem(&context.database);
    match filesystem.options.as_str() {
        "" => filesystem.kind,
        options => format!("{} ({options})", filesystem.kind),
    }
}
