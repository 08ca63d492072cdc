//! When operations are due, by a schedule that knows nothing of the engine.

use std::f64::consts::TAU;

use kvdyno_dataset::Stream;
use kvdyno_model::{Arrival, ArrivalKind};

/// The part of each period in which a burst comes.
const BURST: f64 = 0.25;
/// Amplitude of a sine, as a fraction of the mean rate.
const SWING: f64 = 0.5;
/// Moments that are closer than this count as the same, nanoseconds; or, in long periods, closer than this fraction of
/// the period: 45 times the precision of an f64.
const SAME_NS: f64 = 1e-3;
const SAME_OF_PERIOD: f64 = 1e-14;

/// The schedule of one client.
///
/// It is a point process of rate 1 whose time is changed: the moment of an operation is the one at which the expected
/// number of operations reaches the operation's level (Çinlar, "Introduction to stochastic processes", 1975, section
/// 4.7). Levels are 1 apart, or, for `poisson`, exponential with mean 1.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    arrival: ArrivalKind,
    /// Of bursts and of the sine, nanoseconds.
    period_ns: f64,
    /// The mean interval between operations, nanoseconds.
    interval_ns: f64,
    stream: Stream,
    /// The part of an interval before the first operation.
    offset: f64,
    /// The expected number of operations until the next one.
    level: f64,
    /// When the next operation is due, nanoseconds.
    due_ns: f64,
}

impl Schedule {
    /// An operation each `interval_ns` in the mean, the first `offset` of an interval after the others' first.
    pub(crate) fn new(arrival: Arrival, interval_ns: f64, offset: f64, stream: Stream) -> Self {
        let period_ns = arrival.period().map_or(f64::INFINITY, |period| period.as_secs_f64() * 1e9);
        let arrival = arrival.kind();
        let mut schedule = Schedule { arrival, period_ns, interval_ns, stream, offset, level: 0.0, due_ns: 0.0 };
        schedule.begin_anew(interval_ns);
        schedule
    }

    /// Begins again with another interval.
    pub(crate) fn begin_anew(&mut self, interval_ns: f64) {
        self.interval_ns = interval_ns;
        self.level = if self.arrival == ArrivalKind::Poisson { self.step() } else { self.offset };
        self.due_ns = self.moment_of(self.level);
    }

    /// When the next operation is due, nanoseconds since the schedule began.
    #[inline]
    pub(crate) fn due_ns(&self) -> f64 {
        self.due_ns
    }

    /// Goes on to the operation after that.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.level += self.step();
        self.due_ns = self.moment_of(self.level);
    }

    /// Drops what is due before a moment.
    pub(crate) fn skip_to(&mut self, ns: f64) {
        let reached = self.level_at(ns);
        if self.level >= reached {
            return;
        }
        match self.arrival {
            // It does not remember when the last operation came.
            ArrivalKind::Poisson => self.level = reached + self.step(),
            _ => self.level += (reached - self.level).ceil(),
        }
        self.due_ns = self.moment_of(self.level);
    }

    /// From one level to the next.
    #[inline]
    fn step(&mut self) -> f64 {
        match self.arrival {
            // 53 bits give the numbers from 0 up to 1 that an f64 can distinguish, 1 excluded: the logarithm is never
            // that of 0.
            ArrivalKind::Poisson => -(1.0 - (self.stream.bits() >> 11) as f64 / (1u64 << 53) as f64).ln(),
            _ => 1.0,
        }
    }

    /// The expected number of operations until a moment.
    fn level_at(&self, ns: f64) -> f64 {
        let even_ns = match self.arrival {
            ArrivalKind::Fixed | ArrivalKind::Poisson => ns,
            ArrivalKind::Bursty => self.in_each_period(ns, |within| (within / BURST).min(self.period_ns)),
            ArrivalKind::Sine => self.in_each_period(ns, |within| sine_integral(within, self.period_ns)),
        };
        even_ns / self.interval_ns
    }

    /// The moment at which the expected number of operations is `level`.
    #[inline]
    fn moment_of(&self, level: f64) -> f64 {
        let even_ns = level * self.interval_ns;
        match self.arrival {
            ArrivalKind::Fixed | ArrivalKind::Poisson => even_ns,
            ArrivalKind::Bursty => self.in_each_period(even_ns, |within| within * BURST),
            ArrivalKind::Sine => self.in_each_period(even_ns, |within| sine_moment(within, self.period_ns)),
        }
    }

    /// Changes a time within its period, and leaves the whole periods before it as they are; nanoseconds.
    #[inline]
    fn in_each_period(&self, ns: f64, change: impl FnOnce(f64) -> f64) -> f64 {
        let before = (ns / self.period_ns).trunc() * self.period_ns;
        before + change(ns - before)
    }
}

/// The longest wait of one client whose mean interval between operations is `interval_s`, seconds.
pub(crate) fn longest_pause_s(arrival: Arrival, interval_s: f64) -> f64 {
    match arrival {
        Arrival::Fixed => interval_s,
        // One in e^50 is longer.
        Arrival::Poisson => 50.0 * interval_s,
        Arrival::Bursty(period) => interval_s + (1.0 - BURST) * period.get().as_secs_f64(),
        Arrival::Sine(_) => interval_s / (1.0 - SWING),
    }
}

/// The integral of 1 + swing · sin over the first `ns` of a period.
fn sine_integral(ns: f64, period_ns: f64) -> f64 {
    ns + SWING * period_ns / TAU * (1.0 - (TAU * ns / period_ns).cos())
}

/// The moment within a period at which that integral is `level_ns`: by Newton's method, within a bracket. The
/// derivative is between 1 - swing and 1 + swing.
fn sine_moment(level_ns: f64, period_ns: f64) -> f64 {
    let (mut low, mut high, mut moment) = (0.0, period_ns, level_ns);
    for _ in 0..64 {
        let beyond = sine_integral(moment, period_ns) - level_ns;
        if beyond.abs() < SAME_NS.max(SAME_OF_PERIOD * period_ns) {
            break;
        }
        if beyond > 0.0 {
            high = moment
        } else {
            low = moment
        }
        let next = moment - beyond / (1.0 + SWING * (TAU * moment / period_ns).sin());
        moment = if (low..=high).contains(&next) { next } else { (low + high) / 2.0 };
    }
    moment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_choice::fits;
    use kvdyno_model::TimeSpan;

    fn bursty(period_s: u32) -> Arrival {
        Arrival::Bursty(TimeSpan::seconds(period_s.into()))
    }

    fn sine(period_s: u32) -> Arrival {
        Arrival::Sine(TimeSpan::seconds(period_s.into()))
    }

    fn schedule(arrival: Arrival, per_s: f64) -> Schedule {
        Schedule::new(arrival, 1e9 / per_s, 0.0, Stream::new(7))
    }

    fn arrivals() -> impl Iterator<Item = Arrival> {
        ArrivalKind::ALL.iter().map(|kind| Arrival::of(*kind))
    }

    fn moments(arrival: Arrival, per_s: f64, count: usize) -> Vec<f64> {
        let mut schedule = schedule(arrival, per_s);
        let next = || {
            let due = schedule.due_ns();
            schedule.advance();
            due
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn every_arrival_has_the_mean_rate() {
        for arrival in arrivals() {
            let moments = moments(arrival, 1000.0, 100_001);
            assert!(moments.is_sorted(), "{arrival}");
            let per_s = 1e5 / (moments[100_000] - moments[0]) * 1e9;
            // The relative standard deviation of a Poisson count of 100,000 is one in the root of 100,000: 0.3 %.
            assert!((per_s / 1000.0 - 1.0).abs() < 0.01, "{arrival}: {per_s}");
        }
    }

    #[test]
    fn fixed_operations_are_one_interval_from_each_other_and_clients_between_each_other() {
        assert_eq!(moments(Arrival::Fixed, 1000.0, 3), [0.0, 1e6, 2e6]);
        let second = Schedule::new(Arrival::Fixed, 1e6, 0.5, Stream::new(1));
        assert_eq!(second.due_ns(), 5e5);
    }

    /// By chi-squared with 50 classes as likely: the seed is fixed, so it holds always or never.
    #[test]
    fn times_between_operations_of_poisson_are_exponential_and_independent() {
        const CLASSES: usize = 50;
        let moments = moments(Arrival::Poisson, 1000.0, 100_001);
        let quantiles: Vec<f64> = moments.windows(2).map(|pair| 1.0 - (-(pair[1] - pair[0]) / 1e6).exp()).collect();
        let class = |quantile: f64| ((quantile * CLASSES as f64) as usize).min(CLASSES - 1);
        let mut counts = vec![0; CLASSES];
        quantiles.iter().for_each(|&quantile| counts[class(quantile)] += 1);
        assert!(fits(&counts, &[1.0; CLASSES]), "{counts:?}");
        // Each time beside the one after it, in a square of 7 by 7.
        let mut pairs = vec![0; 49];
        for pair in quantiles.chunks_exact(2) {
            pairs[(pair[0] * 7.0) as usize * 7 + (pair[1] * 7.0) as usize] += 1;
        }
        assert!(fits(&pairs, &[1.0; 49]), "{pairs:?}");
    }

    /// Four times the rate in the first quarter of each period, and nothing after that.
    #[test]
    fn bursts_have_all_operations_in_the_first_quarter() {
        for period_s in [1u32, 50] {
            let moments = moments(bursty(period_s), 1000.0 / f64::from(period_s), 5000);
            let period_ns = f64::from(period_s) * 1e9;
            for (nth, burst) in (0u32..).zip(moments.chunks(1000)) {
                let from = f64::from(nth) * period_ns;
                assert!(burst.iter().all(|moment| (from..from + period_ns / 4.0).contains(moment)), "{nth}");
                assert!((burst[500] - from - period_ns / 8.0).abs() < 1.0);
            }
        }
    }

    /// The count until each moment is the integral of the rate, worked out by hand at the quarters of a period:
    /// 1/4 + 1/(4 pi), 1/2 + 1/(2 pi), 3/4 + 1/(4 pi), 1.
    #[test]
    fn a_sine_has_as_many_operations_as_its_integral() {
        for period_s in [1u32, 60, 86_400] {
            let moments = moments(sine(period_s), 100_000.0 / f64::from(period_s), 200_001);
            let period_ns = f64::from(period_s) * 1e9;
            let count = |until: f64| moments.iter().filter(|moment| **moment < until - 0.5).count() as f64;
            for (quarter, share) in
                [(1.0, 0.25 + 0.5 / TAU), (2.0, 0.5 + 1.0 / TAU), (3.0, 0.75 + 0.5 / TAU), (4.0, 1.0)]
            {
                for nth in 0..2 {
                    let expected = 1e5 * (f64::from(nth) + share);
                    let counted = count(period_ns * (f64::from(nth) + quarter / 4.0));
                    assert!((counted - expected).abs() <= 1.0, "{period_s} s, {quarter} of {nth}: {counted}");
                }
            }
        }
    }

    /// Newton's method ends by its precision, not by its limit of steps.
    #[test]
    fn moments_of_a_sine_are_right_in_periods_of_any_length() {
        for period_ns in [1e6, 1e9, 8.64e13, 8.64e16] {
            for part in 0..1000 {
                let level_ns = period_ns * f64::from(part) / 1000.0;
                let beyond = sine_integral(sine_moment(level_ns, period_ns), period_ns) - level_ns;
                assert!(beyond.abs() < 1e-3 + 1e-14 * period_ns, "{part} of {period_ns}: {beyond}");
            }
        }
    }

    /// No pause is longer than is told, and the longest is not much shorter.
    #[test]
    fn the_longest_pause_is_that_of_the_schedule() {
        for arrival in [Arrival::Fixed, bursty(1), bursty(60), sine(1), sine(60)] {
            for per_s in [0.3, 2.0, 100.0] {
                let moments = moments(arrival, per_s, 30_000);
                let longest = moments.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max) / 1e9;
                let told = longest_pause_s(arrival, 1.0 / per_s);
                assert!(longest < told + 1e-6 && longest > told / 3.0, "{arrival}, {per_s}/s: {longest} of {told}");
            }
        }
    }

    #[test]
    fn what_is_skipped_is_what_was_due_before_and_nothing_else() {
        for arrival in arrivals().chain([bursty(60), sine(60)]) {
            let mut skipped = schedule(arrival, 1000.0);
            skipped.skip_to(1.2e9);
            assert!(skipped.due_ns() >= 1.2e9 - 1.0, "{arrival}: {}", skipped.due_ns());
            if arrival != Arrival::Poisson {
                let next = moments(arrival, 1000.0, 5000).into_iter().find(|moment| *moment >= 1.2e9 - 1.0).unwrap();
                assert!((skipped.due_ns() - next).abs() < 1.0, "{arrival}: {} and {next}", skipped.due_ns());
            }
            let due = skipped.due_ns();
            skipped.skip_to(0.0);
            assert_eq!(skipped.due_ns(), due, "{arrival}");
        }
    }
}
