//! Whether results of two runs or machines can be compared: the work and its settings must be the same, and what
//! surrounds it too unless the user says otherwise.

use std::ptr;

use kvdyno_analysis::Cell;
use kvdyno_analysis::verdicts::Counterparts;
use kvdyno_results::{Machine, MachineSetup, RequestedWork, SavedPlan, TrialResult};
use serde_json::{Map, Value};

use crate::machines::Machines;
use crate::order::distinct;

/// The differences of the work of two cells, a clause each: `data.records was 1000 and is 2000`.
pub(super) fn of_work(before: &Cell<'_>, after: &Cell<'_>) -> Vec<String> {
    let (Some(before), Some(after)) = (before.first(), after.first()) else { return Vec::new() };
    let changes = |before: Value, after: Value| {
        let begun = SavedPlan::new(before, Vec::new(), None);
        begun.changes_of_experiment(&after)
    };
    let mut differences = changes(requested(before), requested(after));
    if differences.is_empty() {
        differences = changes(facts(before), facts(after));
    }
    // A trial that failed may not have come to one.
    if before.is_finished() && after.is_finished() {
        differences.extend(differs("design", design(before), design(after)));
    }
    differences
}

/// The keys of the work, and those of the lab that change it.
fn requested(result: &TrialResult) -> Value {
    let mut keys = RequestedWork::of(result).keys;
    let of_lab = |key: &str| {
        let value = result.experiment.get("lab").and_then(|lab| lab.get(key)).cloned();
        (key.to_owned(), value.unwrap_or_default())
    };
    keys.insert("lab".to_owned(), Map::from_iter(["seed", "database"].map(of_lab)).into());
    keys.into()
}

/// The work as it was done. A trial's own seed is made from the experiment's and the trial's number.
fn facts(result: &TrialResult) -> Value {
    serde_json::to_value(RequestedWork::of(result).facts).unwrap_or_default()
}

/// Figures of one design are no figures of another: a duet's are of CPU time.
fn design(result: &TrialResult) -> String {
    result.design.as_ref().map_or("none".to_owned(), |facts| match facts.duet {
        Some(_) => "duet".to_owned(),
        None => facts.design.to_string(),
    })
}

/// The differences of what surrounded two sides, a clause each. What their machines doubt of themselves is among them,
/// and so is how machines of one folder differ.
pub(super) fn surroundings([before, after]: [&Machines; 2], pairs: &[Counterparts<'_, '_>]) -> Vec<String> {
    let machines = |pair: &Counterparts<'_, '_>| {
        before.of_cell(pair.0).zip(after.of_cell(pair.1)).map(|(before, after)| of_machines(before, after))
    };
    let machines = pairs.iter().filter(|_| !ptr::eq(before, after)).filter_map(machines).flatten();
    let trials = pairs.iter().filter_map(|(before, after)| before.first().zip(after.first()));
    let observed = trials.flat_map(|(before, after)| of_trials(before, after));
    distinct(before.doubts().into_iter().chain(after.doubts()).chain(machines).chain(observed))
}

/// The differences of two machines that can change figures, a clause each: `the kernel was 6.1 and is 6.12`.
pub(crate) fn of_machines(before: &Machine, after: &Machine) -> Vec<String> {
    let of = |what, value: fn(&Machine) -> String| differs(what, value(before), value(after));
    let gib = |machine: &Machine| machine.memory_kib as f64 / f64::from(1 << 20);
    // The part of the memory that the kernel keeps for itself differs a little from one start to the next.
    let is_other = (gib(before) / gib(after) - 1.0).abs() > 0.01;
    let memory = is_other.then(|| format!("memory was {:.1} GiB and is {:.1} GiB", gib(before), gib(after)));
    let all = [
        of("the processor", |machine| machine.cpu.model.clone()),
        of("the number of processors", |machine| machine.cpu.threads.to_string()),
        of("the frequency governor", |machine| machine.cpu.governor.clone().unwrap_or("none".to_owned())),
        memory,
        of("the kernel", |machine| machine.kernel.clone()),
        of("the filesystem", |machine| format!("{} {}", machine.filesystem.kind, machine.filesystem.options)),
        of("kvdyno", |machine| machine.kvdyno.clone()),
    ];
    all.into_iter().flatten().chain(of_setups(&before.setup, &after.setup)).collect()
}

/// The differences of two set-ups, as far as both are known. Command lines of kernels may differ without any effect.
fn of_setups(before: &MachineSetup, after: &MachineSetup) -> Vec<String> {
    let after = after.facts();
    let is_compared = |name: &str| name != "command line";
    let differs = |(name, was): (&'static str, String)| {
        let (_, is) = after.iter().find(|(other, _)| *other == name)?;
        differs(name, was, is.clone())
    };
    before.facts().into_iter().filter(|(name, _)| is_compared(name)).filter_map(differs).collect()
}

fn of_trials(before: &TrialResult, after: &TrialResult) -> Vec<String> {
    let of = |what, value: fn(&TrialResult) -> String| differs(what, value(before), value(after));
    let all = [
        of("the allocator", |result| result.environment.allocator.clone()),
        of("the NUMA policy", |result| result.environment.numa_policy.clone().unwrap_or("none".to_owned())),
        of("the limit of memory", |result| {
            result.environment.memory_limit.map_or("none".to_owned(), |bytes| format!("{bytes} bytes"))
        }),
        of("the storage", |result| result.environment.storage.clone()),
    ];
    all.into_iter().flatten().collect()
}

fn differs(what: &str, before: String, after: String) -> Option<String> {
    (before != after).then(|| format!("{what} was {before} and is {after}"))
}
