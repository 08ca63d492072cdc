//! A database's pages in the page cache: dropping them, and counting those that are there.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::null_mut;

use kvdyno_results::CachedPages;
use rustix::fs::{Advice, SeekFrom, fadvise, seek};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::{for_each, is_device, settle, unless_vanished};

/// Bytes of a file that are looked at in one step: its pages take a byte each.
const STRETCH: u64 = 1 << 30;

/// Bytes of a file that are read in one step.
const FETCHED: u64 = 1 << 20;

/// Writes a database's dirty pages out and drops all unused pages from the page cache.
///
/// The filesystem's own tables stay.
pub fn drop_cached(database: &Path) -> io::Result<()> {
    settle(database)?;
    for_each_file(database, &mut |file| Ok(fadvise(file, 0, None, Advice::DontNeed)?))
}

/// Reads what is not in the page cache of a database's pages, if all of them take at most `most` bytes.
///
/// Kernels page out what they take for unused long before memory is short (DAMON), among it a copy that was just made.
pub fn fetch(database: &Path, most: u64) -> io::Result<()> {
    let pages = cached(database)?;
    if pages.cached >= pages.total || pages.total > most {
        return Ok(());
    }
    let mut buffer = vec![0; FETCHED as usize];
    for_each_file(database, &mut |file| {
        for (from, to) in data(file)? {
            for at in (from..to).step_by(FETCHED as usize) {
                let piece = FETCHED.min(to - at);
                if resident(file, at, at + piece)? < piece {
                    file.read_exact_at(&mut buffer[..piece as usize], at)?;
                }
            }
        }
        Ok(())
    })
}

/// The part of a database in the page cache. Holes of files do not count.
pub fn cached(database: &Path) -> io::Result<CachedPages> {
    let mut sum = CachedPages { cached: 0, total: 0 };
    for_each_file(database, &mut |file| {
        for (from, to) in data(file)? {
            sum.total += to - from;
            sum.cached += resident(file, from, to)?;
        }
        Ok(())
    })?;
    Ok(sum)
}

/// Bytes of a database's files that are in memory and not on the storage yet: dirty, or being written out. `None` if
/// the kernel does not report them (`cachestat`, Linux 6.5), and for a device, whose pages may be others'.
pub fn dirty_bytes(database: &Path) -> io::Result<Option<u64>> {
    if is_device(database) {
        return Ok(None);
    }
    let (page, mut sum) = (rustix::param::page_size() as u64, Some(0));
    for_each_file(database, &mut |file| {
        sum = match (sum, dirty_pages(file)?) {
            (Some(sum), Some(pages)) => Some(sum + page * pages),
            _ => None,
        };
        Ok(())
    })?;
    Ok(sum)
}

/// `struct cachestat` of the kernel's `linux/mman.h`.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn dirty_pages(file: &File) -> io::Result<Option<u64>> {
    /// The number of the system call, the same for all architectures.
    const CACHESTAT: libc::c_long = 451;
    // From the beginning, and a length of 0: to the end.
    let (range, mut stat) = ([0u64; 2], CacheStat::default());
    // SAFETY: both structures are the kernel's, and live until the call has returned.
    let code = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), range.as_ptr(), &raw mut stat, 0u32) };
    if code == 0 {
        return Ok(Some(stat.dirty + stat.writeback));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // An old kernel, a filter of system calls, a filesystem of huge pages.
        Some(libc::ENOSYS | libc::EPERM | libc::EOPNOTSUPP) => Ok(None),
        _ => Err(error),
    }
}

fn for_each_file(database: &Path, what: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
    if is_device(database) {
        return what(&File::open(database)?);
    }
    for_each(database, |path, facts| {
        let file = if facts.is_file() { unless_vanished(File::open(path))? } else { None };
        file.map_or(Ok(()), |file| what(&file))
    })
}

/// The parts of a file that are no holes.
fn data(file: &File) -> io::Result<Vec<(u64, u64)>> {
    let end = seek(file, SeekFrom::End(0))?;
    let mut parts = Vec::new();
    let mut at = 0;
    while at < end {
        let from = match seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            Err(Errno::NXIO) => break,
            // If the filesystem cannot tell, everything is data.
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error.into()),
        };
        at = seek(file, SeekFrom::Hole(from)).unwrap_or(end);
        parts.push((from, at));
    }
    Ok(parts)
}

/// Bytes of a part of a file that are in the page cache.
fn resident(file: &File, from: u64, to: u64) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let mut sum = 0;
    let mut at = from / page * page;
    while at < to {
        let length = STRETCH.min(to - at);
        sum += resident_pages(file, at, length as usize)? * page;
        at += length.next_multiple_of(page);
    }
    // The last page may be a part of one.
    Ok(sum.min(to - from))
}

/// `mincore(2)`: of a map that was never touched it tells what the page cache has.
fn resident_pages(file: &File, from: u64, length: usize) -> io::Result<u64> {
    let mut pages = vec![0u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new map at an address of the kernel's choice; nobody reads through it, and it is given back below.
    let map = unsafe { mmap(null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, from) }?;
    // SAFETY: `map` is the beginning of a map of `length` bytes, and `pages` has a byte for each of its pages.
    let status = unsafe { libc::mincore(map, length, pages.as_mut_ptr()) };
    let outcome = if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the map was made above, and nobody has a pointer into it.
    unsafe { munmap(map, length) }?;
    outcome.map(|()| pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_not_on_the_storage_yet() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("below/one"), vec![1; 1 << 20]).unwrap();
        let written = dirty_bytes(folder.path()).unwrap();
        settle(folder.path()).unwrap();
        let settled = dirty_bytes(folder.path()).unwrap();
        // The kernel may have written some of it out in between.
        assert!(written.is_none() || (settled == Some(0) && written <= Some(1 << 20)), "{written:?} {settled:?}");
        assert_eq!(written.is_some(), settled.is_some());
    }

    #[test]
    fn what_was_written_is_cached_until_it_is_dropped() {
        // `/tmp` is not used: it may be memory, where nothing is cached from anywhere else.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let mut file = File::create(folder.path().join("sub/one")).unwrap();
        file.write_all(&vec![7; 1_000_001]).unwrap();
        file.set_len(1 << 30).unwrap();
        let before = cached(folder.path()).unwrap();
        assert!((1_000_001..1_100_000).contains(&before.total), "{before:?}");
        assert_eq!(before.cached, before.total);
        drop_cached(folder.path()).unwrap();
        let after = cached(folder.path()).unwrap();
        assert_eq!(after, CachedPages { cached: 0, total: before.total });
        fetch(folder.path(), before.total - 1).unwrap();
        assert_eq!(cached(folder.path()).unwrap().cached, 0, "it is too much");
        fetch(folder.path(), before.total).unwrap();
        assert_eq!(cached(folder.path()).unwrap(), before);
    }
}
