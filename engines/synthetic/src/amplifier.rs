//! Reads and writes beyond what is asked: so many bytes for each byte of keys and values, through calls to a file of
//! the database's own; and so much space. What is counted of them can be held against what was ordered.
//!
//! All sessions share one file. Its first part is written round and round while there is nothing else, and read from
//! then on; later the second part is written. A round is written in whole pages and synced before the next begins, so
//! that each page that is written reaches the device once. What is read is not written any more, and dropped from the
//! page cache first: so it comes from the device, once a first round was written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use kvdyno_abi::adapter::{Config, Error};

/// Bytes of each part of the file, and of one read or write.
const ROUND: u64 = 4 << 20;
const PIECE: usize = 64 << 10;
/// The most that may be asked for.
const MOST: f64 = 1000.0;

/// Bytes for each byte of keys and values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Factors {
    read: f64,
    write: f64,
    space: f64,
}

impl Factors {
    /// The factors that `config` has.
    pub fn of(config: &Config<'_>) -> Result<Factors, Error> {
        let factor = |name| match config.real(name) {
            factor if (0.0..=MOST).contains(&factor) => Ok(factor),
            factor => Err(Error::unsupported(format_args!("{name} is {factor}; it is 0 to {MOST}"))),
        };
        Ok(Factors {
            read: factor("read_amplification")?,
            write: factor("write_amplification")?,
            space: factor("space_amplification")?,
        })
    }

    fn is_none(self) -> bool {
        self.read == 0.0 && self.write == 0.0 && self.space == 0.0
    }
}

/// The file of a database.
#[derive(Debug)]
pub struct Amplifier {
    factors: Factors,
    file: File,
    /// Whether the file is there since now.
    is_new: bool,
    /// Where the next read and the next write begin, had the parts no end.
    read_from: AtomicU64,
    write_from: AtomicU64,
    /// Bytes of keys and values that were put.
    put: AtomicU64,
    /// Bytes that sessions which have closed did not write.
    rest: AtomicU64,
    /// Bytes that were written to the file.
    written: AtomicU64,
}

impl Amplifier {
    /// The amplifier of the database in `folder`; none if nothing is amplified.
    pub fn open(folder: &Path, factors: Factors) -> io::Result<Option<Amplifier>> {
        if factors.is_none() {
            return Ok(None);
        }
        let path = folder.join("traffic");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        // SAFETY: a call on an open file. Nothing is read ahead: it would be read from the device.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
        let is_new = file.metadata()?.len() == 0;
        let [read_from, write_from, put, rest, written] = [0; 5].map(AtomicU64::new);
        Ok(Some(Amplifier { factors, file, is_new, read_from, write_from, put, rest, written }))
    }

    /// Writes what sessions left. A new file takes up the space that the database is to have: what was not written of
    /// it is allocated.
    pub fn close(&self) -> io::Result<()> {
        let rest = vec![0x5a; self.rest.load(Ordering::Relaxed) as usize];
        rest.chunks(PIECE).try_for_each(|piece| self.write(piece))?;
        let whole = (self.factors.space * self.put.load(Ordering::Relaxed) as f64) as i64;
        if self.is_new && whole > 0 {
            // SAFETY: a call on an open file.
            match unsafe { libc::posix_fallocate(self.file.as_raw_fd(), 0, whole) } {
                0 => {}
                error => return Err(io::Error::from_raw_os_error(error)),
            }
        }
        self.file.sync_all()
    }

    /// Bytes that were written to the file.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<()> {
        let length = self.file.metadata()?.len().min(ROUND) / PIECE as u64 * PIECE as u64;
        if length == 0 {
            return Err(io::Error::other("read_amplification reads what write_amplification wrote: nothing"));
        }
        let at = self.read_from.fetch_add(PIECE as u64, Ordering::Relaxed) % length;
        // SAFETY: a call on an open file.
        unsafe { libc::posix_fadvise(self.file.as_raw_fd(), at as i64, PIECE as i64, libc::POSIX_FADV_DONTNEED) };
        self.file.read_exact_at(buffer, at)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let at = self.write_from.fetch_add(PIECE as u64, Ordering::Relaxed) % ROUND;
        let part = if self.is_new { 0 } else { ROUND };
        self.file.write_all_at(bytes, part + at)?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if at + PIECE as u64 == ROUND { self.file.sync_data() } else { Ok(()) }
    }
}

/// A session's debts to the file.
#[derive(Debug)]
pub struct Debts {
    read: f64,
    written: f64,
    buffer: Vec<u8>,
}

impl Debts {
    /// None yet.
    pub fn new() -> Debts {
        Debts { read: 0.0, written: 0.0, buffer: vec![0x5a; PIECE] }
    }

    /// Counts bytes of keys and values that were requested.
    pub fn reads(&mut self, amplifier: &Amplifier, requested: usize) -> io::Result<()> {
        self.read += requested as f64 * amplifier.factors.read;
        while self.read >= PIECE as f64 {
            self.read -= PIECE as f64;
            amplifier.read(&mut self.buffer)?;
        }
        Ok(())
    }

    /// Counts bytes of keys and values that were put.
    pub fn writes(&mut self, amplifier: &Amplifier, put: usize) -> io::Result<()> {
        amplifier.put.fetch_add(put as u64, Ordering::Relaxed);
        self.written += put as f64 * amplifier.factors.write;
        while self.written >= PIECE as f64 {
            self.written -= PIECE as f64;
            amplifier.write(&self.buffer)?;
        }
        Ok(())
    }

    /// The rest when the session ends, less than a piece, is written when the database is closed.
    pub fn leave_to(&self, amplifier: &Amplifier) {
        amplifier.rest.fetch_add(self.written as u64, Ordering::Relaxed);
    }
}
