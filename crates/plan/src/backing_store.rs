//! What the databases of an experiment lie on, where that is made for them.

use std::path::Path;

use kvdyno_environment::requested::{Refusal, Requested};
use kvdyno_environment::storage::backing_store::{self, BackingStore};

use crate::environment::Environment;
use crate::space::stored_bytes;
use kvdyno_experiment::Bytes;
use kvdyno_experiment::{Experiment, FileError, Order};

/// How much larger than keys and values a file is made if nobody says: engines keep free pages, logs, and while they
/// compact a part of the database twice.
const FACTOR: u64 = 3;
/// What a filesystem takes for itself, journal included.
const TABLES: u64 = 256 << 20;

/// The backing_store of the database in the folder `place`.
pub fn of(experiment: &Experiment, requested: &Requested, place: &Path) -> BackingStore {
    BackingStore::new(requested.storage, place, size(experiment, requested), requested.device.as_deref())
}

/// Bytes of the file below each database.
pub fn size(experiment: &Experiment, requested: &Requested) -> u64 {
    let room = stored_bytes(experiment).saturating_mul(FACTOR);
    let enough = room.saturating_add(TABLES).saturating_add(experiment.lab.min_free.0);
    let size = requested.storage_size.unwrap_or_else(|| enough.max(backing_store::least(requested.storage)));
    // Of whole large pages: some engines map a device by those.
    size.div_ceil(2 << 20).saturating_mul(2 << 20)
}

/// Refuses what cannot be made for this experiment here, before anything is touched.
pub fn check(experiment: &Experiment, environment: &Environment) -> Result<(), FileError> {
    let requested = &environment.requested;
    let given_up = experiment.environment.yes_erase.as_deref();
    let fits = backing_store::check(requested, given_up).and_then(|()| check_size(experiment, requested));
    let fits = fits.and_then(|()| check_one_at_a_time(experiment, requested));
    fits.map_err(|refusal| experiment.environment.refused(&refusal))
}

fn check_size(experiment: &Experiment, requested: &Requested) -> Result<(), Refusal> {
    let Some(size) = requested.storage_size.filter(|_| requested.storage.is_made()) else { return Ok(()) };
    let least = backing_store::least(requested.storage);
    if size < least {
        let message = format!("{} is too little for {}: {} is the least", Bytes(size), requested.storage, Bytes(least));
        return Err(Refusal::new("storage_size", message));
    }
    let (data, min_free) = (stored_bytes(experiment), experiment.lab.min_free.0);
    if size < data.saturating_add(min_free) {
        let message = format!(
            "{} has no room for keys and values of {} and lab.min_free = {}; make it larger, or choose fewer records",
            Bytes(size),
            Bytes(data),
            Bytes(min_free)
        );
        return Err(Refusal::new("storage_size", message));
    }
    Ok(())
}

/// A device has room for one database.
fn check_one_at_a_time(experiment: &Experiment, requested: &Requested) -> Result<(), Refusal> {
    let refused = |message: &str| Err(Refusal::new("device", message));
    match &requested.device {
        Some(_) if experiment.engines.len() > 1 && experiment.lab.order == Order::Turns => refused(
            "a device has room for one database at a time, and engines take turns; choose lab.order = \"engine\"",
        ),
        Some(_) if experiment.lab.keep => {
            refused("a device is erased for each database, so none can be kept; leave lab.keep out")
        }
        _ => Ok(()),
    }
}
