//! The counts of a trial, for a workload to check and to tell.

use kvdyno_results::{OpKind, Operations, RoleOperations};

use super::parameters::WorkloadParameters;
use crate::shared::{COUNTERS, ClientCounter};

/// The counts of a trial that has ended.
#[derive(Clone, Debug)]
pub struct TrialCounts<'a> {
    /// The workload's numbers, as they were asked for.
    pub parameters: &'a WorkloadParameters,
    /// The measured operations, kind by kind.
    pub operations: &'a [Operations],
    /// The measured operations of each role's clients, in the order of the roles; empty where clients are all alike.
    pub of_roles: &'a [RoleOperations],
    /// The counters of each client.
    pub counters: &'a [[u64; COUNTERS]],
    /// The engine's capabilities: `abi::CAN_…`.
    pub capabilities: u64,
    /// It went on in the database of a worker that was killed.
    pub resumed: bool,
}

impl TrialCounts<'_> {
    /// A counter of all clients together.
    pub fn sum(&self, counter: ClientCounter) -> u64 {
        self.counters.iter().map(|client| counter.of(client)).sum()
    }

    /// The highest of the clients' counters.
    pub fn highest(&self, counter: ClientCounter) -> u64 {
        self.counters.iter().map(|client| counter.of(client)).max().unwrap_or(0)
    }

    /// Records that were written, or read.
    pub fn records(&self, of_kind: fn(OpKind) -> bool) -> u64 {
        self.operations.iter().filter(|operations| of_kind(operations.kind)).map(|operations| operations.records).sum()
    }
}
