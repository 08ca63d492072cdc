//! Resources of a process, and whether they keep growing.

use std::time::{Duration, Instant};

use procfs::process::Process;

use crate::finding::{Finding, ensure, wrong};

/// Resources of a process that can leak.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Belongings {
    files: usize,
    threads: i64,
    memory_kib: u64,
}

/// KiB by which an allocator's memory may go up and down.
pub(crate) const SPARE_KIB: u64 = 8 << 10;
/// Threads and files that the runtime of an engine's language may start at any time, and keep: in all fewer than a
/// thread for each opening.
const SPARE_THREADS: i64 = 8;

impl Belongings {
    pub fn now() -> Result<Belongings, Finding> {
        let look = || {
            let process = Process::myself()?;
            let memory_kib = process.statm()?.resident * procfs::page_size() / 1024;
            Ok(Belongings { files: process.fd_count()?, threads: process.stat()?.num_threads, memory_kib })
        };
        look().map_err(unreadable)
    }

    /// As [`Belongings::expect_no_more`], now or a moment later: a thread says that it is done before it is gone.
    pub fn settled(before: Belongings, spare_kib: u64) -> Result<(), Finding> {
        let patience = Instant::now() + Duration::from_secs(2);
        loop {
            let result = Belongings::now()?.expect_no_more(before, spare_kib);
            if result.is_ok() || Instant::now() >= patience {
                return result;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Checks that files, threads and memory have not grown since `before`, but for a few threads and `spare_kib` KiB
    /// of memory.
    fn expect_no_more(self, before: Belongings, spare_kib: u64) -> Result<(), Finding> {
        let (old, new) = (before.files, self.files);
        ensure!(new <= old, "{old} file descriptors have become {new}");
        let (old, new) = (before.threads, self.threads);
        ensure!(new <= old + SPARE_THREADS, "{old} threads have become {new}");
        let (old, new) = (before.memory_kib, self.memory_kib);
        ensure!(new <= old + spare_kib, "{old} KiB of memory have become {new}");
        Ok(())
    }
}

pub(crate) fn unreadable(error: procfs::ProcError) -> Finding {
    wrong(format!("the check itself failed: cannot read /proc: {error}"))
}

/// Memory after each of several equal rounds. A cache takes memory in some of them, a collector some rounds after
/// another; a leak grows in each.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    after: Vec<MemoryInUse>,
}

#[derive(Clone, Copy, Debug)]
struct MemoryInUse {
    /// Bytes that the C library's allocator has given out, to the byte.
    heap: u64,
    /// Bytes of the process in memory, in pages: what other allocators took shows here.
    resident: u64,
}

/// Bytes per operation: a round that grows by less proves that nothing leaks. The limit is below the smallest object
/// that can leak each time.
const LEAKED_BYTES: u64 = 64;
/// Rounds before the caches of the process are full.
const SETTLING_ROUNDS: usize = 3;
/// Fewer rounds than this tell nothing.
const TELLING_ROUNDS: usize = 5;
/// Rounds that count as one if there may be a garbage collector: it has freed the garbage of one of these before the
/// last.
const COLLECTED_ROUNDS: usize = 8;

impl Growth {
    /// Notes how much there is after a round.
    pub fn note(&mut self) -> Result<(), Finding> {
        let resident = Process::myself().and_then(|process| process.statm()).map_err(unreadable)?.resident;
        self.after.push(MemoryInUse { heap: allocated(), resident: resident * procfs::page_size() });
        Ok(())
    }

    /// Checks that memory did not grow in at least one of the rounds, each of which did something `times` times.
    pub fn expect_none(&self, times: u64, what: &str) -> Result<(), Finding> {
        for (owner, of, rounds) in
            [("heap", heap as fn(&MemoryInUse) -> u64, 1), ("process", resident, COLLECTED_ROUNDS)]
        {
            let after: Vec<u64> = self.after.iter().step_by(rounds).map(of).collect();
            let (least, times) = (least_growth(&after).unwrap_or_default(), times * rounds as u64);
            ensure!(
                least < LEAKED_BYTES * times,
                "each {what} leaves {} bytes behind: in every round of {times} the {owner} grew by at least {least}",
                least / times
            );
        }
        Ok(())
    }
}

fn heap(memory: &MemoryInUse) -> u64 {
    memory.heap
}

fn resident(memory: &MemoryInUse) -> u64 {
    memory.resident
}

fn least_growth(after: &[u64]) -> Option<u64> {
    let settled = after.get(SETTLING_ROUNDS - 1..).filter(|rounds| rounds.len() > TELLING_ROUNDS)?;
    settled.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min()
}

#[cfg(target_env = "gnu")]
fn allocated() -> u64 {
    // SAFETY: it takes nothing and only counts.
    let counts = unsafe { libc::mallinfo2() };
    (counts.uordblks + counts.hblkhd) as u64
}

#[cfg(not(target_env = "gnu"))]
fn allocated() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_in_every_round_leaks_and_what_grows_now_and_then_does_not() {
        let leaking: Vec<u64> = (0..10).map(|round| 1_000_000 + round * 290_000).collect();
        assert_eq!(least_growth(&leaking), Some(290_000));
        let cached = [1_000, 2_000, 2_000, 2_500, 2_500, 9_000, 9_000, 9_000, 9_100];
        assert_eq!(least_growth(&cached), Some(0));
        assert_eq!(least_growth(&leaking[..7]), None);
    }
}
