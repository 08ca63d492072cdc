//! The roles of a mix: clients with operations, records and arrivals of their own, beside others in one trial.

use std::borrow::Cow;
use std::ops::Range;

use kvdyno_engine::{AbiCode, Durability};
use kvdyno_model::{Arrival, Distribution, OperationMix};
use serde::{Deserialize, Serialize};

use super::parameters::{Reads, WorkloadParameters};

/// Clients of a trial that do the same mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixedRole {
    /// Its name in results.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// Their operations.
    pub mix: OperationMix,
    /// Distribution of the records.
    pub distribution: Distribution,
    /// Records in each of their puts and inserts.
    #[serde(default = "one")]
    pub batch: u64,
    /// The way to read ranges, and several records at once.
    pub reads: Reads,
    /// Operations a second of all of them together; absent in a closed loop.
    pub rate: Option<f64>,
    /// Arrival of operations that come at a rate.
    pub arrival: Arrival,
    /// When what they write is acknowledged; absent: as the database has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
}

fn one() -> u64 {
    1
}

impl WorkloadParameters {
    /// The clients of each role, counted from 0 through all of them; none where clients are all alike.
    pub fn clients_of_roles(&self) -> impl Iterator<Item = (&MixedRole, Range<u32>)> {
        self.roles.iter().scan(0, |next, role| {
            let first = *next;
            *next += role.clients;
            Some((role, first..*next))
        })
    }

    /// Clients whose end ends a trial by operations: the readers, where there are any, else those of the first role.
    pub fn primary_clients(&self) -> u32 {
        match (self.readers, self.roles.first()) {
            (0, Some(role)) => role.clients,
            (0, None) => self.writers,
            (readers, _) => readers,
        }
    }

    /// The numbers by which the client `index` of a mix works: those of its role.
    pub fn of_client(&self, index: u64) -> Cow<'_, WorkloadParameters> {
        let Some((role, _)) = self.role_of(index) else { return Cow::Borrowed(self) };
        Cow::Owned(WorkloadParameters {
            mix: Some(role.mix),
            distribution: role.distribution,
            batch: role.batch,
            reads: role.reads,
            // The rate of all writers together, if all were of this role.
            write_rate: role.rate.map(|rate| rate * f64::from(self.writers) / f64::from(role.clients)),
            arrival: role.arrival,
            durability: role.durability,
            ..self.clone()
        })
    }

    /// The levels of durability that sessions ask for what they write; bit N: level N.
    pub fn session_durabilities(&self) -> u32 {
        let of_roles = self.roles.iter().filter_map(|role| role.durability);
        of_roles.chain(self.durability).fold(0, |bits, level| bits | 1 << level.code())
    }

    /// The number of clients before the client `index` that share its schedule, and the number of all that share it.
    pub(crate) fn share_of_schedule(&self, index: u64, writes: bool) -> (u64, u32) {
        match self.role_of(index) {
            Some((role, first)) => (index - u64::from(first), role.clients),
            None => (index, if writes { self.writers } else { self.readers }),
        }
    }

    /// The role of a client, with the first client of it.
    fn role_of(&self, index: u64) -> Option<(&MixedRole, u32)> {
        let mut roles = self.clients_of_roles();
        roles.find_map(|(role, clients)| (index < clients.end.into()).then_some((role, clients.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::testing::a_hundred_reads;
    use super::*;
    use kvdyno_model::KeyValue;

    fn role(name: &str, clients: u32, mix: &str, rate: Option<f64>) -> MixedRole {
        MixedRole {
            name: name.to_owned(),
            clients,
            mix: OperationMix::from_text(mix).unwrap(),
            distribution: Distribution::default(),
            batch: 1,
            reads: Reads { per_batch: 1, ..Reads::USUAL },
            rate,
            arrival: Arrival::Poisson,
            durability: None,
        }
    }

    fn two_roles() -> WorkloadParameters {
        let roles = vec![role("front", 3, "get 90, put 10", None), role("jobs", 2, "range 100", Some(100.0))];
        WorkloadParameters { readers: 0, writers: 5, roles, ..a_hundred_reads() }
    }

    #[test]
    fn each_client_works_by_the_numbers_of_its_role() {
        let all = two_roles();
        assert_eq!(all.of_client(2).mix, Some(all.roles[0].mix));
        assert_eq!(all.of_client(2).interval_s(true), None);
        let jobs = all.of_client(3);
        assert_eq!((jobs.mix, jobs.arrival), (Some(all.roles[1].mix), Arrival::Poisson));
        // Two clients, a hundred a second together.
        assert_eq!(jobs.interval_s(true), Some(0.02));
        assert_eq!((all.share_of_schedule(4, true), jobs.share_of_schedule(3, true)), ((1, 2), (0, 2)));
    }

    #[test]
    fn without_roles_clients_are_alike() {
        let alone = WorkloadParameters { roles: Vec::new(), ..two_roles() };
        assert_eq!(*alone.of_client(4), alone);
        assert_eq!((alone.primary_clients(), two_roles().primary_clients()), (5, 3));
        assert_eq!(alone.share_of_schedule(4, true), (4, 5));
    }

    #[test]
    fn the_longest_pause_is_that_of_the_slowest_role() {
        // One in e^50 is longer.
        assert_eq!(two_roles().longest_pause().as_secs_f64(), 1.0);
        assert!(two_roles().is_paced());
    }
}
