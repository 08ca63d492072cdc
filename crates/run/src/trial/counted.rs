//! The counts of a trial from shared memory at its end, taken once, after the check that they are possible.

use std::sync::atomic::Ordering;

use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{AnswerCounts, CpuAccount, DesignFacts, Operations, Phase, RoleOperations};
use kvdyno_worker::shared::{COUNTERS, SharedMemory};
use kvdyno_worker::{ClientTimes, KnownContents, Observer, TrialClock, WorkerReport};

use super::context::TrialContext;
use super::slice_cpu::SliceCpu;
use super::watching::Watched;

/// The counts of a trial; none if they cannot be true.
pub(super) struct Counted {
    /// Why they cannot.
    pub(super) implausible: Option<String>,
    pub(super) operations: Vec<Operations>,
    /// Operations of the clients of each role.
    pub(super) of_roles: Vec<RoleOperations>,
    pub(super) answers: AnswerCounts,
    pub(super) counters: Vec<[u64; COUNTERS]>,
    pub(super) user_bytes: u64,
    /// Absent where records have no known size.
    pub(super) user_bytes_read: Option<u64>,
    /// A write failed for want of space.
    pub(super) no_space: bool,
    /// The contents of the database now.
    pub(super) contents: KnownContents,
    pub(super) histograms: LatencyLog,
    /// Slices of its measured part, and the times of its clients in their counted parts.
    slices: (u64, ClientTimes),
    /// The times of its clients in the measured part; in slices their first parts are included.
    pub(super) times: ClientTimes,
}

impl Counted {
    fn nothing(context: &TrialContext<'_>) -> Counted {
        Counted {
            implausible: None,
            operations: Vec::new(),
            of_roles: Vec::new(),
            answers: AnswerCounts::default(),
            counters: Vec::new(),
            user_bytes: 0,
            user_bytes_read: None,
            no_space: false,
            contents: context.contents,
            histograms: LatencyLog::new(),
            slices: Default::default(),
            times: ClientTimes::default(),
        }
    }

    pub(super) fn read(
        context: &TrialContext<'_>,
        shared: &SharedMemory,
        clock: &TrialClock,
        watched: &Watched,
        report: Option<&WorkerReport>,
    ) -> Counted {
        let (observer, workload) = (Observer::new(shared), &context.planned.workload);
        let is_over = watched.termination.is_none()
            && watched.culprit.is_none()
            && report.is_some_and(|report| report.failure.is_none());
        let implausible = observer.implausible(workload, clock, context.contents, is_over);
        let implausible =
            implausible.or_else(|| is_over.then(|| implausible_end(context, &observer, watched, report))?);
        if implausible.is_some() {
            return Counted { implausible, ..Counted::nothing(context) };
        }
        Counted {
            implausible: None,
            operations: observer.operations(&workload.parameters),
            of_roles: observer.of_roles(&workload.parameters),
            answers: observer.answers(),
            counters: observer.counters(),
            user_bytes: observer.user_bytes(),
            user_bytes_read: workload.record_bytes().map(|bytes| observer.records_read().saturating_mul(bytes)),
            no_space: observer.control().no_space.load(Ordering::SeqCst) == 1,
            contents: observer.contents(workload, context.contents),
            histograms: observer.histograms().into_iter().collect(),
            slices: (observer.slices(), observer.counted_times()),
            times: observer.measured_times(),
        }
    }

    /// The facts of its design with what was counted; none for a load that had the machine to itself.
    pub(super) fn completed(
        &self,
        context: &TrialContext<'_>,
        cpu: Option<&SliceCpu>,
        facts: DesignFacts,
    ) -> Option<DesignFacts> {
        let (slices, times) = self.slices;
        let cpu = cpu.filter(|cpu| self.implausible.is_none() && cpu.duets.operations > 0);
        let (duet, duet_slices) = (cpu.map(|cpu| cpu.duets), cpu.map(|cpu| cpu.duet_slices.clone()));
        let duet_slices = duet_slices.unwrap_or_default();
        let facts = DesignFacts { slices, slept: times.slept(), duet, duet_slices, ..facts };
        (context.planned.key.phase == Phase::Run || context.shares_machine).then_some(facts)
    }

    /// The CPU time of everything in the trial's group in its measured part, where the worker itself read the account.
    /// Absent where that is too short for an account that lags behind.
    pub(super) fn cpu_without_slices(&self, report: &WorkerReport) -> Option<CpuAccount> {
        let is_long = report.window.as_ref().is_some_and(|window| window.seconds >= LEAST_COARSE_S);
        let cpu_s = report.group_cpu_s.filter(|_| is_long && self.implausible.is_none())?;
        let operations = self.operations.iter().map(|of_kind| of_kind.operations).fold(0, u64::saturating_add);
        Some(CpuAccount { operations, cpu_s, client_cpu_s: self.times.cpu_ns as f64 / 1e9 })
    }

    /// The times of its clients in what its [`Window`](kvdyno_results::Window) counts: without the first parts of
    /// slices.
    pub(super) fn window_times(&self) -> ClientTimes {
        match self.slices {
            (0, _) => self.times,
            (_, times) => times,
        }
    }
}

/// The shortest measured part of which the account of a group that works is read, seconds.
const LEAST_COARSE_S: f64 = 1.0;

/// Tolerated fraction by which a trial may be over early: the worker knows its clock's rate only roughly when it
/// begins.
const RATE_TOLERANCE: f64 = 0.05;

/// Why a trial that says that all went well cannot have.
fn implausible_end(
    context: &TrialContext<'_>,
    observer: &Observer<'_>,
    watched: &Watched,
    report: Option<&WorkerReport>,
) -> Option<String> {
    let wall_s = watched.account.os.wall_s;
    let goes_on = context.planned.key.phase == Phase::Load && !context.create;
    let answers = observer.answers();
    if answers.right == 0 && answers.failures() == 0 && !goes_on {
        return Some("it finished without a failure, but with 0 operations and 0 answers".to_owned());
    }
    let window_s = report.and_then(|report| report.window.as_ref()).map_or(0.0, |window| window.seconds);
    if !(0.0..=wall_s).contains(&window_s) {
        return Some(format!("its measured part took {window_s} s, but the whole trial {wall_s:.3} s"));
    }
    let planned = context.planned.planned_time()?.as_secs_f64();
    let early = answers.errors == 0 && wall_s < planned * (1.0 - RATE_TOLERANCE);
    early.then(|| format!("it ended after {wall_s:.3} s instead of {planned:.3} s"))
}
