//! A workload as a trial does it: which one, with its records, its clients and its end.

use super::workload_key::WorkloadError;
use kvdyno_dataset::{KeyError, Keys};
use kvdyno_experiment::RunKey;
use serde::{Deserialize, Serialize};

use super::definition::Removal;
use super::parameters::WorkloadParameters;
use super::role::Role;
use super::workload::Workload;
use crate::ledger_memory::LedgerMemory;
use crate::spec::KnownContents;

/// Between two operations of a client at the least, seconds: a reading of the clock takes about as long.
const LEAST_INTERVAL_S: f64 = 1e-8;

/// The work of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// Which workload.
    pub name: Workload,
    /// Its numbers.
    pub parameters: WorkloadParameters,
}

impl WorkloadSpec {
    /// Checks it beyond the bounds of each number. If clients have roles, each role is checked by itself: see
    /// [`WorkloadSpec::of_role`].
    ///
    /// # Errors
    /// Which number does not, and what would be right.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let records = self.parameters.data.records;
        let within = self.parameters.reads.seek_within.unwrap_or(records);
        let expected = "from 1 to the number of records";
        WorkloadError::unless((1..=records).contains(&within), RunKey::SeekWithin, within, expected)?;
        let distribution = self.parameters.distribution;
        let expected = format!("of at most {records} key ranges: each has a record at least");
        WorkloadError::unless(distribution.ranges() <= records, RunKey::Distribution, distribution, expected)?;
        self.check_rates()?;
        self.name.check(&self.parameters)?;
        self.keys()?;
        Ok(())
    }

    /// The work of the clients of one of the roles, counted from 0.
    pub fn of_role(&self, role: usize) -> WorkloadSpec {
        let clients = self.parameters.clients_of_roles().nth(role).map(|(_, clients)| clients);
        let first = clients.map_or(0, |clients| u64::from(clients.start));
        WorkloadSpec { name: self.name, parameters: self.parameters.of_client(first).into_owned() }
    }

    /// Checks that a clock can tell apart the operations of a client that come at a rate.
    fn check_rates(&self) -> Result<(), WorkloadError> {
        let parameters = &self.parameters;
        let of_writers = if self.name.accepts(RunKey::Rate) { RunKey::Rate } else { RunKey::WriteRate };
        let rates = [
            (of_writers, parameters.write_rate, parameters.interval_s(true)),
            (RunKey::ReadRate, parameters.read_rate, parameters.interval_s(false)),
        ];
        for (parameter, rate, interval_s) in rates {
            let (Some(rate), Some(interval_s)) = (rate, interval_s) else { continue };
            let most = rate * interval_s / LEAST_INTERVAL_S;
            let expected = format!("at most {most} a second: no clock keeps more than 100M for each client");
            WorkloadError::unless(interval_s >= LEAST_INTERVAL_S, parameter, rate, expected)?;
        }
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

    /// Bytes of the key and the value of a record that is read; absent where records differ in them, and where some
    /// come without their values.
    pub fn record_bytes(&self) -> Option<u64> {
        let WorkloadParameters { data, reads, .. } = &self.parameters;
        let is_known = self.name.leaves_records() && data.value_sizes.is_none() && !reads.cursors.bring_keys_only();
        is_known.then_some(data.key_size + data.value_size)
    }

    /// Records that an audit reads at the most.
    pub fn records_audited(&self) -> u64 {
        let stored = self.name.stored(&self.parameters.data).map_or(u64::MAX, |stored| stored.count());
        match self.name.inserts(&self.parameters) || self.name.removes(&self.parameters).is_some() {
            true => stored.max(self.name.ids(&self.parameters.data)),
            false => stored,
        }
    }

    /// Takes memory in `ledger` for all ids that the workload meets in a database with these contents.
    pub fn prepare(&self, ledger: &LedgerMemory, contents: &KnownContents) {
        let records = self.parameters.data.records;
        let ids = contents.present.given_out.max(records);
        // The number of inserts is unknown.
        ledger.prepare(if self.name.inserts(&self.parameters) { u64::MAX } else { ids }, records);
    }

    /// Records of which any may be deleted.
    pub fn deletable(&self) -> u64 {
        match self.name.removes(&self.parameters) {
            Some(Removal::Any) => self.parameters.data.records,
            Some(Removal::Oldest) | None => 0,
        }
    }

    /// Whether any of its clients changes records: a mix may only read.
    pub fn writes_records(&self) -> bool {
        let Some(role) = self.name.profile().writer else { return false };
        let writes = |client: u32| {
            let kinds = role.operations(&self.parameters.of_client(client.into()));
            kinds.iter().any(|kind| kind.writes())
        };
        (0..self.parameters.writers).any(writes)
    }

    /// The role of each client: readers first.
    pub fn roles(&self) -> Vec<Role> {
        let repeated = |role: Option<Role>, clients: u32| {
            role.into_iter().flat_map(move |role| std::iter::repeat_n(role, clients as usize))
        };
        let (readers, writers) = (self.parameters.readers, self.parameters.writers);
        let profile = self.name.profile();
        repeated(profile.reader, readers).chain(repeated(profile.writer, writers)).collect()
    }
}
