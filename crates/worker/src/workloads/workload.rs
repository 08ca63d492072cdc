//! A workload: its name with its definition.

use std::fmt;
use std::ops::Deref;

use kvdyno_experiment::RunKey;
use kvdyno_model::WorkloadName;
use serde::{Deserialize, Serialize};

use super::definition::WorkloadDefinition;
use super::list::definition;
use super::workload_key::WorkloadKey;

/// One of the workloads. It is written as its name.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(from = "WorkloadName", into = "WorkloadName")]
pub struct Workload(&'static dyn WorkloadDefinition);

impl From<WorkloadName> for Workload {
    fn from(name: WorkloadName) -> Self {
        Workload(definition(name))
    }
}

impl From<Workload> for WorkloadName {
    fn from(workload: Workload) -> Self {
        workload.profile().name
    }
}

impl Workload {
    /// Every workload, in the order of their names' list.
    pub fn all() -> impl Iterator<Item = Workload> {
        WorkloadName::ALL.iter().copied().map(Workload::from)
    }

    /// Whether any of its clients writes.
    pub fn writes(self) -> bool {
        self.profile().writer.is_some()
    }

    /// Whether it flushes at its end and waits for background work.
    pub fn settles(self) -> bool {
        self.profile().settles
    }

    /// Whether clients do other work between operations of one kind.
    pub fn has_think_time(self) -> bool {
        self.profile().has_think_time
    }

    /// Readers and writers, where `threads` are asked for: the clients that the workload is about.
    pub fn threads(self, threads: u32) -> (u32, u32) {
        match (self.profile().reader, self.profile().writer) {
            (Some(_), Some(_)) => (threads, 1),
            (Some(_), None) => (threads, 0),
            (None, _) => (0, threads),
        }
    }

    /// Whether a key of the experiment file applies to it.
    pub fn accepts(self, key: impl Into<WorkloadKey>) -> bool {
        match key.into() {
            WorkloadKey::Run(RunKey::Durability) => self.writes(),
            WorkloadKey::Run(RunKey::FindMaxRate) => match self.profile().reader {
                Some(_) => self.accepts(RunKey::ReadRate),
                None => self.accepts(RunKey::WriteRate) || self.accepts(RunKey::Rate),
            },
            key => self.0.takes(key),
        }
    }

    /// The names of the workloads to which a key of the experiment file means something.
    pub fn that_accept(key: WorkloadKey) -> Vec<&'static str> {
        Workload::all().filter(|one| one.accepts(key)).map(|one| one.profile().name.word()).collect()
    }

    /// For people: the workloads that load.
    pub fn that_load() -> String {
        let names: Vec<_> =
            Workload::all().filter(|one| one.profile().loads).map(|one| one.profile().name.word()).collect();
        names.split_last().map_or(String::new(), |(last, others)| format!("{} or {last}", others.join(", ")))
    }
}

impl Deref for Workload {
    type Target = dyn WorkloadDefinition;

    fn deref(&self) -> &(dyn WorkloadDefinition + 'static) {
        self.0
    }
}

impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.profile().name == other.profile().name
    }
}

impl Eq for Workload {}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().name.word())
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.profile().name.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_own_definition_with_clients() {
        for (workload, name) in Workload::all().zip(WorkloadName::ALL) {
            assert_eq!(workload.profile().name, *name);
            assert!(workload.profile().roles().next().is_some(), "{name}");
            assert!(
                !workload.profile().loads || workload.profile().reader.is_none(),
                "{name} loads, and so has no readers"
            );
        }
    }

    #[test]
    fn beside_readers_there_is_one_writer() {
        let threads = |name: WorkloadName| Workload::from(name).threads(4);
        assert_eq!(threads(WorkloadName::ReadRandom), (4, 0));
        assert_eq!(threads(WorkloadName::ReadWhileWriting), (4, 1));
        assert_eq!(threads(WorkloadName::Overwrite), (0, 4));
    }
}
