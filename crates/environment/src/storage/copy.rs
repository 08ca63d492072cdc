//! Copies a closed database: a folder with its folders, files and links.
//!
//! Holes stay holes: a file that a database is mapped from may be larger than the device.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;

use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use rustix::io::Errno;

/// Bytes of a write: a page. The page cache keeps what was written by one call in one piece (a large folio), and a
/// later write of a page into that costs the more the larger it is: LMDB's overwrites on a copy that was written by
/// the MiB took five times as long as on the database that LMDB had loaded.
const PIECE: usize = 4 << 10;

/// The way to copy a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWay {
    /// Byte by byte: the copy is in the page cache as if it had just been written.
    Bytes,
    /// The copy has the same blocks until one of both is written, where the filesystem can do that (btrfs, XFS);
    /// nothing of it is in the page cache then. Else its bytes are copied.
    Blocks,
}

/// Copies what is in the folder `from` into the folder `to`, which is empty. False if `goes_on` said in between that it
/// should not.
///
/// # Errors
/// If something cannot be read or written, or is neither a folder nor a file nor a symbolic link.
pub fn copy_tree(from: &Path, to: &Path, way: CopyWay, goes_on: &dyn Fn() -> bool) -> io::Result<bool> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let metadata = entry.metadata()?;
        let whole = match metadata.file_type() {
            kind if kind.is_symlink() => symlink(fs::read_link(&from)?, &to).map(|()| true)?,
            kind if kind.is_dir() => {
                fs::create_dir(&to)?;
                copy_tree(&from, &to, way, goes_on)?
            }
            kind if kind.is_file() => copy_file(&from, &to, way, goes_on)?,
            _ => {
                let text = format!("{} is no folder, file or link, and cannot be copied", from.display());
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        };
        if !metadata.is_symlink() {
            fs::set_permissions(&to, metadata.permissions())?;
        }
        if !whole {
            return Ok(false);
        }
    }
    Ok(goes_on())
}

fn copy_file(from: &Path, to: &Path, way: CopyWay, goes_on: &dyn Fn() -> bool) -> io::Result<bool> {
    let (from, to) = (File::open(from)?, File::options().write(true).create_new(true).open(to)?);
    // If cloning fails for any reason, the bytes are copied; that reports an error that prevents copying too.
    if way == CopyWay::Blocks && ioctl_ficlone(&to, &from).is_ok() {
        return Ok(true);
    }
    let length = from.metadata()?.size();
    to.set_len(length)?;
    let mut at = 0;
    let mut buffer = vec![0; PIECE];
    while let Some(data) = next_data(&from, at)? {
        at = data.start;
        while at < data.end {
            if !goes_on() {
                return Ok(false);
            }
            let piece = &mut buffer[..PIECE.min((data.end - at) as usize)];
            from.read_exact_at(piece, at)?;
            to.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
    }
    Ok(true)
}

/// The next bytes of a file, from `at` on, that are no hole; `None` after the last of them.
fn next_data(file: &File, at: u64) -> io::Result<Option<std::ops::Range<u64>>> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(start) => Ok(Some(start..seek(file, SeekFrom::Hole(start))?)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn files_folders_and_links_are_copied_and_holes_stay_holes() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("inner/empty")).unwrap();
        fs::create_dir(&to).unwrap();
        let mut file = File::create(from.join("inner/data")).unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        file.write_all_at(b"far", 1 << 30).unwrap();
        file.set_len(2 << 30).unwrap();
        fs::set_permissions(from.join("inner/data"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("inner/data", from.join("link")).unwrap();
        assert!(copy_tree(&from, &to, CopyWay::Blocks, &|| true).unwrap());

        let copy = File::open(to.join("inner/data")).unwrap();
        let facts = copy.metadata().unwrap();
        assert_eq!((facts.size(), facts.mode() & 0o777), (2 << 30, 0o640));
        assert!(facts.blocks() * 512 < 1 << 20, "{} bytes are taken", facts.blocks() * 512);
        let mut bytes = [0; 3];
        copy.read_exact_at(&mut bytes, 1 << 30).unwrap();
        assert_eq!(&bytes, b"far");
        copy.read_exact_at(&mut bytes, 99_999).unwrap();
        assert_eq!(bytes, [7, 0, 0]);
        assert!(to.join("inner/empty").is_dir());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("inner/data"));
    }

    #[test]
    fn a_copy_is_given_up_when_it_is_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("data"), b"data").unwrap();
        assert!(!copy_tree(&from, &to, CopyWay::Bytes, &|| false).unwrap());
    }

    #[test]
    fn a_socket_is_refused_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        let _listener = UnixListener::bind(from.join("socket")).unwrap();
        let refused = copy_tree(&from, &to, CopyWay::Blocks, &|| true).unwrap_err();
        assert!(refused.to_string().contains("socket is no folder"), "{refused}");
    }
}
