//! `[environment]`: the environment of the trials, as the experiment file requests it and as this machine can give it.

use kvdyno_environment::memory::{LEAST_LIMIT, MemoryControl};
use kvdyno_environment::placement::Placement;
use kvdyno_environment::requested::{EnvironmentKey, EnvironmentSection, Refusal};

use kvdyno_experiment::{Experiment, FileError};
use kvdyno_model::ByteSize;

/// The environment of a variant's trials, as this machine can give it: the means to set each of its keys were looked
/// up, and nothing is set yet.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The keys of `[environment]`.
    pub requested: EnvironmentSection,
    /// CPUs, NUMA policy and allocator of the worker.
    pub placement: Placement,
    /// The means of limiting memory; absent if it is not limited.
    pub memory: Option<MemoryControl>,
}

impl Environment {
    /// Finds out whether this machine can give what is requested, without changing anything.
    ///
    /// # Errors
    /// The first thing that it cannot, with what would be right.
    pub fn check(requested: &EnvironmentSection) -> Result<Environment, FileError> {
        Environment::of(requested).map_err(refused)
    }

    fn of(requested: &EnvironmentSection) -> Result<Environment, Refusal> {
        let placement = Placement::resolve(requested)?;
        let memory = memory_control(requested.memory)?;
        Ok(Environment { requested: requested.clone(), placement, memory })
    }
}

/// A refusal as an error of the file.
pub(crate) fn refused(refusal: Refusal) -> FileError {
    FileError::at(refusal.key, format!("{}: {}", refusal.key, refusal.message))
}

/// The means of limiting memory, if a limit is requested.
fn memory_control(limit: Option<ByteSize>) -> Result<Option<MemoryControl>, Refusal> {
    if let Some(limit) = limit.filter(|limit| limit.get() < LEAST_LIMIT) {
        let message = format!("{limit} is too little for any engine; {} is the least", ByteSize(LEAST_LIMIT));
        return Err(Refusal::new(EnvironmentKey::Memory, message));
    }
    limit.map(|_| MemoryControl::find()).transpose()
}

/// Refuses a limit that the engine's own cache and write buffer would exceed. An engine that maps its database has
/// neither: its cache is the page cache, which the kernel keeps below the limit.
pub(crate) fn check_memory(experiment: &Experiment, label: &str, mapped: bool) -> Result<(), FileError> {
    let Some(limit) = experiment.environment.memory.filter(|_| !mapped) else { return Ok(()) };
    let (cache, write_buffer) = (experiment.settings.cache, experiment.settings.write_buffer);
    let needed = ByteSize(cache.get().saturating_add(write_buffer.get()).saturating_add(LEAST_LIMIT));
    if limit >= needed {
        return Ok(());
    }
    let message = format!(
        "{limit} is too little for {label}: settings.cache = {cache}, settings.write_buffer = {write_buffer} and {} \
         for the rest need {needed}",
        ByteSize(LEAST_LIMIT),
    );
    Err(refused(Refusal::new(EnvironmentKey::Memory, message)))
}
