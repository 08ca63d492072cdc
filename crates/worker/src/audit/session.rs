//! The fresh sessions that read back what a trial wrote, at its end.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_engine::{Choice, Database, EngineError, abi};
use kvdyno_environment::costs::own_costs;
use kvdyno_environment::storage::DeviceCounters;
use kvdyno_model::Audit;
use kvdyno_results::{Failure, OsFacts, ReadBack};

use super::{Acknowledged, Readers};
use crate::observer::Observer;
use crate::spec::{SessionAudit, Written};
use crate::trial::{Trial, failed};
use crate::worker::hints;
use crate::workloads::present_after;

impl<C> Trial<'_, C> {
    /// Lets fresh sessions read back what this trial wrote, if anything is to be.
    pub(crate) fn audit(&self, choice: &Choice, database: &Database) -> Result<Option<SessionAudit>, Failure> {
        let (spec, control) = (self.spec, self.control());
        let wrote = self.shared.client_stats().iter().any(|stats| stats.user_bytes.load(Ordering::Relaxed) > 0);
        let keeps = !choice.adapter().can(abi::IS_VOLATILE);
        if spec.audit == Audit::Off || !wrote || !keeps || control.is_stop_requested() {
            return Ok(None);
        }
        let (begun, before, device) = (Instant::now(), own_costs(), DeviceCounters::read(&spec.database));
        let (mut finding, opening) = self.read_back(database)?;
        finding.seconds = begun.elapsed().as_secs_f64();
        let device = device.zip(DeviceCounters::read(&spec.database)).map(|(before, after)| after.since(&before));
        let costs = OsFacts { wall_s: finding.seconds, device, ..own_costs().without(&before) };
        Ok(Some(SessionAudit { finding, opening, costs }))
    }

    /// The finding, and the longest time that opening a session took.
    fn read_back(&self, database: &Database) -> Result<(ReadBack, Duration), Failure> {
        let (spec, control) = (self.spec, self.control());
        let written = match spec.workload.name.profile().loads {
            true => Written::Load,
            false => {
                let before = spec.contents;
                let after = present_after(self.shared, &spec.workload, before.present);
                Written::Run {
                    versions: before.last_version + 1..=u64::MAX,
                    inserted: before.present.there..after.there,
                    taken: before.present.gone..after.gone,
                }
            }
        };
        let present = present_after(self.shared, &spec.workload, spec.contents.present);
        let acknowledged = Acknowledged::of(spec, present, self.ledger)?;
        let readers = Readers {
            database,
            acknowledged: &acknowledged,
            progress: &control.audited,
            sessions: Readers::at_most(hints(&spec.workload, spec.clients).sessions),
            goes_on: &|| !control.is_stop_requested(),
        };
        let opened = |error: EngineError| failed("opening a session to read back", &error);
        let (findings, opening) = readers.read(1, acknowledged.ids(&written).map(|id| (0, id))).map_err(opened)?;
        let mut finding = findings.into_iter().next().unwrap_or_default();
        let now = Observer::new(self.shared).contents(&spec.workload, spec.contents);
        let counts_versions = spec.workload.name.counts_versions(&spec.workload.parameters);
        if let Some(sum) = acknowledged.version_sum(&now).filter(|_| counts_versions) {
            readers.add_up(sum, &mut finding).map_err(opened)?;
        }
        Ok((finding, opening))
    }
}
