//! The measured process: how it is started, watched, ended and accounted.
//!
//! [`spawn`] starts a worker of which nothing outlives its parent, and that a terminal's Ctrl-C does not reach;
//! [`WorkerProcess::try_finish`] gives what `time` would have said of it, and what `/proc` adds to that.
//! [`crate::worker_processes`] makes one of several. [`status`] runs a command that is not measured.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kvdyno_results::OsFacts;
use procfs::FromRead;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, pidfd_send_signal, setpgid, setrlimit,
};

use crate::costs::{counters, duration, empty_usage};
use crate::keeper::{Keeper, KeptEnd};

/// Pages that the child may still touch between measuring itself and `exec`, KiB. 284 were seen.
const PRE_EXEC_MARGIN_KIB: u64 = 2048;

/// A process that is being measured, or was.
///
/// It leads a process group of its own and has a keeper; dropping it ends it with everything below it, so that no trial
/// interferes with the next one.
#[derive(Debug)]
pub struct WorkerProcess {
    /// The worker's standard input, if the command asks for a pipe.
    pub stdin: Option<ChildStdin>,
    /// The worker's standard output, if the command asks for a pipe.
    pub stdout: Option<ChildStdout>,
    /// The worker's standard error, if the command asks for a pipe.
    pub stderr: Option<ChildStderr>,
    pid: Pid,
    /// Absent if it had ended at once.
    pidfd: Option<OwnedFd>,
    keeper: Keeper,
    keeper_pid: Pid,
    keeper_pidfd: OwnedFd,
    started: Instant,
    resident: Resident,
    finished: Option<Finished>,
}

/// The exit of a worker, and its costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Its exit.
    pub exit: Exit,
    /// The costs that the operating system accounted to it and to those of its children that it waited for; the peak
    /// resident size is that of the largest of them, not their sum. `device` is absent:
    /// [`crate::storage::DeviceCounters`] gives it.
    pub os: OsFacts,
    /// Whether `os.peak_rss_kib` is the kernel's own figure. If not, it is the highest that was seen while the worker
    /// ran, and the true peak may be higher: see [`spawn`].
    pub peak_rss_exact: bool,
    /// Processes that it had left behind, and that had to be ended.
    pub survivors: u32,
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// The kernel's number.
        number: i32,
        /// `SIGSEGV`.
        name: String,
    },
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal { number, name } => write!(f, "signal {number} ({name})"),
        }
    }
}

/// A command that starts a worker. Settings made before `exec` apply to the worker alone, not to its keeper.
#[derive(Debug)]
pub struct WorkerCommand {
    command: Command,
    keeper: Keeper,
}

impl WorkerCommand {
    /// A command that starts a program without arguments.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn new(program: impl AsRef<OsStr>) -> io::Result<WorkerCommand> {
        let mut command = Command::new(program);
        let keeper = Keeper::of(&mut command)?;
        Ok(WorkerCommand { command, keeper })
    }

    /// Starts it, as [`spawn`] does.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(mut self) -> io::Result<WorkerProcess> {
        spawn_kept(&mut self.command, self.keeper, true)
    }
}

impl Deref for WorkerCommand {
    type Target = Command;

    fn deref(&self) -> &Command {
        &self.command
    }
}

impl DerefMut for WorkerCommand {
    fn deref_mut(&mut self) -> &mut Command {
        &mut self.command
    }
}

/// Starts `command` as a worker, so that nothing of it remains: below a keeper, a process that ends the worker when
/// this one is no more, and whatever the worker started when the worker has ended. A command that has hooks of its own
/// is better begun as a [`WorkerCommand`], because the keeper has those too that were there before it.
///
/// In the child, before `exec`:
/// - The kernel is told to send SIGKILL when the keeper dies. A set-user-ID program drops the request.
/// - It leads a new process group: Ctrl-C in a terminal does not reach it. It is then a background process, which the
///   terminal stops if it reads from it: give it another standard input.
/// - No signal is blocked.
/// - Core dumps are off: a dump of a large cache takes minutes and the disk of the next trial. The limit is one byte
///   rather than none: the kernel hands a dump to a program that `core_pattern` names whatever the limit, save for 1
///   (`fs/coredump.c`).
///
/// **Peak memory.** Linux keeps `ru_maxrss` across `exec`, so a worker begins with the resident size that its image had
/// before: after a `fork` the parent's anonymous pages of that moment; after a `vfork` or `posix_spawn`, which
/// [`Command`] takes without the hook here, even the *peak* of the parent. A parent of 500 MB makes `/bin/true` a
/// process of 500 MB. So the child tells its size just before `exec`: a peak above that is the worker's own and exact.
/// A lower one is hidden by it; then the highest `VmHWM` of `/proc/PID/status` seen in [`WorkerProcess::try_finish`]
/// and [`WorkerProcess::wait_event`] is given instead, with [`Finished::peak_rss_exact`] false. Keep the parent small.
///
/// Needs Linux 5.3.
pub fn spawn(command: &mut Command) -> io::Result<WorkerProcess> {
    let keeper = Keeper::of(command)?;
    spawn_kept(command, keeper, true)
}

/// Runs `command` to its end below a keeper, and says how it ended. It stays in this process's group, so that it may
/// ask at the terminal, and Ctrl-C reaches it.
///
/// # Errors
/// If it cannot be started.
pub fn status(command: &mut Command) -> io::Result<Exit> {
    let keeper = Keeper::of(command)?;
    let mut process = spawn_kept(command, keeper, false)?;
    loop {
        process.wait_event(Duration::from_secs(1))?;
        if let Some(finished) = process.try_finish()? {
            return Ok(finished.exit);
        }
    }
}

fn spawn_kept(command: &mut Command, mut keeper: Keeper, leads: bool) -> io::Result<WorkerProcess> {
    // An event counter rather than a pipe: if the same command is spawned again, its former hook writes to a counter
    // without readers, and causes no SIGPIPE.
    let told = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let tell = Arc::clone(&told);
    // SAFETY: between fork and exec of a process with threads only async-signal-safe calls are allowed. All of
    // `before_exec` are bare system calls: nothing is allocated, and no lock is taken.
    unsafe { command.pre_exec(move || before_exec(leads, &tell)) };
    if leads {
        command.process_group(0);
    }

    let started = Instant::now();
    let spawned = command.spawn();
    keeper.disarm();
    let mut child = spawned?;
    let keeper_pid = Pid::from_child(&child);
    let kept = keeper.child().and_then(|pid| Ok((pid, pidfd_open(keeper_pid, PidfdFlags::empty())?)));
    let (pid, keeper_pidfd) = match kept {
        Ok(kept) => kept,
        Err(error) => {
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
    };
    let resident = Resident::new(pid, read_counter(&told));
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // `Child` neither kills nor reaps when it is dropped: from here on that is the `WorkerProcess`'s.
    Ok(WorkerProcess {
        stdin,
        stdout,
        stderr,
        pid,
        pidfd,
        keeper,
        keeper_pid,
        keeper_pidfd,
        started,
        resident,
        finished: None,
    })
}

/// In the child. Only async-signal-safe calls.
fn before_exec(leads: bool, tell: &OwnedFd) -> io::Result<()> {
    if leads {
        // Its own group, not the keeper's: signals to the worker's group are not meant for the keeper.
        setpgid(None, None)?;
    }
    let core = getrlimit(Resource::Core);
    let one = if core.maximum == Some(0) { 0 } else { 1 };
    setrlimit(Resource::Core, Rlimit { current: Some(one), ..core })?;
    unblock_signals()?;
    rustix::io::write(tell, &max_rss_kib()?.max(1).to_ne_bytes())?;
    Ok(())
}

fn unblock_signals() -> io::Result<()> {
    // SAFETY: an all-zero `sigset_t` is valid memory for `sigemptyset` to fill; both pointers are live or null.
    let status = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut())
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The peak resident size that the kernel accounts to this process so far.
fn max_rss_kib() -> io::Result<u64> {
    let mut usage = empty_usage();
    // SAFETY: the pointer is to a live `rusage`.
    match unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) } {
        0 => Ok(usage.ru_maxrss as u64),
        _ => Err(io::Error::last_os_error()),
    }
}

fn read_counter(told: &OwnedFd) -> Option<u64> {
    let mut bytes = [0; 8];
    (rustix::io::read(told, &mut bytes).ok()? == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}

impl WorkerProcess {
    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid() as u32
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The descriptor that becomes readable when it has ended.
    pub(crate) fn ends(&self) -> &OwnedFd {
        self.keeper.ends()
    }

    /// Stops it, or lets it go on. The processes that it started are not concerned. One that has ended stays so.
    ///
    /// # Errors
    /// If it cannot be told.
    pub(crate) fn stand_still(&self, still: bool) -> io::Result<()> {
        let signal = if still { Signal::STOP } else { Signal::CONT };
        match self.pidfd.as_ref().map(|pidfd| pidfd_send_signal(pidfd, signal)) {
            None | Some(Ok(()) | Err(Errno::SRCH)) => Ok(()),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Waits until the worker has ended, for at most `timeout`. Returns whether it has ended. A signal to the caller
    /// may cut the wait short.
    pub fn wait_event(&mut self, timeout: Duration) -> io::Result<bool> {
        if self.finished.is_some() {
            return Ok(true);
        }
        self.resident.look();
        let timeout = Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(self.keeper.ends(), PollFlags::IN)], Some(&timeout)) {
            Ok(0) => self.resident.look(),
            Ok(_) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(false)
    }

    /// Gives the worker's account if it has ended, without waiting for it. Once it has, every further call says the
    /// same.
    ///
    /// The wall clock runs until here: call it as soon as [`WorkerProcess::wait_event`] says so. Processes that the
    /// worker left behind were ended by then, wherever they went, and are not in the account; those that it waited for
    /// are, as they are for `time`.
    pub fn try_finish(&mut self) -> io::Result<Option<Finished>> {
        if self.finished.is_none() {
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            let mut events = [PollFd::new(self.keeper.ends(), PollFlags::IN)];
            if rustix::io::retry_on_intr(|| poll(&mut events, Some(&at_once)))? == 0 {
                self.resident.look();
                return Ok(None);
            }
            self.finished = Some(self.finish()?);
        }
        Ok(self.finished.clone())
    }

    /// Has the worker and everything below it ended. [`WorkerProcess::try_finish`] then gives its account.
    pub fn kill(&self) -> io::Result<()> {
        if self.finished.is_some() {
            return Ok(());
        }
        self.keeper.end()?;
        // The worker may have stopped it. It is not reaped yet: it is there, or has just ended.
        match pidfd_send_signal(&self.keeper_pidfd, Signal::CONT) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The process's end, once the keeper has said something.
    fn finish(&mut self) -> io::Result<Finished> {
        let words = self.keeper.last_words()?;
        if let (None, Some(pidfd)) = (&words, &self.pidfd) {
            // The keeper was ended, and the worker with it, unless the worker prevented that.
            let _ = pidfd_send_signal(pidfd, Signal::KILL);
        }
        let (keeper_status, _) = wait4(self.keeper_pid)?;
        let of_keeper = KeptEnd { status: keeper_status, usage: empty_usage(), io: Vec::new(), survivors: 0 };
        let KeptEnd { status, usage, io, survivors } = words.unwrap_or(of_keeper);
        let io = procfs::process::Io::from_read(io.as_slice()).ok();
        let wall = self.started.elapsed();
        let (user, sys) = (duration(usage.ru_utime), duration(usage.ru_stime));
        let (peak_rss_kib, peak_rss_exact) = self.resident.peak_kib(usage.ru_maxrss as u64);
        let os = OsFacts {
            wall_s: wall.as_secs_f64(),
            user_s: user.as_secs_f64(),
            sys_s: sys.as_secs_f64(),
            cpu_pct: cpu_pct(user, sys, wall),
            peak_rss_kib,
            ..counters(&usage, io.as_ref())
        };
        Ok(Finished { exit: exit(status), os, peak_rss_exact, survivors })
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if self.finished.is_none() {
            // A destructor cannot report errors; a worker that cannot be killed is still ended with the parent.
            let _ = self.kill();
            let _ = wait4(self.keeper_pid);
        }
    }
}

/// A worker's resident size, as far as it is known.
#[derive(Debug)]
struct Resident {
    /// Its folder in `/proc`, held open: a later process of the same number is not mistaken for it.
    process: Option<procfs::process::Process>,
    /// `ru_maxrss` before `exec`, KiB; absent if the child did not tell.
    before_exec_kib: Option<u64>,
    /// The highest `VmHWM` seen.
    seen_kib: Option<u64>,
}

impl Resident {
    fn new(pid: Pid, before_exec_kib: Option<u64>) -> Self {
        let process = procfs::process::Process::new(pid.as_raw_pid()).ok();
        let mut new = Self { process, before_exec_kib, seen_kib: None };
        new.look();
        new
    }

    /// A zombie has no memory and says nothing.
    fn look(&mut self) {
        let status = self.process.as_ref().and_then(|process| process.status().ok());
        self.seen_kib = self.seen_kib.max(status.and_then(|status| status.vmhwm));
    }

    /// The worker's own peak, and whether it is exact. A worker that ended before it was ever seen has no better
    /// figure than the kernel's.
    fn peak_kib(&self, max_rss_kib: u64) -> (u64, bool) {
        let hidden_below = self.before_exec_kib.map_or(u64::MAX, |kib| kib + PRE_EXEC_MARGIN_KIB);
        match self.seen_kib {
            _ if max_rss_kib > hidden_below => (max_rss_kib, true),
            Some(seen_kib) => (seen_kib, false),
            None => (max_rss_kib, false),
        }
    }
}

/// Reaps `pid`, waiting until it has ended.
fn wait4(pid: Pid) -> io::Result<(libc::c_int, libc::rusage)> {
    let (mut status, mut usage) = (0, empty_usage());
    loop {
        // SAFETY: both pointers are to live values of the types that the call fills.
        if unsafe { libc::wait4(pid.as_raw_pid(), &mut status, 0, &mut usage) } >= 0 {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn exit(status: libc::c_int) -> Exit {
    if libc::WIFSIGNALED(status) {
        let number = libc::WTERMSIG(status);
        Exit::Signal { number, name: signal_name(number) }
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    }
}

fn signal_name(number: i32) -> String {
    match signal_hook::low_level::signal_name(number) {
        Some(name) => name.to_owned(),
        None if number >= libc::SIGRTMIN() => format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
        None => format!("SIG{number}"),
    }
}

/// CPU time as a percentage of wall time, computed as GNU time does: whole milliseconds, divided as integers.
pub(crate) fn cpu_pct(user: Duration, sys: Duration, wall: Duration) -> u64 {
    let cpu_ms = user.as_millis() + sys.as_millis();
    (cpu_ms * 100).checked_div(wall.as_millis()).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(before_exec_kib: Option<u64>, seen_kib: Option<u64>) -> Resident {
        Resident { process: None, before_exec_kib, seen_kib }
    }

    #[test]
    fn a_peak_hidden_by_the_parents_memory() {
        assert_eq!(resident(Some(1000), Some(7000)).peak_kib(9000), (9000, true));
        assert_eq!(resident(Some(8000), Some(7000)).peak_kib(9000), (7000, false));
        assert_eq!(resident(None, Some(7000)).peak_kib(9000), (7000, false));
        assert_eq!(resident(Some(8000), None).peak_kib(9000), (9000, false));
    }

    #[test]
    fn cpu_per_cent_is_cut() {
        let ms = Duration::from_millis;
        assert_eq!(cpu_pct(ms(500), ms(499), ms(1000)), 99);
        assert_eq!(cpu_pct(ms(3000), ms(990), ms(1000)), 399);
        assert_eq!(cpu_pct(ms(1), ms(1), ms(0)), 0);
    }
}
