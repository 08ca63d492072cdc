//! Interference with a trial from outside: a stolen processor or a slow one, other processes, too little memory.
//!
//! It costs little: the parent reads a few small files of `/proc` a second. It says what is worth a note beside
//! the figures. CPU and I/O pressure do not count as interference: the worker may cause them itself.

mod frequency;

use std::time::Instant;

use kvdyno_results::Interference;
use procfs::process::Process;
use procfs::{Current, CurrentSI, KernelStats, Meminfo, MemoryPressure};
use rustix::time::{ClockId, clock_gettime};

use crate::tree::Tree;
use frequency::{CpuTime, Frequency};

pub use frequency::SLOWED_SHARE;

/// From this share of all CPU time on, time stolen by the hypervisor is worth a note.
pub const STOLEN_SHARE: f64 = 0.005;
/// From this many CPUs on, what others use is worth a note …
pub const OTHER_CPUS: f64 = 0.2;
/// … but on a large machine only from this share of its processors on: the kernel samples the one side of the
/// difference by ticks.
pub const OTHER_CPUS_SHARE: f64 = 0.01;
/// From this many on, tasks of others that wait for a processor are worth a note.
pub const WAITING_TASKS: f64 = 0.5;
/// Below this share of the memory, what is left is worth a note.
pub const AVAILABLE_SHARE: f64 = 0.05;
/// From this share of the time on, stalls for want of memory are worth a note.
pub const STALLED_SHARE: f64 = 0.01;

/// Whether the kernel tells how long a thread waits for a processor: where it does not, all figures are 0.
pub fn are_waits_told() -> bool {
    Process::myself().and_then(|process| process.schedstat()).is_ok_and(|told| told.pcount > 0)
}

/// Watches the machine from `new` to `finish`.
#[derive(Debug)]
pub struct InterferenceMonitor {
    origin: Instant,
    first: Option<MachineReading>,
    last: Option<MachineReading>,
    least_available_kib: Option<u64>,
    others: Others,
    is_limited: bool,
    frequency: Frequency,
}

/// One look at the machine. CPU times are in seconds, over all processors.
#[derive(Clone, Debug, PartialEq)]
struct MachineReading {
    at_s: f64,
    cpus: u32,
    /// CPU times of each processor, s.
    times: Vec<CpuTime>,
    total_s: f64,
    busy_s: f64,
    stolen_s: f64,
    /// Tasks that run or wait for a processor, this one included.
    runnable: Option<u32>,
    memory_kib: Option<u64>,
    available_kib: Option<u64>,
    /// Time in which some task stalled for want of memory, where the kernel has PSI.
    stalled_s: Option<f64>,
    worker: Option<WorkerUsage>,
    /// CPU time of this process, which watches.
    own_s: f64,
}

/// CPU time, s, and threads of the worker and its descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct WorkerUsage {
    cpu_s: f64,
    threads: u32,
}

impl WorkerUsage {
    fn and(self, other: WorkerUsage) -> WorkerUsage {
        WorkerUsage { cpu_s: self.cpu_s + other.cpu_s, threads: self.threads + other.threads }
    }
}

/// CPU time, s, and waiting tasks of all but the worker and this process, summed over the times between two looks that
/// both saw it.
#[derive(Debug, Default)]
struct Others {
    seconds: f64,
    cpu_s: f64,
    looks: u32,
    waiting: u32,
}

impl InterferenceMonitor {
    /// Takes the first look, without a worker.
    pub fn new() -> Self {
        let mut new = Self::blank();
        new.look(&[]);
        new
    }

    /// Omits the note on memory stalls, for a worker whose memory is limited: its own limit may cause them.
    pub fn of_limited(mut self) -> Self {
        self.is_limited = true;
        self
    }

    /// Takes a look; about once a second is enough. A process that the worker starts counts only if the first thread of
    /// its parent started it; so do its descendants. If any of several clients has ended, the look is taken as one
    /// without a worker.
    pub fn sample(&mut self, worker_pids: &[u32]) {
        self.look(worker_pids);
    }

    /// The interference that is worth telling. Empty for a quiet machine, and where `/proc` tells nothing.
    pub fn finish(self) -> Vec<Interference> {
        let (Some(first), Some(last)) = (&self.first, &self.last) else { return Vec::new() };
        [
            stolen(first, last),
            self.others.using(last.cpus),
            self.others.waiting(),
            self.frequency.slowed(),
            least_available(self.least_available_kib, last.memory_kib),
            stalled(first, last).filter(|_| !self.is_limited),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn blank() -> Self {
        let others = Others::default();
        let frequency = Frequency::new(Tree::live());
        let (first, last, least_available_kib) = (None, None, None);
        Self { origin: Instant::now(), first, last, least_available_kib, others, is_limited: false, frequency }
    }

    fn look(&mut self, clients: &[u32]) {
        if let Some(reading) = read(self.origin, clients) {
            self.add(reading);
        }
    }

    fn add(&mut self, now: MachineReading) {
        self.least_available_kib = match (self.least_available_kib, now.available_kib) {
            (Some(least), Some(available)) => Some(least.min(available)),
            (least, available) => least.or(available),
        };
        if let Some(before) = &self.last {
            self.others.add(before, &now);
        }
        self.frequency.look(&now.times);
        self.first.get_or_insert_with(|| now.clone());
        self.last = Some(now);
    }
}

impl Default for InterferenceMonitor {
    fn default() -> Self {
        Self::new()
    }
}

impl Others {
    fn add(&mut self, before: &MachineReading, now: &MachineReading) {
        let (Some(then), Some(worker)) = (before.worker, now.worker) else { return };
        self.seconds += now.at_s - before.at_s;
        let known_s = (worker.cpu_s - then.cpu_s).max(0.0) + (now.own_s - before.own_s).max(0.0);
        self.cpu_s += (now.busy_s - before.busy_s) - known_s;
        self.looks += 1;
        // Only tasks beyond the processors, and beyond those that the worker's threads and this look explain, count as
        // waiting.
        let explained = now.cpus.max(worker.threads + 1);
        self.waiting += now.runnable.unwrap_or(0).saturating_sub(explained);
    }

    fn using(&self, processors: u32) -> Option<Interference> {
        let cpus = share(self.cpu_s, self.seconds)?;
        let worth_a_note = cpus >= OTHER_CPUS.max(OTHER_CPUS_SHARE * f64::from(processors));
        worth_a_note.then_some(Interference::OtherProcesses { cpus })
    }

    fn waiting(&self) -> Option<Interference> {
        let tasks = share(self.waiting.into(), self.looks.into())?;
        (tasks >= WAITING_TASKS).then_some(Interference::WaitingTasks { tasks })
    }
}

fn stolen(first: &MachineReading, last: &MachineReading) -> Option<Interference> {
    let cpu_time_share = share(last.stolen_s - first.stolen_s, last.total_s - first.total_s)?;
    (cpu_time_share >= STOLEN_SHARE).then_some(Interference::StolenCpuTime { cpu_time_share })
}

fn least_available(least_kib: Option<u64>, memory_kib: Option<u64>) -> Option<Interference> {
    let (available_kib, memory_kib) = least_kib.zip(memory_kib)?;
    let share = share(available_kib as f64, memory_kib as f64)?;
    (share < AVAILABLE_SHARE).then_some(Interference::ShortMemory { available_kib, memory_kib })
}

fn stalled(first: &MachineReading, last: &MachineReading) -> Option<Interference> {
    let time_share = share(last.stalled_s? - first.stalled_s?, last.at_s - first.at_s)?;
    (time_share >= STALLED_SHARE).then_some(Interference::MemoryStalls { time_share })
}

/// `None` where there is no whole.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// `None` where the kernel does not show its accounts.
fn read(origin: Instant, clients: &[u32]) -> Option<MachineReading> {
    let stats = KernelStats::current().ok()?;
    let ticks = procfs::ticks_per_second() as f64;
    let all = time(&stats.total, ticks);
    let memory = Meminfo::current().ok();
    let pressure = MemoryPressure::current().ok();
    Some(MachineReading {
        at_s: origin.elapsed().as_secs_f64(),
        cpus: stats.cpu_time.len() as u32,
        times: stats.cpu_time.iter().map(|cpu| time(cpu, ticks)).collect(),
        total_s: all.total,
        busy_s: all.busy,
        stolen_s: stats.total.steal.unwrap_or(0) as f64 / ticks,
        runnable: stats.procs_running,
        memory_kib: memory.as_ref().map(|memory| memory.mem_total / 1024),
        available_kib: memory.as_ref().and_then(|memory| memory.mem_available).map(|bytes| bytes / 1024),
        stalled_s: pressure.map(|pressure| pressure.some.total as f64 / 1e6),
        worker: clients.iter().map(|pid| usage(*pid, ticks)).reduce(|sum, more| Some(sum?.and(more?))).flatten(),
        own_s: own_s(),
    })
}

/// CPU seconds of this process.
fn own_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds of a processor, or of all.
fn time(cpu: &procfs::CpuTime, ticks: f64) -> CpuTime {
    // Guests' time is in the user time already.
    let busy = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
    let total = busy + cpu.steal.unwrap_or(0) + cpu.idle + cpu.iowait.unwrap_or(0);
    CpuTime { busy: busy as f64 / ticks, total: total as f64 / ticks }
}

/// `None` once the process has ended.
fn usage(pid: u32, ticks: f64) -> Option<WorkerUsage> {
    let process = Process::new(pid as i32).ok()?;
    let stat = process.stat().ok()?;
    let waited_for = (stat.cutime + stat.cstime).max(0) as u64;
    let own = WorkerUsage {
        cpu_s: (stat.utime + stat.stime + waited_for) as f64 / ticks,
        threads: u32::try_from(stat.num_threads).unwrap_or(0),
    };
    // Kernels built without the list have none.
    let children = process.task_main_thread().and_then(|thread| thread.children()).unwrap_or_default();
    Some(children.into_iter().filter_map(|child| usage(child, ticks)).fold(own, WorkerUsage::and))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four processors after `seconds`, the worker busy on two of them.
    fn quiet(seconds: f64) -> MachineReading {
        MachineReading {
            at_s: seconds,
            cpus: 4,
            times: Vec::new(),
            total_s: seconds * 4.0,
            busy_s: seconds * 2.0,
            stolen_s: 0.0,
            runnable: Some(3),
            memory_kib: Some(1 << 20),
            available_kib: Some(1 << 19),
            stalled_s: Some(0.0),
            worker: Some(WorkerUsage { cpu_s: seconds * 2.0, threads: 2 }),
            own_s: 0.0,
        }
    }

    /// The clauses after ten seconds in which `change` changed each reading.
    fn clauses(change: impl Fn(f64, &mut MachineReading)) -> Vec<String> {
        let mut monitor = InterferenceMonitor::blank();
        for second in 0..=10 {
            let mut reading = quiet(second.into());
            change(second.into(), &mut reading);
            monitor.add(reading);
        }
        monitor.finish().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_limited_worker_waits_for_memory_by_itself() {
        let mut monitor = InterferenceMonitor::blank().of_limited();
        for second in 0..=10 {
            monitor.add(MachineReading { stalled_s: Some(f64::from(second) * 0.5), ..quiet(second.into()) });
        }
        assert_eq!(monitor.finish(), []);
    }

    #[test]
    fn a_quiet_machine_is_worth_no_note() {
        assert_eq!(clauses(|_, _| {}), [""; 0]);
        assert_eq!(InterferenceMonitor::blank().finish(), []);
    }

    #[test]
    fn steal() {
        let notes = clauses(|s, reading| reading.stolen_s = s * 4.0 * 0.018);
        assert_eq!(notes, ["1.8 % of CPU time was stolen by the hypervisor"]);
        assert_eq!(clauses(|s, reading| reading.stolen_s = s * 4.0 * 0.004), [""; 0]);
    }

    #[test]
    fn others_on_the_cpu() {
        let notes = clauses(|s, reading| reading.busy_s += s * 0.7);
        assert_eq!(notes, ["other processes and the kernel's own threads used 0.7 CPUs"]);
        // The same on a machine of 128 processors is less than its clock's ticks can tell.
        assert_eq!(clauses(|s, reading| (reading.busy_s, reading.cpus) = (s * 2.7, 128)), [""; 0]);
    }

    #[test]
    fn the_process_that_watches_is_nobody_else() {
        assert_eq!(clauses(|s, reading| (reading.busy_s, reading.own_s) = (s * 2.7, s * 0.7)), [""; 0]);
    }

    #[test]
    fn intervals_without_a_worker_accuse_nobody() {
        let notes = clauses(|s, reading| {
            reading.busy_s += s * 0.7;
            reading.worker = None;
        });
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn others_that_wait() {
        assert_eq!(
            clauses(|_, reading| reading.runnable = Some(6)),
            ["2.0 tasks of other processes waited for a CPU on average"]
        );
        let crowded_by_itself = clauses(|_, reading| {
            reading.runnable = Some(33);
            reading.worker = reading.worker.map(|worker| WorkerUsage { threads: 32, ..worker });
        });
        assert_eq!(crowded_by_itself, [""; 0]);
    }

    #[test]
    fn memory() {
        let notes = clauses(|s, reading| {
            reading.available_kib = Some(if s == 5.0 { 20 << 10 } else { 1 << 19 });
            reading.stalled_s = Some(s * 0.05);
        });
        assert_eq!(
            notes,
            [
                "memory ran short: 20 MiB (2.0 %) were available at the least",
                "tasks stalled for want of memory in 5.0 % of the time"
            ]
        );
        assert_eq!(clauses(|_, reading| (reading.stalled_s, reading.available_kib) = (None, None)), [""; 0]);
    }

    #[test]
    fn this_machine_can_be_read() {
        let mut monitor = InterferenceMonitor::new();
        monitor.sample(&[std::process::id()]);
        let reading = monitor.last.as_ref().unwrap();
        assert!(reading.cpus > 0 && reading.total_s > reading.busy_s && reading.available_kib.is_some(), "{reading:?}");
        assert!(reading.worker.unwrap().threads > 0, "{reading:?}");
        let one = reading.worker.unwrap();
        monitor.sample(&[std::process::id(), std::process::id()]);
        let two = monitor.last.as_ref().unwrap().worker.unwrap();
        assert!(two.threads > one.threads && two.cpu_s >= one.cpu_s, "{two:?}");
        monitor.sample(&[std::process::id(), u32::MAX >> 1]);
        assert_eq!(monitor.last.unwrap().worker, None);
    }
}
