//! What is particular to the 3n+1 workload: its keys and values are its numbers, and it fills a database that no other
//! workload reads.

use kvdyno_engine::Durability;
use kvdyno_workload::cycles::numbers_expected;
use kvdyno_workload::{Kind, Spelling};

use kvdyno_experiment::{DataKey, Experiment, FileError, RunKey};
use kvdyno_model::KeyPath;

/// Keys and values of the enhanced spelling have so many bytes together, about: five to six digits of a key, three of a
/// value, nine bytes each.
const ENHANCED_BYTES: u64 = 80;

/// Whether the experiment computes cycle lengths.
pub(crate) fn is_cycles(experiment: &Experiment) -> bool {
    experiment.load.workload == Kind::ThreeNPlusOne
}

/// Refuses what means nothing to the 3n+1 workload, and its spelling where there is another.
pub(crate) fn check_cycles(experiment: &Experiment) -> Result<(), FileError> {
    let data = &experiment.data;
    if !is_cycles(experiment) {
        return match data.spelling {
            Spelling::Plain => Ok(()),
            Spelling::Enhanced => {
                let message = "spelling = \"enhanced\" is for [load] workload = \"3n1\"; keys of other workloads have a key_format";
                Err(FileError::at(DataKey::Spelling, message))
            }
        };
    }
    let sizes = [
        (DataKey::KeySize, data.key_size.is_some()),
        (DataKey::ValueSize, data.value_size.is_some()),
        (DataKey::PrefixSize, data.prefix_size.is_some()),
        (DataKey::KeysPerPrefix, data.keys_per_prefix.is_some()),
    ];
    if let Some((key, _)) = sizes.into_iter().find(|(_, given)| *given) {
        let message = format!(
            "{} means nothing to `3n1`, whose keys and values are its numbers, as spelling and key_format have them; \
             leave it out",
            key.name()
        );
        return Err(FileError::at(key, message));
    }
    match experiment.run.first() {
        None => Ok(()),
        Some(run) => Err(FileError::at(
            KeyPath::from(RunKey::Workload).numbered(0),
            format!(
                "`{}` cannot follow `3n1`, whose database has other records than it asks for; leave out [[run]], or load \
                 with fillseq or fillrandom",
                run.workload
            ),
        )),
    }
}

/// Bytes of keys and values that the load puts.
pub(crate) fn stored_bytes(experiment: &Experiment) -> u64 {
    let data = experiment.data();
    match (is_cycles(experiment), data.spelling) {
        (true, Spelling::Enhanced) => numbers_expected(data.records).saturating_mul(ENHANCED_BYTES),
        (true, Spelling::Plain) => numbers_expected(data.records).saturating_mul(data.key_size + data.value_size),
        (false, _) => data.records.saturating_mul(data.key_size + data.value_size),
    }
}

/// Puts and gets a second of a slow engine on a small machine, and puts that it syncs: for estimates of time, never for
/// figures.
const OPERATIONS_PER_S: f64 = 60e3;
const SYNCS_PER_S: f64 = 500.0;

/// About how long the load takes.
pub(crate) fn cycles_seconds(experiment: &Experiment) -> f64 {
    let starts = experiment.data().records;
    let puts = numbers_expected(starts) as f64;
    let syncing = match experiment.load_settings().durability {
        Durability::Commit => puts / SYNCS_PER_S / experiment.load_batch().min(2) as f64,
        _ => 0.0,
    };
    (2.0 * puts + starts as f64) / OPERATIONS_PER_S + syncing
}
