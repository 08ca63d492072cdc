//! A trial in slices, from the parent's side: ordering one, telling its end, and freezing its processes meanwhile.

use std::time::{Duration, Instant};

use kvdyno_environment::storage::pages::dirty_bytes;
use kvdyno_worker::shared::WorkerState;
use kvdyno_worker::slices::{Slice, SliceMoment};

use super::lab_error::Attempt;
use super::pauses::Clocks;
use super::watching::{Termination, Watching};

/// By how much a slice may be over its time longer than a worker may hang.
const PATIENCE_MARGIN: Duration = Duration::from_secs(1);

impl Watching<'_> {
    /// Whether it gets no more orders: it has ended, or is to end.
    pub(super) fn is_leaving(&self) -> bool {
        self.account.is_some() || self.termination.is_some() || self.interrupted.is_some()
    }

    /// Whether its clients wait for their first slice.
    pub(super) fn is_ready(&self) -> bool {
        self.is_in_slices()
    }

    /// Whether it changes its database.
    pub(super) fn writes(&self) -> bool {
        self.context.planned.workload.writes_records()
    }

    fn is_in_slices(&self) -> bool {
        matches!(self.observer.control().state(), WorkerState::Warming | WorkerState::Measuring)
    }

    /// Whether it stands between two slices.
    pub(super) fn stands_still(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.since.is_some()) && self.is_in_slices()
    }

    /// Time that it has stood still so far.
    pub(super) fn stood_still(&self) -> Duration {
        let standing = self.standing.as_ref();
        standing.map_or(Duration::ZERO, |one| one.before + one.since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    /// Thaws it before a slice.
    pub(super) fn prepare_slice(&mut self) {
        self.freeze(false);
        self.let_go();
    }

    /// Lets it work for a slice from a moment on.
    pub(super) fn begin_slice(&mut self, slice: Slice, moment: SliceMoment) {
        if let Some(standing) = &mut self.standing {
            standing.due = Instant::now() + slice.lead + slice.length;
        }
        self.counted_before_s = self.observer.counted_s();
        self.pauses.begin_slice(Clocks::now());
        self.lab_cpu.begin();
        self.observer.control().slices.order(slice, moment);
    }

    /// Whether its slice is over, or need not be waited for; waits for at most `time`.
    pub(super) fn is_slice_over(&mut self, time: Duration) -> bool {
        let clients = self.context.planned.workload.roles().len() as u32;
        if self.is_leaving() {
            return true;
        }
        let is_over = self.observer.control().slices.wait_ended(clients, time);
        self.look_into_slice();
        if is_over {
            return true;
        }
        let patience =
            self.context.lab.hang_timeout.0.saturating_add(self.context.planned.workload.parameters.longest_pause());
        let over = self.standing.as_ref().map_or(Duration::ZERO, |standing| standing.due.elapsed());
        // A worker in which nothing happens is reported as hung, a little earlier.
        if over > patience + PATIENCE_MARGIN {
            self.terminate(Termination::Overdue(self.observer.control().state(), over));
        }
        self.is_leaving()
    }

    /// Notes the end of its slice.
    pub(super) fn end_slice(&mut self, slice: Slice) {
        if let Some(standing) = &mut self.standing {
            standing.since = Some(Instant::now());
        }
        if self.is_leaving() || slice.length.is_zero() {
            return;
        }
        if !slice.is_duet {
            self.lab_cpu.look();
            let counted_s = (self.observer.counted_s() - self.counted_before_s).max(0.0);
            let counted = Duration::try_from_secs_f64(counted_s).unwrap_or_default();
            self.pauses.end_slice(counted.saturating_sub(slice.length));
            self.row();
        }
    }

    /// Waits until it stands still after a slice, and notes the CPU time of everything in it.
    pub(super) fn until_frozen(&mut self, slice: Slice) {
        if self.is_leaving() {
            return;
        }
        let frozen = match (self.bounds.freezer(), &mut self.standing) {
            (Some(group), Some(standing)) => group.until_frozen().and_then(|()| match &mut standing.cpu {
                Some(cpu) => cpu.note(slice, &self.observer),
                None => Ok(()),
            }),
            _ => Ok(()),
        };
        if let Err(error) = frozen.on("freeze the processes of", self.context.folder) {
            self.terminate(Termination::Lab(error));
        }
    }

    /// Notes what of its database was not on the storage yet when it was frozen.
    pub(super) fn note_dirty(&mut self) {
        if !self.writes() || self.is_leaving() {
            return;
        }
        // An unknown amount stays absent; the trial itself does not need it.
        if let (Some(standing), Ok(Some(bytes))) = (&mut self.standing, dirty_bytes(&self.context.database)) {
            standing.note_dirty(bytes);
        }
    }

    /// The same at the end of the measured part of a trial without slices.
    pub(super) fn note_dirty_at_end(&mut self) {
        if self.writes() && self.standing.is_none() {
            let dirty = dirty_bytes(&self.context.database).ok().flatten();
            self.dirty_at_end_kib = dirty.map(|bytes| bytes >> 10);
        }
    }

    /// Says that no slice comes any more.
    pub(super) fn end_slices(&mut self) {
        self.observer.control().slices.finish();
        self.freeze(false);
        self.let_go();
    }

    /// It does not stand still any more.
    pub(super) fn let_go(&mut self) {
        if let Some(standing) = &mut self.standing
            && let Some(since) = standing.since.take()
        {
            standing.before += since.elapsed();
        }
    }

    /// Orders its processes to freeze, or thaws them: by their control group if possible, else by signals, which do not
    /// reach their children.
    pub(super) fn freeze(&mut self, frozen: bool) {
        let Some(standing) = &mut self.standing else { return };
        if standing.frozen == frozen {
            return;
        }
        standing.frozen = frozen;
        let told = match self.bounds.freezer() {
            Some(group) => group.freeze(frozen),
            None => self.processes.stand_still(frozen),
        };
        let what = if frozen { "freeze the processes of" } else { "thaw the processes of" };
        if let Err(error) = told.on(what, self.context.folder) {
            self.terminate(Termination::Lab(error));
        }
    }
}
