//! The processes of one trial, one or several, which are ended together and accounted as one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kvdyno_results::OsFacts;
use procfs::process::Process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::process::{Exit, Finished, WorkerCommand, WorkerProcess, cpu_pct};

/// The processes of one trial. Dropping it kills those that live.
#[derive(Debug)]
pub struct WorkerProcesses {
    clients: Vec<WorkerProcess>,
    /// The end of each process; `None` while it runs.
    ended: Vec<Option<Finished>>,
    started: Instant,
    /// When the last of them was reaped.
    over: Option<Instant>,
    memory_peak: SharedMemoryPeak,
}

/// The resource usage of all processes of a trial together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// Sums, but for the wall time: that runs from the first one's start until the last one was reaped.
    pub os: OsFacts,
    /// Whether all peak resident sizes are the kernel's own figures.
    pub peak_rss_exact: bool,
    /// Processes that they had left behind, and that had to be ended.
    pub survivors: u32,
}

impl WorkerProcesses {
    /// Starts a process for each command.
    ///
    /// # Errors
    /// If one cannot be started; those that were are ended.
    pub fn start(commands: Vec<WorkerCommand>) -> io::Result<WorkerProcesses> {
        let started = Instant::now();
        let clients = commands.into_iter().map(WorkerCommand::spawn).collect::<io::Result<Vec<_>>>()?;
        let memory_peak = SharedMemoryPeak::new(&clients)?;
        Ok(WorkerProcesses { ended: clients.iter().map(|_| None).collect(), clients, started, over: None, memory_peak })
    }

    /// The numbers of all processes.
    pub fn pids(&self) -> Vec<u32> {
        self.clients.iter().map(WorkerProcess::pid).collect()
    }

    /// The resident size of the only process, KiB. Absent of several, which share pages, and once it has ended.
    pub fn resident_kib(&self) -> Option<u64> {
        let ([only], [None]) = (self.clients.as_slice(), self.ended.as_slice()) else { return None };
        let pages = Process::new(only.pid() as i32).ok()?.statm().ok()?.resident;
        Some(pages * procfs::page_size() / 1024)
    }

    /// Waits until one of the processes has ended that had not, but no longer than `timeout`. A signal to the caller
    /// may cut the wait short.
    pub fn wait_event(&mut self, timeout: Duration) -> io::Result<()> {
        let living = || self.clients.iter().zip(&self.ended).filter(|(_, ended)| ended.is_none());
        let mut events: Vec<_> = living().map(|(worker, _)| PollFd::new(worker.ends(), PollFlags::IN)).collect();
        let timeout = Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut events, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reaps those that have ended, without waiting. Returns which, and their exits; each is reported once.
    pub fn reap(&mut self) -> io::Result<Vec<(usize, Exit)>> {
        let mut now = Vec::new();
        for (number, (worker, ended)) in self.clients.iter_mut().zip(&mut self.ended).enumerate() {
            if ended.is_none()
                && let Some(finished) = worker.try_finish()?
            {
                now.push((number, finished.exit.clone()));
                *ended = Some(finished);
                self.over = Some(Instant::now());
            }
        }
        Ok(now)
    }

    /// Their costs, once all have ended.
    pub fn account(&self) -> Option<Account> {
        let finished: Vec<&Finished> = self.ended.iter().flatten().collect();
        if finished.len() < self.clients.len() {
            return None;
        }
        let mut os = finished.iter().map(|finished| finished.os.clone()).reduce(|sum, more| sum.beside(&more))?;
        if finished.len() > 1 {
            let wall = self.over? - self.started;
            os.wall_s = wall.as_secs_f64();
            os.cpu_pct = cpu_pct(Duration::from_secs_f64(os.user_s), Duration::from_secs_f64(os.sys_s), wall);
            let largest_kib = finished.iter().map(|finished| finished.os.peak_rss_kib).max();
            // Together the processes held at least as much memory as the largest of them alone.
            os.peak_pss_kib =
                self.memory_peak.peak_kib().map(|seen_kib| largest_kib.map_or(seen_kib, |kib| kib.max(seen_kib)));
        }
        Some(Account {
            os,
            peak_rss_exact: finished.iter().all(|finished| finished.peak_rss_exact),
            survivors: finished.iter().map(|finished| finished.survivors).sum(),
        })
    }

    /// Freezes all of them, or thaws them, but not their children.
    ///
    /// # Errors
    /// If one cannot be told.
    pub fn stand_still(&self, still: bool) -> io::Result<()> {
        self.clients.iter().try_for_each(|client| client.stand_still(still))
    }

    /// Whether all that live are stopped by a signal.
    pub fn are_stopped(&self) -> bool {
        let mut living = self.clients.iter().zip(&self.ended).filter(|(_, ended)| ended.is_none()).peekable();
        let is_stopped = |worker: &WorkerProcess| {
            let stat = Process::new(worker.pid() as i32).and_then(|process| process.stat());
            stat.is_ok_and(|stat| stat.state == 'T')
        };
        living.peek().is_some() && living.all(|(worker, _)| is_stopped(worker))
    }

    /// Kills all that live, each with its descendants. [`WorkerProcesses::reap`] then reports them.
    pub fn kill(&self) -> io::Result<()> {
        self.clients.iter().try_for_each(WorkerProcess::kill)
    }
}

/// The peak memory that several processes hold together, a shared page counted once: the sum of their proportional set
/// sizes. The kernel walks all their pages to compute it, which takes seconds for large maps. A thread therefore
/// samples it, and waits the longer the more CPU time a sample took.
#[derive(Debug)]
struct SharedMemoryPeak {
    /// The highest sum that was seen, KiB; 0: none was.
    peak_kib: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

/// The reciprocal of the largest share of a processor's time that sampling may take.
const LOOK_SHARE: u32 = 100;
/// The least time between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

impl SharedMemoryPeak {
    /// Looks from now on. The resident size of a single process gives the same figure, so there is no look at that.
    fn new(clients: &[WorkerProcess]) -> io::Result<SharedMemoryPeak> {
        let memory_peak = SharedMemoryPeak { peak_kib: Arc::default(), over: Arc::default() };
        // Held open, so that a later process of the same number is not mistaken for one of them.
        let open = |worker: &WorkerProcess| Process::new(worker.pid() as i32).ok();
        if clients.len() > 1
            && let Some(processes) = clients.iter().map(open).collect::<Option<Vec<_>>>()
        {
            let (peak_kib, over) = (Arc::clone(&memory_peak.peak_kib), Arc::clone(&memory_peak.over));
            thread::Builder::new().name("memory".into()).spawn(move || look(&processes, &peak_kib, &over))?;
        }
        Ok(memory_peak)
    }

    fn peak_kib(&self) -> Option<u64> {
        Some(self.peak_kib.load(Ordering::Relaxed)).filter(|kib| *kib > 0)
    }
}

impl Drop for SharedMemoryPeak {
    fn drop(&mut self) {
        // The thread ends by itself: it holds nothing that others wait for.
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Looks again and again until one of the processes has ended: then the others' sum would be another figure.
fn look(processes: &[Process], peak_kib: &AtomicU64, over: &AtomicBool) {
    // Waits before the first look: until `exec` their memory is the parent's.
    let mut pause = LOOK_PAUSE;
    loop {
        thread::sleep(pause);
        let before = cpu_time();
        let Some(sum) = processes.iter().map(proportional_kib).sum::<Option<u64>>() else { return };
        if over.load(Ordering::Relaxed) {
            return;
        }
        peak_kib.fetch_max(sum, Ordering::Relaxed);
        pause = LOOK_PAUSE.max((cpu_time() - before) * LOOK_SHARE);
    }
}

/// The CPU time that this thread has used.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// `None` once it has ended, and where the kernel does not say.
fn proportional_kib(process: &Process) -> Option<u64> {
    let rollup = process.smaps_rollup().ok()?;
    let bytes =
        rollup.memory_map_rollup.iter().map(|map| map.extension.map.get("Pss").copied()).sum::<Option<u64>>()?;
    (bytes > 0).then_some(bytes / 1024)
}
