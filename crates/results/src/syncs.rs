//! Commits and the syncs that make them durable.

use kvdyno_model::Durability;
use serde::{Deserialize, Serialize};

use crate::{OpKind, Operations, TrialResult};

/// Operations that were acknowledged at durability `commit`, and the syncs that could make them durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurableCommits {
    /// Operations of the measured part that each changed the database, acknowledged at durability `commit`.
    pub commits: u64,
    /// Their clients.
    pub clients: u64,
    /// Syncs of at least the measured part.
    pub syncs: Syncs,
}

/// Syncs, as somebody counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Syncs {
    /// Completed by the device below the database over the whole trial, by whomever.
    OfDevice {
        /// Flushes of its write cache.
        flushes: u64,
        /// Writes.
        writes: u64,
    },
    /// Done by the filesystem for the worker.
    OfWorker(u64),
}

impl Syncs {
    /// The syncs that came after a write, at the most.
    pub fn most(self) -> u64 {
        match self {
            Syncs::OfDevice { flushes, writes } => flushes.min(writes),
            Syncs::OfWorker(syncs) => syncs,
        }
    }
}

impl DurableCommits {
    /// Whether commits were acknowledged that no sync made durable. A client waits for its commit, and the sync of a
    /// commit begins after the commit does: so one sync makes at most one commit of each client durable, and before it
    /// something must be written. The opposite proves nothing: it may be of other data.
    pub fn are_unsynced(self) -> bool {
        self.syncs.most().saturating_add(1).saturating_mul(self.clients) < self.commits
    }
}

impl TrialResult {
    /// Its commits; absent if none are promised to be durable, or if nobody counts what makes them so.
    pub fn commits(&self) -> Option<DurableCommits> {
        let of_device = || {
            let device = self.os.device.as_ref()?;
            Some(Syncs::OfDevice { flushes: device.flushes?, writes: device.writes })
        };
        let syncs = of_device().or_else(|| self.os.syncs.map(Syncs::OfWorker))?;
        self.promised_commits().map(|(commits, clients)| DurableCommits { commits, clients, syncs })
    }

    /// The operations that changed the database and were acknowledged at durability `commit`, and their clients; absent
    /// if there were none.
    pub fn promised_commits(&self) -> Option<(u64, u64)> {
        let removes = |of: &Operations| matches!(of.kind, OpKind::Delete | OpKind::Take | OpKind::Expire);
        let removes = self.operations.iter().any(removes);
        let durable = self.durable_operations().filter(|of| always_changes(of.kind, removes));
        let sum = |(commits, clients), of: &Operations| (commits + of.operations, clients + u64::from(of.threads));
        Some(durable.fold((0, 0), sum)).filter(|(commits, _)| *commits > 0)
    }

    /// The operations of the clients whose writes are acknowledged at durability `commit`.
    fn durable_operations(&self) -> impl Iterator<Item = &Operations> {
        let of_all = self.workload.durability;
        let at_commit = move |durability: Durability| durability == Durability::Commit;
        let alike = self.operations.iter().filter(move |_| self.of_roles.is_empty() && at_commit(of_all));
        let roles = self.of_roles.iter().zip(&self.workload.roles);
        let roles = roles.filter(move |(_, role)| at_commit(role.durability.unwrap_or(of_all)));
        alike.chain(roles.flat_map(|(operations, _)| &operations.operations))
    }
}

/// Whether each operation of a kind changes a record. Those that go from a record that may have been removed do not.
fn always_changes(kind: OpKind, removes: bool) -> bool {
    use OpKind::{AtomicUpdate, Batch, Insert, Put, ReadModifyWrite, Transaction, TransactionalUpdate};
    match kind {
        Put | Batch | Insert => true,
        ReadModifyWrite | AtomicUpdate | TransactionalUpdate | Transaction => !removes,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::{
        ClientKind, Device, EngineFacts, Latency, Phase, RoleFacts, RoleOperations, TrialKey, TrialOutcome,
        WorkloadFacts,
    };

    fn did(kind: OpKind, threads: u32, operations: u64) -> Operations {
        Operations {
            kind,
            threads,
            operations,
            records: operations,
            operations_per_s: 1.0,
            records_per_s: 1.0,
            latency: Latency::default(),
            pacing: None,
        }
    }

    fn result(durability: Durability, operations: Vec<Operations>) -> TrialResult {
        let trial = TrialKey {
            number: 1,
            engine: "lmdb".into(),
            variant: String::new(),
            phase: Phase::Run,
            workload: "mix".into(),
            readers: 2,
            writers: 0,
            clients: ClientKind::Threads,
            repeat: 1,
        };
        let workload = WorkloadFacts { durability, ..WorkloadFacts::default() };
        let mut result = TrialResult::without_figures(trial, EngineFacts::default(), workload, TrialOutcome::Finished);
        result.os.device = Some(Device { flushes: Some(9), writes: 20, ..Device::default() });
        result.operations = operations;
        result
    }

    #[test]
    fn one_flush_serves_one_commit_of_each_client() {
        let of = |commits, flushes, writes| {
            DurableCommits { commits, clients: 4, syncs: Syncs::OfDevice { flushes, writes } }.are_unsynced()
        };
        assert!(!of(40, 9, 20) && of(41, 9, 20) && !of(4, 0, 20) && of(5, 0, 20));
        assert!(!of(40, 20, 9) && of(41, 20, 9), "a flush before which nothing was written");
    }

    #[test]
    fn commits_are_what_surely_changes_a_record() {
        use OpKind::{Delete, Get, Put, ReadModifyWrite};
        let all = vec![did(Get, 2, 500), did(Put, 2, 70), did(ReadModifyWrite, 2, 5)];
        let of = |durability, operations| result(durability, operations).commits();
        let syncs = Syncs::OfDevice { flushes: 9, writes: 20 };
        let expected = DurableCommits { commits: 75, clients: 4, syncs };
        assert_eq!(of(Durability::Commit, all.clone()), Some(expected));
        assert_eq!(of(Durability::Periodic, all.clone()), None);
        assert_eq!(of(Durability::Commit, vec![did(Get, 2, 500)]), None);
        // What is updated may have been deleted.
        let deleting = [all, vec![did(Delete, 2, 8)]].concat();
        assert_eq!(of(Durability::Commit, deleting), Some(DurableCommits { commits: 70, clients: 2, syncs }));
        let mut untold = result(Durability::Commit, vec![did(Put, 2, 70)]);
        untold.os.device = Some(Device::default());
        assert_eq!(untold.commits(), None);
        untold.os.syncs = Some(12);
        assert_eq!(untold.commits().map(|commits| commits.syncs), Some(Syncs::OfWorker(12)));
    }

    #[test]
    fn each_role_has_its_own_durability() {
        let mut result = result(Durability::Process, vec![did(OpKind::Put, 3, 90)]);
        let role = |name: &str, durability, operations| {
            let facts = RoleFacts {
                name: name.into(),
                clients: 1,
                mix: "put 100".parse().unwrap(),
                distribution: kvdyno_model::Distribution::default(),
                batch: None,
                keys_per_multiget: None,
                rate: None,
                arrival: None,
                durability,
                from_s: None,
                until_s: None,
            };
            (facts, RoleOperations { name: name.into(), operations, seconds: None })
        };
        let roles = [
            role("orders", Some(Durability::Commit), vec![did(OpKind::Put, 1, 30)]),
            role("visits", None, vec![did(OpKind::Put, 2, 60)]),
        ];
        (result.workload.roles, result.of_roles) = roles.into_iter().unzip();
        assert_eq!(
            result.commits(),
            Some(DurableCommits { commits: 30, clients: 1, syncs: Syncs::OfDevice { flushes: 9, writes: 20 } })
        );
    }
}
