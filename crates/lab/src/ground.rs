//! What the databases of an experiment lie on, where that is made for them.

use std::path::Path;

use kvdyno_stage::asked::{Asked, Refusal};
use kvdyno_stage::storage::ground::{self, Ground};

use crate::cycles::stored_bytes;
use crate::experiment::{Experiment, FileError, Order};
use crate::stage::Stage;
use crate::units::Bytes;

/// How much larger than keys and values a file is made if nobody says: engines keep free pages, logs, and while they
/// compact a part of the database twice.
const FACTOR: u64 = 3;
/// What a filesystem takes for itself, journal included.
const TABLES: u64 = 256 << 20;

/// The ground of the database in the folder `place`.
pub(crate) fn of(experiment: &Experiment, asked: &Asked, place: &Path) -> Ground {
    Ground::new(asked.storage, place, size(experiment, asked), asked.device.as_deref())
}

/// Bytes of the file below each database.
pub(crate) fn size(experiment: &Experiment, asked: &Asked) -> u64 {
    let room = stored_bytes(experiment).saturating_mul(FACTOR);
    let enough = room.saturating_add(TABLES).saturating_add(experiment.lab.min_free.0);
    let size = asked.storage_size.unwrap_or_else(|| enough.max(ground::least(asked.storage)));
    // Of whole large pages: some engines map a device by those.
    size.div_ceil(2 << 20).saturating_mul(2 << 20)
}

/// Refuses what cannot be made for this experiment here, before anything is touched.
pub(crate) fn check(experiment: &Experiment, stage: &Stage) -> Result<(), FileError> {
    let asked = &stage.asked;
    let given_up = experiment.stage.yes_erase.as_deref();
    let fits = ground::check(asked, given_up).and_then(|()| check_size(experiment, asked));
    let fits = fits.and_then(|()| check_one_at_a_time(experiment, asked));
    fits.map_err(|refusal| experiment.stage.refused(&refusal))
}

fn check_size(experiment: &Experiment, asked: &Asked) -> Result<(), Refusal> {
    let Some(size) = asked.storage_size.filter(|_| asked.storage.is_made()) else { return Ok(()) };
    let least = ground::least(asked.storage);
    if size < least {
        let message = format!("{} is too little for {}: {} is the least", Bytes(size), asked.storage, Bytes(least));
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
fn check_one_at_a_time(experiment: &Experiment, asked: &Asked) -> Result<(), Refusal> {
    let refused = |message: &str| Err(Refusal::new("device", message));
    match &asked.device {
        Some(_) if experiment.engines.len() > 1 && experiment.lab.order == Order::Turns => refused(
            "a device has room for one database at a time, and engines take turns; choose lab.order = \"engine\"",
        ),
        Some(_) if experiment.lab.keep => {
            refused("a device is erased for each database, so none can be kept; leave lab.keep out")
        }
        _ => Ok(()),
    }
}
