//! Reads and rewrites of shared records, in transactions or by one call. Each write makes a record one version newer
//! than the last write of any client.
//!
//! The sum of the versions of all records is therefore the number of acknowledged updates, in whatever order they came.
//! A lost update, half a transaction, or an update built on another's before that was committed changes the sum; audits
//! add it up ([`mod@crate::audit`]).

use super::workload_key::WorkloadError;
use kvdyno_experiment::DataKey;
use std::sync::atomic::Ordering;

use kvdyno_engine::abi;
use kvdyno_model::IsolationLevel;

use super::definition::can;
use super::parameters::{Data, WorkloadParameters};
use crate::clock::Clock;
use crate::loops::{Driver, NOTHING, lent};
use crate::shared::bump;

/// Bytes that a value needs to carry its whole version.
const LEAST_VALUE: u64 = 24;
/// Versions from here on are those of transactions that are rolled back.
pub(crate) const NEVER_COMMITTED: u64 = 1 << 62;

/// Refuses values that carry no whole version.
///
/// # Errors
/// A message that says what would be right.
pub(super) fn check_values(data: &Data) -> Result<(), WorkloadError> {
    let is_large = data.value_sizes.is_some() || data.value_size >= LEAST_VALUE;
    let expected = format!("{LEAST_VALUE} or more: each value carries its version");
    WorkloadError::unless(is_large, DataKey::ValueSize, data.value_size, expected)
}

/// The isolation that an engine with these capabilities promises.
pub(super) fn isolation_of(capabilities: u64) -> IsolationLevel {
    match capabilities {
        all if can(all, abi::IS_SERIALIZABLE) => IsolationLevel::Serializable,
        all if can(all, abi::READS_REPEAT) => IsolationLevel::Snapshot,
        _ => IsolationLevel::ReadCommitted,
    }
}

/// The isolation that an engine with these capabilities lacks, as a clause that follows its name; absent if it promises
/// as much as required.
pub(super) fn lacks_isolation(spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
    let (wanted, has) = (spec.isolation?, isolation_of(capabilities));
    (has < wanted).then(|| format!("isolates its transactions as {has}, and isolation = {wanted} is required"))
}

/// The requested end of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Commit,
    RollBack,
}

/// The outcome of a try of a transaction.
pub(super) enum Tried {
    Done,
    /// The engine undid it because of others.
    Conflict,
    /// A wrong answer, or an error; whether the trial goes on.
    Failed {
        goes_on: bool,
    },
}

/// Writes of a transaction, which count once it is committed.
pub(super) struct Wrote {
    pub(super) newest: u64,
    /// Bytes of keys and values.
    pub(super) bytes: u64,
}

impl Wrote {
    /// Notes that they were acknowledged.
    pub(super) fn count<C>(self, driver: &Driver<'_, C>) {
        let version = driver.stats.version.load(Ordering::Relaxed).max(self.newest);
        driver.stats.version.store(version, Ordering::Relaxed);
        bump(&driver.stats.user_bytes, self.bytes);
    }
}

/// Begins a transaction, does what is `within` it, and ends it.
pub(super) fn attempt<C: Clock>(
    driver: &Driver<'_, C>,
    ending: Ending,
    within: impl FnOnce() -> Result<Wrote, Tried>,
) -> Tried {
    match driver.session.begin_status(abi::READ_WRITE) {
        abi::OK => (),
        abi::CONFLICT => return Tried::Conflict,
        status => return failed(driver, "beginning a transaction", status),
    }
    match (within(), ending) {
        (Err(Tried::Conflict), _) => {
            driver.session.note_conflict();
            Tried::Conflict
        }
        (Err(other), _) => {
            let status = driver.session.abort_status();
            if status != abi::OK { failed(driver, "rolling a transaction back", status) } else { other }
        }
        (Ok(wrote), Ending::Commit) => match driver.session.commit_status() {
            abi::OK => {
                wrote.count(driver);
                Tried::Done
            }
            abi::CONFLICT => Tried::Conflict,
            status => failed(driver, "committing a transaction", status),
        },
        (Ok(_), Ending::RollBack) => match driver.session.abort_status() {
            abi::OK => Tried::Done,
            status => failed(driver, "rolling a transaction back", status),
        },
    }
}

/// The version of the record `id`, whose key is spelled, which must be `least` or newer.
pub(super) fn read_version<C: Clock>(driver: &Driver<'_, C>, id: u64, least: u64, key: &[u8]) -> Result<u64, Tried> {
    let (table, session) = driver.session.raw();
    let Some(get) = table.get else { return Err(Tried::Failed { goes_on: false }) };
    let mut value = NOTHING;
    driver.recall.will_ask_for(id);
    // SAFETY: the session is open and this thread's own; key and value live through the call.
    let status = unsafe { get(session, key.as_ptr().cast(), key.len(), &mut value) };
    if status == abi::CONFLICT {
        return Err(Tried::Conflict);
    }
    // SAFETY: the engine lent it in the call just made; a miss or an error lends nothing.
    let value = if status == abi::OK { unsafe { lent(value) } } else { &[] };
    version_of(driver, id, least, status, value)
}

/// The version of a value that was given for the record `id` with `status`, which must be `least` or newer.
pub(super) fn version_of<C: Clock>(
    driver: &Driver<'_, C>,
    id: u64,
    least: u64,
    status: abi::Status,
    value: &[u8],
) -> Result<u64, Tried> {
    let min_version = driver.ledger.min_version(id).max(least);
    let is_right = status == abi::OK && driver.values.is_right(id, min_version, value);
    match driver.values.version_of(value).filter(|_| is_right) {
        Some(version) if version >= NEVER_COMMITTED => Err(never_committed(driver, id)),
        Some(version) => Ok(version),
        None => Err(Tried::Failed { goes_on: driver.read_failed(id, min_version, status, value) }),
    }
}

/// Writes a version of the record `id`, whose key is spelled, with `value` as its buffer; the bytes of both.
pub(super) fn write_version<C: Clock>(
    driver: &Driver<'_, C>,
    id: u64,
    version: u64,
    key: &[u8],
    value: &mut [u8],
) -> Result<u64, Tried> {
    let (table, session) = driver.session.raw();
    let Some(put) = table.put else { return Err(Tried::Failed { goes_on: false }) };
    let size = driver.values.write(id, version, value);
    // SAFETY: the session is open and this thread's own; key and value live through the call.
    match unsafe { put(session, key.as_ptr().cast(), key.len(), value.as_ptr().cast(), size) } {
        abi::OK => Ok((key.len() + size) as u64),
        abi::CONFLICT => Err(Tried::Conflict),
        status => Err(failed(driver, "writing in a transaction", status)),
    }
}

#[cold]
fn failed<C: Clock>(driver: &Driver<'_, C>, what: &str, status: abi::Status) -> Tried {
    Tried::Failed { goes_on: driver.engine_failed(what, status) }
}

/// Reports that a read saw a write that was rolled back, or will be.
#[cold]
fn never_committed<C>(driver: &Driver<'_, C>, id: u64) -> Tried {
    driver.control.first_failure(&format!("record {id} was read as a transaction wrote it that was never committed"));
    bump(&driver.stats.wrong, 1);
    Tried::Failed { goes_on: true }
}
