//! The ids of one writer of several, as they come.

use std::ops::Range;

use kvdyno_dataset::Permutation;

use super::{KeyChoice, OwnIds};

/// Ids drawn from those of one writer. So each id's versions rise for every reader.
pub(crate) struct Share<K> {
    choice: K,
    own: OwnIds,
    is_empty: bool,
}

impl<K: KeyChoice> Share<K> {
    /// The ids that `choice` gives a writer. It draws from as many ids as are the writer's own of `records`.
    pub(crate) fn new(choice: K, own: OwnIds, records: u64) -> Self {
        Share { choice, own, is_empty: own.count(records) == 0 }
    }
}

impl<K: KeyChoice> Iterator for Share<K> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        (!self.is_empty).then(|| self.own.nth(self.choice.next()))
    }
}

/// The ids that one of several writers loads, in its order: a contiguous share of one order that is the same for any
/// number of writers. That order is the order of keys, or a permutation of it.
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
    use std::collections::BTreeSet;

    #[test]
    fn a_writer_draws_each_of_its_own_ids_and_no_other() {
        for (records, writers) in [(10, 1), (10, 3), (2, 3), (100, 3)] {
            for index in 0..writers {
                let own = OwnIds::new(8, records, writers, index);
                let ids = Uniform::new(own.count(records).max(1), Stream::new(1));
                let drawn: BTreeSet<u64> = Share::new(ids, own, records).take(1000).collect();
                let all: BTreeSet<u64> = (0..own.count(records)).map(|number| own.nth(number)).collect();
                assert_eq!(drawn, all, "writer {index} of {writers}, {records} records");
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
