//! A workload as a trial does it: which one, with its records, its clients and its end.

use kvdyno_dataset::{KeyError, Keys};
use serde::{Deserialize, Serialize};

use super::name::WorkloadName;
use super::parameter::{Parameter, WorkloadError};
use super::parameters::WorkloadParameters;
use super::role::Role;

/// The work of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// Which workload.
    pub name: WorkloadName,
    /// Its numbers.
    pub parameters: WorkloadParameters,
}

impl WorkloadSpec {
    /// Whether it makes sense, as far as the bounds of each number do not tell.
    ///
    /// # Errors
    /// Which number does not, and what would be right.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let records = self.parameters.data.records;
        let within = self.parameters.reads.seek_within.unwrap_or(records);
        let expected = "from 1 to the number of records";
        WorkloadError::unless((1..=records).contains(&within), Parameter::SeekWithin, within, expected)?;
        self.name.check(&self.parameters)?;
        self.keys()?;
        Ok(())
    }

    /// The keys of all ids that the workload asks for.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn keys(&self) -> Result<Keys, KeyError> {
        self.parameters.data.keys_of(self.name.ids(&self.parameters.data))
    }

    /// Records that the database has in the end, about.
    pub fn records_stored(&self) -> u64 {
        self.name.records_stored(&self.parameters.data)
    }

    /// Records that an audit reads at the most.
    pub fn records_audited(&self) -> u64 {
        let stored = self.name.stored(&self.parameters.data);
        stored.map_or(u64::MAX, |stored| stored.count())
    }

    /// The role of each client: readers first.
    pub fn roles(&self) -> Vec<Role> {
        let repeated = |role: Option<Role>, clients: u32| {
            role.into_iter().flat_map(move |role| std::iter::repeat_n(role, clients as usize))
        };
        let (readers, writers) = (self.parameters.readers, self.parameters.writers);
        repeated(self.name.reader(), readers).chain(repeated(self.name.writer(), writers)).collect()
    }
}
