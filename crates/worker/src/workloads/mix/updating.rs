//! Updates of records that all clients share: by one call of the engine, or in a transaction. Each makes a record one
//! version newer, so that audits can add up what was acknowledged ([`crate::workloads::transactions`]).

use std::ffi::c_void;
use std::ptr;
use std::thread;

use kvdyno_engine::abi;

use super::mixing::{GoesOn, Mixing};
use crate::arrival::BeginsOperations;
use crate::clock::Clock;
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, Limit, lent};
use crate::shared::{ClientCounter, OpStats, bump};
use crate::workloads::transactions::{Ending, Tried, Wrote, attempt, read_version, version_of, write_version};

/// Updates that were acknowledged, in the worker's whole life.
pub(super) const UPDATED: ClientCounter = ClientCounter(3);

/// Tries of an update that ended with a conflict.
pub(super) const CONFLICTS: ClientCounter = ClientCounter(4);

/// Updates of records whose versions the audit of a sample adds up.
pub(super) const SAMPLED: ClientCounter = ClientCounter(5);

impl<K: KeyChoice, A: BeginsOperations, const FULL: bool> Mixing<K, A, FULL> {
    #[inline(always)]
    pub(super) fn atomic_update<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        index: usize,
        limit: Limit<'_>,
    ) -> GoesOn {
        self.update(driver, ops, index, limit, |client, id| client.try_at_once(driver, id))
    }

    #[inline(always)]
    pub(super) fn transactional_update<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        index: usize,
        limit: Limit<'_>,
    ) -> GoesOn {
        self.update(driver, ops, index, limit, |client, id| {
            let (key, value) = (client.key.as_slice(), client.value.as_mut_slice());
            attempt(driver, Ending::Commit, || {
                let version = read_version(driver, id, 0, key)? + 1;
                Ok(Wrote { newest: version, bytes: write_version(driver, id, version, key, value)? })
            })
        })
    }

    /// Updates a record that is drawn from all, and retries until no other client conflicts.
    #[inline(always)]
    fn update<C: Clock>(
        &mut self,
        driver: &Driver<'_, C>,
        ops: &OpStats,
        index: usize,
        limit: Limit<'_>,
        mut attempt: impl FnMut(&mut Self, u64) -> Tried,
    ) -> GoesOn {
        let id = self.gets.choice.next();
        driver.keys.write(id, &mut self.key);
        let start = self.begin(driver, index);
        let tried = loop {
            match attempt(self, id) {
                Tried::Conflict if driver.is_over(limit) => {
                    bump(driver.stats.counter(CONFLICTS), 1);
                    return false;
                }
                Tried::Conflict => {
                    bump(driver.stats.counter(CONFLICTS), 1);
                    // The holder of the record may wait for this very processor.
                    thread::yield_now();
                }
                ended => break ended,
            }
        };
        self.end = driver.clock.now();
        ops.latency.record(self.end.saturating_sub(start));
        match tried {
            Tried::Failed { goes_on } => goes_on,
            _ => {
                bump(driver.stats.counter(UPDATED), 1);
                bump(driver.stats.counter(SAMPLED), u64::from(self.summed.has(id)));
                bump(&ops.records, 1);
                true
            }
        }
    }

    /// Updates `id`, whose key is spelled, by one call.
    fn try_at_once<C: Clock>(&mut self, driver: &Driver<'_, C>, id: u64) -> Tried {
        let (table, session) = driver.session.raw();
        let Some(call) = table.read_modify_write else { return Tried::Failed { goes_on: false } };
        let mut update = UpdateUnderWay { driver, id, buffer: &mut self.value, made: Err(Tried::Conflict) };
        let key = self.key.as_slice();
        // SAFETY: the session is open and this thread's own; key, buffer and context live through the call.
        let status = unsafe {
            call(session, key.as_ptr().cast(), key.len(), make_newer::<C>, ptr::from_mut(&mut update).cast())
        };
        match (status, update.made) {
            (abi::CONFLICT, _) => Tried::Conflict,
            (abi::OK, Ok(wrote)) => {
                wrote.count(driver);
                Tried::Done
            }
            // The change was given up because of what it was shown.
            (_, Err(failed @ Tried::Failed { .. })) => failed,
            (abi::OK, _) => {
                driver.control.first_failure(&format!("the update of record {id} is done, and was not asked for"));
                bump(&driver.stats.wrong, 1);
                Tried::Failed { goes_on: true }
            }
            (status, _) => Tried::Failed { goes_on: driver.engine_failed("updating a record by one call", status) },
        }
    }
}

/// An update that is under way in the engine.
struct UpdateUnderWay<'a, 'b, C> {
    driver: &'a Driver<'b, C>,
    id: u64,
    /// The new value, once it was asked for.
    buffer: &'a mut [u8],
    /// The outcome of the last call: an engine may try again by itself.
    made: Result<Wrote, Tried>,
}

/// Makes the value one version newer than `old`.
unsafe extern "C" fn make_newer<C: Clock>(
    context: *mut c_void,
    old: abi::Bytes,
    value: *mut abi::Bytes,
) -> abi::Status {
    // SAFETY: the context is the one passed above, and nobody else uses it during the call.
    let update = unsafe { &mut *context.cast::<UpdateUnderWay<'_, '_, C>>() };
    let status = if old.data.is_null() { abi::MISS } else { abi::OK };
    // SAFETY: the engine lends it for this call; nothing has no size.
    let shown = unsafe { lent(old) };
    update.made = version_of(update.driver, update.id, 0, status, shown).map(|version| {
        let newest = version + 1;
        let size = update.driver.values.write(update.id, newest, update.buffer);
        // SAFETY: it is there to be filled.
        unsafe { *value = abi::Bytes { data: update.buffer.as_ptr().cast(), size } };
        Wrote { newest, bytes: (update.driver.keys.size() + size) as u64 }
    });
    if update.made.is_ok() { abi::OK } else { abi::MISS }
}
