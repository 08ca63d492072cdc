//! Storage: syncs of a small write, and small reads at random, one after the other.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of a read and of a write: a page, and the block of most filesystems.
const BLOCK: usize = 4096;
/// Bytes of the file that is written and synced, again and again.
const SYNCED_BYTES: u64 = 16 << 20;
/// Bytes of the file that is read.
const READ_BYTES: u64 = 256 << 20;

/// A file of so many bytes, which are on the storage. It has no name any more, so that nothing of it is left whatever
/// ends this process. Its second opening has flags of its own, and may be refused because of them.
fn nameless(folder: &Path, bytes: u64, flags: libc::c_int) -> io::Result<(File, io::Result<File>)> {
    let path = folder.join(format!(".kvdyno-limits-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let second = OpenOptions::new().read(true).custom_flags(flags).open(&path);
    fs::remove_file(&path)?;
    // No compressor and no filesystem may leave it out.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut piece = vec![0u8; 1 << 20];
    for _ in 0..bytes.div_ceil(piece.len() as u64) {
        random.fill_bytes(&mut piece);
        file.write_all(&piece)?;
    }
    file.sync_all()?;
    Ok((file, second))
}

/// Memory at the address of a page, as direct reads need it.
struct PageBuffer(*mut u8);

const LAYOUT: Layout = match Layout::from_size_align(BLOCK, BLOCK) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

impl PageBuffer {
    fn new() -> PageBuffer {
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc_zeroed(LAYOUT) };
        assert!(!memory.is_null(), "no memory for a page");
        PageBuffer(memory)
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: it is that large, and this is its only owner.
        unsafe { std::slice::from_raw_parts_mut(self.0, BLOCK) }
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and is not used any more.
        unsafe { dealloc(self.0, LAYOUT) };
    }
}

/// Writes of 4 KiB a second, each of which is synced before the next: `fdatasync` in a file that has its blocks.
pub(super) fn syncs_per_s(folder: &Path, time: Duration) -> io::Result<f64> {
    let (file, _) = nameless(folder, SYNCED_BYTES, 0)?;
    let block = [7u8; BLOCK];
    repeat(time, |nth| {
        file.write_all_at(&block, nth * BLOCK as u64 % SYNCED_BYTES)?;
        file.sync_data()
    })
}

/// Reads of 4 KiB a second at random, each of which is awaited before the next. Absent where the filesystem has no
/// reads past the page cache.
pub(super) fn reads_per_s(folder: &Path, time: Duration) -> io::Result<Option<f64>> {
    let (_written, direct) = nameless(folder, READ_BYTES, libc::O_DIRECT)?;
    let Ok(file) = direct else { return Ok(None) };
    // The file was just written into the page cache, where even a direct read may look.
    // SAFETY: the descriptor is open; the call only drops clean pages.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    let (mut page, mut random) = (PageBuffer::new(), Xoshiro256PlusPlus::seed_from_u64(2));
    let mut read = |_| file.read_exact_at(page.bytes(), random.next_u64() % (READ_BYTES / BLOCK as u64) * BLOCK as u64);
    match read(0) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(None),
        Err(error) => Err(error),
        Ok(()) => repeat(time, read).map(Some),
    }
}

/// How often a second something can be done, over `time`.
fn repeat(time: Duration, mut work: impl FnMut(u64) -> io::Result<()>) -> io::Result<f64> {
    let (mut done, begun) = (0u64, Instant::now());
    while begun.elapsed() < time {
        work(done)?;
        done += 1;
    }
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let time = Duration::from_millis(1);
        assert!(syncs_per_s(folder.path(), time).unwrap() > 0.0);
        assert!(reads_per_s(folder.path(), time).unwrap().is_none_or(|reads| reads > 0.0));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let absent = folder.path().join("absent");
        assert!(syncs_per_s(&absent, time).is_err() && reads_per_s(&absent, time).is_err());
    }

    #[test]
    fn a_failure_ends_what_is_repeated() {
        let fails = |nth| if nth < 3 { Ok(()) } else { Err(io::Error::other("full")) };
        assert_eq!(repeat(Duration::from_secs(60), fails).unwrap_err().to_string(), "full");
    }
}
