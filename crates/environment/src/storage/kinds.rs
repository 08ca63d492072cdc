//! Sizes by kind: separates logs and preallocated blocks from data.
//!
//! A small database beside a log of full length is mostly log, and says little about a large one.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use super::for_each;

/// The names of files of a kind: patterns in which `*` stands for any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileNames(Vec<String>);

impl FileNames {
    /// Reads patterns that are separated by spaces.
    pub fn parse(patterns: &str) -> FileNames {
        FileNames(patterns.split_whitespace().map(str::to_owned).collect())
    }

    /// Whether a file has one of the names.
    pub fn has(&self, name: &OsStr) -> bool {
        self.0.iter().any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
    }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| matches(rest, &name[skipped..])),
        Some((byte, rest)) => name.split_first().is_some_and(|(first, name)| first == byte && matches(rest, name)),
    }
}

/// KiB of a folder that are no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindsKib {
    /// Written blocks of the log files, KiB.
    pub log: u64,
    /// Blocks that are allocated but were never written, KiB. `None` if the filesystem does not report it for at least
    /// one file.
    pub preallocated: Option<u64>,
}

/// Finds the log and the preallocated blocks among those that [`super::allocated_kib`] counts. Data not yet written out
/// may count as preallocated: call [`super::settle`] first.
pub fn kinds_kib(path: &Path, logs: &FileNames) -> io::Result<KindsKib> {
    let (mut log, mut preallocated) = (0, Some(0));
    for_each(path, |file, metadata| {
        if !metadata.is_file() || metadata.blocks() == 0 {
            return Ok(());
        }
        let unwritten = match unwritten_bytes(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            unwritten => unwritten?,
        };
        preallocated = preallocated.zip(unwritten).map(|(sum, more)| sum + more);
        if file.file_name().is_some_and(|name| logs.has(name)) {
            log += (512 * metadata.blocks()).saturating_sub(unwritten.unwrap_or(0));
        }
        Ok(())
    })?;
    Ok(KindsKib { log: log.div_ceil(1024), preallocated: preallocated.map(|bytes: u64| bytes / 1024) })
}

/// `struct fiemap` of the kernel's `linux/fiemap.h`, with room for extents behind it.
#[repr(C)]
struct ExtentMap {
    head: MapRequest,
    extents: [FileExtent; EXTENTS],
}

#[repr(C)]
#[derive(Default)]
struct MapRequest {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FileExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// Extents requested in one call.
const EXTENTS: usize = 128;
/// `FS_IOC_FIEMAP`.
const FIEMAP: Opcode = opcode::read_write::<MapRequest>(b'f', 11);
/// `FIEMAP_EXTENT_LAST`: the file's last one.
const LAST: u32 = 0x1;
/// `FIEMAP_EXTENT_UNWRITTEN`: allocated, and reads as zeros.
const UNWRITTEN: u32 = 0x800;

/// Bytes of a file that blocks were allocated for and that were never written, beyond its end too. `None` where its
/// filesystem does not list extents.
fn unwritten_bytes(path: &Path) -> io::Result<Option<u64>> {
    let file = File::open(path)?;
    let (mut start, mut sum) = (0, 0);
    loop {
        let head =
            MapRequest { start, length: u64::MAX - start, extent_count: EXTENTS as u32, ..MapRequest::default() };
        let mut map = ExtentMap { head, extents: [FileExtent::default(); EXTENTS] };
        // SAFETY: the structure is the kernel's, and has as many extents as it says.
        match unsafe { ioctl(&file, Updater::<FIEMAP, ExtentMap>::new(&mut map)) } {
            Ok(()) => {}
            Err(error) if [rustix::io::Errno::OPNOTSUPP, rustix::io::Errno::NOTTY].contains(&error) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        }
        let extents = &map.extents[..(map.head.mapped_extents as usize).min(EXTENTS)];
        sum += extents.iter().filter(|extent| extent.flags & UNWRITTEN != 0).map(|extent| extent.length).sum::<u64>();
        match extents.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical + last.length,
            _ => return Ok(Some(sum)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use rustix::fs::{FallocateFlags, fallocate};

    use super::*;
    use crate::storage::{allocated_kib, settle};

    #[test]
    fn names_of_logs() {
        let names = FileNames::parse("log.* *.wal  exact");
        let has = |name: &str| names.has(OsStr::new(name));
        assert!(["log.0000000001", "log.", "a.wal", ".wal", "exact"].iter().all(|name| has(name)));
        assert!(!["xlog.1", "log", "a.wal.old", "exactly", ""].iter().any(|name| has(name)));
        assert!(!FileNames::default().has(OsStr::new("")) && FileNames::parse("*").has(OsStr::new("anything")));
    }

    fn file(path: &Path, allocated_kib: u64, written_kib: usize) {
        let mut file = File::create(path).unwrap();
        if allocated_kib > 0 {
            fallocate(&file, FallocateFlags::empty(), 0, 1024 * allocated_kib).unwrap();
        }
        file.write_all(&vec![7; 1024 * written_kib]).unwrap();
    }

    /// The figures are checked if the filesystem of the temporary folder reports them; otherwise they must be absent.
    #[test]
    fn what_is_data_what_is_log_and_what_was_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("journals")).unwrap();
        file(&folder.path().join("table"), 0, 256);
        file(&folder.path().join("journals/log.1"), 4096, 512);
        file(&folder.path().join("journals/log.2"), 4096, 0);
        file(&folder.path().join("table.next"), 1024, 0);
        settle(folder.path()).unwrap();
        let kinds = kinds_kib(folder.path(), &FileNames::parse("log.*")).unwrap();
        let all = allocated_kib(folder.path()).unwrap();
        match kinds.preallocated {
            Some(preallocated) => {
                assert!((8704..=8704 + 8).contains(&preallocated), "{kinds:?}");
                assert!((512..512 + 64).contains(&kinds.log), "{kinds:?}");
                assert!((256..256 + 64).contains(&(all - kinds.log - preallocated)), "{all} {kinds:?}");
            }
            None => assert!((8192..8192 + 64).contains(&kinds.log), "{kinds:?}"),
        }
        let none = kinds_kib(folder.path(), &FileNames::default()).unwrap();
        assert_eq!((none.log, none.preallocated), (0, kinds.preallocated));
    }

    /// A file in more pieces than are asked for at once.
    #[test]
    fn many_extents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one");
        let file = File::create(&path).unwrap();
        // Written and set aside in turns, a page each.
        for page in 0..1000 {
            match page % 2 {
                0 => std::os::unix::fs::FileExt::write_all_at(&file, &[1; 4096], 4096 * page).unwrap(),
                _ => fallocate(&file, FallocateFlags::empty(), 4096 * page, 4096).unwrap(),
            }
        }
        settle(folder.path()).unwrap();
        let preallocated = kinds_kib(folder.path(), &FileNames::default()).unwrap().preallocated;
        assert!([None, Some(2000)].contains(&preallocated), "{preallocated:?}");
    }
}
