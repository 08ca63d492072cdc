//! `[environment]`: what surrounds the trials, as the experiment file says it and as this machine can give it.

use kvdyno_engine::LabSettings;
use kvdyno_environment::memory::{LEAST_LIMIT, MemoryControl};
use kvdyno_environment::placement::Placement;
use kvdyno_environment::requested::{Refusal, Requested};

use kvdyno_experiment::Bytes;
use kvdyno_experiment::{EnvironmentSection, FileError};

/// The environment of a variant's trials, as this machine can give it: what it takes to set each part was found out, and
/// nothing is set yet.
#[derive(Clone, Debug)]
pub struct Environment {
    /// What was requested for.
    pub requested: Requested,
    /// CPUs, NUMA policy and allocator of the worker.
    pub placement: Placement,
    /// Where groups can be made that limit memory; absent if it is not limited.
    pub memory: Option<MemoryControl>,
}

impl Environment {
    /// Finds out whether this machine can give what `section` asks for, without changing anything.
    ///
    /// # Errors
    /// The first thing that it cannot, with what would be right.
    pub fn check(section: &EnvironmentSection) -> Result<Environment, FileError> {
        let requested = section.requested();
        Environment::of(requested).map_err(|refusal| section.refused(&refusal))
    }

    fn of(requested: Requested) -> Result<Environment, Refusal> {
        let placement = Placement::resolve(&requested)?;
        let memory = memory_control(requested.memory)?;
        Ok(Environment { requested, placement, memory })
    }
}

/// Where memory can be limited, if it is to be.
fn memory_control(limit: Option<u64>) -> Result<Option<MemoryControl>, Refusal> {
    if let Some(limit) = limit.filter(|limit| *limit < LEAST_LIMIT) {
        let (limit, least) = (Bytes(limit), Bytes(LEAST_LIMIT));
        return Err(Refusal::new("memory", format!("{limit} is too little for any engine; {least} is the least")));
    }
    limit.map(|_| MemoryControl::find()).transpose()
}

/// Refuses a limit that the engine's own cache and write buffer would exceed. An engine that maps its database has
/// neither: what it caches is the page cache, which the kernel keeps below the limit.
pub(crate) fn check_room(
    environment: &EnvironmentSection,
    settings: &LabSettings,
    label: &str,
    mapped: bool,
) -> Result<(), FileError> {
    let Some(limit) = environment.requested().memory.filter(|_| !mapped) else { return Ok(()) };
    let needed = settings.cache_bytes.saturating_add(settings.write_buffer_bytes).saturating_add(LEAST_LIMIT);
    if limit >= needed {
        return Ok(());
    }
    let message = format!(
        "{} is too little for {label}: settings.cache = {}, settings.write_buffer = {} and {} for the rest need {}",
        Bytes(limit),
        Bytes(settings.cache_bytes),
        Bytes(settings.write_buffer_bytes),
        Bytes(LEAST_LIMIT),
        Bytes(needed)
    );
    Err(environment.refused(&Refusal::new("memory", message)))
}
