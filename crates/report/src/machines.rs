//! The machines that trials were measured on: one, or one for each part of merged results.

use std::collections::HashMap;

use kvdyno_model::text::of_the_rest;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{Machine, PartFacts, SavedPlan};

use crate::diff::of_machines;
use crate::order::distinct;

/// The machines of a results folder.
#[derive(Default)]
pub(crate) struct Machines {
    /// The only one, or that of the first part; absent if it was not written.
    pub(crate) first: Option<Machine>,
    /// Those of parts that were merged.
    parts: Vec<(PartFacts, Option<Machine>)>,
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
        for (index, merged) in plan.merged.iter().enumerate() {
            parts.push((merged.facts.clone(), folder.part_machine(merged.facts.part.number())?));
            by_trial.extend(merged.trials.iter().map(|number| (*number, index)));
        }
        Ok(Machines { first, parts, by_trial, absent: plan.absent_parts() })
    }

    /// The machine of a trial, by its number.
    pub(crate) fn of_trial(&self, number: u32) -> Option<&Machine> {
        match self.by_trial.get(&number) {
            Some(index) => self.parts[*index].1.as_ref(),
            None => self.first.as_ref(),
        }
    }

    /// Which parts there are none of, in words; `None` if all are there, or there are no parts.
    pub(crate) fn absent(&self) -> Option<String> {
        let shown: Vec<String> = self.absent.iter().take(MOST_NAMED).map(u32::to_string).collect();
        let more = of_the_rest(self.absent.len(), MOST_NAMED, |more| format!(" and {more} more"));
        let of = self.parts.first().map(|(facts, _)| facts.part.of())?;
        let plural = if self.absent.len() == 1 { "" } else { "s" };
        (!shown.is_empty()).then(|| format!("there is no result of part{plural} {}{more} of {of}", shown.join(", ")))
    }

    /// Which parts were measured on which machine, in words; `None` if all were on one.
    pub(crate) fn hosts(&self) -> Option<String> {
        let hosts = distinct(self.parts.iter().map(|(facts, _)| facts.host.as_str()));
        let of_host = |host: &&str| {
            let parts = self.parts.iter().filter(|(facts, _)| facts.host == **host);
            format!("{host} ({})", parts.map(|(facts, _)| facts.part.number().to_string()).collect::<Vec<_>>().join(", "))
        };
        let shown: Vec<String> = hosts.iter().take(MOST_NAMED).map(of_host).collect();
        let more = of_the_rest(hosts.len(), MOST_NAMED, |more| format!(" and {more} more"));
        (hosts.len() > 1).then(|| {
            format!(
                "the parts of this plan were measured on {} machines: {}{more}. Setups are compared on one machine; \
                 other work and other numbers of clients may be another's",
                hosts.len(),
                shown.join(", ")
            )
        })
    }

    /// The differences of the parts' machines from the first, a clause each.
    pub(crate) fn differences(&self) -> Vec<String> {
        let mut machines = self.parts.iter().filter_map(|(facts, machine)| Some((facts, machine.as_ref()?)));
        let Some((_, first)) = machines.next() else { return Vec::new() };
        let clauses = machines.flat_map(|(facts, machine)| {
            of_machines(first, machine).into_iter().map(move |change| format!("part {}: {change}", facts.part.number()))
        });
        clauses.collect()
    }
}

/// More parts or machines than this are not read.
const MOST_NAMED: usize = 8;
