//! How long a worker may take, in each of its states and altogether.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kvdyno_results::Phase;
use kvdyno_worker::shared::WorkerState;
use kvdyno_worker::workloads::TrialEnd;

use super::watching::{Termination, Watching};

impl Watching<'_> {
    /// Whether the worker takes longer than it may, by this process's own clock. Shared memory is believed in one
    /// direction only. A state that was left does not come back, so each state is over in its time, and the trial with
    /// the last. Operations count as progress only while they grow and `Observer::implausible` has no objection, such
    /// as more operations than were ordered or than there were ticks for.
    pub(super) fn out_of_time(&mut self) -> Option<Termination> {
        let (now, state) = (Instant::now(), self.observer.control().state());
        let workload = &self.context.planned.workload;
        if let Some(number) = self.observer.control().unknown_state() {
            return Some(Termination::Implausible(format!(
                "what lies in the trial's shared memory cannot be true: the worker's state is {number}"
            )));
        }
        if state < self.state.0 {
            let (from, to) = (self.state.0.word(), state.word());
            return Some(Termination::Implausible(format!(
                "what lies in the trial's shared memory cannot be true: its worker went back from {from} to {to}"
            )));
        }
        if state > self.state.0 {
            if self.state.0 <= WorkerState::Measuring && state > WorkerState::Measuring {
                if let Some(Ok(profiler)) = &mut self.profiler {
                    profiler.stop();
                }
                self.note_dirty_at_end();
            }
            self.state = (state, now);
            self.last_change.1 = now;
        }
        let audited = self.observer.control().audited.load(Ordering::Relaxed);
        if audited > workload.records_audited() {
            return Some(Termination::Implausible(format!(
                "what lies in the trial's shared memory cannot be true: {audited} records were read back"
            )));
        }
        let filled = self.observer.control().filled.load(Ordering::Relaxed);
        let operations = self.counted.saturating_add(audited).saturating_add(filled);
        if operations > self.last_change.0 || self.stands_still() {
            self.last_change = (operations, now);
        }
        let lab = self.context.lab;
        let (still, since, patience) = (now - self.last_change.1, now - self.state.1, self.patience(state));
        if still > patience {
            return Some(Termination::Hung(state, still));
        }
        if let Some(over) =
            self.length(state).and_then(|length| since.checked_sub(length)).filter(|over| *over > patience)
        {
            return Some(Termination::Overdue(state, over));
        }
        let at_work = (now - self.begun).saturating_sub(self.stood_still());
        lab.trial_timeout.filter(|longest| at_work > longest.0).map(Termination::TooLong)
    }

    /// The ordered duration of a state; `None` if none is ordered.
    fn length(&self, state: WorkerState) -> Option<Duration> {
        let (workload, phase) = (&self.context.planned.workload, self.context.planned.key.phase);
        match (state, workload.parameters.end) {
            (WorkerState::Warming, _) if self.standing.is_none() => Some(workload.parameters.warmup),
            (WorkerState::Measuring, TrialEnd::After(duration)) if phase == Phase::Run && self.standing.is_none() => {
                Some(duration)
            }
            (WorkerState::Filling | WorkerState::Warming | WorkerState::Measuring | WorkerState::Auditing, _) => None,
            // No operation is counted in these: what is counted all the same does not lengthen them.
            _ => Some(Duration::ZERO),
        }
    }

    /// The time without progress after which a worker in this state hangs.
    fn patience(&self, state: WorkerState) -> Duration {
        let lab = self.context.lab;
        match state {
            WorkerState::Opening | WorkerState::Settling | WorkerState::Finishing | WorkerState::Closing => {
                lab.close_timeout.0
            }
            _ => lab.hang_timeout.0.saturating_add(self.context.planned.workload.parameters.longest_pause()),
        }
    }
}
