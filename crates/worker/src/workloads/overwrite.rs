//! `overwrite`, `overwritesome` and `overwriteandwait`: random records are updated.

use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use kvdyno_results::OpKind;

use super::definition::WorkloadProfile;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, RoleDefinition};
use crate::clock::Clock;
use crate::key_choice::{KeyChoice, OwnIds, Share};
use crate::loops::batch_writer::{BatchWriter, Versions, write_kind};
use crate::loops::{Driver, Work};

pub(super) static OVERWRITE: WorkloadProfile =
    WorkloadProfile { writer: Some(&Update), ..WorkloadProfile::new(WorkloadName::Overwrite, "update random records") };
pub(super) static OVERWRITE_SOME: WorkloadProfile = WorkloadProfile {
    name: WorkloadName::OverwriteSome,
    summary: "update random records, a tenth as many as the database has",
    ends_by_part: true,
    ..OVERWRITE
};
pub(super) static OVERWRITE_AND_WAIT: WorkloadProfile = WorkloadProfile {
    name: WorkloadName::OverwriteAndWait,
    summary: "update random records, then flush and wait for background work",
    settles: true,
    ..OVERWRITE
};

/// Updates random records, of those that are its own.
pub(super) struct Update;

impl RoleDefinition for Update {
    fn operations(&self, spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![write_kind(spec)]
    }

    fn writes(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::Batch, RunKey::WriteRate, RunKey::Arrival, RunKey::Distribution]
    }
}

impl DrawingRole for Update {
    fn ids<C>(&self, driver: &Driver<'_, C>) -> u64 {
        OwnIds::of(driver).count(driver.parameters.data.records).max(1)
    }

    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let share = Share::new(choice, OwnIds::of(driver), driver.parameters.data.records);
        Box::new(BatchWriter::new(share, Versions::Rising, driver))
    }
}
