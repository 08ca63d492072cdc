//! Checks that the databases fit, before anything is written.

use std::path::{Path, PathBuf};

use kvdyno_environment::storage::free_bytes;

use crate::backing_store::{self, stored_bytes};
use crate::check::{Checked, CheckedVariant};
use kvdyno_model::{ByteSize, Order};

/// Databases that do not fit.
#[derive(Debug, thiserror::Error)]
#[error(
    "{folder} has {} free; {databases} and min_free = {} need {}; choose another --dir, fewer records, or \
     --order sequential",
    approximately(*free), approximately(*min_free), approximately(*needed)
)]
pub struct SpaceError {
    folder: PathBuf,
    free: u64,
    databases: String,
    min_free: u64,
    needed: u64,
}

fn approximately(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => ByteSize(bytes).to_string(),
        1_048_576..1_073_741_824 => format!("{:.0}MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1}GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// Bytes of keys and values in a database of a variant, or of the file that is made for it, and how many such databases
/// there are at a time below the folder. `copied`: those of them that runs are done on copies of.
fn databases(checked: &CheckedVariant, order: Order, copied: u64) -> (u64, u64) {
    let (experiment, requested) = (&checked.variant.experiment, &checked.environment.requested);
    let made = requested.storage.is_made();
    let stored = checked.setups.iter().filter(|setup| made || !setup.volatile).count() as u64;
    let count = match order {
        Order::Interleaved => stored,
        Order::Sequential => stored.min(1),
    };
    let count = count + copied.min(count);
    match (&requested.device, made) {
        (Some(_), _) => (0, 0),
        (None, true) => (backing_store::size(experiment, requested), count),
        (None, false) => (stored_bytes(experiment), count),
    }
}

/// Refuses what cannot fit below `folder`, which need not exist yet. An estimate: keys and values alone, which every
/// engine exceeds.
///
/// # Errors
/// If there is not even room for those. Nothing is refused if the system does not report its free space.
pub fn check_space(checked: &Checked, folder: &Path) -> Result<(), SpaceError> {
    let Some(free) = folder.ancestors().find_map(|folder| free_bytes(folder).ok()) else { return Ok(()) };
    let order = checked.experiment.lab.order;
    // Only one variant has databases at a time.
    let largest = checked
        .variants
        .iter()
        .enumerate()
        .filter(|(index, _)| checked.plan.trials.iter().any(|trial| trial.variant == *index))
        .map(|(index, one)| databases(one, order, checked.plan.copied_at_once(index)))
        .max_by_key(|(each, count)| each.saturating_mul(*count));
    let (each, count) = largest.unwrap_or((0, 0));
    let min_free = checked.experiment.lab.min_free.get();
    let needed = each.saturating_mul(count).saturating_add(min_free);
    let databases = match count {
        0 => "no database".to_owned(),
        1 => format!("a database of about {}", approximately(each)),
        count => format!("{count} databases of about {}", approximately(each)),
    };
    match free >= needed {
        true => Ok(()),
        false => Err(SpaceError { folder: folder.to_owned(), free, databases, min_free, needed }),
    }
}
