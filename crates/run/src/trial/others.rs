//! The processors that others had while a trial's clients waited for one.
//!
//! It follows from the trial's own accounts, which the kernel keeps in nanoseconds, and not from the machine's, which
//! it keeps in ticks: so it can be told of a trial of any length, and of slices.

use kvdyno_results::{CpuAccount, Interference};
use kvdyno_worker::ClientTimes;

/// From this share on, of 1, it is worth telling.
const WORTH_TELLING: f64 = 0.03;

/// The shortest measured part of which it is told, seconds: a turn of another process takes some 4 ms, and of a shorter
/// part a single one would be a large share.
const SHORTEST_S: f64 = 0.1;

/// The wait of a thread that is woken where a processor is free, seconds at the most: the time of an interrupt between
/// two processors, which in a virtual machine the hypervisor delivers. Engines whose clients sleep for each other do
/// that some ten thousand times a second. Others who have a processor keep it for milliseconds.
const WAKE_UP_S: f64 = 20e-6;

/// The account of a group that works lags behind by so much on each processor, seconds at the most: a tick.
pub(super) const GROUP_LAG_S: f64 = 0.01;

/// The accounts of a trial's CPU time, and the times of all clients together over the span of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accounts {
    /// Everything in its control group, the processes that the engine started included, in the measured part. In slices
    /// their first parts are included. Absent where no group counts.
    pub(super) group: Option<CpuAccount>,
    /// CPU time by the account of the group where the measured part, without slices, is too short for it, seconds.
    pub(super) short_group_s: Option<f64>,
    /// Over the span of the group's account.
    pub(super) times: ClientTimes,
    /// CPU time of its own processes alone, seconds. In slices it is of their counted parts.
    pub(super) own_cpu_s: f64,
    /// Over the same.
    pub(super) own_times: ClientTimes,
    /// CPU time of the lab itself in the measured part, seconds. In slices their first parts are included, also where
    /// no group counts: then others are blamed less.
    pub(super) lab_cpu_s: f64,
}

/// A trial's demand for processors in its measured part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// Readers and writers, the most at the same time.
    pub(super) clients: u32,
    /// Length of the measured part, seconds, where some work in a part of it only; absent where all work in the whole.
    pub(super) window_s: Option<f64>,
    /// Logical processors that the trial may use.
    pub(super) processors: u32,
    /// The times of all clients together.
    pub(super) times: ClientTimes,
    /// CPU time of the trial, its background work included, seconds.
    pub(super) cpu_s: f64,
    /// CPU time of the lab itself meanwhile, seconds.
    pub(super) lab_cpu_s: f64,
}

impl Demand {
    /// The demand of a trial with these accounts: that of its group, or without one that of its own processes. In a
    /// short part it is the most that the group can have had: others are not blamed for what a process of the engine's
    /// did.
    pub(super) fn of(clients: u32, window_s: Option<f64>, processors: u32, accounts: Accounts) -> Demand {
        let Accounts { group, short_group_s, own_cpu_s, lab_cpu_s, .. } = accounts;
        let most_s = short_group_s.map(|group_s| group_s + GROUP_LAG_S * f64::from(processors));
        // Both are of the same span. In slices that is both parts of each; the account goes on for a moment until the
        // group is frozen, so that it has more background work, which blames others less. Without slices the account
        // lags by some 10 ms on each processor, of 1 s or more: too little to be told.
        let (times, cpu_s) = match group {
            Some(group) => (accounts.times, group.cpu_s),
            None => (accounts.own_times, most_s.map_or(own_cpu_s, |most_s| most_s.max(own_cpu_s))),
        };
        Demand { clients, window_s, processors, times, cpu_s, lab_cpu_s }
    }

    /// Others on its clients' processors, if that is worth telling.
    pub(super) fn interference(&self) -> Option<Interference> {
        let time_share = self.others_share().filter(|share| *share >= WORTH_TELLING)?;
        Some(Interference::ClientsProcessors { time_share })
    }

    /// The share of the measured part in which clients waited for a processor that others had, of 1. Absent where there
    /// is no measured part, or too short a one.
    ///
    /// Clients wait for each other and for the engine's own threads and processes, too. With n clients and b of these
    /// that run on average, on p processors, none has to wait for another if n + b is at most p: then the wait is the
    /// others'. Else up to n + b − p wait at any moment at which the trial itself has all p processors, which it has
    /// for cpu / p at the most; that is subtracted, and so is the lab's own time, and the time that it takes to wake
    /// them. Others cannot have had more than the trial and the lab left of the processors' time, either. What remains
    /// is told as a share of the time in which so many clients can be on processors at all. Where clients work in parts
    /// of the window, n is the most at the same time: others are blamed less.
    fn others_share(&self) -> Option<f64> {
        let s = |ns: u64| ns as f64 / 1e9;
        let window_s = self.window_s.unwrap_or(s(self.times.wall_ns) / f64::from(self.clients.max(1)));
        if window_s < SHORTEST_S || self.processors == 0 {
            return None;
        }
        let (clients, processors) = (f64::from(self.clients), f64::from(self.processors));
        let background = (self.cpu_s - s(self.times.cpu_ns)).max(0.0) / window_s;
        let too_many = (clients + background - processors).max(0.0);
        let by_itself_s = self.cpu_s / processors * too_many + self.lab_cpu_s;
        let left_s = processors * window_s - self.cpu_s - self.lab_cpu_s;
        let woken_s = (self.times.turns as f64 * WAKE_UP_S).min(s(self.times.delayed_ns));
        let others_s = (s(self.times.delayed_ns) - woken_s - by_itself_s).min(left_s).max(0.0);
        Some((others_s / (clients.min(processors) * window_s)).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A measured part of a second, on two processors; times in seconds, of all clients together.
    fn share(clients: u32, cpu_s: f64, waited_s: f64, background_s: f64) -> f64 {
        let ns = |s: f64| (s * 1e9) as u64;
        let times = ClientTimes {
            wall_ns: ns(clients.into()),
            cpu_ns: ns(cpu_s),
            delayed_ns: ns(waited_s),
            ..ClientTimes::default()
        };
        let demand =
            Demand { clients, window_s: None, processors: 2, times, cpu_s: cpu_s + background_s, lab_cpu_s: 0.0 };
        demand.others_share().unwrap()
    }

    #[track_caller]
    fn is(share: f64, expected: f64) {
        assert!((share - expected).abs() < 1e-6, "{share} and not {expected}");
    }

    #[test]
    fn one_client_beside_a_busy_loop_on_its_processor() {
        is(share(1, 0.5, 0.5, 0.0), 0.5);
        // Wherever the engine's own thread is, the other processor has room for it.
        is(share(1, 0.5, 0.5, 0.4), 0.5);
        is(share(1, 1.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn clients_that_wait_for_each_other_accuse_nobody() {
        is(share(8, 2.0, 6.0, 0.0), 0.0);
        // They are woken all at once, and then sleep.
        is(share(8, 0.4, 0.9, 0.0), 0.0);
        is(share(2, 1.5, 0.5, 0.5), 0.0);
        is(share(1, 0.6, 0.4, 1.4), 0.0);
    }

    #[test]
    fn others_beside_a_crowd_of_clients_had_what_these_left() {
        // A fifth of one of two processors.
        is(share(8, 1.8, 6.2, 0.0), 0.1);
        is(share(2, 1.5, 0.5, 0.0), 0.25);
    }

    #[test]
    fn the_lab_is_nobody_else() {
        let times = ClientTimes {
            wall_ns: 1_000_000_000,
            cpu_ns: 950_000_000,
            delayed_ns: 50_000_000,
            ..ClientTimes::default()
        };
        let demand = Demand { clients: 1, window_s: None, processors: 1, times, cpu_s: 0.95, lab_cpu_s: 0.05 };
        is(demand.others_share().unwrap(), 0.0);
        is(Demand { lab_cpu_s: 0.0, ..demand }.others_share().unwrap(), 0.05);
    }

    #[test]
    fn clients_that_wake_each_other_accuse_nobody() {
        let times = |turns| ClientTimes {
            wall_ns: 2_000_000_000,
            cpu_ns: 800_000_000,
            delayed_ns: 100_000_000,
            turns,
            ..ClientTimes::default()
        };
        let demand = |turns| Demand {
            clients: 2,
            window_s: None,
            processors: 2,
            times: times(turns),
            cpu_s: 0.8,
            lab_cpu_s: 0.0,
        };
        is(demand(10_000).others_share().unwrap(), 0.0);
        is(demand(25).others_share().unwrap(), (0.1 - 25.0 * WAKE_UP_S) / 2.0);
    }

    #[test]
    fn of_a_moment_nothing_is_told() {
        assert_eq!(Demand { clients: 1, window_s: None, processors: 2, ..Demand::default() }.others_share(), None);
        let times =
            ClientTimes { wall_ns: 90_000_000, cpu_ns: 45_000_000, delayed_ns: 45_000_000, ..ClientTimes::default() };
        assert_eq!(
            Demand { clients: 1, window_s: None, processors: 2, times, cpu_s: 0.045, lab_cpu_s: 0.0 }.others_share(),
            None
        );
    }

    /// A client of a second on one processor, of which it had half; the other half is in the account of the group.
    fn beside_a_child() -> Accounts {
        let times = ClientTimes {
            wall_ns: 1_000_000_000,
            cpu_ns: 500_000_000,
            delayed_ns: 500_000_000,
            ..ClientTimes::default()
        };
        let group = Some(CpuAccount { operations: 1000, cpu_s: 1.0, client_cpu_s: 0.5 });
        Accounts { group, short_group_s: None, times, own_cpu_s: 0.5, own_times: times, lab_cpu_s: 0.0 }
    }

    /// One client after the other, each for half a second: the first had half of its processor.
    #[test]
    fn clients_that_work_in_parts_of_the_window_are_not_at_work_at_once() {
        let times = ClientTimes {
            wall_ns: 1_000_000_000,
            cpu_ns: 750_000_000,
            delayed_ns: 250_000_000,
            ..ClientTimes::default()
        };
        let demand =
            |clients, window_s| Demand { clients, window_s, processors: 1, times, cpu_s: 0.75, lab_cpu_s: 0.0 };
        is(demand(1, Some(1.0)).others_share().unwrap(), 0.25);
        // As of two beside each other.
        is(demand(2, None).others_share().unwrap(), 0.0);
    }

    #[test]
    fn a_process_that_the_engine_started_is_nobody_else() {
        assert_eq!(Demand::of(1, None, 1, beside_a_child()).interference(), None);
        let without_group = Demand::of(1, None, 1, Accounts { group: None, ..beside_a_child() });
        assert_eq!(without_group.interference(), Some(Interference::ClientsProcessors { time_share: 0.5 }));
    }

    /// The account of the group lags, and what lags may be the child's.
    #[test]
    fn in_a_short_part_it_is_nobody_else_either() {
        let short = |group_s| Accounts { group: None, short_group_s: Some(group_s), ..beside_a_child() };
        assert_eq!(Demand::of(1, None, 1, short(0.99)).interference(), None);
        // The account lags behind that of the client, or leads: it alone had half of the processor.
        for group_s in [0.49, 0.5, 0.51] {
            assert!(Demand::of(1, None, 1, short(group_s)).others_share().unwrap() > 0.45, "{group_s}");
        }
    }

    #[test]
    fn times_are_those_of_the_account() {
        // Its slices had first parts of a second: the client did all that the group did in both.
        let own =
            ClientTimes { wall_ns: 1_000_000_000, cpu_ns: 1_000_000_000, delayed_ns: 0, ..ClientTimes::default() };
        let times = ClientTimes {
            wall_ns: 2_000_000_000,
            cpu_ns: 1_500_000_000,
            delayed_ns: 500_000_000,
            ..ClientTimes::default()
        };
        let group = Some(CpuAccount { operations: 1000, cpu_s: 1.5, client_cpu_s: 1.5 });
        let accounts = Accounts { group, short_group_s: None, times, own_cpu_s: 1.0, own_times: own, lab_cpu_s: 0.0 };
        is(Demand::of(1, None, 1, accounts).others_share().unwrap(), 0.25);
        is(Demand::of(1, None, 1, Accounts { group: None, ..accounts }).others_share().unwrap(), 0.0);
    }

    #[test]
    fn a_little_is_not_told() {
        let times = |delayed_ns| ClientTimes {
            wall_ns: 1_000_000_000,
            cpu_ns: 500_000_000,
            delayed_ns,
            ..ClientTimes::default()
        };
        let waited = |delayed_ns| Demand {
            clients: 1,
            window_s: None,
            processors: 2,
            times: times(delayed_ns),
            cpu_s: 0.5,
            lab_cpu_s: 0.0,
        };
        assert_eq!(waited(29_000_000).interference(), None);
        assert!(waited(31_000_000).interference().is_some());
        assert_eq!(Demand::default().interference(), None);
    }
}
