//! `fillseq` and `fillrandom`: every record is written once.

use kvdyno_dataset::{Permutation, subseed};
use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use kvdyno_results::OpKind;

use super::definition::WorkloadProfile;
use super::parameters::WorkloadParameters;
use super::role::{RoleDefinition, StartRole};
use crate::clock::Clock;
use crate::key_choice::load_order;
use crate::loops::batch_writer::{BatchWriter, Versions, write_kind};
use crate::loops::{Driver, Work};

pub(super) static FILL_SEQ: WorkloadProfile = WorkloadProfile {
    writer: Some(&Load { random: false }),
    loads: true,
    ..WorkloadProfile::new(WorkloadName::FillSeq, "write every record once, in key order")
};
pub(super) static FILL_RANDOM: WorkloadProfile = WorkloadProfile {
    writer: Some(&Load { random: true }),
    loads: true,
    ..WorkloadProfile::new(WorkloadName::FillRandom, "write every record once, in a random order")
};

/// Distinguishes the seed of the order from those of the clients.
const ORDER: u64 = 0x6f72_6465;

/// Writes its share of the records once.
struct Load {
    random: bool,
}

impl RoleDefinition for Load {
    fn operations(&self, spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![write_kind(spec)]
    }

    fn writes(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::Batch]
    }
}

impl<C: Clock + 'static> StartRole<C> for Load {
    fn start(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        let (records, writers) = (driver.parameters.data.records, u64::from(driver.parameters.writers));
        // One order for all writers, whatever their number.
        let order = self.random.then(|| Permutation::new(records, subseed(driver.parameters.seed, &[ORDER])));
        let ids = load_order(records, writers, driver.index, order);
        Box::new(BatchWriter::new(ids, Versions::Loaded, driver))
    }
}
