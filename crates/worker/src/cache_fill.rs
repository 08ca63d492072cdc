//! Filling the engine's cache before a run.

use kvdyno_engine::{Database, abi};

use crate::loops::cursor::{LentStep, ScanCursor};
use crate::session_alone::session_alone;
use crate::shared::{WorkerState, bump};
use crate::trial::{NotRun, Trial, failed};

/// Bytes of data between two records that are sought: half of the smallest page or block that engines usually have.
const STRIDE: u64 = 2 << 10;

impl<C> Trial<'_, C> {
    /// Seeks a record of each [`STRIDE`] in key order, so that the engine reads all pages into its cache. The records
    /// are not looked at: nothing is measured, and the run verifies what it reads. On the main thread, which no slice
    /// pins to a processor.
    pub(crate) fn fill_cache(&self, database: &Database) -> Result<(), NotRun> {
        let (control, workload) = (self.control(), &self.spec.workload);
        if self.leads() {
            control.enter(WorkerState::Filling);
        }
        let cannot = |error| NotRun::Failed(failed("filling the cache", &error));
        let session = session_alone(database).map_err(cannot)?;
        let keys = self.keys().map_err(NotRun::Failed)?;
        let opened = ScanCursor::of_session(&session, false).map_err(|status| cannot(session.error(status)))?;
        let Some(cursor) = opened else { return Ok(()) };
        let data = &workload.parameters.data;
        let stride = (STRIDE / (data.key_size + data.value_size).max(1)).max(1);
        let (mut key, mut record) = (keys.blank(), LentStep::NOTHING);
        for id in (0..self.spec.contents.present.given_out).step_by(stride as usize) {
            if control.is_stop_requested() {
                break;
            }
            keys.write(id, &mut key);
            // SAFETY: the session has no other call under way, and nobody uses what is lent.
            let status = unsafe { cursor.seek(&key, &mut record) };
            if status != abi::OK && status != abi::MISS {
                return Err(cannot(session.error(status)));
            }
            bump(&control.filled, 1);
        }
        Ok(())
    }
}
