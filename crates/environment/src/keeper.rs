//! A keeper: a small process between this one and a child of it, so that nothing of the child remains.
//!
//! It is the process that remains between `fork` and `exec`: the parent of the child, and of everything that the child
//! starts and leaves behind, even in another session or process group, because orphans become its children
//! (`PR_SET_CHILD_SUBREAPER`). It ends them all once the child has ended, and together with the child on request or
//! when this process has ended. Then it reports how the child ended, its costs, and how many others it ended.
//!
//! A keeper is a copy of a process that may have threads: it makes bare system calls, allocates nothing and takes no
//! lock. It is outside of every limit that the child is given, for these are set after it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, waitid,
};

use keeping::keep;

/// The last words of a keeper.
pub(crate) struct KeptEnd {
    /// The wait status, as `wait4` returns it.
    pub(crate) status: libc::c_int,
    pub(crate) usage: libc::rusage,
    /// The text of `/proc/PID/io` at the child's end.
    pub(crate) io: Vec<u8>,
    /// Processes that the child had left behind, and that had to be ended.
    pub(crate) survivors: u32,
}

/// This side of a keeper.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The end of the pipe from which the keeper's messages are read. End of file without a message means that the
    /// keeper itself was ended.
    hears: OwnedFd,
    /// The keeper's end of that pipe, held only until the keeper has its own copy.
    says: Option<OwnedFd>,
    /// An event counter that tells the keeper to end its child.
    end: OwnedFd,
    /// This process, for the keeper to see its end.
    _lab: OwnedFd,
    /// Whether the command's hook has yet to make this keeper: a command may be started again.
    armed: Arc<AtomicBool>,
}

/// The descriptors of a keeper.
#[derive(Clone, Copy)]
struct KeeperFds {
    says: RawFd,
    end: RawFd,
    lab: RawFd,
    lab_pid: Pid,
}

impl Keeper {
    /// Lets the next start of `command` have a keeper. Hooks that `command` has already are the keeper's too; those
    /// that it is given afterwards are the child's alone.
    pub(crate) fn of(command: &mut Command) -> io::Result<Keeper> {
        let (hears, says) = io::pipe()?;
        let (hears, says) = (OwnedFd::from(hears), OwnedFd::from(says));
        let end = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let lab = pidfd_open(getpid(), PidfdFlags::empty())?;
        let fds = KeeperFds { says: says.as_raw_fd(), end: end.as_raw_fd(), lab: lab.as_raw_fd(), lab_pid: getpid() };
        let armed = Arc::new(AtomicBool::new(true));
        let is_armed = Arc::clone(&armed);
        let hook = move || if is_armed.load(Ordering::SeqCst) { stand_between(fds) } else { Ok(()) };
        // SAFETY: between fork and exec of a process with threads only async-signal-safe calls are allowed: the hook
        // makes bare system calls. Its descriptors are open while it is armed: this keeper has them.
        unsafe { command.pre_exec(hook) };
        Ok(Keeper { hears, says: Some(says), end, _lab: lab, armed })
    }

    /// To be called when `command` was started, or could not be: its next start has another keeper.
    pub(crate) fn disarm(&mut self) {
        self.armed.store(false, Ordering::SeqCst);
        self.says = None;
    }

    /// The number of the child that is kept.
    pub(crate) fn child(&self) -> io::Result<Pid> {
        let mut number = [0; 4];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.hears, &mut number))? {
            4 => Pid::from_raw(i32::from_ne_bytes(number)).ok_or_else(|| Errno::SRCH.into()),
            _ => Err(Errno::SRCH.into()),
        }
    }

    /// Becomes readable when the keeper has written its report, or has ended.
    pub(crate) fn ends(&self) -> &OwnedFd {
        &self.hears
    }

    /// Tells the keeper to end its child.
    pub(crate) fn end(&self) -> io::Result<()> {
        rustix::io::write(&self.end, &1u64.to_ne_bytes())?;
        Ok(())
    }

    /// The last words, once [`Keeper::ends`] is readable. `None` if the keeper was ended before it could say them.
    pub(crate) fn last_words(&self) -> io::Result<Option<KeptEnd>> {
        let mut message = [0; MESSAGE];
        let size = rustix::io::retry_on_intr(|| rustix::io::read(&self.hears, &mut message))?;
        Ok((size == MESSAGE).then(|| decoded(&message)))
    }
}

/// Runs in a process that was just forked, and makes it the keeper. Returns in the child that the keeper forks.
fn stand_between(fds: KeeperFds) -> io::Result<()> {
    let keeper = getpid();
    // Until it has given up its copies of what the lab holds, locks above all, it must not outlive the lab for a
    // moment.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(fds.lab_pid) {
        return Err(Errno::SRCH.into());
    }
    set_child_subreaper(Some(keeper))?;
    // The bare call: libc's runs handlers and takes locks, which other threads may have held.
    // SAFETY: without CLONE_VM and a stack this is fork: the child has a copy of everything.
    let forked = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    match Pid::from_raw(forked as i32) {
        _ if forked < 0 => Err(io::Error::last_os_error()),
        Some(child) => keep(child, fds),
        None => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // If it has ended, nobody would end this process.
            if getppid() == Some(keeper) { Ok(()) } else { Err(Errno::SRCH.into()) }
        }
    }
}

const USAGE: usize = size_of::<libc::rusage>();
/// Bytes for the text of `/proc/PID/io`, which has seven lines.
const IO: usize = 384;
/// Status, survivors, account, I/O. Less than what a pipe takes whole.
const MESSAGE: usize = 8 + USAGE + IO;

fn encoded(status: libc::c_int, survivors: u32, usage: &libc::rusage, io: &[u8; IO]) -> [u8; MESSAGE] {
    let mut message = [0; MESSAGE];
    message[..4].copy_from_slice(&status.to_ne_bytes());
    message[4..8].copy_from_slice(&survivors.to_ne_bytes());
    // SAFETY: both are live and as long as said; an account is of integers without gaps.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(usage).cast(), message[8..].as_mut_ptr(), USAGE) };
    message[8 + USAGE..].copy_from_slice(io);
    message
}

fn decoded(message: &[u8; MESSAGE]) -> KeptEnd {
    let word = |at: usize| [message[at], message[at + 1], message[at + 2], message[at + 3]];
    // SAFETY: any bytes are an account, and there are enough of them; they need not be aligned.
    let usage = unsafe { message[8..].as_ptr().cast::<libc::rusage>().read_unaligned() };
    let io = message[8 + USAGE..].iter().copied().take_while(|byte| *byte != 0).collect();
    KeptEnd { status: i32::from_ne_bytes(word(0)), survivors: u32::from_ne_bytes(word(4)), usage, io }
}

/// The keeper's side: bare system calls only.
mod keeping {
    use super::*;

    /// Number of looks for remaining processes, a millisecond apart, before the keeper gives up: longer than the kernel
    /// takes to end a process that is not stuck in it.
    const LOOKS: u32 = 5000;

    pub(super) fn keep(child: Pid, fds: KeeperFds) -> ! {
        block_signals();
        close_others([fds.says, fds.end, fds.lab]);
        // From now on it does outlive the lab, to end the child; should that not be granted, both end with the lab.
        let _ = set_parent_process_death_signal(None);
        // SAFETY: the three are open, and nothing here closes them.
        let [says, end, lab] = [fds.says, fds.end, fds.lab].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
        // Opened while the child lives: once it has ended, the kernel lets only root open this file.
        let accounts = open_accounts(child);
        // If the reader has gone, nobody is left to report to.
        let _ = rustix::io::write(says, &child.as_raw_pid().to_ne_bytes());
        if wait_for(child, end, lab) {
            let mut io = [0; IO];
            read(accounts, &mut io);
            let (status, usage) = reap(child);
            let survivors = end_rest();
            let _ = rustix::io::write(says, &encoded(status, survivors, &usage, &io));
        } else {
            end_with_group(child);
            end_rest();
        }
        // SAFETY: ends this process, without any handler of the copied program.
        unsafe { libc::_exit(0) }
    }

    /// Waits for the child to end. Returns whether it has ended while somebody is there to be told.
    fn wait_for(child: Pid, end: BorrowedFd<'_>, lab: BorrowedFd<'_>) -> bool {
        let Ok(pidfd) = pidfd_open(child, PidfdFlags::empty()) else { return false };
        let mut told = false;
        loop {
            let looked_at = if told { PollFlags::empty() } else { PollFlags::IN };
            let mut events =
                [PollFd::new(&lab, PollFlags::IN), PollFd::new(&pidfd, PollFlags::IN), PollFd::new(&end, looked_at)];
            match poll(&mut events, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return false,
                Ok(_) => {}
            }
            let [gone, ended, end_it] = events.map(|event| !event.revents().is_empty());
            if gone {
                return false;
            }
            if ended {
                return true;
            }
            if end_it {
                told = true;
                end_with_group(child);
            }
        }
    }

    /// The number cannot be another process's: nobody but the keeper reaps the child.
    fn end_with_group(child: Pid) {
        // It may have no group of its own, or have left it.
        let _ = kill_process_group(child, Signal::KILL);
        let _ = kill_process(child, Signal::KILL);
    }

    fn reap(child: Pid) -> (libc::c_int, libc::rusage) {
        // SAFETY: an account holds integers only, for which zero is a value; both pointers are to live values.
        unsafe {
            let (mut status, mut usage) = (0, std::mem::zeroed());
            libc::wait4(child.as_raw_pid(), &mut status, 0, &mut usage);
            (status, usage)
        }
    }

    /// Ends every process below this one and returns their number. Processes below an ended one become children of this
    /// one.
    fn end_rest() -> u32 {
        let mut survivors = 0;
        reap_dead();
        for _ in 0..LOOKS {
            if !kill_children() {
                break;
            }
            pause();
            survivors += reap_dead();
        }
        survivors
    }

    /// Reaps the children that have ended, and returns their number.
    fn reap_dead() -> u32 {
        let mut count = 0;
        while let Ok(Some(_)) = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            count += 1;
        }
        count
    }

    /// Kills all children. Returns whether there are any.
    fn kill_children() -> bool {
        if matches!(
            waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT),
            Err(Errno::CHILD)
        ) {
            return false;
        }
        let mut text = [0; 4096];
        let fd = open(c"/proc/thread-self/children");
        let size = read(fd, &mut text);
        // SAFETY: the descriptor is this function's own; of one that is none the kernel says so.
        unsafe { libc::close(fd) };
        // The last may be cut off: a later look has it.
        let whole = if size < text.len() { size } else { text[..size].iter().rposition(|b| *b == b' ').unwrap_or(0) };
        let mut number = 0;
        for byte in &text[..whole] {
            match byte {
                b'0'..=b'9' => number = number * 10 + i32::from(byte - b'0'),
                _ => {
                    // It may have ended just now, or have become another user's.
                    let _ = Pid::from_raw(number).map(|pid| kill_process(pid, Signal::KILL));
                    number = 0;
                }
            }
        }
        true
    }

    fn pause() {
        let millisecond = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let _ = poll(&mut [], Some(&millisecond));
    }

    /// The descriptor of the child's `/proc/PID/io`; negative if there is none. It goes with this process.
    fn open_accounts(child: Pid) -> RawFd {
        // "/proc/", ten digits, "/io" and a zero.
        let mut path = [0; 20];
        let mut digits = [0; 10];
        let (mut left, mut first) = (child.as_raw_pid(), digits.len());
        while left > 0 {
            first -= 1;
            digits[first] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        let number = &digits[first..];
        path[..6].copy_from_slice(b"/proc/");
        path[6..6 + number.len()].copy_from_slice(number);
        path[6 + number.len()..][..3].copy_from_slice(b"/io");
        std::ffi::CStr::from_bytes_until_nul(&path).map_or(-1, open)
    }

    fn open(path: &std::ffi::CStr) -> RawFd {
        // SAFETY: the path ends with a zero.
        unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) }
    }

    /// Number of bytes read; 0 for an invalid descriptor.
    fn read(fd: RawFd, buffer: &mut [u8]) -> usize {
        // SAFETY: the buffer is as long as said.
        let size = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        usize::try_from(size).unwrap_or(0)
    }

    fn block_signals() {
        // SAFETY: an all-zero `sigset_t` is valid memory for `sigfillset` to fill; both pointers are live or null.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        }
    }

    /// Closes all descriptors but these three: a copy of a pipe or lock would keep it open after its owner has ended.
    fn close_others(mut kept: [RawFd; 3]) {
        kept.sort_unstable();
        let mut first = 0;
        for fd in kept {
            close_range(first, fd as u32 - u32::from(fd > 0), fd as u32 > first);
            first = fd as u32 + 1;
        }
        close_range(first, u32::MAX, true);
    }

    fn close_range(first: u32, last: u32, has_any: bool) {
        if !has_any {
            return;
        }
        // SAFETY: nobody in this process uses these descriptors: it is a copy that runs nothing else.
        unsafe {
            if libc::syscall(libc::SYS_close_range, first, last, 0) < 0 {
                // Before Linux 5.9.
                for fd in first..=last.min(65_535) {
                    libc::close(fd as RawFd);
                }
            }
        }
    }
}
