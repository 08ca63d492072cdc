//! One record after the other, in key order.

use kvdyno_dataset::Stream;

use super::KeyChoice;

/// From a random id on, and after the last again from the first.
#[derive(Clone)]
pub(super) struct Sequential {
    ids: u64,
    next: u64,
}

impl Sequential {
    pub(super) fn new(ids: u64, mut stream: Stream) -> Self {
        Sequential { ids, next: stream.below(ids) }
    }
}

impl KeyChoice for Sequential {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let id = self.next;
        self.next = if id + 1 < self.ids { id + 1 } else { 0 };
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_comes_in_its_turn() {
        let mut choice = Sequential::new(10, Stream::new(3));
        let ids: Vec<u64> = (0..20).map(|_| choice.next()).collect();
        assert!(ids.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 10), "{ids:?}");
    }
}
