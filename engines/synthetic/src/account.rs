//! The engine's own account: how many operations it served, and how long each took.

use kvdyno_abi::adapter::Listing;

/// Each power of two has so many buckets, so that a bucket is 0.05 % wide.
const SUB_BITS: u32 = 11;
/// Times above this many bits, some minutes, share the last bucket.
const BITS: u32 = 40;
const BUCKETS: usize = ((BITS - SUB_BITS + 1) as usize) << SUB_BITS;

/// The service times of one kind of operation, in ticks.
#[derive(Debug)]
pub struct Account {
    counts: Vec<u64>,
    operations: u64,
    sum: u64,
    highest: u64,
}

impl Account {
    /// Nothing served yet.
    pub fn new() -> Account {
        Account { counts: vec![0; BUCKETS], operations: 0, sum: 0, highest: 0 }
    }

    /// Counts one.
    #[inline(always)]
    pub fn count(&mut self, ticks: u64) {
        if let Some(count) = self.counts.get_mut(bucket(ticks)) {
            *count += 1;
        }
        self.operations += 1;
        self.sum += ticks;
        self.highest = self.highest.max(ticks);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Account::new();
    }

    /// The average, ticks.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.operations.max(1) as f64
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

/// What one session served.
#[derive(Debug)]
pub struct SessionAccount {
    pub gets: Account,
    pub puts: Account,
    /// When the first operation began and the last one ended, ticks.
    pub span: Option<(u64, u64)>,
    /// Ticks of a call that lie outside of what the engine itself can time.
    pub border: f64,
}

/// The accounts of all sessions, told as statistics.
pub fn list(accounts: &[SessionAccount], ticks_per_ns: f64, list: &mut Listing<'_>) {
    let spans = || accounts.iter().filter_map(|account| account.span);
    let (from, until) = (spans().map(|span| span.0).min(), spans().map(|span| span.1).max());
    let seconds = until.unwrap_or(0).saturating_sub(from.unwrap_or(0)) as f64 / ticks_per_ns / 1e9;
    list.say("served", "seconds", format_args!("{seconds:.9}"));
    let border = accounts.iter().map(|account| account.border).sum::<f64>() / accounts.len().max(1) as f64;
    list.say("served", "border_ns", format_args!("{:.3}", border / ticks_per_ns));
    kind("gets", accounts, |account| &account.gets, ticks_per_ns, list);
    kind("puts", accounts, |account| &account.puts, ticks_per_ns, list);
}

fn kind(
    topic: &str,
    accounts: &[SessionAccount],
    of: impl Fn(&SessionAccount) -> &Account,
    ticks_per_ns: f64,
    list: &mut Listing<'_>,
) {
    let operations: u64 = accounts.iter().map(|account| of(account).operations).sum();
    list.say(topic, "operations", operations);
    if operations == 0 {
        return;
    }
    let whole = |account: &SessionAccount| of(account).sum as f64 + account.border * of(account).operations as f64;
    let ns = |ticks: f64| format!("{:.3}", ticks / ticks_per_ns);
    list.say(topic, "mean_ns", ns(accounts.iter().map(whole).sum::<f64>() / operations as f64));
    let mut served: Vec<(f64, u64)> = accounts.iter().flat_map(|account| served(of(account), account.border)).collect();
    served.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (name, quantile) in [
        ("p50_ns", 0.5),
        ("p90_ns", 0.9),
        ("p95_ns", 0.95),
        ("p99_ns", 0.99),
        ("p99_9_ns", 0.999),
        ("p99_99_ns", 0.9999),
    ] {
        list.say(topic, name, ns(at(&served, (quantile * operations as f64).ceil() as u64)));
    }
    let highest = accounts.iter().map(|account| of(account).highest as f64 + account.border);
    list.say(topic, "max_ns", ns(highest.fold(0.0, f64::max)));
}

/// Times of the buckets that have any, with the numbers in them.
fn served(account: &Account, border: f64) -> impl Iterator<Item = (f64, u64)> {
    let counted = account.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    counted.map(move |(bucket, count)| (middle(bucket) + border, *count))
}

/// The time of the operation `rank`, counted from the shortest, from 1.
fn at(served: &[(f64, u64)], rank: u64) -> f64 {
    let mut seen = 0;
    served
        .iter()
        .find(|(_, count)| {
            seen += count;
            seen >= rank
        })
        .map_or(0.0, |(ticks, _)| *ticks)
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
    fn percentiles_are_those_of_what_was_counted() {
        let mut account = Account::new();
        (1..=1000).for_each(|ticks| account.count(ticks));
        let served: Vec<_> = served(&account, 5.0).collect();
        assert_eq!((at(&served, 500), at(&served, 1000), account.mean()), (505.0, 1005.0, 500.5));
    }
}
