//! The result of a trial, from what was watched, counted and reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use kvdyno_engine::LabSettings;
use kvdyno_environment::process::Exit;
use kvdyno_environment::worker_processes::Account;
use kvdyno_results::{
    Answers, ClientKind, Failure, FailureKind, ObservedEnvironment, OsFacts, Outcome, SCHEMA, Setting, Settling, Space,
    TrialResult, WorkloadFacts,
};
use kvdyno_worker::{Observer, WorkerReport, of_process};
use kvdyno_dataset::{Kind, Spelling, Verify, Workload};

use super::bounds::Bounds;
use super::cycles::Found;
use super::watching::{Verdict, Watched};
use super::{Ask, WORKER_LOG};
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::Setup;

/// What the parent took from the operating system beside the worker's account.
pub(super) struct OsExtras {
    pub(super) started: Timestamp,
    pub(super) device: Option<kvdyno_results::Device>,
    pub(super) space: Space,
    pub(super) bounds: Bounds,
}

/// Puts everything together.
pub(super) fn result(
    ask: &Ask<'_>,
    observer: &Observer<'_>,
    report: Option<WorkerReport>,
    watched: Watched,
    extras: OsExtras,
) -> TrialResult {
    let answers = observer.answers();
    let environment = observed_environment(ask, report.as_ref(), &watched, &extras.bounds);
    let operations = observer.operations();
    let found = observer.cycles().map(|found| Found::new(ask, found, &operations));
    let outcome = match outcome(ask, observer, report.as_ref(), &watched, &extras.bounds) {
        Outcome::Finished => found.as_ref().map_or(Outcome::Finished, Found::outcome),
        failed => failed,
    };
    let outcome = held_against(ask, &environment, outcome);
    let mut notes = ask.notes.clone();
    notes.extend(ask.setup.settings(&ask.planned.key).iter().filter_map(taint));
    notes.extend(found.iter().filter_map(Found::note));
    let cycles = found.map(|found| found.facts);
    notes.extend(memory_notes(ask, &watched.account));
    notes.extend(extras.bounds.notes(ask));
    notes.extend(call_notes(ask, report.as_ref()));
    TrialResult {
        schema: SCHEMA,
        trial: ask.planned.key.clone(),
        engine: ask.setup.facts(&ask.planned.key),
        workload: workload_facts(&ask.planned.workload, &ask.settings),
        outcome,
        started: extras.started,
        window: report.as_ref().and_then(|report| report.window.clone()),
        operations,
        answers,
        cycles,
        os: OsFacts { device: extras.device, ..watched.account.os },
        environment,
        space: extras.space,
        user_bytes_written: observer.user_bytes(),
        statistics: report.map(|report| report.statistics).unwrap_or_default(),
        notes,
    }
}

/// What surrounded the trial: what the worker found of itself, and what the parent found around it.
fn observed_environment(
    ask: &Ask<'_>,
    report: Option<&WorkerReport>,
    watched: &Watched,
    bounds: &Bounds,
) -> ObservedEnvironment {
    let found = report.map(|report| report.state.clone()).unwrap_or_default();
    let found = ObservedEnvironment { interference: watched.interference.clone(), ..found };
    bounds.complete(ask, watched.account.os.wall_s, found)
}

/// A trial whose worker found a state other than the one that was set measured something else.
fn held_against(ask: &Ask<'_>, found: &ObservedEnvironment, outcome: Outcome) -> Outcome {
    match ask.environment.surroundings.contradiction(found) {
        Some(reason) if outcome == Outcome::Finished => {
            Outcome::Failed(Failure { kind: FailureKind::Environment, reason })
        }
        _ => outcome,
    }
}

/// A setting that promises less durability than it seems to.
fn taint(setting: &Setting) -> Option<String> {
    (setting.topic == "tainted").then(|| format!("TAINTED by {}: {}", setting.name, setting.value))
}

/// What must be known of the peak sizes before they are compared.
fn memory_notes(ask: &Ask<'_>, account: &Account) -> Vec<String> {
    let mut notes = Vec::new();
    if !account.peak_rss_exact {
        notes.push("the peak resident size is the highest that was seen, not the kernel's own figure".to_owned());
    }
    let processes = ask.planned.key.processes();
    if processes > 1 && account.os.peak_pss_kib.is_none() {
        notes.push(format!(
            "the peak resident size is the sum of {processes} processes: pages that they share count in each"
        ));
    }
    notes
}

/// What the engine has no call for, where the workload is about it.
fn call_notes(ask: &Ask<'_>, report: Option<&WorkerReport>) -> Vec<String> {
    let mut notes = Vec::new();
    if ask.planned.workload.kind == Kind::MultiReadRandom && !ask.setup.multi_gets {
        notes.push("the engine has no multi-get: the records of a batch were read one after the other".to_owned());
    }
    match report.and_then(|report| report.window.as_ref()?.settling) {
        Some(Settling { waited: true, .. }) | None => {}
        Some(Settling { flushed: true, .. }) => {
            notes
                .push("the engine has no call that waits for background work: only a flush came at the end".to_owned());
        }
        Some(_) => notes.push("the engine has no call that flushes or waits: nothing came at the end".to_owned()),
    }
    notes
}

/// A workload as records have it.
pub fn workload_facts(workload: &Workload, settings: &LabSettings) -> WorkloadFacts {
    WorkloadFacts {
        name: workload.kind.to_string(),
        records: workload.data.records,
        key_size: workload.data.key_size,
        key_format: match workload.data.spelling {
            Spelling::Plain => workload.data.key_format.to_string(),
            enhanced => enhanced.to_string(),
        },
        prefix_size: workload.data.prefix_size,
        keys_per_prefix: workload.data.keys_per_prefix,
        value_size: workload.data.value_size,
        compressibility: workload.data.compressibility,
        batch: workload.batch,
        reads_per_transaction: workload.reads_per_transaction,
        seek_nexts: workload.kind.reads_ranges().then_some(workload.reads.seek_nexts),
        seek_within: workload.reads.seek_within.filter(|_| workload.kind.reads_ranges()),
        keys_per_multiget: (workload.kind == Kind::MultiReadRandom).then_some(workload.reads.per_batch),
        durability: settings.durability.to_string(),
        cache_bytes: settings.cache_bytes,
        write_buffer_bytes: settings.write_buffer_bytes,
        compression: settings.compression.to_string(),
        verify: match workload.verify {
            Verify::Full => "full".to_owned(),
            Verify::Off => "off".to_owned(),
        },
        seed: workload.seed,
        write_rate: workload.write_rate,
    }
}

/// How the trial ended: the parent's own verdict first, then how the process ended, then what it says of itself.
fn outcome(
    ask: &Ask<'_>,
    observer: &Observer<'_>,
    report: Option<&WorkerReport>,
    watched: &Watched,
    bounds: &Bounds,
) -> Outcome {
    let failed = |kind, reason| Outcome::Failed(Failure { kind, reason });
    let during = watched.last_state.words();
    match &watched.verdict {
        Some(Verdict::Hung(state, still)) => {
            let reason = format!("nothing happened for {:.0} s while {}", still.as_secs_f64(), state.words());
            return failed(FailureKind::Hung, reason);
        }
        Some(Verdict::TooLong(longest)) => {
            let reason = format!("not done after {longest}, which is as long as a trial may take; it was {during}");
            return failed(FailureKind::TooSlow, reason);
        }
        Some(Verdict::NoSpace(free)) => {
            let reason =
                format!("the storage is full: {free} bytes left while {during}, min_free is {}", ask.lab.min_free);
            return failed(FailureKind::NoSpace, reason);
        }
        None => {}
    }
    // A worker that cannot even write its report for want of space leaves with an error code.
    let no_space = || {
        let said = observer.control().no_space.load(Ordering::SeqCst) == 1;
        said.then(|| failed(FailureKind::NoSpace, observer.answers().first_failure.unwrap_or_default()))
    };
    let Some(culprit) = &watched.culprit else {
        return no_space().unwrap_or_else(|| judged_by_answers(observer, report));
    };
    let (log, which) = culprit_of(ask, culprit.number);
    if let Some(reason) = bounds.exceeded() {
        return failed(FailureKind::NoMemory, format!("{reason} while {during}{which}"));
    }
    let words = last_words(&log);
    match &culprit.exit {
        Exit::Signal { number, name } => {
            failed(FailureKind::Crashed, format!("signal {number} ({name}) while {during}{which}{words}"))
        }
        Exit::Code(code) => no_space().unwrap_or_else(|| {
            failed(FailureKind::Exited, format!("the process exited with code {code} while {during}{which}{words}"))
        }),
    }
}

/// Where a process wrote what it had to say; and, if there are several, which it is.
fn culprit_of(ask: &Ask<'_>, number: usize) -> (PathBuf, String) {
    let log = ask.folder.join(WORKER_LOG);
    match ask.planned.key.clients {
        ClientKind::Threads => (log, String::new()),
        ClientKind::Processes => {
            let roles = ask.planned.workload.roles();
            let role = if roles[number].writes() { "writer" } else { "reader" };
            let which = format!(", in process {} of {}, a {role}", number + 1, roles.len());
            (of_process(&log, number), which)
        }
    }
}

fn judged_by_answers(observer: &Observer<'_>, report: Option<&WorkerReport>) -> Outcome {
    let failed = |kind, reason| Outcome::Failed(Failure { kind, reason });
    let answers = observer.answers();
    let first = answers.first_failure.clone().unwrap_or_default();
    let Some(report) = report else {
        return failed(FailureKind::Exited, "the worker ended without its report".to_owned());
    };
    if let Some(failure) = &report.failure {
        return Outcome::Failed(failure.clone());
    }
    if answers.errors > 0 {
        return failed(FailureKind::EngineError, format!("{} errors; the first: {first}", answers.errors));
    }
    if answers.failures() > 0 {
        let reason = format!(
            "{} wrong, {} torn, {} stale, {} missing; the first: {first}",
            answers.wrong, answers.torn, answers.stale, answers.missing
        );
        return failed(FailureKind::WrongAnswer, reason);
    }
    Outcome::Finished
}

/// The last line that the worker or the engine printed, for a reader who wonders why it died.
fn last_words(log: &Path) -> String {
    const TAIL: usize = 300;
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        None => String::new(),
        Some(line) => format!("; it said: {}", line.chars().take(TAIL).collect::<String>()),
    }
}

/// A result for a trial that was not started.
pub fn not_run(ask_facts: (&PlannedTrial, &Setup, WorkloadFacts), reason: String) -> TrialResult {
    let (planned, setup, workload) = ask_facts;
    TrialResult {
        schema: SCHEMA,
        trial: planned.key.clone(),
        engine: setup.facts(&planned.key),
        workload,
        outcome: Outcome::Failed(Failure { kind: FailureKind::NotRun, reason }),
        started: Timestamp::now(),
        window: None,
        operations: Vec::new(),
        answers: Answers::default(),
        cycles: None,
        os: OsFacts::default(),
        environment: ObservedEnvironment::default(),
        space: Space::default(),
        user_bytes_written: 0,
        statistics: Vec::new(),
        notes: Vec::new(),
    }
}
