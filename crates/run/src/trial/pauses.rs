//! Pauses of everything: a suspended machine, and a parent that was stopped together with its workers. Only a
//! comparison of clocks tells of them, because nobody was there to see.

use std::time::Duration;

use kvdyno_results::Interference;
use kvdyno_worker::shared::WorkerState;
use rustix::time::{ClockId, clock_gettime};

use super::watching::{TICK, Watching};

/// By how much a look must come late for the parent to have stood still.
const LATE: Duration = Duration::from_millis(500);
/// From here on, the time that a machine was suspended is told.
const SUSPENDED: Duration = Duration::from_millis(100);
/// The time around a pause in which the worker may have worked unseen: before it, since the last look, and after it,
/// until the parent goes on, too. It is so long, or a quarter of the pause.
const AT_WORK_UNSEEN: Duration = Duration::from_millis(250);

/// Two clocks at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// Since some moment, without the time that the machine was suspended.
    awake: Duration,
    /// The time that it was suspended, since the same moment.
    suspended: Duration,
}

impl Clocks {
    pub(super) fn now() -> Clocks {
        let of = |clock| {
            let time = clock_gettime(clock);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        let awake = of(ClockId::Monotonic);
        Clocks { awake, suspended: of(ClockId::Boottime).saturating_sub(awake) }
    }
}

/// The pauses of a trial, as its parent sees them from look to look.
#[derive(Debug)]
pub(super) struct Pauses {
    before: Clocks,
    /// Operations at the last look; absent if it was not at work then.
    operations: Option<u64>,
    /// The most operations a second between two looks that were not late.
    highest_rate: f64,
    /// By how much looks into the slice under way came late.
    late_in_slice: Duration,
    /// The time for which everything stood still.
    stood_still: Duration,
    /// The time for which its processes, and not the parent, were stopped.
    stopped: Duration,
}

impl Pauses {
    pub(super) fn new(now: Clocks) -> Pauses {
        Pauses {
            before: now,
            operations: None,
            highest_rate: 0.0,
            late_in_slice: Duration::ZERO,
            stood_still: Duration::ZERO,
            stopped: Duration::ZERO,
        }
    }

    /// Notes a look at a trial in turns. Returns by how much it came late: for so long nobody looked whether the engine
    /// did anything.
    pub(super) fn look(&mut self, now: Clocks, operations: u64, is_at_work: bool) -> Duration {
        let (late, gap) = self.clocks(now);
        if let Some(before) = self.operations {
            let grown = operations.saturating_sub(before) as f64;
            match late.is_zero() {
                true if gap >= TICK / 2 => self.highest_rate = self.highest_rate.max(grown / gap.as_secs_f64()),
                true => {}
                // A parent that was stopped alone finds what its worker did meanwhile.
                false if grown <= self.highest_rate * AT_WORK_UNSEEN.max(late / 4).as_secs_f64() => {
                    self.stood_still += late
                }
                false => {}
            }
        }
        self.operations = is_at_work.then_some(operations);
        late
    }

    /// Notes a look into a slice. Returns by how much it came late.
    pub(super) fn look_into_slice(&mut self, now: Clocks) -> Duration {
        let (late, _) = self.clocks(now);
        self.late_in_slice += late;
        late
    }

    pub(super) fn begin_slice(&mut self, now: Clocks) {
        (self.before, self.late_in_slice) = (now, Duration::ZERO);
    }

    /// Notes the end of a slice that was over its time by so much, by its worker's clock. A worker whose parent alone
    /// was stopped ended it in time.
    pub(super) fn end_slice(&mut self, over: Duration) {
        let late = std::mem::take(&mut self.late_in_slice).min(over);
        if late >= LATE {
            self.stood_still += late;
        }
    }

    /// Notes that all processes of the trial were stopped since the last look, `time` ago.
    pub(super) fn were_stopped(&mut self, time: Duration) {
        self.stopped += time;
    }

    /// By how much this look comes late, and the time since the last one. Time in which the machine was suspended is
    /// noted.
    fn clocks(&mut self, now: Clocks) -> (Duration, Duration) {
        let before = std::mem::replace(&mut self.before, now);
        let gap = now.awake.saturating_sub(before.awake);
        let suspended = now.suspended.saturating_sub(before.suspended);
        if suspended >= SUSPENDED {
            self.stood_still += suspended;
        }
        (gap.checked_sub(TICK).filter(|late| *late >= LATE).unwrap_or_default(), gap)
    }

    /// The pauses of each kind together.
    pub(super) fn interference(&self) -> impl Iterator<Item = Interference> {
        let (stood_still, stopped) = (self.stood_still, self.stopped);
        let everything =
            (!stood_still.is_zero()).then_some(Interference::StoodStill { seconds: stood_still.as_secs_f64() });
        let processes = (stopped >= LATE).then_some(Interference::StoppedProcesses { seconds: stopped.as_secs_f64() });
        everything.into_iter().chain(processes)
    }
}

impl Watching<'_> {
    /// Holds the clocks against each other, and takes the operations so far. The time in which the parent itself stood
    /// still is no time in which nothing happened.
    pub(super) fn look_at_clocks(&mut self) {
        let counted = self.observer.warmup().operations().saturating_add(self.observer.measured().operations());
        self.counted = counted;
        let now = Clocks::now();
        let gap = now.awake.saturating_sub(self.pauses.before.awake);
        let state = self.observer.control().state();
        let is_at_work = matches!(state, WorkerState::Warming | WorkerState::Measuring);
        let late = match (&self.standing, self.stands_still()) {
            (None, _) => self.pauses.look(now, counted, is_at_work),
            (Some(_), false) => self.pauses.look_into_slice(now),
            (Some(_), true) => self.pauses.clocks(now).0,
        };
        let is_frozen = self.standing.as_ref().is_some_and(|standing| standing.frozen);
        if is_at_work && !is_frozen && !self.stands_still() && late.is_zero() && self.processes.are_stopped() {
            self.pauses.were_stopped(gap);
        }
        self.forgive(late);
    }

    /// Looks whether the parent stood still in the slice under way.
    pub(super) fn look_into_slice(&mut self) {
        let late = self.pauses.look_into_slice(Clocks::now());
        self.forgive(late);
    }

    fn forgive(&mut self, late: Duration) {
        self.begun += late;
        self.state.1 += late;
        self.last_change.1 += late;
        if let Some(standing) = &mut self.standing {
            standing.due += late;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Clocks {
        Clocks { awake: Duration::from_millis(ms), suspended: Duration::ZERO }
    }

    fn told(pauses: &Pauses) -> Vec<Interference> {
        pauses.interference().collect()
    }

    /// Looks in time at a trial that does an operation a millisecond, until 500 ms.
    fn at_work() -> Pauses {
        let mut pauses = Pauses::new(at(0));
        for ms in (100..=500).step_by(100) {
            assert_eq!(pauses.look(at(ms), ms, true), Duration::ZERO);
        }
        pauses
    }

    #[test]
    fn a_pause_of_everything_is_told() {
        let mut pauses = at_work();
        assert_eq!(pauses.look(at(4600), 580, true), Duration::from_secs(4));
        assert_eq!(told(&pauses), [Interference::StoodStill { seconds: 4.0 }]);
        pauses.look(at(4700), 680, true);
        assert_eq!(told(&pauses), [Interference::StoodStill { seconds: 4.0 }]);
    }

    /// The worker was through when the parent looked again.
    #[test]
    fn a_pause_before_the_end_is_told() {
        let mut pauses = at_work();
        pauses.look(at(1700), 620, false);
        assert_eq!(told(&pauses), [Interference::StoodStill { seconds: 1.1 }]);
    }

    #[test]
    fn a_parent_that_was_stopped_alone_pauses_nobody() {
        let mut pauses = at_work();
        assert_eq!(pauses.look(at(4600), 4600, true), Duration::from_secs(4), "it cannot tell of a hang");
        assert_eq!(told(&pauses), []);
    }

    #[test]
    fn what_happens_to_a_worker_that_is_not_at_work_is_in_no_figure() {
        let mut pauses = Pauses::new(at(0));
        pauses.look(at(100), 0, false);
        assert_eq!(pauses.look(at(5200), 0, true), Duration::from_secs(5));
        assert_eq!(told(&pauses), []);
    }

    #[test]
    fn a_look_that_comes_a_little_late_is_nothing() {
        let mut pauses = at_work();
        assert_eq!(pauses.look(at(1099), 500, true), Duration::ZERO);
        assert_eq!(told(&pauses), []);
    }

    #[test]
    fn a_suspended_machine_is_told_by_the_clock_that_went_on() {
        let mut pauses = at_work();
        pauses.look(Clocks { suspended: Duration::from_secs(30), ..at(600) }, 600, true);
        assert_eq!(told(&pauses), [Interference::StoodStill { seconds: 30.0 }]);
    }

    #[test]
    fn a_slice_that_was_longer_than_the_parent_saw_had_a_pause() {
        let slice = |parent_ms: u64, over_ms: u64| {
            let mut pauses = Pauses::new(at(0));
            pauses.begin_slice(at(1000));
            pauses.look_into_slice(at(1010));
            pauses.look_into_slice(at(1010 + parent_ms));
            pauses.end_slice(Duration::from_millis(over_ms));
            told(&pauses)
        };
        assert_eq!(slice(4100, 3950), [Interference::StoodStill { seconds: 3.95 }]);
        assert_eq!(slice(4100, 3), [], "the parent alone was stopped");
        assert_eq!(slice(10, 3950), [], "an operation took so long");
    }

    #[test]
    fn processes_that_somebody_stopped_are_told() {
        let mut pauses = at_work();
        (0..4).for_each(|_| pauses.were_stopped(TICK));
        assert_eq!(told(&pauses), []);
        pauses.were_stopped(TICK);
        assert_eq!(told(&pauses), [Interference::StoppedProcesses { seconds: 0.5 }]);
    }
}
