//! Which records are in the database, where some come and others go.
//!
//! New records follow the last id, and the oldest are *taken*, so that what is there is a range of ids. Records in
//! between that are deleted have a bit each, in the ledger.

mod inserts;
mod takes;

use std::sync::atomic::Ordering;

pub(super) use inserts::{Inserts, MOST_INSERTED};
pub(super) use takes::Takes;

use super::{Removal, WorkloadSpec};
use crate::shared::SharedMemory;
use crate::spec::PresentIds;

/// Ids that a client gets at once, to insert or to take.
const CHUNK: u64 = 64;

/// The ids that are in the database after a trial of `workload`, where those `before` it were.
pub(crate) fn present_after(shared: &SharedMemory, workload: &WorkloadSpec, before: PresentIds) -> PresentIds {
    let (name, parameters) = (workload.name, &workload.parameters);
    if !name.inserts(parameters) && name.removes(parameters) != Some(Removal::Oldest) {
        return before;
    }
    let (control, clients) = (shared.control(), shared.client_stats());
    let given_out = control.shared_work.0.load(Ordering::SeqCst);
    let taken = control.taken.0.load(Ordering::SeqCst);
    PresentIds {
        gone: takes::gone(before.gone, taken, clients).max(before.gone),
        taken: before.gone.saturating_add(taken).max(before.taken),
        there: inserts::there(before.there, given_out, clients).max(before.there),
        given_out: before.there.saturating_add(given_out).max(before.given_out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::parameters::{WorkloadParameters, testing};
    use kvdyno_model::WorkloadName;

    /// The ids that are there after a mix in which clients have these low waters.
    fn after(mix: &str, low_waters: [&[u64]; 2], counters: [u64; 2], before: PresentIds) -> PresentIds {
        let [inserted, taken] = low_waters;
        let shared = SharedMemory::create(inserted.len()).unwrap();
        shared.control().shared_work.0.store(counters[0], Ordering::Relaxed);
        shared.control().taken.0.store(counters[1], Ordering::Relaxed);
        for ((stats, inserted), taken) in shared.client_stats().iter().zip(inserted).zip(taken) {
            stats.low_water.store(*inserted, Ordering::Relaxed);
            stats.take_low_water.store(*taken, Ordering::Relaxed);
        }
        let parameters = WorkloadParameters { mix: Some(mix.parse().unwrap()), ..testing::a_hundred_reads() };
        present_after(&shared, &WorkloadSpec { name: WorkloadName::Mix.into(), parameters }, before)
    }

    #[test]
    fn what_is_below_all_low_waters_is_there() {
        let inserts = |low_waters: [u64; 2], given_out, before| {
            after("insert 100", [&low_waters, &[0, 0]], [given_out, 0], before)
        };
        let before = PresentIds::loaded(1000);
        let ids = |there, given_out| PresentIds { there, given_out, ..before };
        assert_eq!(inserts([0, 0], 0, before), before);
        assert_eq!(inserts([1010, 1070], 128, before), ids(1010, 1128));
        assert_eq!(inserts([0, 1070], 128, before), ids(1070, 1128));
        assert_eq!(inserts([0, 0], 128, before), ids(1128, 1128));
        // Ids that an earlier trial gave out and did not acknowledge stay unknown until they are inserted again.
        assert_eq!(inserts([1011, 0], 64, ids(1010, 1128)), ids(1011, 1128));
    }

    #[test]
    fn what_is_below_all_low_waters_of_takes_is_gone() {
        let takes = |low_waters: [u64; 2], taken, before| {
            after("insert 50, take 50", [&[0, 0], &low_waters], [0, taken], before)
        };
        let before = PresentIds::loaded(1000);
        let ids = |gone, taken| PresentIds { gone, taken, ..before };
        assert_eq!(takes([0, 0], 0, before), before);
        // A low water of 0 is published as 1.
        assert_eq!(takes([1, 71], 128, before), ids(0, 128));
        assert_eq!(takes([0, 71], 128, before), ids(70, 128));
        assert_eq!(takes([0, 0], 128, before), ids(128, 128));
        assert_eq!(takes([75, 0], 64, ids(70, 128)), ids(74, 134));
    }

    #[test]
    fn a_mix_that_changes_none_leaves_them() {
        let before = PresentIds { gone: 5, taken: 9, ..PresentIds::loaded(1000) };
        assert_eq!(after("get 50, delete 50", [&[0], &[0]], [0, 0], before), before);
    }
}
