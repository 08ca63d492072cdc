//! The fresh session that reads back what a trial wrote, at its end.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_engine::{Choice, Database, abi};
use kvdyno_environment::costs::own_costs;
use kvdyno_environment::storage::DeviceCounters;
use kvdyno_model::Audit;
use kvdyno_results::{Failure, OsFacts, ReadBack};

use super::{Acknowledged, Reader};
use crate::observer::Observer;
use crate::spec::{SessionAudit, Written};
use crate::trial::{Trial, failed};
use crate::workloads::present_after;

impl<C> Trial<'_, C> {
    /// Lets a fresh session read back what this trial wrote, if anything is to be.
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

    /// The finding, and the time that opening the session took.
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
        let begun = Instant::now();
        let mut reader = Reader::open(database, &acknowledged, &control.audited)
            .map_err(|error| failed("opening a session to read back", &error))?;
        let (mut finding, opening) = (ReadBack::default(), begun.elapsed());
        for id in acknowledged.ids(&written).take_while(|_| !control.is_stop_requested()) {
            reader.read(id, &mut finding);
        }
        let now = Observer::new(self.shared).contents(&spec.workload, spec.contents);
        let counts_versions = spec.workload.name.counts_versions(&spec.workload.parameters);
        if let Some(sum) = acknowledged.version_sum(&now).filter(|_| counts_versions) {
            reader.add_up(sum, || !control.is_stop_requested(), &mut finding);
        }
        Ok((finding, opening))
    }
}
