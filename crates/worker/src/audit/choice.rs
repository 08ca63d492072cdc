//! Which records an audit reads back.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use kvdyno_dataset::{Ledger, Stream};

/// The number of records in a sample. If one record in a thousand is lost, the sample contains at least one of the lost
/// records with a probability of 99.9 %: (1 - 1/1000)^6905 < 1/1000.
pub(super) const SAMPLE: usize = 6905;

/// The ids whose versions an audit of a sample adds up: the multiples of a power of two, which a loop recognises with
/// one instruction. They are at least as many as the records of a sample, if there are that many, and less than twice
/// as many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummedIds(u64);

impl SummedIds {
    pub(crate) fn of(records: u64) -> SummedIds {
        SummedIds(1 << (records / SAMPLE as u64).max(1).ilog2())
    }

    /// Whether `id` is one of them.
    #[inline(always)]
    pub(crate) fn has(self, id: u64) -> bool {
        id & (self.0 - 1) == 0
    }

    /// All of them below `count`, in order.
    pub(super) fn below(self, count: u64) -> impl Iterator<Item = u64> {
        (0..count.div_ceil(self.0)).map(move |index| index * self.0)
    }
}

/// A uniform sample of [`SAMPLE`] of the ids below `count`, in order; all of them if there are no more.
pub(super) fn any_of(count: u64, stream: &mut Stream) -> Vec<u64> {
    if count <= SAMPLE as u64 {
        return (0..count).collect();
    }
    let mut chosen = HashSet::with_capacity(SAMPLE);
    while chosen.len() < SAMPLE {
        chosen.insert(stream.below(count));
    }
    let mut chosen: Vec<u64> = chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

/// A uniform sample of up to [`SAMPLE`] watched ids below `count` whose newest acknowledged version is one of
/// `versions`, in order (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
pub(super) fn updated(ledger: Ledger<'_>, count: u64, versions: &RangeInclusive<u64>, stream: &mut Stream) -> Vec<u64> {
    let mut chosen = Vec::new();
    for (seen, id) in (1..).zip(all_updated(ledger, count, versions)) {
        if chosen.len() < SAMPLE {
            chosen.push(id);
        } else if let Some(slot) = chosen.get_mut(stream.below(seen) as usize) {
            *slot = id;
        }
    }
    chosen.sort_unstable();
    chosen
}

/// All watched ids below `count` whose newest acknowledged version is one of `versions`, in order.
pub(super) fn all_updated<'a>(
    ledger: Ledger<'a>,
    count: u64,
    versions: &'a RangeInclusive<u64>,
) -> impl Iterator<Item = u64> + 'a {
    ledger.watched(count).filter(|(_, version)| versions.contains(version)).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use kvdyno_dataset::{LEDGER_SLOTS, WatchedIds};

    use super::*;

    #[test]
    fn a_sample_shows_a_loss_of_one_in_a_thousand_all_but_once_in_a_thousand_times() {
        assert!(0.999f64.powi(SAMPLE as i32) < 0.001);
        assert!(0.999f64.powi(SAMPLE as i32 - 1) > 0.001, "no more than that takes");
    }

    #[test]
    fn versions_are_added_up_of_a_sample_at_least_and_of_less_than_two() {
        for records in [1, 2, 6904, 6905, 13_809, 13_810, 1_000_000, 987_654_321, u64::MAX >> 1] {
            let summed = SummedIds::of(records);
            let count = summed.below(records).size_hint().0 as u64;
            assert!((records.min(6905)..2 * 6905).contains(&count), "{count} of {records}");
            assert!(summed.below(records).take(20_000).all(|id| id < records && summed.has(id)), "{records}");
        }
        let summed = SummedIds::of(100_000);
        assert_eq!((0..100_000).filter(|id| summed.has(*id)).count(), summed.below(100_000).count());
    }

    #[test]
    fn every_id_is_as_likely_to_be_chosen() {
        let mut tenths = [0u32; 10];
        let mut stream = Stream::new(1);
        for _ in 0..20 {
            let chosen = any_of(100_000, &mut stream);
            assert_eq!(chosen.len(), SAMPLE);
            assert!(chosen.is_sorted_by(|a, b| a < b));
            chosen.iter().for_each(|id| tenths[(id / 10_000) as usize] += 1);
        }
        assert!(tenths.iter().all(|&count| (13_000..14_700).contains(&count)), "{tenths:?}");
        assert_eq!(any_of(3, &mut stream), [0, 1, 2]);
    }

    #[test]
    fn of_the_updated_ids_each_is_as_likely_to_be_chosen_and_no_other_is() {
        let slots: Vec<AtomicU64> = (0..LEDGER_SLOTS as u64).map(|id| AtomicU64::new(id % 3)).collect();
        let ledger = Ledger::new(&slots, WatchedIds::over(1 << 20));
        let mut tenths = [0u32; 10];
        let mut stream = Stream::new(1);
        for _ in 0..20 {
            let chosen = updated(ledger, 300_000, &(2..=5), &mut stream);
            assert_eq!(chosen.len(), SAMPLE);
            assert!(chosen.iter().all(|id| id % 3 == 2));
            assert!(chosen.is_sorted_by(|a, b| a < b));
            chosen.iter().for_each(|id| tenths[(id / 30_000) as usize] += 1);
        }
        assert!(tenths.iter().all(|&count| (13_000..14_700).contains(&count)), "{tenths:?}");
        assert_eq!(updated(ledger, 7, &(2..=2), &mut stream), [2, 5]);
    }
}
