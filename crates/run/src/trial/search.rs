//! A trial that searches the highest rate at which its latencies keep a promise.
//!
//! The search is a sequence of slices. In the first parts of slices, which are no part of the measured one, rates are
//! tried: first as many operations as can be done, the capacity, then rates below it, each as long as a run takes. The
//! measured part is one slice at the highest rate that was kept, or at the least that was tried if none was. It may
//! break the promise: at the highest rate that is a matter of chance.

use std::time::Duration;

use kvdyno_model::LatencyPromise;
use kvdyno_results::{Pacing, RateProbe, RateSearch};
use kvdyno_worker::slices::{Slice, SliceMoment};
use kvdyno_worker::workloads::TrialEnd;

use super::bracket::{NextProbe, RateBracket, operations_needed};
use super::context::TrialContext;
use super::watching::{SLICE_TICK, TICK, Watching};
use crate::progress::Live;

/// The search that a trial is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchOrder {
    promise: LatencyPromise,
    warmup: Duration,
    /// The time of each rate.
    each: Duration,
}

impl SearchOrder {
    /// That of a trial; `None` if it searches nothing.
    pub(super) fn of(context: &TrialContext<'_>) -> Option<SearchOrder> {
        let parameters = &context.planned.workload.parameters;
        let (Some(promise), TrialEnd::After(each)) = (parameters.run.find_max_rate, parameters.end) else {
            return None;
        };
        Some(SearchOrder { promise, warmup: parameters.warmup, each })
    }
}

/// Conducts the search of a trial that has been started.
pub(super) struct RateSearcher<'b, 'a, 'l> {
    watching: &'b mut Watching<'a>,
    live: &'l mut dyn FnMut(&Live),
    order: SearchOrder,
}

impl<'b, 'a, 'l> RateSearcher<'b, 'a, 'l> {
    pub(super) fn new(watching: &'b mut Watching<'a>, order: SearchOrder, live: &'l mut dyn FnMut(&Live)) -> Self {
        RateSearcher { watching, live, order }
    }

    /// Searches, measures the rate that was found, and waits for the trial's end.
    pub(super) fn run(mut self) -> RateSearch {
        while !self.watching.is_ready() && !self.watching.is_leaving() {
            self.watching.step(SLICE_TICK, self.live);
        }
        let as_many = f64::INFINITY;
        // Before their first slice clients make what they need.
        self.slice(as_many, Duration::ZERO, Duration::ZERO);
        self.slice(as_many, self.order.warmup, Duration::ZERO);
        let least_per_s = operations_needed(&self.order.promise) / self.order.each.as_secs_f64();
        let tried = (self.order.each, Duration::ZERO);
        let mut bracket = RateBracket::new(least_per_s, self.probe(as_many, tried).reached_per_s);
        let mut probes = Vec::new();
        while let Some(next) = bracket.next().filter(|_| !self.watching.is_leaving()) {
            match next {
                NextProbe::Capacity => bracket.note_capacity(self.probe(as_many, tried).reached_per_s),
                NextProbe::Rate(per_s) => {
                    let probe = self.probe(per_s, tried);
                    bracket.note(per_s, probe.kept);
                    probes.push(probe);
                }
            }
            self.watching.set_slices_done(bracket.done());
        }
        let (capacity_per_s, highest_per_s) = (bracket.capacity(), bracket.highest());
        let measured = self.probe(highest_per_s.unwrap_or(least_per_s), (Duration::ZERO, self.order.each));
        let measured = highest_per_s.map(|_| measured);
        self.watching.end_slices();
        while !self.watching.step(TICK, self.live) {}
        RateSearch { promise: self.order.promise, capacity_per_s, least_per_s, highest_per_s, probes, measured }
    }

    /// Tries a rate, in a slice with these parts: the lead and the measured one.
    fn probe(&mut self, per_s: f64, (lead, length): (Duration, Duration)) -> RateProbe {
        let parameters = &self.watching.context.planned.workload.parameters;
        let before = self.watching.observer.probe_reading(parameters);
        self.slice(per_s, lead, length);
        let after = self.watching.observer.probe_reading(parameters);
        let work = self.watching.observer.probe_work(&before, &after);
        let seconds = self.order.each.as_secs_f64();
        let is_in_time = work.behind_s <= Pacing::allowed_s(seconds);
        let keeps = self.order.promise.is_kept(|latency| work.latency.promised(latency));
        RateProbe {
            per_s,
            reached_per_s: work.operations as f64 / seconds,
            seconds,
            latency: work.latency,
            behind_s: work.behind_s,
            kept: is_in_time && keeps && work.operations > 0,
        }
    }

    /// Lets the trial work at a rate for a slice, and waits for its end.
    fn slice(&mut self, per_s: f64, lead: Duration, length: Duration) {
        if self.watching.is_leaving() {
            return;
        }
        let slice = Slice { lead, length, is_duet: false, per_s: Some(per_s) };
        self.watching.prepare_slice();
        self.watching.begin_slice(slice, SliceMoment::now());
        while !self.watching.is_slice_over(SLICE_TICK) {
            self.watching.step(Duration::ZERO, self.live);
        }
        self.watching.end_slice(slice);
    }
}
