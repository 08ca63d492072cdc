//! The deeds of a session while it serves: nothing but work, or something that waits.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::service::Cause;
use crate::time::OwnClock;

/// Bytes of the file that reads go to, and of one read or write.
const FILE: u64 = 16 << 20;
const BLOCK: usize = 4096;

/// A session's means.
#[derive(Debug)]
pub struct Deed {
    cause: Cause,
    file: Option<File>,
    buffer: Vec<u8>,
    next: u64,
}

impl Deed {
    /// For the session `number` of the database in `folder`. Files that it needs are its own.
    pub fn prepare(cause: Cause, folder: &Path, number: u64) -> io::Result<Deed> {
        let file = match cause {
            Cause::Fsync | Cause::Read => Some(own_file(&folder.join(format!("session-{number}")), cause)?),
            Cause::Burn | Cause::Sleep | Cause::Lock => None,
        };
        Ok(Deed { cause, file, buffer: vec![0x5a; BLOCK], next: 0 })
    }

    /// Serves for `ticks` from `from` on, or, with a lock, from when it is acquired. Returns when the service ended.
    #[inline(always)]
    pub fn serve(
        &mut self,
        clock: OwnClock,
        ticks_per_ns: f64,
        lock: &Mutex<()>,
        from: u64,
        ticks: u64,
    ) -> io::Result<u64> {
        match self.cause {
            Cause::Burn => Ok(spin(clock, from + ticks)),
            _ => self.wait(clock, ticks_per_ns, lock, from, ticks),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, clock: OwnClock, ticks_per_ns: f64, lock: &Mutex<()>, from: u64, ticks: u64) -> io::Result<u64> {
        match self.cause {
            Cause::Sleep => std::thread::sleep(Duration::from_nanos((ticks as f64 / ticks_per_ns) as u64)),
            Cause::Lock => {
                let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(spin(clock, clock.now() + ticks));
            }
            Cause::Fsync => self.sync()?,
            Cause::Read => self.read()?,
            Cause::Burn => {}
        }
        Ok(spin(clock, from + ticks))
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.write_all_at(&self.buffer, 0)?;
        file.sync_data()
    }

    /// Reads the next block after the kernel has dropped it from the page cache.
    fn read(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        // A stride that is no neighbour's, so that nothing is read ahead.
        self.next = (self.next + 37 * BLOCK as u64) % FILE;
        // SAFETY: a call on an open file.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), self.next as i64, BLOCK as i64, libc::POSIX_FADV_DONTNEED) };
        file.read_exact_at(&mut self.buffer, self.next)
    }
}

/// Works until `until`; the first reading that is not before it.
#[inline(always)]
fn spin(clock: OwnClock, until: u64) -> u64 {
    loop {
        let now = clock.now();
        if now >= until {
            return now;
        }
    }
}

fn own_file(path: &Path, cause: Cause) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if cause == Cause::Read && file.metadata()?.len() < FILE {
        let block = vec![0x5a; 1 << 20];
        for at in (0..FILE).step_by(block.len()) {
            file.write_all_at(&block, at)?;
        }
        file.sync_all()?;
    }
    if cause == Cause::Read {
        // SAFETY: a call on an open file.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    }
    Ok(file)
}
