//! The ids that one of several clients writes.

use kvdyno_dataset::DELETION_BLOCK;

use crate::loops::Driver;

/// The ids that one of several clients writes. Each id has one writer, so its versions rise. Clients own whole blocks
/// of neighbouring ids in turn, so that no cache line of the ledger has two writers if there are enough records.
///
/// For a hot block, each client has a block of its own, in which neighbouring records are as hot as in the block that
/// was drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnIds {
    clients: u64,
    index: u64,
    /// Ids of a block, as a power of two.
    block: u32,
}

impl OwnIds {
    /// The ids of a client that writes records of the load.
    pub(crate) fn of<C>(driver: &Driver<'_, C>) -> OwnIds {
        let line = driver.ledger.ids_of_a_line();
        let block = if driver.ledger.has_deletions() { line.max(DELETION_BLOCK) } else { line };
        let parameters = driver.parameters;
        OwnIds::new(block, parameters.data.records, parameters.writers.into(), driver.index)
    }

    /// The ids of the client `index` of `clients`, in blocks of a power of two. Blocks are smaller if there are so few
    /// `records` that some client would have none.
    pub(super) fn new(block: u64, records: u64, clients: u64, index: u64) -> OwnIds {
        let most = (records / clients).checked_ilog2().unwrap_or(0);
        OwnIds { clients, index, block: block.ilog2().min(most) }
    }

    /// Number of its ids below `records`.
    pub(crate) fn count(&self, records: u64) -> u64 {
        let turn = self.clients << self.block;
        let rest = (records % turn).saturating_sub(self.index << self.block).min(1 << self.block);
        ((records / turn) << self.block) + rest
    }

    /// The id with this number of own ids before it.
    #[inline(always)]
    pub(crate) fn nth(&self, number: u64) -> u64 {
        let (block, within) = (number >> self.block, number & ((1 << self.block) - 1));
        ((block * self.clients + self.index) << self.block) + within
    }

    /// The nearest to `id` of those below `records`, which are as many as it was made for or more.
    #[inline(always)]
    pub(crate) fn nearest(&self, id: u64, records: u64) -> u64 {
        if self.clients == 1 {
            return id;
        }
        let (block, within) = (id >> self.block, id & ((1 << self.block) - 1));
        let own = ((block - block % self.clients + self.index) << self.block) + within;
        // The first block of each client is whole.
        if own < records { own } else { own - (self.clients << self.block) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap};

    /// The ids below `records`, a list for each client.
    fn owned(block: u64, records: u64, clients: u64) -> Vec<Vec<u64>> {
        let own = |index| OwnIds::new(block, records, clients, index);
        (0..clients).map(|index| (0..own(index).count(records)).map(|n| own(index).nth(n)).collect()).collect()
    }

    #[test]
    fn every_id_is_one_clients_own_however_few_there_are() {
        for (records, clients) in [(1, 3), (2, 3), (3, 3), (23, 3), (25, 3), (1000, 1), (1000, 7), (5000, 4)] {
            for block in [8, 512] {
                let mut ids = owned(block, records, clients).concat();
                ids.sort_unstable();
                assert_eq!(ids, (0..records).collect::<Vec<_>>(), "{records} records, {clients} clients");
            }
        }
    }

    #[test]
    fn no_line_of_the_ledger_is_two_clients_own() {
        for (block, records, clients) in [(8, 64, 8), (8, 5000, 7), (128, 100_000, 4), (512, 5000, 3)] {
            let mut owners = HashMap::new();
            for (client, ids) in owned(block, records, clients).into_iter().enumerate() {
                for id in ids {
                    assert_eq!(*owners.entry(id / block).or_insert(client), client, "{id} of {records}");
                }
            }
        }
    }

    #[test]
    fn the_nearest_is_ones_own_and_is_there() {
        for (block, records, clients) in [(8, 3, 3), (8, 23, 3), (8, 5000, 7), (512, 5000, 3), (8, 100, 1)] {
            for index in 0..clients {
                let own = OwnIds::new(block, records, clients, index);
                let ids: Vec<u64> = (0..own.count(records)).map(|n| own.nth(n)).collect();
                for id in 0..records {
                    let nearest = own.nearest(id, records);
                    assert!(ids.binary_search(&nearest).is_ok(), "{id} of {records}: {nearest}");
                    assert!(nearest.abs_diff(id) < clients << own.block, "{id} of {records}: {nearest}");
                }
            }
        }
    }

    #[test]
    fn what_clients_write_together_is_as_hot_as_what_is_drawn() {
        let of_client = |index, hot: std::ops::Range<u64>| {
            let own = OwnIds::new(8, 10_000, 4, index);
            hot.map(|id| own.nearest(id, 10_000)).collect::<BTreeSet<u64>>()
        };
        // Whole turns are divided; of what is less each client has as many of its own.
        let all: BTreeSet<u64> = (0..4).flat_map(|index| of_client(index, 320..640)).collect();
        assert_eq!(all, (320..640).collect());
        assert!((0..4).all(|index| of_client(index, 320..640).len() == 80));
        assert!((0..4).all(|index| of_client(index, 320..328).len() == 8));
    }
}
