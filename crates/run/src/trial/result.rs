//! The result of a trial, from what was watched, counted and reported.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kvdyno_engine::EngineSettings;
use kvdyno_environment::interference::are_waits_told;
use kvdyno_environment::process::Exit;
use kvdyno_environment::storage::free_bytes;
use kvdyno_environment::worker_processes::Account;
use kvdyno_experiment::RunKey;
use kvdyno_model::text;
use kvdyno_plan::PlannedTrial;
use kvdyno_plan::Setup;
use kvdyno_results::{
    AnswerCounts, AuditFacts, ClientKind, CpuFacts, DurableCommits, EngineFacts, Failure, FailureKind, Interference,
    ObservedEnvironment, OsFacts, Phase, RoleFacts, SCHEMA, Setting, Settling, Space, Syncs, TrialOutcome, TrialResult,
    Waits, Window, WorkloadFacts,
};
use kvdyno_worker::workloads::{MixedRole, TrialCounts, WorkloadSpec};
use kvdyno_worker::{PresentIds, WorkerReport, of_process};

use super::bounds::Bounds;
use super::context::{TrialContext, TrialRequest, WORKER_LOG};
use super::counted::Counted;
use super::others::{Accounts, Demand, GROUP_LAG_S};
use super::watching::{Termination, Watched};

/// Free bytes of a filesystem that is full for an engine, which writes many pages at once.
const LITTLE: u64 = 1 << 20;

/// Facts that the parent took from the operating system beside the worker's account.
pub(super) struct OsExtras {
    pub(super) started: Timestamp,
    pub(super) device: Option<kvdyno_results::Device>,
    pub(super) space: Space,
    pub(super) bounds: Bounds,
}

/// Puts everything together.
pub(super) fn result(
    context: &TrialContext<'_>,
    counted: &Counted,
    report: Option<WorkerReport>,
    watched: Watched,
    extras: OsExtras,
) -> TrialResult {
    let cpu = cpu_facts(counted, report.as_ref(), &watched, &extras.bounds);
    let others = others(context, counted, report.as_ref(), &cpu, watched.lab_cpu_s);
    let environment = observed_environment(context, report.as_ref(), &watched, &extras.bounds, others);
    let counts = TrialCounts {
        parameters: &context.planned.workload.parameters,
        operations: &counted.operations,
        of_roles: &counted.of_roles,
        counters: &counted.counters,
        capabilities: context.setup.capabilities,
        resumed: context.planned.key.phase == Phase::Load && !context.create,
    };
    let workload = context.planned.workload.name;
    let outcome = match outcome(context, counted, report.as_ref(), &watched, &extras.bounds) {
        TrialOutcome::Finished => workload.wrong(&counts).map_or(TrialOutcome::Finished, |reason| {
            TrialOutcome::Failed(Failure { kind: FailureKind::WrongAnswer, reason })
        }),
        failed => for_want_of_space(context, failed),
    };
    // Counts that cannot be true give no figures.
    let is_plausible = counted.implausible.is_none();
    let figures = if is_plausible { workload.figures(&counts) } else { None };
    let outcome = match session_failure(report.as_ref()) {
        Some(failure) if outcome == TrialOutcome::Finished => TrialOutcome::Failed(failure),
        _ => outcome,
    };
    let audit = audit_facts(context, counted.user_bytes, report.as_ref());
    let (calls, syncs) = report.as_ref().map(|report| (report.calls, report.syncs)).unwrap_or_default();
    let account = with_own_peak(watched.account.clone(), report.as_ref(), context.planned.key.processes());
    let os = OsFacts { device: extras.device, calls, syncs, ..account.os.clone() };
    let os = without_audit(os, report.as_ref());
    let outcome = held_against(context, &environment, outcome);
    let mut notes = context.notes.clone();
    notes.extend(context.setup.settings(&context.planned.key).iter().filter_map(taint));
    notes.extend(if is_plausible { workload.notes(&counts) } else { Vec::new() });
    notes.extend(survivors_note(watched.account.survivors, "the worker"));
    notes.extend(memory_notes(context, &account));
    notes.extend(extras.bounds.notes(context));
    notes.extend(context.fill_note());
    notes.extend(settling_notes(report.as_ref()));
    let result = TrialResult {
        schema: SCHEMA,
        trial: context.planned.key.clone(),
        engine: engine_facts(context, report.as_ref()),
        experiment: context.request.experiment.clone(),
        workload: context.request.workload.clone(),
        outcome,
        started: extras.started,
        design: None,
        search: None,
        profile: None,
        copied_from: context.copied_from,
        window: report.as_ref().and_then(|report| window(report, watched.lab_cpu_s)).filter(|_| is_plausible),
        cpu,
        operations: counted.operations.clone(),
        of_roles: counted.of_roles.clone(),
        answers: counted.answers.clone(),
        audit,
        figures,
        os,
        environment,
        space: Space { live_bytes: live_bytes(context, counted), dirty_kib: watched.dirty_at_end_kib, ..extras.space },
        user_bytes_written: counted.user_bytes,
        user_bytes_read: counted.user_bytes_read,
        statistics: report.map(|report| report.statistics).unwrap_or_default(),
        notes,
    };
    // Flushes of a device that others write to may be theirs: then it is a doubt.
    let has_device = context.backing_store.has_own_device();
    let promises = !context.setup.volatile && result.taints().next().is_none();
    let is_judged = has_device && promises && is_plausible && result.is_finished();
    match result.commits().filter(|commits| is_judged && commits.are_unsynced()) {
        Some(commits) => TrialResult { outcome: not_synced(commits), ..result },
        None => result,
    }
}

/// The failure of an engine that acknowledged more commits than were synced on the database's own device.
fn not_synced(DurableCommits { commits, clients, syncs }: DurableCommits) -> TrialOutcome {
    let synced = match syncs {
        Syncs::OfDevice { flushes, writes } => format!(
            "the database's device completed {} and {}",
            text::counted_as(flushes, "flush", "flushes"),
            text::counted(writes, "write")
        ),
        Syncs::OfWorker(syncs) => format!("the filesystem did {}", text::counted(syncs, "sync")),
    };
    let (commits, clients) = (text::counted(commits, "commit"), text::counted(clients, "client"));
    let reason = format!("{commits} of {clients} were acknowledged as durable, and {synced}");
    TrialOutcome::Failed(Failure { kind: FailureKind::NotSynced, reason })
}

/// The measured part. Where the control group used more CPU time in it than the worker, processes that the engine
/// started did, and their waits for processors are not known. The lab is nobody else.
fn window(report: &WorkerReport, lab_cpu_s: f64) -> Option<Window> {
    let window = report.window.clone()?;
    let own_s = window.user_s + window.sys_s + GROUP_LAG_S;
    let waits = window.waits.filter(|_| report.group_cpu_s.is_none_or(|group_s| group_s <= own_s));
    let waits = waits.map(|waits| Waits { least_s: (waits.least_s - lab_cpu_s).max(0.0), ..waits });
    Some(Window { waits, ..window })
}

/// The CPU time of everything in the trial's group, which has ended.
fn cpu_facts(counted: &Counted, report: Option<&WorkerReport>, watched: &Watched, bounds: &Bounds) -> CpuFacts {
    let in_slices = watched.cpu.as_ref().filter(|cpu| counted.implausible.is_none() && cpu.alone.operations > 0);
    let coarse = report.and_then(|report| counted.cpu_without_slices(report));
    // An account that cannot be read any more stays absent.
    let whole = bounds.cpu_account().and_then(|account| account.read().ok());
    CpuFacts {
        alone: in_slices.map(|cpu| cpu.alone).or(coarse),
        coarse: in_slices.is_none() && coarse.is_some(),
        whole_s: whole.map(|time| time.as_secs_f64()),
    }
}

/// Bytes of the records that are in the database for certain; absent of counts that cannot be true.
fn live_bytes(context: &TrialContext<'_>, counted: &Counted) -> Option<u64> {
    let record_bytes = context.planned.workload.record_bytes().filter(|_| counted.implausible.is_none())?;
    let PresentIds { gone, there, .. } = counted.contents.present;
    let deleted = context.ledger.of(context.planned.workload.parameters.data.records).deleted();
    Some(there.saturating_sub(gone).saturating_sub(deleted).saturating_mul(record_bytes))
}

/// The engine, with the file that the worker had of it. All workers of the step have ended when that is read.
fn engine_facts(context: &TrialContext<'_>, report: Option<&WorkerReport>) -> EngineFacts {
    let path = report.and_then(|report| report.engine_file.as_deref());
    let file = path.map(|path| context.engine_files.describe(path));
    EngineFacts { file, ..context.setup.facts(&context.planned.key) }
}

/// The audit by the worker itself; absent if the trial wrote nothing.
fn audit_facts(context: &TrialContext<'_>, user_bytes: u64, report: Option<&WorkerReport>) -> Option<AuditFacts> {
    (user_bytes > 0).then(|| AuditFacts {
        extent: context.lab.audit,
        volatile: context.setup.volatile,
        session: report.and_then(|report| report.audit.as_ref()).map(|audit| audit.finding.clone()),
        process: None,
    })
}

fn session_failure(report: Option<&WorkerReport>) -> Option<Failure> {
    report?.audit.as_ref()?.finding.failure("fresh sessions")
}

/// The account with the peak resident size that the worker read of itself at its end, where the kernel's account hides
/// it: below what the parent's image had.
fn with_own_peak(account: Account, report: Option<&WorkerReport>, processes: u32) -> Account {
    match report.and_then(|report| report.peak_rss_kib).filter(|_| processes == 1 && !account.peak_rss_exact) {
        Some(kib) => {
            let peak_rss_kib = kib.max(account.os.peak_rss_kib);
            Account { os: OsFacts { peak_rss_kib, ..account.os }, peak_rss_exact: true, ..account }
        }
        None => account,
    }
}

/// The accounts without what the audit took.
fn without_audit(os: OsFacts, report: Option<&WorkerReport>) -> OsFacts {
    match report.and_then(|report| report.audit.as_ref()) {
        Some(audit) => os.without(&audit.costs),
        None => os,
    }
}

/// The environment of the trial: what the worker observed of itself, and the parent around it.
fn observed_environment(
    context: &TrialContext<'_>,
    report: Option<&WorkerReport>,
    watched: &Watched,
    bounds: &Bounds,
    others: Option<Interference>,
) -> ObservedEnvironment {
    let of_worker = report.map(|report| report.state.clone()).unwrap_or_default();
    let interference = others.into_iter().chain(watched.interference.iter().cloned()).collect();
    let of_worker = ObservedEnvironment { interference, ..of_worker };
    bounds.complete(context, watched.account.os.wall_s, of_worker)
}

/// Others that had the clients' processors in the measured part.
fn others(
    context: &TrialContext<'_>,
    counted: &Counted,
    report: Option<&WorkerReport>,
    cpu: &CpuFacts,
    lab_cpu_s: f64,
) -> Option<Interference> {
    let window =
        report.and_then(|report| report.window.as_ref()).filter(|_| are_waits_told() && !context.shares_machine)?;
    let accounts = Accounts {
        group: cpu.alone,
        short_group_s: report.and_then(|report| report.group_cpu_s),
        times: counted.times,
        own_cpu_s: window.user_s + window.sys_s,
        own_times: counted.window_times(),
        lab_cpu_s,
    };
    let parameters = &context.planned.workload.parameters;
    let window_s = parameters.has_partial_roles().then_some(window.seconds);
    let processors = context.environment.placement.cpus().len() as u32;
    Demand::of(parameters.most_at_once(), window_s, processors, accounts).interference()
}

/// A trial fails if its worker observed another state than the one that was set: it measured something else.
fn held_against(context: &TrialContext<'_>, observed: &ObservedEnvironment, outcome: TrialOutcome) -> TrialOutcome {
    match context.environment.placement.contradiction(observed) {
        Some(reason) if outcome == TrialOutcome::Finished => {
            TrialOutcome::Failed(Failure { kind: FailureKind::Environment, reason })
        }
        _ => outcome,
    }
}

/// A setting that promises less durability than it seems to.
fn taint(setting: &Setting) -> Option<String> {
    (setting.topic == "tainted").then(|| format!("TAINTED by {}: {}", setting.name, setting.value))
}

/// Notes on the peak sizes for who compares them.
fn memory_notes(context: &TrialContext<'_>, account: &Account) -> Vec<String> {
    let mut notes = Vec::new();
    if !account.peak_rss_exact {
        notes.push("the peak resident size is the highest sample, not the kernel's own figure".to_owned());
    }
    let processes = context.planned.key.processes();
    if processes > 1 && account.os.peak_pss_kib.is_none() {
        notes.push(format!(
            "the peak resident size is the sum of {processes} processes: shared pages count once for each"
        ));
    }
    notes
}

/// Processes that had to be ended after the one that worked.
pub(crate) fn survivors_note(survivors: u32, worked: &str) -> Option<String> {
    match survivors {
        0 => None,
        1 => {
            Some(format!("a process that the engine had started was still there when {worked} had ended: it was ended"))
        }
        many => Some(format!(
            "{many} processes that the engine had started were still there when {worked} had ended: they were ended"
        )),
    }
}

/// The calls that the engine lacks for bringing its database to rest.
fn settling_notes(report: Option<&WorkerReport>) -> Vec<String> {
    let mut notes = Vec::new();
    match report.and_then(|report| report.window.as_ref()?.settling) {
        Some(Settling { waited: true, .. }) | None => {}
        Some(Settling { flushed: true, .. }) => {
            notes.push("the engine has no call that waits for background work: only a flush ends the trial".to_owned());
        }
        Some(_) => {
            notes.push("the engine has no call that flushes or waits: the trial ended without either".to_owned())
        }
    }
    notes
}

/// A workload as results have it.
pub fn workload_facts(workload: &WorkloadSpec, settings: &EngineSettings) -> WorkloadFacts {
    let (name, workload) = (workload.name, &workload.parameters);
    let (data, reads) = (&workload.data, workload.reads);
    let mixes = name.accepts(RunKey::Rate);
    WorkloadFacts {
        name: name.to_string(),
        records: data.records,
        key_size: data.key_size,
        key_format: name.key_spelling(data),
        prefix_size: data.prefix_size,
        keys_per_prefix: data.keys_per_prefix,
        value_size: data.value_size,
        value_sizes: data.value_sizes.clone(),
        compressibility: data.compressibility,
        batch: workload.batch,
        reads_per_transaction: workload.reads_per_transaction,
        seek_nexts: name.accepts(RunKey::SeekNexts).then_some(reads.seek_nexts),
        seek_within: reads.seek_within.filter(|_| name.accepts(RunKey::SeekWithin)),
        keys_per_multiget: (name.accepts(RunKey::KeysPerMultiget) && (!mixes || reads.per_batch > 1))
            .then_some(reads.per_batch),
        distribution: name.accepts(RunKey::Distribution).then_some(workload.distribution),
        think_time: name.has_think_time(),
        durability: workload.durability.unwrap_or(settings.durability),
        cache_bytes: settings.cache_bytes,
        write_buffer_bytes: settings.write_buffer_bytes,
        compression: settings.compression,
        verify: workload.verify,
        seed: workload.seed,
        write_rate: workload.write_rate.filter(|_| !mixes),
        read_rate: workload.read_rate,
        rate: workload.write_rate.filter(|_| mixes),
        find_max_rate: workload.run.find_max_rate,
        arrival: workload.arrivals().next().filter(|_| workload.roles.is_empty()),
        roles: workload.roles.iter().map(role_facts).collect(),
    }
}

fn role_facts(role: &MixedRole) -> RoleFacts {
    RoleFacts {
        name: role.name.clone(),
        clients: role.clients,
        mix: role.mix,
        distribution: role.distribution,
        batch: Some(role.batch).filter(|batch| *batch > 1),
        keys_per_multiget: Some(role.reads.per_batch).filter(|gets| *gets > 1),
        rate: role.rate,
        arrival: role.rate.map(|_| role.arrival),
        durability: role.durability,
        from_s: role.from.map(|from| from.as_secs_f64()),
        until_s: role.until.map(|until| until.as_secs_f64()),
    }
}

/// An engine whose write was cut short by a full storage may call that any error.
fn for_want_of_space(context: &TrialContext<'_>, outcome: TrialOutcome) -> TrialOutcome {
    match (outcome, free_bytes(&context.database)) {
        (TrialOutcome::Failed(Failure { kind: FailureKind::EngineError, reason }), Ok(free)) if free < LITTLE => {
            let reason = format!("{reason}; the storage is full: {free} bytes left");
            TrialOutcome::Failed(Failure { kind: FailureKind::NoSpace, reason })
        }
        (outcome, _) => outcome,
    }
}

/// The trial's outcome: first the parent's own reason, then the end of the process, then its report.
fn outcome(
    context: &TrialContext<'_>,
    counted: &Counted,
    report: Option<&WorkerReport>,
    watched: &Watched,
    bounds: &Bounds,
) -> TrialOutcome {
    let failed = |kind, reason| TrialOutcome::Failed(Failure { kind, reason });
    let during = watched.last_state.word();
    match &watched.termination {
        Some(Termination::Hung(state, still)) => {
            let reason = format!("nothing happened for {:.0} s while {}", still.as_secs_f64(), state.word());
            return failed(FailureKind::Hung, reason);
        }
        Some(Termination::Overdue(state, since)) => {
            let reason = format!("still {} {:.0} s after the time limit for that", state.word(), since.as_secs_f64());
            return failed(FailureKind::Hung, reason);
        }
        Some(Termination::Implausible(reason)) => return failed(FailureKind::Implausible, reason.clone()),
        Some(Termination::Lab(error)) => return error.outcome(),
        Some(Termination::TooLong(longest)) => {
            let reason = format!("not finished after {longest}, the time limit of a trial, while {during}");
            return failed(FailureKind::TooSlow, reason);
        }
        Some(Termination::NoSpace(free)) => {
            let reason =
                format!("the storage is full: {free} bytes left while {during}, min_free is {}", context.lab.min_free);
            return failed(FailureKind::NoSpace, reason);
        }
        None => {}
    }
    // A worker that cannot even write its report for want of space leaves with an error code.
    let no_space = || {
        counted
            .no_space
            .then(|| failed(FailureKind::NoSpace, counted.answers.first_failure.clone().unwrap_or_default()))
    };
    let Some(culprit) = &watched.culprit else {
        if let Some(reason) = &counted.implausible {
            return failed(FailureKind::Implausible, reason.clone());
        }
        return no_space().unwrap_or_else(|| judged_by_answers(&counted.answers, report));
    };
    let (log, which) = culprit_of(context, culprit.number);
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

/// The log of a process; and, if there are several, the name of that process.
fn culprit_of(context: &TrialContext<'_>, number: usize) -> (PathBuf, String) {
    let log = context.folder.join(WORKER_LOG);
    match context.planned.key.clients {
        ClientKind::Threads => (log, String::new()),
        ClientKind::Processes => {
            let roles = context.planned.workload.roles();
            let role = if roles[number].writes() { "writer" } else { "reader" };
            let which = format!(", in process {} of {}, a {role}", number + 1, roles.len());
            (of_process(&log, number), which)
        }
    }
}

fn judged_by_answers(answers: &AnswerCounts, report: Option<&WorkerReport>) -> TrialOutcome {
    let failed = |kind, reason| TrialOutcome::Failed(Failure { kind, reason });
    let first = answers.first_failure.clone().unwrap_or_default();
    let Some(report) = report else {
        return failed(FailureKind::Exited, "the worker ended without its report".to_owned());
    };
    if let Some(failure) = &report.failure {
        return TrialOutcome::Failed(failure.clone());
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
    TrialOutcome::Finished
}

/// The last line that the worker or the engine printed, for a reader who wonders why it died.
pub(crate) fn last_words(log: &Path) -> String {
    const TAIL: usize = 300;
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        None => String::new(),
        Some(line) => format!("; it said: {}", line.chars().take(TAIL).collect::<String>()),
    }
}

/// A result for a trial that was not started.
pub fn not_run(planned: &PlannedTrial, setup: &Setup, request: TrialRequest, failure: Failure) -> TrialResult {
    let TrialRequest { experiment, workload } = request;
    let outcome = TrialOutcome::Failed(failure);
    let result = TrialResult::without_figures(planned.key.clone(), setup.facts(&planned.key), workload, outcome);
    TrialResult { experiment, started: Timestamp::now(), ..result }
}
