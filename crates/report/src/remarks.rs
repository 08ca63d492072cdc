//! Failures, doubts and notes, for people.

use std::collections::HashSet;

use kvdyno_analysis::{
    Cell, CellSteadiness, Doubt, SHORTEST_WINDOW_S, SLOW, Steadiness, Unsteady, Untold, Weakness, check,
};
use kvdyno_model::text::{self, counted, duration, plus_minus, threads, three_digits};
use kvdyno_results::{
    Failure, FailureKind, Machine, Operations, Percentile, Phase, RateSearch, Side, TrialOutcome, TrialResult,
    broken_parts,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::order::distinct;
use crate::study::{Study, StudyCell};

/// A failure, a doubt or a note, and the trial that it is about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Remark {
    /// The trial or the trials, for people.
    pub(crate) trial: String,
    /// One sentence.
    pub(crate) text: String,
}

/// Failed trials, each with its reason.
fn all_failures<'a>(study: &Study<'a>) -> Vec<(&'a TrialResult, &'a Failure)> {
    study.results.iter().filter_map(|result| failure(result).map(|failure| (result, failure))).collect()
}

/// Failures: an engine's that have the same reason stand once.
pub(crate) fn failures(study: &Study<'_>) -> Vec<Remark> {
    grouped(all_failures(study), |failure| reason(failure), |failure| reason(failure))
}

fn all_doubts<'a>(study: &Study<'a>) -> Vec<(&'a TrialResult, Doubt)> {
    let long = study.all_cells().iter().filter(|cell| is_long(cell)).flat_map(|cell| &cell.finished);
    let long: HashSet<u32> = long.map(|result| result.trial.number).collect();
    let counts = |result: &TrialResult, doubt: &Doubt| {
        !matches!(doubt, Doubt::ShortWindow { .. }) || !long.contains(&result.trial.number)
    };
    let doubts = |result: &'a TrialResult| {
        let machine = study.machines.of_trial(result.trial.number);
        check(result, machine).into_iter().filter(|doubt| counts(result, doubt)).map(move |doubt| (result, doubt))
    };
    study.results.iter().flat_map(doubts).collect()
}

/// Whether the measured windows of a cell are long enough together: what chance does to one of them is in the interval
/// of several.
fn is_long(cell: &Cell<'_>) -> bool {
    let windows = cell.finished.iter().filter_map(|result| result.window.as_ref());
    cell.finished.len() > 1 && windows.map(|window| window.seconds).sum::<f64>() >= SHORTEST_WINDOW_S
}

/// Figures that do not fit each other, trial by trial.
pub(crate) fn doubts_of_trials(study: &Study<'_>) -> Vec<Remark> {
    let remark =
        |(result, doubt): (&TrialResult, Doubt)| Remark { trial: result.trial.title(), text: doubt.to_string() };
    of_machines(study).chain(all_doubts(study).into_iter().map(remark)).collect()
}

/// Doubts that speak against figures of several machines.
fn of_machines(study: &Study<'_>) -> impl Iterator<Item = Remark> {
    let doubts = study.machines.doubts().into_iter();
    doubts.map(|text| Remark { trial: "machines".to_owned(), text })
}

/// The doubts about a study. An engine's doubts of one sort stand together, where the first of them does.
pub(crate) fn doubts(study: &Study<'_>) -> Vec<Remark> {
    let mut doubts = grouped(all_doubts(study), std::mem::discriminant, Doubt::to_string);
    doubts.extend(of_machines(study));
    doubts.extend(study.all_cells().iter().filter_map(wide));
    doubts.extend(study.all_cells().iter().filter_map(unsteady));
    doubts
}

/// Whatever speaks against the figures of a cell where they are compared.
pub(crate) fn weaknesses(
    cell: &Cell<'_>,
    steadiness: Option<&CellSteadiness>,
    machine: Option<&Machine>,
) -> Vec<Weakness> {
    let unsteady = steadiness.filter(|it| it.is_unsteady()).map(|_| Weakness::new("was not steady", "were not steady"));
    let doubts = cell.finished.iter().flat_map(|result| check(result, machine));
    let doubts = distinct(doubts.filter_map(|doubt| doubt.weakness()));
    let missed =
        Side::ALL.into_iter().filter_map(|side| broken_promise(cell, side).or_else(|| missed_rate(cell, side)));
    let declared = stronger(cell).into_iter().chain(read_ahead(cell));
    let uneven = Side::ALL.into_iter().filter_map(|side| uneven(cell, side));
    unsteady.into_iter().chain(doubts).chain(missed).chain(uneven).chain(declared).collect()
}

/// The least 95 % interval, as a fraction of a rate, of which a sentence says where it may come from.
const UNEVEN: f64 = 0.1;

/// The least share of the time, of 1, that slow calls have where they are told as the stalls of a rate.
const STALLED: f64 = 0.1;

/// A rate with a wide interval: the share of its time in slow calls, or else its medians from repeat to repeat.
fn uneven(cell: &Cell<'_>, side: Side) -> Option<Weakness> {
    let relative = cell.rate(side)?.relative().filter(|relative| *relative > UNEVEN)?;
    let calls = cell.main_latency(side)?;
    let of_kind = cell.finished.iter().flat_map(|result| &result.operations).filter(|one| one.kind == calls.kind);
    let medians: Vec<u64> = of_kind.map(|one| one.latency.at(Percentile::P50)).collect();
    let [least, most] = [medians.iter().min()?, medians.iter().max()?].map(|ns| duration(*ns as f64));
    let source = match calls.slow_time_share.filter(|share| *share >= STALLED) {
        Some(share) => format!("{:.0} % of their time in calls of over {SLOW} times the median", 100.0 * share),
        None if least == most => format!("a median call of {least} in each repeat"),
        None => format!("a median call of {least} to {most}, from repeat to repeat"),
    };
    let of_side = format!("{side} known to {}, with {source}", plus_minus(relative));
    let [of_one, of_both] = ["has", "have"].map(|verb| format!("{verb} {of_side}"));
    Some(Weakness { of_one: of_one.into(), of_both: Some(of_both.into()), side: Some(side) })
}

/// A level of durability that is met by a stronger one, whose cost is then in its writes.
fn stronger(cell: &Cell<'_>) -> Option<Weakness> {
    let first = cell.first()?;
    let met = first.stronger_durability()?;
    let of_one = format!("meets durability {} as {met}", first.workload.durability);
    Some(Weakness { of_one: of_one.into(), of_both: None, side: Some(Side::Writes) })
}

/// Bytes that come from the storage for an operation that are no longer those of its records or of the pages that lead
/// to them, but of what the kernel or the engine reads ahead.
const READ_AHEAD: f64 = 65_536.0;

/// Much that was read ahead in the measured window, whose cost is in its reads.
fn read_ahead(cell: &Cell<'_>) -> Option<Weakness> {
    let storage = cell.median(|result| Some(result.read_bytes_per_read()?.0))?;
    let records = cell.median(|result| Some(result.read_bytes_per_read()?.1))?;
    let is_much = cell.key.phase == Phase::Run && storage > READ_AHEAD.max(2.0 * records);
    let of_one = format!("read {} KiB from the storage for each read operation", three_digits(storage / 1024.0));
    is_much.then(|| Weakness { of_one: of_one.into(), of_both: None, side: Some(Side::Reads) })
}

/// `did not keep p99=1ms in 1 of 5 measured parts`, of a searched rate; absent where each kept it, in older results,
/// and of sides whose rate was not searched.
fn broken_promise(cell: &Cell<'_>, side: Side) -> Option<Weakness> {
    let of_side = cell.finished.iter().filter(|result| result.workload.is_searched(side));
    let searches: Vec<&RateSearch> = of_side.filter_map(|result| result.search.as_ref()).collect();
    let (broken, all) = broken_parts(searches.iter().copied());
    let promise = searches.first()?.promise;
    let words = format!("did not keep {promise} in {broken} of {}", counted(all, "measured part"));
    (broken > 0).then(|| Weakness { of_one: words.clone().into(), of_both: Some(words.into()), side: None })
}

/// `did 9.50 of 500 requested writes a second`, or of a searched rate and where most trials kept it `did not keep its
/// rate of writes in 1 of 5 repeats`; absent where every trial kept it, or there was none.
fn missed_rate(cell: &Cell<'_>, side: Side) -> Option<Weakness> {
    let is_behind = |operations: &Operations| operations.pacing.is_some_and(|pacing| !pacing.kept);
    let missed = cell.finished.iter().filter(|result| of_side(result, side).any(is_behind)).count();
    let all = cell.finished.len();
    if missed == 0 {
        return None;
    }
    let facts = &cell.first()?.workload;
    let requested = match side {
        Side::Reads => facts.read_rate,
        Side::Writes => facts.write_rate,
    };
    let done = cell.median(|result| Some(of_side(result, side).map(|one| one.operations_per_s).sum()))?;
    let (of_one, of_both) = match requested.filter(|_| 2 * missed > all).map(three_digits) {
        Some(requested) => {
            let of_requested = format!("{} of {requested} requested {side} a second", three_digits(done));
            (format!("did {of_requested}"), format!("each did {of_requested}"))
        }
        None => {
            let when = if missed < all { format!(" in {missed} of {all} repeats") } else { String::new() };
            (format!("did not keep its rate of {side}{when}"), format!("did not keep their rates of {side}{when}"))
        }
    };
    Some(Weakness { of_one: of_one.into(), of_both: Some(of_both.into()), side: None })
}

fn of_side(result: &TrialResult, side: Side) -> impl Iterator<Item = &Operations> {
    result.operations.iter().filter(move |one| one.side() == side)
}

/// `lmdb readrandom, 4 readers`.
fn cell_title(cell: &StudyCell<'_>) -> String {
    format!("{} {}, {}", cell.label.engine, cell.label.workload, threads(cell.key.readers, cell.key.writers))
}

/// A cell whose figures are not those of a state that lasts.
fn unsteady(cell: &StudyCell<'_>) -> Option<Remark> {
    let told = cell.steadiness.as_ref()?;
    let Steadiness::NotSteady(observed) = &told.steadiness else { return None };
    let how = observed.iter().map(Unsteady::to_string).collect::<Vec<_>>().join("; ");
    let often = if told.told > 1 { format!(" in {} of {} repeats", told.unsteady, told.told) } else { String::new() };
    Some(Remark { trial: cell_title(cell), text: format!("Not steady{often}: {how}.") })
}

/// The cells of runs of which it cannot be told whether they were steady, a remark for each reason.
fn untold(study: &Study<'_>) -> Vec<Remark> {
    let why = |cell: &StudyCell<'_>| match cell.steadiness.as_ref()?.steadiness {
        Steadiness::NotTold(why) => Some(why),
        _ => None,
    };
    let all: Vec<Untold> = study.all_cells().iter().filter_map(why).collect();
    let remark = |why: Untold| {
        let cells = all.iter().filter(|other| **other == why).count();
        let of = if cells == 1 { "one cell".to_owned() } else { format!("{cells} cells") };
        Remark { trial: "steady or not".to_owned(), text: format!("not told of {of}: {why}") }
    };
    distinct(all.iter().copied()).into_iter().map(remark).collect()
}

/// The half of an interval over its value from which on a rate is no figure to go by.
const WIDE: f64 = 0.3;

/// A cell whose repeats differ so much that its rates say little.
fn wide(cell: &StudyCell<'_>) -> Option<Remark> {
    let of_side = |(side, what): (Side, &str)| {
        let rate = cell.rate(side).filter(|rate| rate.n > 1)?;
        let relative = rate.relative().filter(|relative| *relative >= WIDE)?;
        Some(format!("{what} a second have {}", plus_minus(relative)))
    };
    let sides: Vec<String> =
        [(Side::Reads, "reads"), (Side::Writes, "writes")].into_iter().filter_map(of_side).collect();
    (!sides.is_empty()).then(|| Remark {
        trial: cell_title(cell),
        text: format!("Its repeats are too few or differ too much for a figure: {}.", sides.join(", ")),
    })
}

/// Columns of workloads' own that count records whose answers could not be judged, and why they could not.
const UNJUDGED: [(&str, &str); 2] = [
    ("unchecked", "other clients were inserting or deleting them, so any answer counted as right"),
    ("unrepeated", "they changed between two reads of a transaction, which the engine's isolation permits"),
];

/// Answers that could not be judged, counted over the trials of each engine and workload.
fn unjudged(study: &Study<'_>) -> Vec<Remark> {
    let name = |cell: &StudyCell<'_>| (cell.label.engine.clone(), cell.label.workload.clone());
    let names = distinct(study.all_cells().iter().map(name));
    let of_column = |names: &(String, String), (column, why): (&str, &str)| {
        let cells = study.all_cells().iter().filter(|cell| name(cell) == *names);
        let results = cells.flat_map(|cell| &cell.finished);
        let counts = results.filter_map(|result| Some([result.figures.as_ref()?.count(column)?, result.answers.right]));
        let [count, operations] =
            counts.fold([0_u64; 2], |sums, counts| [0, 1].map(|index| sums[index].saturating_add(counts[index])));
        let records = if count == 1 { "record was" } else { "records were" };
        let [told, of] = [count, operations].map(|number| text::grouped(number as f64));
        let text = format!("{told} {records} {column} in {of} operations, warm-up included: {why}");
        (count > 0).then(|| Remark { trial: format!("{} {}", names.0, names.1), text })
    };
    names.iter().flat_map(|names| UNJUDGED.into_iter().filter_map(|column| of_column(names, column))).collect()
}

/// Engines that were not measured, the trials' own notes, interference, cells without a log of latencies, those too
/// short to tell whether they were steady, and answers that could not be judged.
pub(crate) fn notes(study: &Study<'_>) -> Vec<Remark> {
    let engines = distinct(study.left_out.iter().map(|one| (&one.engine, &one.workload, &one.reason)));
    let left_out = engines.into_iter().map(|(engine, workload, reason)| {
        let of = if workload.is_empty() { String::new() } else { format!(" of {workload}") };
        Remark { trial: format!("{engine} was left out{of}"), text: reason.clone() }
    });
    let of_trial = |result: &TrialResult| -> Vec<Remark> {
        let interference = result.environment.interference.iter().map(ToString::to_string);
        let notes = result.notes.iter().cloned().chain(interference);
        notes.map(|text| Remark { trial: result.trial.title(), text }).collect()
    };
    let of_trials = study.results.iter().flat_map(of_trial);
    let hosts = study.machines.parts_of_hosts().map(|text| Remark { trial: "machines".to_owned(), text });
    let without_log = study.all_cells().iter().filter_map(without_log);
    let outlying = study.all_cells().iter().flat_map(|cell| standing_out(study, cell));
    left_out
        .chain(hosts)
        .chain(outlying)
        .chain(of_trials)
        .chain(without_log)
        .chain(untold(study))
        .chain(unjudged(study))
        .collect()
}

/// The machines whose figures of a cell lie far from those of the others.
fn standing_out(study: &Study<'_>, cell: &StudyCell<'_>) -> Vec<Remark> {
    let of_side = |side: Side| {
        let does = match side {
            Side::Reads => "reads",
            Side::Writes => "writes",
        };
        let remark = move |(machine, ratio): (usize, f64)| Remark {
            trial: cell_title(cell),
            text: format!(
                "{} stands out: it {does} at {ratio:.2} of the machines' median",
                study.machines.name(machine)
            ),
        };
        cell.machines_standing_out(side).into_iter().map(remark)
    };
    Side::ALL.into_iter().flat_map(of_side).collect()
}

/// The remark on a cell whose latencies could not be merged.
fn without_log(cell: &StudyCell<'_>) -> Option<Remark> {
    let kinds: Vec<&str> = cell.latencies.iter().filter(|one| !one.is_merged).map(|one| one.kind.word()).collect();
    (!kinds.is_empty()).then(|| Remark {
        trial: cell_title(cell),
        text: format!(
            "no latency.hlog of every trial: percentiles of {} are medians of the trials' own",
            kinds.join(", ")
        ),
    })
}

fn trials<T>(alike: &[&(&TrialResult, T)]) -> usize {
    distinct(alike.iter().map(|(result, _)| result.trial.number)).len()
}

/// Remarks of one engine and workload that share a sort are one, in the words of the first.
fn grouped<T, K: PartialEq>(
    all: Vec<(&TrialResult, T)>,
    sort: impl Fn(&T) -> K,
    words: impl Fn(&T) -> String,
) -> Vec<Remark> {
    let key =
        |(result, one): &(&TrialResult, T)| (result.trial.engine.clone(), result.trial.workload.clone(), sort(one));
    let keys = distinct(all.iter().map(key));
    let remark = |wanted| {
        let alike: Vec<_> = all.iter().filter(|entry| key(entry) == wanted).collect();
        let trial = match alike.as_slice() {
            [(result, _)] => result.trial.title(),
            [(result, _), rest @ ..] if rest.iter().all(|(other, _)| other.trial == result.trial) => {
                result.trial.title()
            }
            _ => format!("{} {}, {} trials", wanted.0, wanted.1, trials(&alike)),
        };
        alike.first().map(|(_, one)| Remark { trial, text: words(one) })
    };
    keys.into_iter().filter_map(remark).collect()
}

/// Why a trial failed, if it did.
pub(crate) fn failure(result: &TrialResult) -> Option<&Failure> {
    match &result.outcome {
        TrialOutcome::Failed(failure) => Some(failure),
        TrialOutcome::Finished => None,
    }
}

/// A failure's kind and reason in plain words.
pub(crate) fn reason(failure: &Failure) -> String {
    use FailureKind as Kind;
    let kind = match failure.kind {
        Kind::Crashed => "crashed",
        Kind::Exited => "exited early",
        Kind::Hung => "hung",
        Kind::TooSlow => "too slow",
        Kind::NoSpace => "storage full",
        Kind::NoMemory => "out of memory",
        Kind::EngineError => "engine error",
        Kind::WrongAnswer => "wrong answer",
        Kind::LostWrite => "lost write",
        Kind::NotSynced => "not synced",
        Kind::Environment => "not in the requested environment",
        Kind::Implausible => "implausible",
        Kind::LabError => "error of the lab",
        Kind::NotRun => "not run",
    };
    format!("{kind}: {}", failure.reason)
}
