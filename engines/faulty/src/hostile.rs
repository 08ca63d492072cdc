//! Deeds of an engine against who measures it: `does` says what, `hook` in which call.

use kvdyno_abi::adapter::Error;
use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The calls in which it may be done, as an option's choices are spelled.
pub const HOOKS: &CStr =
    c"none|settings|open|session|get|multi-get|put|write|cursor|seek|next|previous|session-close|flush|\
      statistics|close|destroy|remove|delete-range|contains|insert-if-absent|read-modify-write|begin|commit|abort|\
      counters|cursor-with|compact|wait-idle";

/// The deeds, spelled so too.
pub const DEEDS: &CStr = c"crash|exit|hang|error|zero-shared|ones-shared|random-shared|rename-folder|remove-folder|\
                           join-lab|leave-child|leave-child-and-hang|close-descriptors|print|eat-memory|block-signals|\
                           work|sleep|sleep-behind";

/// The work that is put off until a call.
const WORK: Duration = Duration::from_millis(300);

unsafe extern "C" {
    fn getpgid(pid: i32) -> i32;
    fn setpgid(pid: i32, group: i32) -> i32;
    fn close(descriptor: i32) -> i32;
    fn sigfillset(set: *mut SignalSet) -> i32;
    fn pthread_sigmask(how: i32, set: *const SignalSet, old: *mut SignalSet) -> i32;
}

/// As large as any libc's.
#[repr(C, align(8))]
struct SignalSet([u8; 128]);

/// A deed, done once, and where.
#[derive(Debug)]
pub struct Hostile {
    hook: String,
    does: String,
    /// Calls before it.
    after: u64,
    /// Bytes that it prints or takes.
    most: u64,
    folder: PathBuf,
    calls: AtomicU64,
    /// Work that goes on after the call, which the closing waits for.
    behind: Mutex<Option<JoinHandle<()>>>,
}

impl Hostile {
    pub fn new(hook: &str, does: &str, after: u64, most: u64, folder: &Path) -> Hostile {
        let (hook, does) = (hook.to_owned(), does.to_owned());
        Hostile {
            hook,
            does,
            after,
            most,
            folder: folder.to_owned(),
            calls: AtomicU64::new(0),
            behind: Mutex::default(),
        }
    }

    /// The deed of `destroy`, which is given no options.
    pub fn of_destroy(&self) -> &str {
        if self.hook == "destroy" { &self.does } else { "" }
    }

    /// In a call.
    pub fn at(&self, hook: &str) -> Result<(), Error> {
        if self.hook != hook || self.calls.fetch_add(1, Relaxed) != self.after {
            return Ok(());
        }
        if self.does == "sleep-behind" {
            *self.behind() = Some(thread::spawn(|| thread::sleep(WORK)));
            return Ok(());
        }
        perform(&self.does, &self.folder, self.most)
    }

    /// Waits for work that goes on after its call.
    pub fn wait(&self) {
        if let Some(behind) = self.behind().take() {
            // It can only sleep.
            let _ = behind.join();
        }
    }

    fn behind(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does it.
pub fn perform(does: &str, folder: &Path, most: u64) -> Result<(), Error> {
    match does {
        "crash" => std::process::abort(),
        "exit" => exit(),
        "hang" => hang(),
        "error" => return Err(Error::new("injected by does=error")),
        "zero-shared" => overwrite_shared(|_| 0)?,
        "ones-shared" => overwrite_shared(|_| 0xff)?,
        "random-shared" => overwrite_shared(|index| (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as u8 ^ 0x5a)?,
        "rename-folder" => {
            let elsewhere = folder.with_extension("elsewhere");
            fs::rename(folder, &elsewhere)?;
            thread::sleep(Duration::from_millis(500));
            fs::rename(&elsewhere, folder)?;
        }
        "remove-folder" => {
            fs::remove_dir_all(folder)?;
            thread::sleep(Duration::from_millis(500));
        }
        "join-lab" => {
            join_lab();
            hang();
        }
        "leave-child" => leave_child()?,
        "leave-child-and-hang" => {
            leave_child()?;
            hang();
        }
        // SAFETY: others in this process lose theirs, which is what is meant.
        "close-descriptors" => (0..1024).for_each(|descriptor| _ = unsafe { close(descriptor) }),
        "print" => print(most)?,
        "work" => {
            let begun = Instant::now();
            while begun.elapsed() < WORK {
                std::hint::spin_loop();
            }
        }
        "sleep" => thread::sleep(WORK),
        "eat-memory" => std::mem::forget(std::hint::black_box(vec![1u8; most as usize])),
        "block-signals" => {
            let mut all = SignalSet([0; 128]);
            // SAFETY: the set is live and large enough, the last pointer may be null, and 0 is SIG_BLOCK on Linux.
            unsafe { (sigfillset(&mut all), pthread_sigmask(0, &all, std::ptr::null_mut())) };
            hang();
        }
        other => return Err(Error::unsupported(format_args!("does={other}"))),
    }
    Ok(())
}

#[expect(clippy::exit, reason = "the fault is that the process leaves")]
fn exit() {
    std::process::exit(0)
}

fn hang() {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// In a session of its own, which no signal to a group reaches.
fn leave_child() -> io::Result<()> {
    Command::new("setsid").args(["--fork", "sleep", "1000"]).status().map(drop)
}

/// Over everything that this process shares with the lab.
fn overwrite_shared(byte: impl Fn(usize) -> u8) -> io::Result<()> {
    for line in fs::read_to_string("/proc/self/maps")?.lines().filter(|line| line.contains("/memfd:kvdyno-")) {
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).map_err(io::Error::other);
        let Some((from, until)) = range else { continue };
        let (from, until) = (number(from)?, number(until)?);
        for address in from..until {
            // SAFETY: it is not safe, and is meant not to be; the kernel says that the memory is there.
            unsafe { std::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(byte(address - from)) };
        }
    }
    Ok(())
}

/// Joins the process group of this process's parent, or of the highest ancestor that is reached from there through
/// processes of this program.
fn join_lab() {
    let name = |pid: &str| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let parent = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).unwrap_or("0").to_owned()
    };
    let own = name("self");
    let mut lab = parent("self");
    while name(&parent(&lab)) == own {
        lab = parent(&lab);
    }
    // SAFETY: both take numbers.
    unsafe { setpgid(0, getpgid(lab.parse().unwrap_or(0))) };
}

fn print(most: u64) -> io::Result<()> {
    let line = b"faulty: a line that is printed again and again\n".repeat(20_000);
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    while left > 0 {
        let part = &line[..line.len().min(left)];
        io::stdout().write_all(part)?;
        left -= part.len();
    }
    Ok(())
}
