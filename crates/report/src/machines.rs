//! The machines that trials were measured on: one, or one for each part of merged results.

use std::collections::HashMap;

use kvdyno_analysis::{Cell, RepeatMachines};
use kvdyno_model::Deal;
use kvdyno_model::text::of_the_rest;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{HostFacts, Machine, MergedPart, SavedPlan, TrialResult};

use crate::diff::of_machines;

/// The machines of a results folder.
#[derive(Default)]
pub(crate) struct Machines {
    /// The only one, or that of the first part; absent if it was not written.
    pub(crate) first: Option<Machine>,
    /// Those that it was measured on, if it is not merged.
    hosts: Vec<HostFacts>,
    /// Those of parts that were merged.
    parts: Vec<(MergedPart, Option<Machine>)>,
    /// Which of them, by a trial's number.
    by_trial: HashMap<u32, usize>,
    /// The numbers of the parts that are not there.
    absent: Vec<u32>,
}

impl Machines {
    pub(crate) fn read(folder: &ResultsFolder, plan: Option<&SavedPlan>) -> Result<Machines, ReadError> {
        let first = folder.machine()?;
        let Some(plan) = plan else { return Ok(Machines { first, ..Machines::default() }) };
        let (mut parts, mut by_trial) = (Vec::new(), HashMap::new());
        // A part may have measured nothing.
        for (index, merged) in plan.merged.iter().filter(|merged| !merged.trials.is_empty()).enumerate() {
            let machine = folder.part_machine(merged.facts.part.number())?;
            parts.push((MergedPart { trials: Vec::new(), ..merged.clone() }, machine));
            by_trial.extend(merged.trials.iter().map(|number| (*number, index)));
        }
        Ok(Machines { first, hosts: plan.hosts.clone(), parts, by_trial, absent: plan.absent_parts() })
    }

    /// The machine of a trial, by its number.
    pub(crate) fn of_trial(&self, number: u32) -> Option<&Machine> {
        match self.by_trial.get(&number) {
            Some(index) => self.parts[*index].1.as_ref(),
            None => self.first.as_ref(),
        }
    }

    /// The machine of a cell: that of its first trial.
    pub(crate) fn of_cell(&self, cell: &Cell<'_>) -> Option<&Machine> {
        self.of_trial(cell.first()?.trial.number)
    }

    /// Which parts there are none of, in words; `None` if all are there, or there are no parts.
    pub(crate) fn absent(&self) -> Option<String> {
        let shown: Vec<String> = self.absent.iter().take(MOST_NAMED).map(u32::to_string).collect();
        let more = of_the_rest(self.absent.len(), MOST_NAMED, |more| format!(" and {more} more"));
        let of = self.parts.first().map(|(merged, _)| merged.facts.part.of())?;
        let plural = if self.absent.len() == 1 { "" } else { "s" };
        (!shown.is_empty()).then(|| format!("there is no result of part{plural} {}{more} of {of}", shown.join(", ")))
    }

    /// Whether two trials, by their numbers, were measured on one machine.
    pub(crate) fn are_one(&self, one: u32, other: u32) -> bool {
        let hosts = |number| self.by_trial.get(&number).map_or(&self.hosts, |index| &self.parts[*index].0.hosts);
        let (of_one, of_other) = (hosts(one), hosts(other));
        let is_known = |host: &HostFacts| of_other.iter().any(|known| known.is(host));
        let differ = self.of_trial(one).zip(self.of_trial(other)).map(|(one, other)| of_machines(one, other));
        of_one.len() == of_other.len() && of_one.iter().all(is_known) && differ.is_none_or(|clauses| clauses.is_empty())
    }

    /// Which of [`Machines::hosts`] each repeat was measured on; empty unless each of several machines did the whole
    /// plan. A part that another machine resumed counts as the first one's.
    pub(crate) fn of_repeats(&self, results: &[TrialResult]) -> RepeatMachines {
        if self.parts.iter().all(|(merged, _)| merged.facts.deal != Deal::Repeats) {
            return RepeatMachines::new();
        }
        let hosts = self.hosts();
        let of_result = |result: &TrialResult| {
            let part = *self.by_trial.get(&result.trial.number)?;
            let known = self.parts[part].0.hosts.first();
            let host = known.and_then(|host| hosts.iter().position(|other| other.is(host)));
            // A part whose machine is unknown has one of its own.
            Some((result.trial.repeat, host.unwrap_or(hosts.len() + part)))
        };
        let machines: RepeatMachines = results.iter().filter_map(of_result).collect();
        let mut distinct = machines.values();
        let first = distinct.next();
        if distinct.all(|machine| Some(machine) == first) { RepeatMachines::new() } else { machines }
    }

    /// The name of a machine that [`Machines::of_repeats`] gave, which no other has.
    pub(crate) fn name(&self, machine: usize) -> String {
        let hosts = self.hosts();
        let Some(host) = hosts.get(machine) else {
            let part = self.parts.get(machine - hosts.len());
            return part.map_or(String::new(), |(merged, _)| format!("part {}", merged.facts.part.number()));
        };
        let is_only = hosts.iter().filter(|other| other.name == host.name).count() == 1;
        let is_its =
            |(merged, _): &&(MergedPart, Option<Machine>)| merged.hosts.first().is_some_and(|one| one.is(host));
        match self.parts.iter().find(is_its).filter(|_| !is_only) {
            Some((merged, _)) => format!("{} of part {}", host.name, merged.facts.part.number()),
            None => host.name.clone(),
        }
    }

    /// All machines, each once.
    pub(crate) fn hosts(&self) -> Vec<&HostFacts> {
        let of_parts = self.parts.iter().flat_map(|(merged, _)| &merged.hosts);
        let mut all: Vec<&HostFacts> = Vec::new();
        for host in self.hosts.iter().chain(of_parts) {
            if !all.iter().any(|known| known.is(host)) {
                all.push(host);
            }
        }
        all
    }

    /// Which parts were measured on which machine, in words; `None` if all were on one.
    pub(crate) fn parts_of_hosts(&self) -> Option<String> {
        let hosts = self.hosts();
        let of_host = |host: &&HostFacts| {
            let parts = self.parts.iter().filter(|(merged, _)| merged.hosts.iter().any(|other| other.is(host)));
            let numbers: Vec<String> = parts.map(|(merged, _)| merged.facts.part.number().to_string()).collect();
            format!("{} ({})", host.name, numbers.join(", "))
        };
        let shown: Vec<String> = hosts.iter().take(MOST_NAMED).map(of_host).collect();
        let more = of_the_rest(hosts.len(), MOST_NAMED, |more| format!(" and {more} more"));
        let dealt = self.parts.first().map(|(merged, _)| merged.facts.deal).filter(|_| hosts.len() > 1)?;
        let compared = match dealt {
            Deal::Blocks => {
                "Setups and variants are compared on one machine; other workloads and other numbers of clients may be \
                 another's"
            }
            Deal::Repeats => "Each did the whole plan; a machine, with all its repeats, is one value",
        };
        let shown = shown.join(", ");
        Some(format!("the parts of this plan were measured on {} machines: {shown}{more}. {compared}", hosts.len()))
    }

    /// Whatever speaks against figures of several machines beside each other, a sentence each.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let resumed = |what: &str, hosts: &[HostFacts]| {
            let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            let words =
                || format!("{what} was resumed on another machine, so its trials are of {}", names.join(" and "));
            (hosts.len() > 1).then(words)
        };
        let of_part = |(merged, _): &(MergedPart, Option<Machine>)| {
            resumed(&format!("part {}", merged.facts.part.number()), &merged.hosts)
        };
        let whole = resumed("this run", &self.hosts);
        whole.into_iter().chain(self.parts.iter().filter_map(of_part)).chain(self.differences()).collect()
    }

    /// The differences of the parts' machines from the first, a clause each.
    fn differences(&self) -> Vec<String> {
        let mut machines = self.parts.iter().filter_map(|(merged, machine)| Some((merged, machine.as_ref()?)));
        let Some((_, first)) = machines.next() else { return Vec::new() };
        let clauses = machines.flat_map(|(merged, machine)| {
            let part = merged.facts.part.number();
            of_machines(first, machine).into_iter().map(move |change| format!("part {part}: {change}"))
        });
        clauses.collect()
    }
}

/// More parts or machines than this are not read.
const MOST_NAMED: usize = 8;
