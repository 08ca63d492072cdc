//! `transfer`: transactions that read two records and write both anew, each one version higher.
//!
//! The sum of the versions of all records is therefore twice the number of committed transactions
//! ([`super::transactions`]). Some transactions write versions that no committed transaction has, and are rolled back:
//! a client that reads such a version has read what was never committed. Some transactions read the first record twice.
//! A client that committed a version of a record must see it, or a newer one, in its next transactions.

mod own_commits;
mod transferring;

use super::workload_key::WorkloadError;
use kvdyno_engine::abi;
use kvdyno_experiment::{DataKey, RunKey};
use kvdyno_model::WorkloadName;
use kvdyno_results::{FigureValue, NamedFigure, OpKind, WorkloadFigures};

use super::counts::TrialCounts;
use super::definition::{VersionsAdded, WorkloadDefinition, WorkloadProfile, can};
use super::load::LoadDefinition;
use super::parameters::WorkloadParameters;
use super::role::{DrawingRole, RoleClock, RoleDefinition, start_with_few};
use super::transactions::{check_values, isolation_of, lacks_isolation};
use crate::arrival::{ClosedLoop, pacer};
use crate::clock::{Clock, Turnaround};
use crate::key_choice::KeyChoice;
use crate::loops::{Driver, Work};
use crate::shared::{COUNTERS, ClientCounter};
use transferring::Transferring;

pub(super) static TRANSFER: Transfer = Transfer(WorkloadProfile {
    writer: Some(&TransferRole),
    has_think_time: true,
    ..WorkloadProfile::new(WorkloadName::Transfer, "transactions that read two random records and update both")
});

/// Transactions that were committed, in the worker's whole life.
const COMMITTED: ClientCounter = ClientCounter(0);
/// Transactions that were rolled back on purpose.
const ROLLED_BACK: ClientCounter = ClientCounter(1);
/// Tries that ended with a conflict.
const CONFLICTS: ClientCounter = ClientCounter(2);
/// Records that were another at the second look, where the engine promises no better.
const UNREPEATED: ClientCounter = ClientCounter(3);
/// Committed updates of records whose versions the audit of a sample adds up.
const SAMPLED: ClientCounter = ClientCounter(4);

/// Records of a transaction.
const RECORDS: u64 = 2;

/// Transactions over two records.
pub(super) struct Transfer(WorkloadProfile);

impl LoadDefinition for Transfer {}

impl WorkloadDefinition for Transfer {
    fn profile(&self) -> &WorkloadProfile {
        &self.0
    }

    fn check(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let data = &spec.data;
        let expected = "2 or more: each transaction is over two";
        WorkloadError::unless(data.records >= RECORDS, DataKey::Records, data.records, expected)?;
        check_values(data)
    }

    fn lacks(&self, spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        if can(capabilities, abi::IS_VOLATILE) {
            return Some("keeps nothing that `transfer` could update; leave one of them out".to_owned());
        }
        if !can(capabilities, abi::CAN_TRANSACT) {
            return Some("has no transactions, which `transfer` needs; leave one of them out".to_owned());
        }
        lacks_isolation(spec, capabilities)
    }

    fn counts_versions(&self, _spec: &WorkloadParameters) -> bool {
        true
    }

    fn versions_added(&self, _spec: &WorkloadParameters, counters: &[[u64; COUNTERS]]) -> Option<VersionsAdded> {
        let sum = |counter: ClientCounter| counters.iter().map(|of| counter.of(of)).fold(0, u64::saturating_add);
        Some(VersionsAdded { all: sum(COMMITTED).saturating_mul(RECORDS), sampled: sum(SAMPLED) })
    }

    fn figures(&self, counts: &TrialCounts<'_>) -> Option<WorkloadFigures> {
        let rate: f64 = counts.operations.iter().map(|operations| operations.operations_per_s).sum();
        let (committed, conflicts) = (counts.sum(COMMITTED), counts.sum(CONFLICTS));
        let count = |column: &str, counter, meaning: &str| {
            NamedFigure::new(column, FigureValue::Count(counts.sum(counter)), meaning)
        };
        let tries = committed.saturating_add(conflicts) as f64 / committed.max(1) as f64;
        let isolation = FigureValue::Text(isolation_of(counts.capabilities).to_string());
        let figures = vec![
            NamedFigure::new("isolation", isolation, "What the engine promises of transactions beside each other.")
                .titled("isolation"),
            NamedFigure::new("transactions_per_s", FigureValue::Rate(rate), "Transactions committed a second.")
                .titled("commits/s"),
            count("conflicts", CONFLICTS, "Tries that ended with a conflict, warm-up included.").titled("conflicts"),
            NamedFigure::new(
                "tries_per_commit",
                FigureValue::Factor(tries),
                "Transactions begun for each that was committed, those that were rolled back on purpose aside.",
            )
            .titled("tries/commit"),
            count("rolled_back", ROLLED_BACK, "Transactions that were rolled back on purpose, warm-up included."),
            count(
                "unrepeated",
                UNREPEATED,
                "Records that were another at the second look of a transaction, where the engine promises no better.",
            ),
        ];
        let note = "Audits add up the versions of all records, of each so-manieth where there are many more than a \
                    sample: each committed transaction has raised two by one.";
        Some(WorkloadFigures { heading: "transactions".to_owned(), note: note.to_owned(), figures })
    }
}

/// A client that does transactions.
struct TransferRole;

impl RoleDefinition for TransferRole {
    fn operations(&self, _spec: &WorkloadParameters) -> Vec<OpKind> {
        vec![OpKind::Transaction]
    }

    fn writes(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [RunKey] {
        &[RunKey::Distribution, RunKey::Rate, RunKey::Arrival, RunKey::Isolation]
    }
}

impl DrawingRole for TransferRole {
    fn start_with_distribution<C: RoleClock>(&self, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        start_with_few(self, driver)
    }

    fn start_drawing<C: Clock + 'static, K: KeyChoice>(&self, choice: K, driver: &Driver<'_, C>) -> Box<dyn Work<C>> {
        match pacer(driver) {
            None => Box::new(Transferring::new(choice, ClosedLoop(Turnaround::new(driver.clock)), driver)),
            Some(pacer) => Box::new(Transferring::new(choice, pacer, driver)),
        }
    }
}
