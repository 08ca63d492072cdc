//! The frequency of busy processors: heat or power saving slows them down.
//!
//! An idle one may be slow. So only those count that were busy all the time between two looks.

use kvdyno_results::Interference;

use crate::tree::{Tree, number_list};

/// Below this fraction of its nominal value, a frequency is worth a note.
pub const SLOWED_SHARE: f64 = 0.8;
/// From this part of the time on, a processor is busy.
const BUSY_SHARE: f64 = 0.95;
/// The most processors whose frequency is read in one look: each is a file, and on some kernels an interrupt.
const MOST_READ: usize = 8;

/// A processor's time so far, in any unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CpuTime {
    pub(super) busy: f64,
    pub(super) total: f64,
}

/// The lowest and highest frequency seen of busy processors, kHz.
#[derive(Debug)]
pub(super) struct Frequency {
    tree: Tree,
    /// The processors behind the times, where `cpufreq` is there.
    cpus: Vec<u32>,
    /// The frequency that the maker promises under full load, kHz, if it is known.
    base_khz: Option<u64>,
    before: Vec<CpuTime>,
    lowest_khz: Option<u64>,
    highest_khz: Option<u64>,
}

impl Frequency {
    pub(super) fn new(tree: Tree) -> Frequency {
        let online = tree.text("sys/devices/system/cpu/online").and_then(|list| number_list(&list)).unwrap_or_default();
        let has_cpufreq = |cpu: &u32| tree.path(file(*cpu, "scaling_cur_freq")).exists();
        let cpus = if online.iter().any(has_cpufreq) { online } else { Vec::new() };
        let base_khz = cpus.iter().filter_map(|cpu| tree.value(file(*cpu, "base_frequency"))).min();
        Frequency { tree, cpus, base_khz, before: Vec::new(), lowest_khz: None, highest_khz: None }
    }

    /// Takes the times of all processors that are on, in order.
    pub(super) fn look(&mut self, times: &[CpuTime]) {
        let pairs = self.cpus.iter().zip(self.before.iter().zip(times));
        let busy = pairs.filter(|(_, (before, now))| was_busy(before, now)).map(|(cpu, _)| *cpu);
        let seen = busy.take(MOST_READ).filter_map(|cpu| self.tree.value::<u64>(file(cpu, "scaling_cur_freq")));
        for khz in seen.collect::<Vec<_>>() {
            self.lowest_khz = Some(self.lowest_khz.map_or(khz, |lowest| lowest.min(khz)));
            self.highest_khz = self.highest_khz.max(Some(khz));
        }
        self.before = times.to_vec();
    }

    /// A processor that was slowed down, if one was.
    pub(super) fn slowed(&self) -> Option<Interference> {
        let (lowest_khz, highest_khz, base_khz) = (self.lowest_khz?, self.highest_khz?, self.base_khz);
        let nominal_khz = base_khz.unwrap_or(highest_khz);
        let is_slowed = (lowest_khz as f64) < SLOWED_SHARE * nominal_khz as f64;
        is_slowed.then_some(Interference::SlowedCpu { lowest_khz, highest_khz, base_khz })
    }
}

fn file(cpu: u32, name: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}")
}

fn was_busy(before: &CpuTime, now: &CpuTime) -> bool {
    let (busy, total) = (now.busy - before.busy, now.total - before.total);
    total > 0.0 && busy >= BUSY_SHARE * total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;
    use std::path::Path;

    fn runs_at(root: &Path, cpu: u32, khz: u64) {
        testing::write(root, &file(cpu, "scaling_cur_freq"), &format!("{khz}\n"));
    }

    /// Times after `seconds`, of a busy processor and an idle one.
    fn after(seconds: f64) -> [CpuTime; 2] {
        [CpuTime { busy: seconds, total: seconds }, CpuTime { busy: 0.0, total: seconds }]
    }

    fn two_cpus() -> (tempfile::TempDir, Tree) {
        let (root, tree) = testing::empty();
        testing::write(root.path(), "sys/devices/system/cpu/online", "0,2\n");
        runs_at(root.path(), 0, 3_100_000);
        runs_at(root.path(), 2, 800_000);
        (root, tree)
    }

    #[test]
    fn a_busy_one_that_is_slowed_down_is_told() {
        let (root, tree) = two_cpus();
        let mut frequency = Frequency::new(tree);
        frequency.look(&after(1.0));
        frequency.look(&after(2.0));
        assert_eq!(frequency.slowed(), None);
        runs_at(root.path(), 0, 1_200_000);
        frequency.look(&after(3.0));
        runs_at(root.path(), 0, 3_100_000);
        frequency.look(&after(4.0));
        assert_eq!(
            frequency.slowed(),
            Some(Interference::SlowedCpu { lowest_khz: 1_200_000, highest_khz: 3_100_000, base_khz: None })
        );
    }

    #[test]
    fn turbo_that_ends_is_no_interference_where_the_base_is_known() {
        let (root, tree) = two_cpus();
        testing::write(root.path(), &file(0, "base_frequency"), "2100000\n");
        let mut frequency = Frequency::new(tree);
        frequency.look(&after(1.0));
        frequency.look(&after(2.0));
        runs_at(root.path(), 0, 2_100_000);
        frequency.look(&after(3.0));
        assert_eq!(frequency.slowed(), None);
        runs_at(root.path(), 0, 1_000_000);
        frequency.look(&after(4.0));
        let base_khz = Some(2_100_000);
        assert_eq!(
            frequency.slowed(),
            Some(Interference::SlowedCpu { lowest_khz: 1_000_000, highest_khz: 3_100_000, base_khz })
        );
    }

    #[test]
    fn idle_processors_and_machines_without_cpufreq_are_not_looked_at() {
        let (root, tree) = two_cpus();
        let mut frequency = Frequency::new(tree);
        frequency.look(&after(1.0));
        let idle = after(2.0).map(|time| CpuTime { busy: 0.0, ..time });
        frequency.look(&idle);
        assert_eq!((frequency.lowest_khz, frequency.slowed()), (None, None));
        drop(root);
        let (_root, tree) = testing::empty();
        let mut frequency = Frequency::new(tree);
        frequency.look(&after(1.0));
        frequency.look(&after(2.0));
        assert_eq!(frequency.slowed(), None);
    }
}
