//! A workload by its name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use kvdyno_model::{Json, KeyValue, closest};

use super::definition::WorkloadDefinition;
use super::list::WORKLOADS;
use super::parameter::Parameter;
use super::{fill, read_random};

/// One of the workloads. It is written as its name.
#[derive(Clone, Copy)]
pub struct WorkloadName(&'static dyn WorkloadDefinition);

impl WorkloadName {
    /// Every workload.
    pub fn all() -> impl Iterator<Item = WorkloadName> {
        WORKLOADS.iter().copied().map(WorkloadName)
    }

    /// The load of an experiment that names none.
    pub fn default_load() -> WorkloadName {
        WorkloadName(&fill::FILL_SEQ)
    }

    /// The workload of a run that names none.
    pub fn default_run() -> WorkloadName {
        WorkloadName(&read_random::READ_WHILE_WRITING)
    }

    /// The workload that measures the driver's own cost.
    pub fn driver_check() -> WorkloadName {
        WorkloadName(&read_random::READ_RANDOM)
    }

    /// Whether any of its clients writes.
    pub fn writes(self) -> bool {
        self.writer().is_some()
    }

    /// Readers and writers, where `threads` are asked for: the clients that the workload is about.
    pub fn threads(self, threads: u32) -> (u32, u32) {
        match (self.reader(), self.writer()) {
            (Some(_), Some(_)) => (threads, 1),
            (Some(_), None) => (threads, 0),
            (None, _) => (0, threads),
        }
    }

    /// The names of the workloads to which a key of the experiment file means something.
    pub fn that_accept(parameter: Parameter) -> Vec<&'static str> {
        WorkloadName::all().filter(|one| one.accepts(parameter)).map(|one| one.name()).collect()
    }

    /// For people: the workloads that load.
    pub fn that_load() -> String {
        let names: Vec<_> = WorkloadName::all().filter(|one| one.loads()).map(|one| one.name()).collect();
        names.split_last().map_or(String::new(), |(last, others)| format!("{} or {last}", others.join(", ")))
    }
}

impl Deref for WorkloadName {
    type Target = dyn WorkloadDefinition;

    fn deref(&self) -> &(dyn WorkloadDefinition + 'static) {
        self.0
    }
}

impl PartialEq for WorkloadName {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for WorkloadName {}

impl Hash for WorkloadName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

kvdyno_model::read_by_text!(WorkloadName);
kvdyno_model::written_as_text!(WorkloadName);

impl KeyValue for WorkloadName {
    const PLACEHOLDER: &'static str = "WORKLOAD";

    fn describe() -> String {
        "the name of a workload".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let names = || WorkloadName::all().map(|one| one.name());
        WorkloadName::all().find(|one| one.name() == text).ok_or_else(|| {
            let meant = closest(text, names()).map(|word| format!("did you mean `{word}`? ")).unwrap_or_default();
            format!("there is no workload `{text}`; {meant}there are {}", names().collect::<Vec<_>>().join(", "))
        })
    }

    fn schema() -> Json {
        let names: Vec<&str> = WorkloadName::all().map(|one| one.name()).collect();
        serde_json::json!({ "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_workload_is_found_by_its_name_and_by_no_other() {
        for one in WorkloadName::all() {
            assert_eq!(one.to_string().parse(), Ok(one));
            assert_eq!(serde_json::from_value::<WorkloadName>(serde_json::to_value(one).unwrap()).unwrap(), one);
        }
        let error = "readrandm".parse::<WorkloadName>().unwrap_err();
        assert!(error.contains("there is no workload `readrandm`; did you mean `readrandom`?"), "{error}");
    }

    #[test]
    fn names_are_told_apart_and_each_workload_has_clients() {
        let names: HashSet<WorkloadName> = WorkloadName::all().collect();
        assert_eq!(names.len(), WORKLOADS.len());
        for one in WorkloadName::all() {
            assert!(one.reader().is_some() || one.writer().is_some(), "{one}");
            assert!(!one.loads() || one.reader().is_none(), "{one} loads, and so has no readers");
        }
    }

    #[test]
    fn beside_readers_there_is_one_writer() {
        let threads = |name: &str| name.parse::<WorkloadName>().map(|one| one.threads(4));
        assert_eq!(threads("readrandom"), Ok((4, 0)));
        assert_eq!(threads("readwhilewriting"), Ok((4, 1)));
        assert_eq!(threads("overwrite"), Ok((0, 4)));
    }
}
