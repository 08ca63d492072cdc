//! Operations at a given rate, by a schedule that does not wait for the engine.

use std::time::Duration;

use crate::clock::Clock;

/// A schedule of operations. An operation is timed from the moment at which it was due, so that a stall of the engine
/// shows in every operation that it kept waiting.
#[derive(Debug)]
pub struct Pacer {
    interval: f64,
    ticks_per_ns: f64,
    next: f64,
}

/// Nearer than this the wait is spent spinning: the kernel's timers are not finer.
const SPIN_NS: f64 = 60_000.0;
/// Between two looks at whether the trial is over.
const LONGEST_SLEEP_NS: f64 = 50_000_000.0;

impl Pacer {
    /// One operation each `interval_ns`, from now on.
    pub fn new(interval_ns: f64, ticks_per_ns: f64, clock: impl Clock) -> Self {
        Pacer { interval: interval_ns * ticks_per_ns, ticks_per_ns, next: clock.now() as f64 }
    }

    /// Forgets what is overdue: the schedule goes on from now.
    pub fn restart(&mut self, clock: impl Clock) {
        self.next = clock.now() as f64;
    }

    /// Waits until the next operation is due and says when that was, or `None` if `is_over` meanwhile.
    pub fn wait(&mut self, clock: impl Clock, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        loop {
            let now = clock.now();
            if is_over(now) {
                return None;
            }
            let left_ns = (self.next - now as f64) / self.ticks_per_ns;
            if left_ns <= 0.0 {
                let due = self.next as u64;
                self.next += self.interval;
                return Some(due);
            }
            if left_ns > SPIN_NS {
                std::thread::sleep(Duration::from_nanos((left_ns - SPIN_NS).min(LONGEST_SLEEP_NS) as u64));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Monotonic;

    #[test]
    fn a_late_operation_keeps_its_due_time() {
        let mut pacer = Pacer::new(1000.0, 1.0, Monotonic);
        let first = pacer.wait(Monotonic, |_| false).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let second = pacer.wait(Monotonic, |_| false).unwrap();
        assert_eq!(second - first, 1000);
        assert_eq!(pacer.wait(Monotonic, |_| true), None);
    }
}
