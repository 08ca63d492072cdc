//! The engine's own account: how many operations it served, and how long each took.

use kvdyno_abi::adapter::Listing;

/// Base-2 logarithm of the number of buckets within each power of two: 2048, so that a bucket is 0.05 % wide.
const SUB_BITS: u32 = 11;
/// Times above this many bits, some minutes, share the last bucket.
const BITS: u32 = 40;
const BUCKETS: usize = ((BITS - SUB_BITS + 1) as usize) << SUB_BITS;

/// The service times of one kind of operation, in ticks.
#[derive(Debug)]
pub struct ServedTimes {
    counts: Vec<u64>,
    operations: u64,
    sum: u64,
    sum_of_squares: u128,
    highest: u64,
}

impl ServedTimes {
    /// Nothing served yet.
    pub fn new() -> ServedTimes {
        ServedTimes { counts: vec![0; BUCKETS], operations: 0, sum: 0, sum_of_squares: 0, highest: 0 }
    }

    /// Counts one.
    #[inline(always)]
    pub fn count(&mut self, ticks: u64) {
        if let Some(count) = self.counts.get_mut(bucket(ticks)) {
            *count += 1;
        }
        self.operations += 1;
        self.sum += ticks;
        self.sum_of_squares += u128::from(ticks) * u128::from(ticks);
        self.highest = self.highest.max(ticks);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = ServedTimes::new();
    }

    /// Adds those of `other`, each longer by `border`.
    pub fn add(&mut self, other: &ServedTimes, border: f64) {
        if other.operations == 0 {
            return;
        }
        // Pages that no count was written to stay untouched: a session that served little is quickly added.
        let counts = &other.counts[..=bucket(other.highest)];
        for (from, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.counts[bucket((middle(from) + border).round() as u64)] += count;
        }
        self.operations += other.operations;
        self.sum += other.sum + (border * other.operations as f64).round() as u64;
        let longer = 2.0 * border * other.sum as f64 + border * border * other.operations as f64;
        self.sum_of_squares += other.sum_of_squares + longer.round() as u128;
        self.highest = self.highest.max(other.highest + border.round() as u64);
    }

    /// The time of the operation `rank`, counted from the shortest, from 1.
    fn at(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let is_there = |count: &u64| {
            seen += count;
            seen >= rank
        };
        self.counts.iter().position(is_there).map_or(0.0, middle)
    }

    /// The average, ticks.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.operations.max(1) as f64
    }

    /// The standard deviation, ticks.
    pub fn deviation(&self) -> f64 {
        let mean_square = self.sum_of_squares as f64 / self.operations.max(1) as f64;
        (mean_square - self.mean().powi(2)).max(0.0).sqrt()
    }
}

#[inline(always)]
fn bucket(ticks: u64) -> usize {
    let ticks = ticks.min((1 << BITS) - 1);
    let exponent = 63 - SUB_BITS - (ticks | (1 << SUB_BITS)).leading_zeros();
    ((exponent as usize) << SUB_BITS) + (ticks >> exponent) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> f64 {
    let exponent = (bucket >> SUB_BITS).saturating_sub(1) as u32;
    let mantissa = (bucket - ((exponent as usize) << SUB_BITS)) as u64;
    (mantissa << exponent) as f64 + ((1u64 << exponent) - 1) as f64 / 2.0
}

/// All that one session served; or that all of them did, which have closed.
#[derive(Debug)]
pub struct ServedAccount {
    pub gets: ServedTimes,
    pub puts: ServedTimes,
    /// When the first operation began and the last one ended, ticks.
    pub span: Option<(u64, u64)>,
    /// Ticks of a call that lie outside of what the engine itself can time; of all sessions, those of the last one.
    pub border: f64,
}

impl ServedAccount {
    /// Nothing served yet.
    pub fn new() -> ServedAccount {
        ServedAccount { gets: ServedTimes::new(), puts: ServedTimes::new(), span: None, border: 0.0 }
    }

    /// Adds that of a session, whose times become whole by its border.
    pub fn add(&mut self, session: &ServedAccount) {
        let Some(span) = session.span else { return };
        self.gets.add(&session.gets, session.border);
        self.puts.add(&session.puts, session.border);
        let (from, until) = self.span.unwrap_or(span);
        self.span = Some((from.min(span.0), until.max(span.1)));
        self.border = session.border;
    }

    /// Told as statistics.
    pub fn list(&self, ticks_per_ns: f64, list: &mut Listing<'_>) {
        let (from, until) = self.span.unwrap_or_default();
        let seconds = until.saturating_sub(from) as f64 / ticks_per_ns / 1e9;
        list.say("served", "seconds", format_args!("{seconds:.9}"));
        list.say("served", "border_ns", format_args!("{:.3}", self.border / ticks_per_ns));
        kind("gets", &self.gets, ticks_per_ns, list);
        kind("puts", &self.puts, ticks_per_ns, list);
    }
}

fn kind(topic: &str, times: &ServedTimes, ticks_per_ns: f64, list: &mut Listing<'_>) {
    list.say(topic, "operations", times.operations);
    if times.operations == 0 {
        return;
    }
    let ns = |ticks: f64| format!("{:.3}", ticks / ticks_per_ns);
    list.say(topic, "mean_ns", ns(times.mean()));
    list.say(topic, "deviation_ns", ns(times.deviation()));
    for (name, quantile) in [
        ("p50_ns", 0.5),
        ("p90_ns", 0.9),
        ("p95_ns", 0.95),
        ("p99_ns", 0.99),
        ("p99_9_ns", 0.999),
        ("p99_99_ns", 0.9999),
    ] {
        list.say(topic, name, ns(times.at((quantile * times.operations as f64).ceil() as u64)));
    }
    list.say(topic, "max_ns", ns(times.highest as f64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_lies_near_the_middle_of_its_bucket() {
        for shift in 0..BITS {
            for ticks in [1u64 << shift, (1 << shift) + (1 << shift) / 3, (2 << shift) - 1] {
                if ticks < 1 << BITS {
                    assert!((middle(bucket(ticks)) - ticks as f64).abs() <= 0.0003 * ticks as f64, "{ticks}");
                }
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_those_of_all_sessions() {
        let mut all = ServedAccount::new();
        for times in [1..=500, 501..=1000] {
            let mut session =
                ServedAccount { border: 5.0, span: Some((*times.start(), *times.end())), ..ServedAccount::new() };
            times.for_each(|ticks| session.gets.count(ticks));
            all.add(&session);
        }
        assert_eq!((all.gets.at(500), all.gets.at(1000), all.gets.mean()), (505.0, 1005.0, 505.5));
        // Of the numbers 1 to n it is the root of (n² - 1) / 12.
        assert!((all.gets.deviation() - (999_999.0_f64 / 12.0).sqrt()).abs() < 1e-6, "{}", all.gets.deviation());
        assert_eq!((all.span, all.gets.highest), (Some((1, 1000)), 1005));
    }
}
