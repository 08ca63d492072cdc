//! The roles of a run's clients, as far as the file alone tells whether they make sense.

use std::time::Duration;

use kvdyno_experiment::{DURATION, FileError, RoleKey, RoleSection, RunKey, RunSection, role_path};
use kvdyno_model::{KeyValue, MixOperation, OperationMix, TimeSpan};
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
    run.role.iter().enumerate().try_for_each(|(index, role)| check_role(run, index, role))?;
    check_parts(run)
}

/// Refuses parts of the measured window that are none, that leave its ends without work, or after which records would
/// stay unknown.
fn check_parts(run: &RunSection) -> Result<(), FileError> {
    let at = |key: RoleKey, index: usize, message: String| Err(FileError::at(key.of_role(index), message));
    let window = run.duration.map_or(DURATION, TimeSpan::get);
    let words = |time: Duration| TimeSpan::<0>(time).to_string();
    let parts: Vec<(usize, Duration, Duration)> =
        (0..).zip(&run.role).map(|(index, role)| part(index, role, window)).collect();
    for (index, from, until) in &parts {
        let (role, name) = (&run.role[*index], run.role[*index].name(*index));
        let given = [(RoleKey::From, role.from.is_some()), (RoleKey::Until, role.until.is_some())];
        let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else { continue };
        if run.operations.is_some() || run.records_fraction.is_some() {
            let key_name = key.name();
            return at(
                key,
                *index,
                format!("{key_name} is a time within `duration`, which this run has not; leave it out"),
            );
        }
        if *until > window {
            let message =
                format!("{name} would work until {}, and the run ends after {}", words(*until), words(window));
            return at(RoleKey::Until, *index, message);
        }
        if from >= until {
            let message =
                format!("{name} would begin at {} and end at {}; from must be earlier", words(*from), words(*until));
            return at(RoleKey::From, *index, message);
        }
    }
    let earliest = parts.iter().min_by_key(|(_, from, _)| *from);
    if let Some((index, from, _)) = earliest.filter(|(_, from, _)| !from.is_zero()) {
        let message = format!("no role works before {}; leave this out, so that one begins with the run", words(*from));
        return at(RoleKey::From, *index, message);
    }
    let latest = parts.iter().max_by_key(|(_, _, until)| *until);
    if let Some((index, _, until)) = latest.filter(|(_, _, until)| *until < window) {
        let message =
            format!("no role works after {}, and the run ends after {}; leave this out", words(*until), words(window));
        return at(RoleKey::Until, *index, message);
    }
    check_unknown_records(run, &parts)
}

/// The role's number, and when it begins and ends.
fn part(index: usize, role: &RoleSection, window: Duration) -> (usize, Duration, Duration) {
    (index, role.from.map_or(Duration::ZERO, TimeSpan::get), role.until.map_or(window, TimeSpan::get))
}

/// Operations that give out new or old records in chunks, of which a client that ends leaves a rest.
const IN_CHUNKS: [(&str, &[MixOperation]); 2] =
    [("insert", &[MixOperation::Insert]), ("take or expire", &[MixOperation::Take, MixOperation::Expire])];

/// Refuses that a role inserts, or takes, after another has ended that did so: nobody would know of the rest of that
/// one's chunks, and so of nothing behind it.
fn check_unknown_records(run: &RunSection, parts: &[(usize, Duration, Duration)]) -> Result<(), FileError> {
    for (words, operations) in IN_CHUNKS {
        let does = |index: usize| run.role[index].mix.is_some_and(|mix| operations.iter().any(|one| mix.has(*one)));
        let of_these: Vec<_> = parts.iter().filter(|(index, ..)| does(*index)).collect();
        let last = of_these.iter().map(|(_, _, until)| *until).max();
        if let Some((index, _, until)) = of_these.iter().find(|(_, _, until)| Some(*until) != last) {
            let message = format!(
                "roles that {words} must end at the same time; {} ends at {}, and another at {}",
                run.role[*index].name(*index),
                TimeSpan::<0>(*until),
                TimeSpan::<0>(last.unwrap_or_default())
            );
            return Err(FileError::at(RoleKey::Until.of_role(*index), message));
        }
    }
    Ok(())
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
