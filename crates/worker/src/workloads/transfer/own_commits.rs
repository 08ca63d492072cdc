//! The versions that a client has committed lately.

/// Records that are remembered at the most: 8 KiB.
const SLOTS: usize = 512;

/// The newest version that a client has committed, of records that it wrote lately.
///
/// Every client writes every record, so that the ledger cannot have their versions: its slots are of one writer each.
pub(super) struct OwnCommits(Box<[Commit; SLOTS]>);

#[derive(Clone, Copy, Default)]
struct Commit {
    id: u64,
    /// 0, the version of the load, where nothing was committed.
    version: u64,
}

impl Default for OwnCommits {
    fn default() -> Self {
        OwnCommits(Box::new([Commit::default(); SLOTS]))
    }
}

impl OwnCommits {
    /// Another record with the same place is forgotten.
    pub(super) fn note(&mut self, id: u64, version: u64) {
        self.0[id as usize % SLOTS] = Commit { id, version };
    }

    /// The version that a transaction that begins now must at least see of `id`.
    pub(super) fn version(&self, id: u64) -> u64 {
        let commit = self.0[id as usize % SLOTS];
        if commit.id == id { commit.version } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_place_is_remembered() {
        let mut committed = OwnCommits::default();
        assert_eq!((committed.version(0), committed.version(7)), (0, 0));
        committed.note(7, 3);
        committed.note(7, 4);
        committed.note(8, 1);
        assert_eq!((committed.version(7), committed.version(8)), (4, 1));
        committed.note(7 + SLOTS as u64, 9);
        assert_eq!((committed.version(7), committed.version(7 + SLOTS as u64)), (0, 9));
    }
}
