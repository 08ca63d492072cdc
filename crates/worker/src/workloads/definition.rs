//! The seam between the harness and a workload.

use kvdyno_engine::abi;
use kvdyno_model::{DistributionKind, WorkloadName};
use kvdyno_results::WorkloadFigures;

use super::counts::TrialCounts;
use super::load::LoadDefinition;
use super::parameters::{Data, Reads, WorkloadParameters};
use super::role::Role;
use super::workload_key::{WorkloadError, WorkloadKey};
use crate::shared::COUNTERS;

/// Which records a workload deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Removal {
    /// Any of those that were loaded.
    Any,
    /// The oldest, one after the other.
    Oldest,
}

/// Increase of the versions of records, summed.
#[derive(Clone, Copy, Debug)]
pub struct VersionsAdded {
    /// The versions added of all records.
    pub all: u64,
    /// The versions added of the records that an audit of a sample reads.
    pub sampled: u64,
}

/// The facts of a workload that need no parameters. [`WorkloadProfile::new`] has what most of them have in common.
#[derive(Clone, Copy)]
pub struct WorkloadProfile {
    /// Its name in files and results.
    pub name: WorkloadName,
    /// Its work, as a clause for people.
    pub summary: &'static str,
    /// The role of each reader; absent if it has none.
    pub reader: Option<Role>,
    /// The role of each writer; absent if it has none. Beside readers there is one writer.
    pub writer: Option<Role>,
    /// Whether clients do other work between operations of one kind, so that the rate of a kind does not follow from
    /// its latency.
    pub has_think_time: bool,
    /// Whether it reads records in key order and knows only those that were loaded.
    pub reads_in_order: bool,
    /// Whether it fills an empty database, rather than working on a loaded one.
    pub loads: bool,
    /// Whether it ends, by default, after a number of operations that is a fraction of the number of records.
    pub ends_by_part: bool,
    /// Whether it flushes at its end and waits for background work.
    pub settles: bool,
    /// Distribution of the records, unless the experiment sets it.
    pub distribution: DistributionKind,
    /// The way to read ranges and batches, unless the experiment sets it.
    pub reads: Reads,
}

impl WorkloadProfile {
    /// A workload without clients.
    pub(super) const fn new(name: WorkloadName, summary: &'static str) -> WorkloadProfile {
        WorkloadProfile {
            name,
            summary,
            reader: None,
            writer: None,
            has_think_time: false,
            reads_in_order: false,
            loads: false,
            ends_by_part: false,
            settles: false,
            distribution: DistributionKind::Uniform,
            reads: Reads::USUAL,
        }
    }

    /// The roles of its clients.
    pub fn roles(&self) -> impl Iterator<Item = Role> + use<> {
        [self.reader, self.writer].into_iter().flatten()
    }
}

impl LoadDefinition for WorkloadProfile {}

/// A workload that needs no rules but the usual ones.
impl WorkloadDefinition for WorkloadProfile {
    fn profile(&self) -> &WorkloadProfile {
        self
    }
}

/// A workload. The defaults are what most of them have in common.
pub trait WorkloadDefinition: LoadDefinition + Sync {
    /// The facts of it that need no parameters.
    fn profile(&self) -> &WorkloadProfile;

    // ---- records that it changes

    /// Whether it writes new records.
    fn inserts(&self, _spec: &WorkloadParameters) -> bool {
        false
    }

    /// Which records it deletes; absent if it deletes none.
    fn removes(&self, _spec: &WorkloadParameters) -> Option<Removal> {
        None
    }

    /// Whether it knows what to expect of a database after some records were removed.
    fn expects(&self, _spec: &WorkloadParameters, _removed: Removal) -> bool {
        false
    }

    /// Whether it relies on the sum of the versions of all records, and so works on no database that others wrote to.
    fn counts_versions(&self, _spec: &WorkloadParameters) -> bool {
        false
    }

    /// Increase of the versions of records by a trial with these counters of its clients; absent if it is unknown. A
    /// load writes version 0.
    fn versions_added(&self, _spec: &WorkloadParameters, _counters: &[[u64; COUNTERS]]) -> Option<VersionsAdded> {
        let profile = self.profile();
        (profile.loads || profile.writer.is_none()).then_some(VersionsAdded { all: 0, sampled: 0 })
    }

    // ---- its place in an experiment

    /// Whether a key of the experiment file applies to it: those of its roles, and the records' own.
    fn takes(&self, key: WorkloadKey) -> bool {
        concerns(key, self.profile())
    }

    /// Refuses numbers that are right for other workloads.
    ///
    /// # Errors
    /// Which number is not, and what would be right.
    fn check(&self, _spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// The ability that an engine with these `capabilities` lacks for it, as a clause that follows the engine's name.
    fn lacks(&self, _spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        let mut needs = self.profile().roles().filter_map(|role| role.needs());
        let (_, words) = needs.find(|(needed, _)| !can(capabilities, *needed))?;
        Some(format!("cannot {words}, which `{}` needs; leave one of them out", self.profile().name))
    }

    // ---- records

    /// The number of ids that it asks for. Ids beyond the records have keys that are not in the database.
    fn ids(&self, data: &Data) -> u64 {
        data.records
    }

    // ---- what comes out

    /// The figures of its own; absent if it has none.
    fn figures(&self, _counts: &TrialCounts<'_>) -> Option<WorkloadFigures> {
        None
    }

    /// Notes for a reader of the figures.
    fn notes(&self, _counts: &TrialCounts<'_>) -> Vec<String> {
        Vec::new()
    }
}

/// Whether a key concerns records and clients in general, or one of the roles of a workload.
pub(super) fn concerns(key: WorkloadKey, profile: &WorkloadProfile) -> bool {
    let is_of_role = |role: Role| matches!(key, WorkloadKey::Run(key) if role.keys().contains(&key));
    key.concerns_all() || profile.roles().any(is_of_role)
}

/// Whether an engine with these capabilities has all that are `needed`.
pub(super) fn can(capabilities: u64, needed: u64) -> bool {
    capabilities & needed == needed
}

/// The clause for an engine that reads no snapshots, where a workload reads several records in one transaction.
pub(super) fn lacks_snapshots(name: WorkloadName, spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
    (spec.reads_per_transaction > 1 && !can(capabilities, abi::CAN_SNAPSHOT))
        .then(|| format!("cannot read in transactions, which `{name}` needs; leave one of them out"))
}
