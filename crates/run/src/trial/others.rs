//! The processors that others had while a trial's clients waited for one.
//!
//! It follows from the trial's own accounts, which the kernel keeps in nanoseconds, and not from the machine's, which
//! it keeps in ticks: so it can be told of a trial of any length, and of slices.

use kvdyno_worker::ClientTimes;

/// From this share on, of 1, it is worth a clause.
const WORTH_A_CLAUSE: f64 = 0.03;

/// The shortest measured part of which it is told, seconds: a turn of another process takes some 4 ms, and of a shorter
/// part a single one would be a large share.
const SHORTEST_S: f64 = 0.1;

/// A trial's demand for processors in its measured part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// Readers and writers.
    pub(super) clients: u32,
    /// Logical processors that the trial may use.
    pub(super) processors: u32,
    /// The times of all clients together.
    pub(super) times: ClientTimes,
    /// CPU time of the trial, its background threads included, seconds.
    pub(super) cpu_s: f64,
    /// CPU time of the lab itself meanwhile, seconds.
    pub(super) lab_cpu_s: f64,
}

impl Demand {
    /// The share of the measured part in which clients waited for a processor that others had, of 1. Absent where there
    /// is no measured part, or too short a one.
    ///
    /// Clients wait for each other and for the engine's own threads, too. With n clients and b background threads that
    /// run on average, on p processors, none has to wait for another if n + b is at most p: then the wait is others'.
    /// Else up to n + b − p wait at any moment at which the trial itself has all p processors, which it has for
    /// cpu / p at the most; that is subtracted, and so is the lab's own time. Others cannot have had more than the
    /// trial and the lab left of the processors' time, either. What remains is told as a share of the time in which so
    /// many clients can be on processors at all.
    pub(super) fn others_share(&self) -> Option<f64> {
        let s = |ns: u64| ns as f64 / 1e9;
        let window_s = s(self.times.wall_ns) / f64::from(self.clients.max(1));
        if window_s < SHORTEST_S || self.processors == 0 {
            return None;
        }
        let (clients, processors) = (f64::from(self.clients), f64::from(self.processors));
        let background = (self.cpu_s - s(self.times.cpu_ns)).max(0.0) / window_s;
        let too_many = (clients + background - processors).max(0.0);
        let by_itself_s = self.cpu_s / processors * too_many + self.lab_cpu_s;
        let left_s = processors * window_s - self.cpu_s - self.lab_cpu_s;
        let others_s = (s(self.times.delayed_ns) - by_itself_s).min(left_s).max(0.0);
        Some((others_s / (clients.min(processors) * window_s)).min(1.0))
    }
}

/// The clause about a share of others, if it is worth one.
pub(super) fn clause(share: Option<f64>) -> Option<String> {
    let share = share.filter(|share| *share >= WORTH_A_CLAUSE)?;
    Some(format!("others had the clients' processors for {:.1} % of the time", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A measured part of a second, on two processors; times in seconds, of all clients together.
    fn share(clients: u32, cpu_s: f64, waited_s: f64, background_s: f64) -> f64 {
        let ns = |s: f64| (s * 1e9) as u64;
        let times = ClientTimes { wall_ns: ns(clients.into()), cpu_ns: ns(cpu_s), delayed_ns: ns(waited_s) };
        let demand = Demand { clients, processors: 2, times, cpu_s: cpu_s + background_s, lab_cpu_s: 0.0 };
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
        let times = ClientTimes { wall_ns: 1_000_000_000, cpu_ns: 950_000_000, delayed_ns: 50_000_000 };
        let demand = Demand { clients: 1, processors: 1, times, cpu_s: 0.95, lab_cpu_s: 0.05 };
        is(demand.others_share().unwrap(), 0.0);
        is(Demand { lab_cpu_s: 0.0, ..demand }.others_share().unwrap(), 0.05);
    }

    #[test]
    fn of_a_moment_nothing_is_told() {
        assert_eq!(Demand { clients: 1, processors: 2, ..Demand::default() }.others_share(), None);
        let times = ClientTimes { wall_ns: 90_000_000, cpu_ns: 45_000_000, delayed_ns: 45_000_000 };
        assert_eq!(Demand { clients: 1, processors: 2, times, cpu_s: 0.045, lab_cpu_s: 0.0 }.others_share(), None);
    }

    #[test]
    fn a_little_is_no_clause() {
        assert_eq!(clause(Some(0.029)), None);
        assert_eq!(clause(None), None);
        let expected = "others had the clients' processors for 48.2 % of the time";
        assert_eq!(clause(Some(0.482)).as_deref(), Some(expected));
    }
}
