//! The roles of a mix: clients with operations, records and arrivals of their own, beside others in one trial.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use kvdyno_engine::{AbiCode, Durability};
use kvdyno_model::{Arrival, Distribution, OperationMix, part_of_time};
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
    /// When they begin, since the beginning of the measured part; absent: with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Duration>,
    /// When they end, since the beginning of the measured part; absent: with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
}

impl MixedRole {
    /// Whether they work in a part of the measured window only.
    pub fn is_partial(&self) -> bool {
        self.from.or(self.until).is_some()
    }

    /// That part in words: `from 5s until 10s`; empty where it is the whole window.
    pub fn part_in_words(&self) -> String {
        part_of_time(self.from, self.until)
    }

    /// When they begin and end, in a window of unlimited length.
    fn part(&self) -> Range<Duration> {
        self.from.unwrap_or_default()..self.until.unwrap_or(Duration::MAX)
    }
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

    /// Whether the clients of some role work in a part of the measured window only.
    pub fn has_partial_roles(&self) -> bool {
        self.roles.iter().any(MixedRole::is_partial)
    }

    /// When the client `index` of a mix begins and ends, since the beginning of the measured part; each is absent where
    /// it does so with it.
    pub(crate) fn part_of_client(&self, index: u64) -> (Option<Duration>, Option<Duration>) {
        self.role_of(index).map_or((None, None), |(role, _)| (role.from, role.until))
    }

    /// The most clients that work at the same time.
    pub fn most_at_once(&self) -> u32 {
        let at_work = |moment: Duration| {
            let roles = self.roles.iter().filter(move |role| role.part().contains(&moment));
            roles.map(|role| role.clients).sum()
        };
        // More of them work only after one has begun.
        let most = self.roles.iter().map(|role| at_work(role.part().start)).max();
        most.unwrap_or(self.readers + self.writers)
    }

    /// The longest time between the works of two roles in which no client works.
    pub(super) fn longest_gap(&self) -> Duration {
        let mut parts: Vec<Range<Duration>> = self.roles.iter().map(MixedRole::part).collect();
        parts.sort_by_key(|part| part.start);
        let mut worked_until = Duration::ZERO;
        let gaps = parts.into_iter().map(|part| {
            let gap = part.start.saturating_sub(worked_until);
            worked_until = worked_until.max(part.end);
            gap
        });
        gaps.max().unwrap_or_default()
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
            from: None,
            until: None,
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

    /// Three clients until 4 s, two from 6 to 8 s, one from 7 s on.
    fn three_parts() -> WorkloadParameters {
        let part = |name, clients, from: u64, until: u64| MixedRole {
            from: Some(Duration::from_secs(from)).filter(|from| !from.is_zero()),
            until: Some(Duration::from_secs(until)).filter(|until| until.as_secs() < 10),
            ..role(name, clients, "get 100", None)
        };
        let roles = vec![part("late", 1, 7, 10), part("early", 3, 0, 4), part("burst", 2, 6, 8)];
        WorkloadParameters { readers: 0, writers: 6, roles, ..a_hundred_reads() }
    }

    #[test]
    fn clients_work_in_the_part_of_their_role() {
        let (parts, seconds) = (three_parts(), |seconds| Some(Duration::from_secs(seconds)));
        let of = [0, 1, 3, 4].map(|index| parts.part_of_client(index));
        assert_eq!(of, [(seconds(7), None), (None, seconds(4)), (None, seconds(4)), (seconds(6), seconds(8))]);
        assert_eq!(two_roles().part_of_client(4), (None, None));
        assert_eq!(
            parts.roles.iter().map(MixedRole::part_in_words).collect::<Vec<_>>(),
            ["from 7s", "until 4s", "from 6s until 8s"]
        );
        assert!(parts.has_partial_roles() && !two_roles().has_partial_roles());
        let alike = WorkloadParameters { roles: Vec::new(), ..two_roles() };
        assert_eq!((parts.most_at_once(), two_roles().most_at_once(), alike.most_at_once()), (3, 5, 5));
    }

    #[test]
    fn a_gap_between_roles_is_a_pause() {
        assert_eq!((three_parts().longest_gap(), two_roles().longest_gap()), (Duration::from_secs(2), Duration::ZERO));
        assert_eq!(three_parts().longest_pause(), Duration::from_secs(2));
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
