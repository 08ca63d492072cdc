//! The ids of one writer of several.

use std::ops::Range;

use kvdyno_dataset::Permutation;

use super::KeyChoice;

/// Ids drawn from those that are one writer's own: those that leave `index` when divided by the number of writers. So
/// each id's versions rise, whoever reads them.
pub(crate) struct Share<K> {
    choice: K,
    writers: u64,
    index: u64,
    is_empty: bool,
}

/// The number of ids below `records` that are a writer's own.
pub(crate) fn own_ids(records: u64, writers: u64, index: u64) -> u64 {
    (records + writers - 1 - index) / writers
}

impl<K: KeyChoice> Share<K> {
    /// The ids that `choice` gives a writer. It draws from as many ids as are the writer's own.
    pub(crate) fn new(choice: K, records: u64, writers: u64, index: u64) -> Self {
        Share { choice, writers, index, is_empty: own_ids(records, writers, index) == 0 }
    }
}

impl<K: KeyChoice> Iterator for Share<K> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        (!self.is_empty).then(|| self.choice.next() * self.writers + self.index)
    }
}

/// The ids that one of several writers loads, in the order in which it does: a contiguous share of one order that is
/// the same for any number of writers. That is the order of keys, or a permutation of it.
pub(crate) fn load_order(records: u64, writers: u64, index: u64, permutation: Option<Permutation>) -> LoadOrder {
    let first = |writer| (u128::from(records) * u128::from(writer) / u128::from(writers)) as u64;
    LoadOrder { share: first(index)..first(index + 1), permutation }
}

/// See [`load_order`].
pub(crate) struct LoadOrder {
    share: Range<u64>,
    permutation: Option<Permutation>,
}

impl Iterator for LoadOrder {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let index = self.share.next()?;
        Some(self.permutation.as_ref().map_or(index, |permutation| permutation.at(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_choice::uniform::Uniform;
    use kvdyno_dataset::Stream;

    #[test]
    fn writers_share_no_id() {
        for (records, writers) in [(10, 1), (10, 3), (2, 3)] {
            for index in 0..writers {
                let ids = own_ids(records, writers, index).max(1);
                let share = Share::new(Uniform::new(ids, Stream::new(1)), records, writers, index);
                for id in share.take(100) {
                    assert!(id < records && id % writers == index, "{id} of {records}, writer {index} of {writers}");
                }
            }
        }
    }

    #[test]
    fn a_load_writes_every_id_once_in_any_order() {
        for order in [None, Some(Permutation::new(1000, 7))] {
            let mut ids: Vec<u64> = (0..3).flat_map(|writer| load_order(1000, 3, writer, order.clone())).collect();
            ids.sort_unstable();
            assert_eq!(ids, (0..1000).collect::<Vec<_>>());
        }
    }
}
