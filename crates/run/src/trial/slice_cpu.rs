//! CPU time of a trial in slices: of everything in its control group, whose account is read when the group is frozen.

use std::io;
use std::time::Duration;

use kvdyno_environment::memory::GroupCpuAccount;
use kvdyno_results::{CpuAccount, DuetSlice};
use kvdyno_worker::slices::Slice;
use kvdyno_worker::{ClientWork, Observer};

/// The use of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SliceUse {
    /// Nothing is done in it: all clients have come to the first.
    Nothing,
    WarmUp,
    /// The measured part.
    Alone,
    Duet,
}

impl SliceUse {
    fn of(slice: Slice) -> SliceUse {
        match (slice.lead.is_zero(), slice.length.is_zero()) {
            (true, true) => SliceUse::Nothing,
            (false, true) => SliceUse::WarmUp,
            _ if slice.is_duet => SliceUse::Duet,
            _ => SliceUse::Alone,
        }
    }
}

/// CPU time of a trial in its slices.
#[derive(Clone, Debug)]
pub(super) struct SliceCpu {
    account: GroupCpuAccount,
    /// The account when the group was frozen last.
    read: Duration,
    /// Without operations.
    pub(super) warmup: CpuAccount,
    pub(super) alone: CpuAccount,
    pub(super) duets: CpuAccount,
    pub(super) duet_slices: Vec<DuetSlice>,
}

impl SliceCpu {
    pub(super) fn new(account: GroupCpuAccount) -> SliceCpu {
        let [warmup, alone, duets] = [CpuAccount::default(); 3];
        SliceCpu { account, read: Duration::ZERO, warmup, alone, duets, duet_slices: Vec::new() }
    }

    /// Notes a slice that is over, of a group that is frozen.
    pub(super) fn note(&mut self, slice: Slice, observer: &Observer<'_>) -> io::Result<()> {
        let now = self.account.read()?;
        let cpu_s = now.saturating_sub(std::mem::replace(&mut self.read, now)).as_secs_f64();
        self.add(SliceUse::of(slice), cpu_s, observer);
        Ok(())
    }

    fn add(&mut self, of: SliceUse, cpu_s: f64, observer: &Observer<'_>) {
        let (sum, work) = match of {
            SliceUse::Nothing => return,
            SliceUse::WarmUp => {
                let cpu_s = observer.lead_times().cpu_ns as f64 / 1e9;
                (&mut self.warmup, ClientWork { operations: 0, cpu_s })
            }
            SliceUse::Alone => (&mut self.alone, observer.work_alone()),
            SliceUse::Duet => (&mut self.duets, observer.work_in_duets()),
        };
        let before = *sum;
        *sum = CpuAccount { operations: work.operations, cpu_s: sum.cpu_s + cpu_s, client_cpu_s: work.cpu_s };
        if of == SliceUse::Duet {
            self.duet_slices.push(DuetSlice { operations: sum.since(before).operations, cpu_s });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use kvdyno_worker::shared::SharedMemory;

    use super::*;

    const LEAD: Duration = Duration::from_millis(10);
    const LENGTH: Duration = Duration::from_millis(100);

    fn slice(lead: Duration, length: Duration, is_duet: bool) -> Slice {
        Slice { lead, length, is_duet, per_s: None }
    }

    #[test]
    fn each_slice_has_what_the_account_rose_by_and_what_clients_did_meanwhile() {
        let group = tempfile::tempdir().unwrap();
        let says = |us: u64| std::fs::write(group.path().join("cpu.stat"), format!("usage_usec {us}\n")).unwrap();
        says(5_000);
        let shared = SharedMemory::create(1).unwrap();
        let slices = &shared.client_stats()[0].slices;
        let mut cpu = SliceCpu::new(GroupCpuAccount::of(group.path()).unwrap());
        let mut note = |us: u64, of: Slice| {
            says(us);
            cpu.note(of, &Observer::new(&shared)).unwrap();
        };
        // What came before the first slice is nobody's.
        note(7_000, slice(Duration::ZERO, Duration::ZERO, false));
        slices.lead.cpu_ns.store(9_000_000, Ordering::Relaxed);
        note(17_000, slice(LEAD, Duration::ZERO, false));
        for (operations, cpu_ns) in [(100, 90_000_000), (300, 180_000_000)] {
            slices.duets.operations.store(operations, Ordering::Relaxed);
            slices.duets.times.cpu_ns.store(cpu_ns, Ordering::Relaxed);
            note(17_000 + operations * 1_000, slice(LEAD, LENGTH, true));
        }
        slices.alone.operations.store(500, Ordering::Relaxed);
        slices.alone.times.cpu_ns.store(100_000_000, Ordering::Relaxed);
        note(417_000, slice(LEAD, LENGTH, false));
        let rounded = |account: CpuAccount| {
            let ms = |seconds: f64| (1e3 * seconds).round() as u64;
            (account.operations, ms(account.cpu_s), ms(account.client_cpu_s))
        };
        assert_eq!(rounded(cpu.warmup), (0, 10, 9));
        assert_eq!((rounded(cpu.duets), rounded(cpu.alone)), ((300, 300, 180), (500, 100, 100)));
        let of_slices = cpu.duet_slices.iter().map(|one| (one.operations, (1e3 * one.cpu_s).round() as u64));
        assert_eq!(of_slices.collect::<Vec<_>>(), [(100, 100), (200, 200)]);
    }
}
