//! Work that is nobody's operation: a thread of the engine's own, and a process that it forks, each busy for so much of
//! the time, from the first operation until a session closes. What it took is told as statistics.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use kvdyno_abi::adapter::{Config, Error, Listing};

use crate::time::monotonic_ns;

/// The time in which a thread or process is busy once and rests once, ns.
const PERIOD_NS: u64 = 10_000_000;

/// The shares of the time, of 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackgroundShares {
    thread: f64,
    child: f64,
}

impl BackgroundShares {
    /// The shares that `config` has.
    pub fn of(config: &Config<'_>) -> Result<BackgroundShares, Error> {
        let share = |name| match config.real(name) {
            percent if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
            percent => Err(Error::unsupported(format_args!("{name} is {percent}; it is 0 to 100 per cent"))),
        };
        Ok(BackgroundShares { thread: share("background_share")?, child: share("child_share")? })
    }
}

/// The background work of a database.
#[derive(Debug)]
pub struct Background {
    shares: BackgroundShares,
    state: Mutex<BackgroundState>,
}

#[derive(Debug)]
enum BackgroundState {
    NotBegun,
    UnderWay(Workers),
    /// CPU seconds that it took.
    Over(f64),
}

/// Those who do it.
#[derive(Debug)]
struct Workers {
    is_over: Arc<AtomicBool>,
    /// Gives its CPU seconds.
    thread: Option<JoinHandle<f64>>,
    child: Option<libc::pid_t>,
}

impl Background {
    /// None yet.
    pub fn new(shares: BackgroundShares) -> Background {
        Background { shares, state: Mutex::new(BackgroundState::NotBegun) }
    }

    /// Begins it, unless it was.
    pub fn begin(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let BackgroundState::NotBegun = *state {
            *state = BackgroundState::UnderWay(Workers::begin(self.shares)?);
        }
        Ok(())
    }

    /// Ends it.
    pub fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let BackgroundState::UnderWay(workers) = &mut *state {
            *state = BackgroundState::Over(workers.end());
        }
    }

    /// Told as statistics.
    pub fn list(&self, list: &mut Listing<'_>) {
        if let BackgroundState::Over(cpu_s) = *self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            list.say("background", "cpu_s", format_args!("{cpu_s:.6}"));
        }
    }
}

impl Workers {
    fn begin(shares: BackgroundShares) -> io::Result<Workers> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut workers = Workers { is_over: is_over.clone(), thread: None, child: None };
        if shares.child > 0.0 {
            workers.child = Some(forked(shares.child)?);
        }
        if shares.thread > 0.0 {
            let work = move || {
                while !is_over.load(Ordering::Relaxed) {
                    work_and_rest(shares.thread);
                }
                thread_cpu_s()
            };
            workers.thread = Some(std::thread::Builder::new().name("background".to_owned()).spawn(work)?);
        }
        Ok(workers)
    }

    /// Returns the CPU seconds that they took.
    fn end(&mut self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        // It does nothing that could panic.
        let of_thread = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0.0);
        of_thread + self.child.take().map_or(0.0, ended)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}

/// A process that works and rests until it is killed, or until the thread that forked it is no more.
fn forked(share: f64) -> io::Result<libc::pid_t> {
    // SAFETY: the child makes system calls alone, which are allowed after a fork whatever other threads did meanwhile.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: a call about this process.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            loop {
                work_and_rest(share);
            }
        }
        child => Ok(child),
    }
}

/// Ends a process, and returns its CPU seconds.
fn ended(child: libc::pid_t) -> f64 {
    // SAFETY: calls about a child of this process that nobody else waits for; a struct of numbers may be zero.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::kill(child, libc::SIGKILL);
        libc::wait4(child, std::ptr::null_mut(), 0, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn thread_cpu_s() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the struct that it is given, and always has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Works for a share of a period, and sleeps for the rest of it.
fn work_and_rest(share: f64) {
    let begin = monotonic_ns();
    let busy_until = begin + (share * PERIOD_NS as f64) as u64;
    while monotonic_ns() < busy_until {}
    let left = (begin + PERIOD_NS).saturating_sub(monotonic_ns());
    let rest = libc::timespec { tv_sec: 0, tv_nsec: left as i64 };
    // SAFETY: a call with a time that outlives it. It may end early, for being frozen: then the next period begins.
    unsafe { libc::nanosleep(&rest, std::ptr::null_mut()) };
}
