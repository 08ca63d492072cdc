//! Files that are written whole or not at all, never through another user's link, and read only if they are regular
//! files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

/// The rights to a new file, as far as the user's mask allows.
const FOR_ALL: Mode = Mode::from_raw_mode(0o666);
/// The rights to a file that is its owner's alone.
const FOR_OWNER: Mode = Mode::from_raw_mode(0o600);

/// Writes `content` to `path`: a temporary file beside it, synced, renamed over it, the folder synced. After a crash at
/// any moment the old content is there or the new, never a part.
///
/// # Errors
/// If the content cannot be written; then nothing of it is left. The error names the file. A folder that is a link is
/// refused.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write(path, content, FOR_ALL)
}

/// [`write_whole`] of a file that nobody but its owner can read.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    write(path, content, FOR_OWNER)
}

fn write(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    write_in_folder(path, content, mode)
        .map_err(|cause| io::Error::new(cause.kind(), format!("{}: {cause}", path.display())))
}

fn write_in_folder(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(".writing");
    // All further calls use the open folder: its path may soon lead elsewhere, if others can write above it.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags, Mode::empty()).map_err(|error| not_a_folder(error, folder))?;
    // Removes the remains of a killed process, or a link of somebody else: the name is removed, and not the file that
    // it leads to.
    match unlinkat(&folder, &temporary, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&folder, &temporary, flags, mode)?);
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(cause) = written.and_then(|()| Ok(renameat(&folder, &temporary, &folder, name)?)) {
        // The error of the write is the one to report.
        let _ = unlinkat(&folder, &temporary, AtFlags::empty());
        return Err(cause);
    }
    File::from(folder).sync_all()
}

fn not_a_folder(error: Errno, folder: &Path) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => io::Error::other(format!("{} is a link, or no folder", folder.display())),
        error => error.into(),
    }
}

/// A new file that replaces any file or link of that name.
///
/// # Errors
/// If it cannot be made.
pub fn create_anew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// [`write_whole`] of a value as indented JSON.
pub fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> io::Result<()> {
    write_whole(path, &to_json(value)?)
}

/// A value as indented JSON, as files have it.
///
/// # Errors
/// If it cannot be said in JSON.
pub fn to_json<T: serde::Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Bytes of a file that is read, at most. The largest, the plan of 100,000 trials, has a third of it.
const MOST_BYTES: u64 = 64 << 20;

/// Why a file is not read.
#[derive(Debug)]
pub enum ReadFailure {
    /// The system does not give it.
    Io(io::Error),
    /// Its contents are wrong, in words.
    Not(String),
}

impl From<io::Error> for ReadFailure {
    fn from(error: io::Error) -> Self {
        ReadFailure::Io(error)
    }
}

/// The content of a regular file; `None` if there is no file of that name. Other kinds of files are refused: they could
/// block the reader for ever, have no end, or belong to another user.
///
/// # Errors
/// If it is something else, a link above all, or too long; or if the system does not give it.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadFailure> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        // A file where a trial's folder could be is none.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            let words = if path.exists() { "it is a link, and not a regular file" } else { "it is a link to nothing" };
            return Err(ReadFailure::Not(words.to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(ReadFailure::Not("it is not a regular file".to_owned()));
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MOST_BYTES {
        true => Err(ReadFailure::Not(format!("it is longer than {MOST_BYTES} bytes"))),
        false => Ok(Some(content)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn lab() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("target"), "mine").unwrap();
        let target = folder.path().join("target");
        (folder, target)
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (folder, target) = lab();
        let [file, temporary] = ["a", ".a.writing"].map(|name| folder.path().join(name));
        symlink(&target, &temporary).unwrap();
        symlink(&target, &file).unwrap();
        write_whole(&file, b"new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert!(fs::read_to_string(&file).unwrap() == "new" && !file.is_symlink() && !temporary.exists());
        symlink(&target, &temporary).unwrap();
        create_anew(&temporary).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    }

    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let (folder, _) = lab();
        fs::create_dir(folder.path().join("elsewhere")).unwrap();
        let link = folder.path().join("report");
        symlink(folder.path().join("elsewhere"), &link).unwrap();
        let said = write_whole(&link.join("a"), b"new").unwrap_err().to_string();
        assert!(said.ends_with(&format!("{} is a link, or no folder", link.display())), "{said}");
        assert_eq!(fs::read_dir(folder.path().join("elsewhere")).unwrap().count(), 0);
    }

    #[test]
    fn only_regular_files_are_read() {
        let (folder, target) = lab();
        assert_eq!(read(&target).unwrap().as_deref(), Some(&b"mine"[..]));
        let [link, fifo] = ["link", "fifo"].map(|name| folder.path().join(name));
        symlink(&target, &link).unwrap();
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        for path in [&link, &fifo, Path::new("/dev/null"), folder.path()] {
            let failure = read(path).unwrap_err();
            assert!(matches!(&failure, ReadFailure::Not(words) if words.contains("not a regular file")), "{failure:?}");
        }
        assert!(read(&folder.path().join("none")).unwrap().is_none());
    }
}
