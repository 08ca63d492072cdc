//! The roles of a run's clients, as far as the file alone tells whether they make sense.

use kvdyno_experiment::{FileError, RoleKey, RoleSection, RunKey, RunSection, role_path};
use kvdyno_model::{KeyValue, MixOperation, OperationMix};
use kvdyno_worker::workloads::{Workload, WorkloadKey};

use crate::parameters::cut_short;

/// Clients of all roles together at the most: as of a run without roles.
const MOST_CLIENTS: u64 = 4096;
/// Characters of a role's name: it heads a column.
const LONGEST_NAME: usize = 24;

/// Refuses roles that mean nothing to the workload, or contradict the run or each other.
pub(crate) fn check_roles(run: &RunSection) -> Result<(), FileError> {
    let Some(first) = run.role.first() else { return Ok(()) };
    if !Workload::from(run.workload).accepts(WorkloadKey::Roles) {
        let why = WorkloadKey::Roles.why_not();
        let able = Workload::that_accept(WorkloadKey::Roles).join(" or ");
        let message = format!("`{}` {why}, so role means nothing to it; take workload = \"{able}\"", run.workload);
        return Err(FileError::at(role_path(0), message));
    }
    let of_each = [(RunKey::Mix, run.mix.is_some()), (RunKey::Rate, run.rate.is_some())];
    if let Some((key, _)) = of_each.into_iter().find(|(_, given)| *given) {
        return Err(FileError::at(key, format!("each role has a {} of its own; leave this one out", key.name())));
    }
    if first.clients.is_some() {
        let message = "the first role has as many clients as `readers` of the run says; leave this out";
        return Err(FileError::at(RoleKey::Clients.of_role(0), message));
    }
    let others: u64 = run.role.iter().skip(1).map(|role| role.clients.map_or(1, |clients| clients.get())).sum();
    let most = run.readers.iter().map(|readers| readers.get()).max().unwrap_or(0) + others;
    if most > MOST_CLIENTS {
        let message = format!("{most} clients in all are too many; there can be {MOST_CLIENTS}");
        return Err(FileError::at(role_path(0), message));
    }
    run.role.iter().enumerate().try_for_each(|(index, role)| check_role(run, index, role))
}

fn check_role(run: &RunSection, index: usize, role: &RoleSection) -> Result<(), FileError> {
    let at = |key: RoleKey, message: String| Err(FileError::at(key.of_role(index), message));
    let name = role.name(index);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) {
        let message =
            format!("`{name}` is no name of a role; it can have up to {LONGEST_NAME} letters, digits, _ and -");
        return at(RoleKey::Name, message);
    }
    if let Some(before) = (0..index).find(|before| run.role[*before].name(*before) == name) {
        return at(RoleKey::Name, format!("role {} is called `{name}` too; give each a name of its own", before + 1));
    }
    let Some(mix) = role.mix else {
        let message = format!("{name} has no mix; give it {}", OperationMix::describe());
        return Err(FileError::at(role_path(index), message));
    };
    let of_ranges =
        [(RoleKey::SeekNexts, role.seek_nexts.is_some()), (RoleKey::RangeLengths, role.range_lengths.is_some())];
    if let Some((key, _)) = of_ranges.into_iter().find(|(_, given)| *given && !mix.has(MixOperation::Range)) {
        return at(key, format!("the mix of {name} has no range, so {} means nothing to it", key.name()));
    }
    match role.arrival {
        Some(arrival) if role.rate.is_none() => {
            at(RoleKey::Arrival, format!("{arrival} is an arrival at a rate; give {name} a rate, or leave it out"))
        }
        Some(arrival) => match cut_short(run, arrival) {
            Some(message) => at(RoleKey::Arrival, format!("{name}: {message}")),
            None => Ok(()),
        },
        None => Ok(()),
    }
}
