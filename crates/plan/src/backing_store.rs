//! The backing stores of an experiment's databases.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use kvdyno_environment::requested::{EnvironmentKey, EnvironmentSection, Refusal};
use kvdyno_environment::storage::backing_store::{self, BackingStore};
use kvdyno_experiment::{Experiment, FileError};
use kvdyno_model::{ByteSize, Order};
use kvdyno_worker::workloads::Workload;

use crate::environment::{Environment, refused};
use crate::work::data;

/// Default size of a file, as a multiple of keys and values: engines keep free pages and logs, and a part of the
/// database twice while they compact.
const FACTOR: u64 = 3;
/// Bytes that a filesystem takes for itself, journal included.
const TABLES: u64 = 256 << 20;

/// The backing store of the database in `folder`.
pub fn of(experiment: &Experiment, requested: &EnvironmentSection, folder: &Path) -> BackingStore {
    BackingStore::new(requested.storage, folder, size(experiment, requested), requested.device.as_deref())
}

/// Bytes of the file below each database.
pub fn size(experiment: &Experiment, requested: &EnvironmentSection) -> u64 {
    let enough = stored_bytes(experiment).saturating_mul(FACTOR);
    let enough = enough.saturating_add(TABLES).saturating_add(experiment.lab.min_free.get());
    let size = requested
        .storage_size
        .map(ByteSize::get)
        .unwrap_or_else(|| enough.max(backing_store::least(requested.storage)));
    // A multiple of large pages: some engines map a device by those.
    size.div_ceil(2 << 20).saturating_mul(2 << 20)
}

/// Refuses what cannot be made for this experiment here, before anything is touched.
pub fn check(experiment: &Experiment, environment: &Environment) -> Result<(), FileError> {
    let requested = &environment.requested;
    let given_up = experiment.yes_erase.as_deref();
    let fits = backing_store::check(requested, given_up).and_then(|()| check_size(experiment, requested));
    let fits = fits.and_then(|()| check_one_at_a_time(experiment, requested));
    fits.map_err(refused)
}

fn check_size(experiment: &Experiment, requested: &EnvironmentSection) -> Result<(), Refusal> {
    if !requested.storage.is_made() {
        return Ok(());
    }
    let (key, size) = match (&requested.device, requested.storage_size) {
        (Some(device), _) => (EnvironmentKey::Device, ByteSize(device_size(device)?)),
        (None, Some(size)) => (EnvironmentKey::StorageSize, size),
        (None, None) => return Ok(()),
    };
    let least = ByteSize(backing_store::least(requested.storage));
    if size < least {
        let message = format!("{size} is too little for {}: {least} is the least", requested.storage);
        return Err(Refusal::new(key, message));
    }
    let (data, min_free) = (ByteSize(stored_bytes(experiment)), experiment.lab.min_free);
    if size.get() < data.get().saturating_add(min_free.get()) {
        let message = format!(
            "{size} has no room for keys and values of {data} and lab.min_free = {min_free}; take a larger one, or \
             choose fewer records"
        );
        return Err(Refusal::new(key, message));
    }
    Ok(())
}

/// Bytes of a block device.
fn device_size(device: &Path) -> Result<u64, Refusal> {
    let size = File::open(device).and_then(|mut device| device.seek(SeekFrom::End(0)));
    size.map_err(|cause| {
        Refusal::new(EnvironmentKey::Device, format!("cannot tell the size of {}: {cause}", device.display()))
    })
}

/// A device has room for one database.
fn check_one_at_a_time(experiment: &Experiment, requested: &EnvironmentSection) -> Result<(), Refusal> {
    let refused = |message: &str| Err(Refusal::new(EnvironmentKey::Device, message));
    match &requested.device {
        Some(_) if experiment.engines.len() > 1 && experiment.lab.order == Order::Interleaved => refused(
            "a device has room for one database at a time, and engines take turns; choose lab.order = \"sequential\"",
        ),
        Some(_) if experiment.lab.keep => {
            refused("a device is erased for each database, so none can be kept; leave lab.keep out")
        }
        _ => Ok(()),
    }
}

/// Bytes of keys and values that a database has after its load.
pub(crate) fn stored_bytes(experiment: &Experiment) -> u64 {
    Workload::from(experiment.load.workload).stored_bytes(&data(experiment))
}
