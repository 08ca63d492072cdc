//! A shared segment: an anonymous file that two processes or more have mapped.

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, SeekFrom, fcntl_add_seals, ftruncate, memfd_create, seek};
use rustix::io::{FdFlags, fcntl_setfd};

/// A shared segment, mapped. Only pages that were touched take memory; the others are zero.
#[derive(Debug)]
pub(crate) struct Segment {
    map: MmapRaw,
    /// For the parent to hand to the worker.
    file: OwnedFd,
}

impl Segment {
    pub(crate) fn create(name: &str, size: usize) -> io::Result<Segment> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size as u64)?;
        // If the file shrank, a process that accesses the lost part of its mapping would die.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Segment::map(file, size)
    }

    fn map(file: OwnedFd, size: usize) -> io::Result<Segment> {
        let map = MmapOptions::new().len(size).map_raw(&file)?;
        Ok(Segment { map, file })
    }

    /// All of it.
    ///
    /// # Safety
    /// `fd` is an inherited segment of at least `size` bytes that nobody else in this process owns.
    pub(crate) unsafe fn inherit(fd: RawFd, size: usize) -> io::Result<Segment> {
        // SAFETY: as the caller promises.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        fcntl_setfd(&file, FdFlags::CLOEXEC)?;
        let length = rustix::fs::fstat(&file)?.st_size;
        match usize::try_from(length).ok().filter(|length| *length >= size) {
            Some(length) => Segment::map(file, length),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a shared segment has {length} bytes, not {size}"),
            )),
        }
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// The pages that take memory, as ranges of bytes; all of it where the kernel does not tell.
    pub(crate) fn touched(&self) -> Vec<Range<usize>> {
        let (mut ranges, mut at) = (Vec::new(), 0);
        while at < self.len() {
            let begin = match seek(&self.file, SeekFrom::Data(at as u64)) {
                Ok(begin) => begin as usize,
                Err(rustix::io::Errno::NXIO) => break,
                Err(_) => at,
            };
            let end = seek(&self.file, SeekFrom::Hole(begin as u64)).map_or(self.len(), |end| end as usize);
            ranges.push(begin..end);
            at = end;
        }
        ranges
    }

    /// KiB that it takes.
    #[cfg(test)]
    pub(crate) fn kib(&self) -> usize {
        rustix::fs::fstat(&self.file).unwrap().st_blocks as usize / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_touched_are_told_from_others() {
        let bytes = rustix::param::page_size();
        let pages = |numbers: Range<usize>| numbers.start * bytes..numbers.end * bytes;
        let segment = Segment::create("kvdyno-test", 64 * bytes).unwrap();
        assert_eq!((segment.touched(), segment.kib()), (Vec::new(), 0));
        for page in [3, 4, 63] {
            // SAFETY: it is within the segment, which nobody else has.
            unsafe { segment.map.as_mut_ptr().add(page * bytes + 7).write(1) };
        }
        assert_eq!(segment.touched(), [pages(3..5), pages(63..64)]);
        assert_eq!(segment.kib(), 3 * bytes / 1024);
    }
}
