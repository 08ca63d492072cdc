//! The pacer on a clock that the tests set: its costs and the times that it leads to, compared with calculated values.

use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_dataset::Stream;
use kvdyno_model::Arrival;
use kvdyno_results::Pacing;

use super::pacer::Pacer;
use super::schedule::Schedule;
use crate::clock::Clock;
use crate::histogram::{BUCKETS, in_nanoseconds};
use crate::shared::{OpStats, PacingStats, SharedMemory};

/// A clock of nanoseconds that stands still but for what is done with it. A reading takes none of its time.
#[derive(Clone, Copy)]
struct VirtualClock<'a> {
    now: &'a AtomicU64,
    /// The time that each sleep lasts too long.
    overslept_ns: u64,
    /// The time that a moment of waiting takes.
    relax_ns: u64,
}

impl VirtualClock<'_> {
    fn pass(&self, ns: u64) {
        self.now.store(self.now.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock<'_> {
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn sleep(&self, ns: u64) {
        self.pass(ns + self.overslept_ns);
    }

    fn relax(&self) {
        self.pass(self.relax_ns);
    }
}

/// Runs a client that waits for `operations` operations, `per_s` a second. `service` gives the duration of an operation
/// from the moment at which it begins; `seen` receives when each was due and when it began. Returns the time that all
/// operations took, nanoseconds.
fn open_loop(
    arrival: Arrival,
    per_s: f64,
    operations: u64,
    ops: &OpStats,
    overslept_ns: u64,
    mut service: impl FnMut(u64) -> u64,
    mut seen: impl FnMut(u64, u64),
) -> u64 {
    let now = AtomicU64::new(1_000_000);
    let clock = VirtualClock { now: &now, overslept_ns, relax_ns: 500 };
    let until = AtomicU64::new(u64::MAX);
    let mut pacer = Pacer::new(Schedule::new(arrival, 1e9 / per_s, 0.0, Stream::new(11)), 1e9 / per_s, 1.0);
    pacer.resume(clock);
    let begun = clock.now();
    for _ in 0..operations {
        let due = pacer.wait(clock, &until, &ops.pacing).unwrap();
        let start = clock.now();
        clock.pass(service(start - begun));
        ops.latency.record(clock.now() - due);
        seen(due, start);
    }
    pacer.pause(clock, &ops.pacing);
    clock.now() - begun
}

fn word(word: &AtomicU64) -> f64 {
    word.load(Ordering::Relaxed) as f64
}

/// The mean waiting of `operations` at a load of a server whose mean service takes 1 ms, over that 1 ms; and the load
/// that the server accounts.
fn mean_waiting(load: f64, operations: u64, mut service: impl FnMut(&mut Stream) -> u64) -> (f64, f64) {
    let shared = SharedMemory::create(1).unwrap();
    let (mut stream, mut busy, mut waited) = (Stream::new(3), 0.0, 0.0);
    let ops = &shared.client_stats()[0].measured[0];
    let serve = |_| {
        let ns = service(&mut stream);
        busy += ns as f64;
        ns
    };
    let took = open_loop(Arrival::Poisson, 1000.0 * load, operations, ops, 5_000, serve, |due, start| {
        waited += (start - due) as f64;
    });
    (waited / operations as f64 / 1e6, busy / took as f64)
}

fn exponential_ms(stream: &mut Stream) -> u64 {
    (-1e6 * (1.0 - (stream.bits() >> 11) as f64 / (1u64 << 53) as f64).ln()) as u64
}

/// The mean waiting in a queue with one server is r (1 + c²) / (2 (1 - r)) services, where r is the load and c the
/// coefficient of variation of the service: Pollaczek and Khinchine (Kleinrock, "Queueing systems", volume 1, 1975,
/// section 5.6). With a fixed service c is 0 (M/D/1), with an exponential one 1 (M/M/1).
#[test]
fn waiting_at_a_load_agrees_with_the_formula_of_queues() {
    // The higher the load, the longer a queue remembers.
    for (load, operations) in [(0.5, 1_000_000), (0.8, 4_000_000), (0.95, 24_000_000)] {
        for (queue, variation, (waiting, accounted)) in [
            ("M/D/1", 0.0, mean_waiting(load, operations, |_| 1_000_000)),
            ("M/M/1", 1.0, mean_waiting(load, operations, exponential_ms)),
        ] {
            assert!((accounted / load - 1.0).abs() < 0.01, "{queue} at {load}: {accounted}");
            let expected = accounted * (1.0 + variation) / (2.0 * (1.0 - accounted));
            assert!((waiting / expected - 1.0).abs() < 0.05, "{queue} at {load}: {waiting}, not {expected}");
        }
    }
}

/// 1000 operations a second of 0.1 ms, and the engine stands still for the first 100 ms of every 2 s. The operation due
/// j ms into the stall ends at 100 + 0.1 (j + 1) ms, so it takes 100.1 - 0.9 j ms, down to 0.1 ms at j = 111. Of 2000
/// operations 20 are the slowest hundredth: all from j = 20 on take no more than 82.1 ms. A closed loop would have seen
/// one stalled operation in 19,001.
#[test]
fn a_stall_shows_in_every_operation_that_it_kept_waiting() {
    let shared = SharedMemory::create(1).unwrap();
    let ops = &shared.client_stats()[0].measured[0];
    let stalled = |at: u64| {
        let within = at % 2_000_000_000;
        100_000_000u64.saturating_sub(within) + 100_000
    };
    open_loop(Arrival::Fixed, 1000.0, 20_000, ops, 0, stalled, |_, _| {});
    let mut counts = vec![0; BUCKETS];
    ops.latency.add_to(&mut counts);
    let latencies = in_nanoseconds(&counts, 1.0);
    for (quantile, ms) in [(0.9, 0.1), (0.95, 100.1 - 0.9 * 100.0), (0.99, 100.1 - 0.9 * 20.0), (0.999, 98.3)] {
        let observed = latencies.value_at_quantile(quantile) as f64 / 1e6;
        assert!((observed / ms - 1.0).abs() < 0.012, "{quantile}: {observed} ms, not {ms} ms");
    }
    assert!((latencies.max() as f64 / 1e6 / 100.1 - 1.0).abs() < 0.01);
    assert_eq!(word(&ops.pacing.behind), 0.0);
    // The first that waits is due 1 ms into the stall.
    assert!((word(&ops.pacing.most_behind) / 1e6 - 99.1).abs() < 0.1, "{}", word(&ops.pacing.most_behind));
}

/// The pacer learns how much sleeps last too long, meets the moment, and keeps its processor for a tenth at the most.
#[test]
fn a_pacer_sleeps_and_corrects_what_it_oversleeps() {
    for (per_s, overslept_ns) in [(100.0, 50_000), (1000.0, 30_000), (5000.0, 8_000), (5000.0, 60_000)] {
        let shared = SharedMemory::create(1).unwrap();
        let ops = &shared.client_stats()[0].measured[0];
        let took = open_loop(Arrival::Fixed, per_s, 10_000, ops, overslept_ns, |_| 1000, |_, _| {}) as f64;
        let PacingStats { spinning, overslept, operations, .. } = &ops.pacing;
        assert_eq!(word(operations), 10_000.0);
        assert!(word(spinning) < 0.11 * took, "{per_s}: {} of {took}", word(spinning));
        let late = word(overslept) / 10_000.0;
        // A sleep that lasts longer than the tenth allows makes operations late, and the record says so.
        match overslept_ns as f64 <= 0.1 * 1e9 / per_s {
            true => assert!(late < 0.2 * overslept_ns as f64, "{per_s}: {late} ns"),
            false => assert!(late > 0.5 * overslept_ns as f64, "{per_s}: {late} ns"),
        }
    }
}

/// Twice as many operations as the server can do: after T it is T / 2 behind.
#[test]
fn a_rate_beyond_the_server_is_not_kept() {
    for (service_ns, behind) in [(2_000_000, 0.5), (900_000, 0.0)] {
        let shared = SharedMemory::create(1).unwrap();
        let ops = &shared.client_stats()[0].measured[0];
        let took = open_loop(Arrival::Fixed, 1000.0, 10_000, ops, 0, |_| service_ns, |_, _| {}) as f64;
        assert!((word(&ops.pacing.behind) / took - behind).abs() < 0.001, "{service_ns}");
        assert_eq!(word(&ops.pacing.behind) / 1e9 <= Pacing::allowed_s(took / 1e9), behind == 0.0);
    }
}

/// Operations that were due while it paused do not come later, and the schedule goes on where it was.
#[test]
fn a_pause_drops_what_is_overdue_and_stops_the_schedule() {
    let (now, until) = (AtomicU64::new(5_000), AtomicU64::new(u64::MAX));
    let clock = VirtualClock { now: &now, overslept_ns: 0, relax_ns: 100 };
    let shared = SharedMemory::create(1).unwrap();
    let stats = &shared.client_stats()[0].measured[0].pacing;
    let mut pacer = Pacer::new(Schedule::new(Arrival::Fixed, 1e6, 0.0, Stream::new(1)), 1e6, 1.0);
    pacer.resume(clock);
    assert_eq!(pacer.wait(clock, &until, stats), Some(5_000));
    clock.pass(3_500_000);
    pacer.pause(clock, stats);
    assert_eq!(word(&stats.behind), 2_500_000.0);
    clock.pass(1_000_000_000);
    pacer.resume(clock);
    assert_eq!(pacer.wait(clock, &until, stats), Some(1_004_005_000));
    let until = AtomicU64::new(1_004_900_000);
    assert_eq!(pacer.wait(clock, &until, stats), None);
}
