//! The program itself on one input: how it ended, in which time and memory.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::summary::TormentLine;
use crate::supervised::{MOST_KIB, PATIENCE};

/// The misses of one in so many inputs; `miss` has the program read the input of a number.
///
/// # Errors
/// As `miss`.
pub fn line(
    what: &str,
    inputs: u64,
    one_in: u64,
    mut miss: impl FnMut(u64) -> io::Result<Option<String>>,
) -> io::Result<TormentLine> {
    let mut line =
        TormentLine { what: what.to_owned(), done: 0, remark: format!("one in {one_in}"), misses: Vec::new() };
    for number in (0..inputs).step_by(one_in as usize) {
        line.misses.extend(miss(number)?.map(|miss| format!("input {number}: {miss}")));
        line.done += 1;
    }
    Ok(line)
}

/// The fault in the program's end on foreign input; `None` if all is well: exit code 0 or 2 in time and memory.
///
/// # Errors
/// If it cannot be started.
pub fn miss(command: &mut Command) -> io::Result<Option<String>> {
    let mut said = tempfile::NamedTempFile::new()?;
    let err = File::create(said.path())?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(err).spawn()?;
    let pid = child.id() as libc::pid_t;
    let began = Instant::now();
    let (status, kib) = loop {
        if let Some(ended) = ended(pid)? {
            break ended;
        }
        if began.elapsed() > PATIENCE {
            // SAFETY: the child is this process's own and was not waited for, so that its number is still its own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            while ended(pid)?.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            return Ok(Some(format!("no end in {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    let mut text = String::new();
    io::Read::read_to_string(&mut said, &mut text)?;
    let first = text.lines().next().unwrap_or_default();
    Ok(match code {
        Some(0 | 2) if kib <= MOST_KIB => None,
        Some(0 | 2) => Some(format!("{kib} KiB of memory")),
        Some(code) => Some(format!("exit code {code}: {first}")),
        None => Some(format!("signal {}: {first}", libc::WTERMSIG(status))),
    })
}

/// The status of a child that ended, and the most memory that it had, KiB.
fn ended(pid: libc::pid_t) -> io::Result<Option<(i32, u64)>> {
    let mut status = 0;
    // SAFETY: plain numbers, for which all zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both live through the call, which writes no more than them.
    match unsafe { libc::wait4(pid, &mut status, libc::WNOHANG, &mut usage) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some((status, usage.ru_maxrss as u64))),
    }
}
