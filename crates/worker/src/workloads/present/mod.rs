//! Which records are in the database, where some come and others go.
//!
//! New records follow the last id, and the oldest are *taken*, so that what is there is a range of ids. Records in
//! between that are deleted have a bit each, in the ledger.

mod inserts;
mod takes;

use std::iter;
use std::ops::Range;
use std::sync::atomic::Ordering;

pub(super) use inserts::{Inserts, MOST_INSERTED};
pub(super) use takes::Takes;

use super::{Removal, WorkloadSpec};
use crate::shared::{ClientStats, GivenIds, HandOvers, SharedMemory};
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
        gone: low_water(before.gone, taken, clients, &control.hand_overs, takes_of).max(before.gone),
        taken: before.gone.saturating_add(taken).max(before.taken),
        there: low_water(before.there, given_out, clients, &control.hand_overs, inserts_of).max(before.there),
        given_out: before.there.saturating_add(given_out).max(before.given_out),
    }
}

/// A client that has no chunk.
const NO_CHUNK: u64 = 0;

/// The low water of an id: 0 is an id, too.
fn published(id: u64) -> u64 {
    id + 1
}

fn inserts_of(stats: &ClientStats) -> &GivenIds {
    &stats.inserts
}

fn takes_of(stats: &ClientStats) -> &GivenIds {
    &stats.takes
}

/// The id below which all are done, in a trial that gives ids out from `base` on. `given_out` is the number of them as
/// it was before the clients' statistics are read.
fn low_water(
    base: u64,
    given_out: u64,
    clients: &[ClientStats],
    hand_overs: &HandOvers,
    of: fn(&ClientStats) -> &GivenIds,
) -> u64 {
    let low_waters = || clients.iter().filter_map(|stats| of(stats).low_water.load(Ordering::SeqCst).checked_sub(1));
    let lowest = hand_overs.none_during(|| low_waters().fold(base.saturating_add(given_out), u64::min));
    lowest.unwrap_or(base)
}

/// The rest of a chunk that a client left when a part of its work ended: first its own, whose low water would be lost.
fn left_behind(
    own: &GivenIds,
    clients: &[ClientStats],
    hand_overs: &HandOvers,
    of: fn(&ClientStats) -> &GivenIds,
) -> Option<Range<u64>> {
    iter::once(own).chain(clients.iter().map(of)).find_map(|given| given.hand_over(own, hand_overs))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::thread;

    use kvdyno_dataset::Stream;

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
            stats.inserts.low_water.store(*inserted, Ordering::Relaxed);
            stats.takes.low_water.store(*taken, Ordering::Relaxed);
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
        // A low water of 1010 is published as 1011.
        assert_eq!(inserts([1011, 1071], 128, before), ids(1010, 1128));
        assert_eq!(inserts([0, 1071], 128, before), ids(1070, 1128));
        assert_eq!(inserts([0, 0], 128, before), ids(1128, 1128));
        // Ids that an earlier trial gave out and did not acknowledge stay unknown until they are inserted again.
        assert_eq!(inserts([1012, 0], 64, ids(1010, 1128)), ids(1011, 1128));
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

    /// Three clients are given ids by chunks, do some or all of them, and leave the rest.
    #[test]
    fn what_is_left_is_done_once_and_nothing_below_a_low_water_is_undone() {
        const IDS: u64 = 1 << 18;
        let shared = SharedMemory::create(3).unwrap();
        let (clients, given_out) = (shared.client_stats(), &shared.control().shared_work.0);
        let hand_overs = &shared.control().hand_overs;
        let done: Vec<AtomicU64> = (0..IDS + 3 * CHUNK).map(|_| AtomicU64::new(0)).collect();
        let work = |number: u64| {
            let (own, mut stream) = (&clients[number as usize].inserts, Stream::new(number));
            loop {
                let ids = left_behind(own, clients, hand_overs, inserts_of).unwrap_or_else(|| {
                    own.low_water.store(published(given_out.load(Ordering::SeqCst)), Ordering::SeqCst);
                    let first = given_out.fetch_add(CHUNK, Ordering::SeqCst);
                    own.low_water.store(published(first), Ordering::SeqCst);
                    first..first + CHUNK
                });
                let (end, until) = (ids.end, ids.start + stream.below(CHUNK + 8));
                for id in ids.start..until.min(end) {
                    assert_eq!(done[id as usize].fetch_add(1, Ordering::SeqCst), 0, "{id}");
                    let low = if id + 1 == end { NO_CHUNK } else { published(id + 1) };
                    own.low_water.store(low, Ordering::SeqCst);
                }
                own.leave(until.min(end)..end);
                if given_out.load(Ordering::SeqCst) >= IDS {
                    return;
                }
            }
        };
        let below = || low_water(0, given_out.load(Ordering::SeqCst), clients, hand_overs, inserts_of);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..3).map(|number| scope.spawn(move || work(number))).collect();
            let mut checked = 0;
            while !workers.iter().all(|worker| worker.is_finished()) {
                let until = below();
                assert!((checked..until).all(|id| done[id as usize].load(Ordering::SeqCst) == 1), "below {until}");
                checked = checked.max(until);
            }
        });
        let undone = done.iter().take(given_out.load(Ordering::SeqCst) as usize);
        let undone = undone.filter(|done| done.load(Ordering::SeqCst) == 0).count() as u64;
        assert!(undone < 3 * CHUNK, "{undone}");
    }
}
