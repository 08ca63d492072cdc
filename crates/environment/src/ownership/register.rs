//! The register of a process: things that it made and that would outlive it, one a line.
//!
//! It lies in a folder of the user's own ([`register_folders`]), is locked while its process lives, and is removed with
//! it if nothing is left. A line is written before the thing is made, so the register of a killed process is complete.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Inode, LockedFile, Maker, RunName, Thing};

/// No register comes near to it: a line of a thing has some two hundred bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The variable that names a folder for registers in place of the user's own.
pub(crate) const FOLDER_VARIABLE: &str = "KVDYNO_REGISTER";

/// Time that a resumed run waits for a `kvdyno clean` that uses the register, or for a tool that the earlier run had
/// started.
const PATIENCE: Duration = Duration::from_secs(30);

/// A line of a register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// The first line: its maker.
    Maker(Maker),
    /// It was made, or is about to be. A later line of the same path knows more.
    Made(Thing),
    /// The thing at this path has been removed.
    Gone(PathBuf),
}

/// The register of this process. Clones are the same one; with the last of them it ends.
#[derive(Clone, Debug)]
pub struct Register(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    maker: Maker,
    path: PathBuf,
    file: File,
    things: Mutex<Things>,
}

type Things = BTreeMap<PathBuf, Thing>;

impl Register {
    /// A register for what this process makes for a run.
    ///
    /// # Errors
    /// If there is no place for it.
    pub fn new(run: RunName) -> io::Result<Register> {
        Register::below(&own_folder()?, run)
    }

    /// A register in this folder, which this user alone can write to.
    pub(super) fn below(folder: &Path, run: RunName) -> io::Result<Register> {
        let maker = Maker::this_process(run)?;
        let path = folder.join(maker.name());
        let told = |cause: io::Error| io::Error::new(cause.kind(), format!("cannot make {}: {cause}", path.display()));
        let file = File::options().append(true).create_new(true).mode(0o600).open(&path).map_err(told)?;
        // A reader of registers may hold the lock for a moment.
        file.lock().map_err(told)?;
        let inner = Inner { maker: maker.clone(), path: path.clone(), file, things: Mutex::default() };
        inner.write(&Line::Maker(maker))?;
        Ok(Register(Arc::new(inner)))
    }

    /// The register of a process that resumes a run. It takes over what earlier processes of the run left, so that no
    /// other process takes it for abandoned.
    ///
    /// # Errors
    /// If its folder cannot be made, or another process works on the leftovers.
    pub(crate) fn resumed(run: RunName) -> io::Result<Register> {
        let register = Register::new(run)?;
        let since = Instant::now();
        while !register.took_over(&register_folders())? {
            if since.elapsed() > PATIENCE {
                return Err(io::Error::other(
                    "`kvdyno clean`, or a tool that this run started, is at work with what it left: wait for its end",
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(register)
    }

    /// Takes over what it can. Returns whether that was everything.
    fn took_over(&self, register_folders: &[RegisterFolder]) -> io::Result<bool> {
        let mut all = true;
        for home in register_folders {
            let of_this_run =
                |other: &ReadRegister| other.maker.run == self.maker().run && other.maker != *self.maker();
            for other in home.registers()?.into_iter().filter(of_this_run) {
                if other.maker.is_alive() {
                    return Err(io::Error::other(format!("process {} works for this run", other.maker.pid)));
                }
                match other.is_abandoned() {
                    true => self.take_over(other)?,
                    false => all = false,
                }
            }
        }
        Ok(all)
    }

    fn take_over(&self, other: ReadRegister) -> io::Result<()> {
        other.things.iter().try_for_each(|thing| self.add(thing.clone()))?;
        other.close()
    }

    /// The token of this process.
    pub fn maker(&self) -> &Maker {
        &self.0.maker
    }

    /// A name for something that this process makes, which nothing else has: `kvdyno-RUN-PID-NUMBER`.
    pub fn name(&self, number: u32) -> String {
        format!("kvdyno-{}-{}-{number}", self.0.maker.run, self.0.maker.pid)
    }

    /// Notes what is about to be made.
    ///
    /// # Errors
    /// If it cannot be written down; then it must not be made.
    pub fn add(&self, thing: Thing) -> io::Result<()> {
        let path = thing.path().to_owned();
        self.0.write(&Line::Made(thing.clone()))?;
        self.0.things().insert(path, thing);
        Ok(())
    }

    /// Keeps this register in use until the process of `command` has ended too, whatever becomes of this process: a
    /// tool that it had started may still make the registered thing.
    ///
    /// # Errors
    /// If there are too many open files.
    pub(crate) fn held_by(&self, command: &mut Command) -> io::Result<()> {
        // The lock belongs to the open file, and so to every process with a descriptor of it.
        let file = self.0.file.try_clone()?;
        let hold = move || {
            let _ = rustix::io::dup(&file)?.into_raw_fd();
            Ok(())
        };
        // SAFETY: the hook makes one system call, which is allowed between fork and exec.
        unsafe { command.pre_exec(hold) };
        Ok(())
    }

    /// The things in the register.
    pub(crate) fn things(&self) -> Vec<Thing> {
        self.0.things().values().cloned().collect()
    }

    /// Makes a folder that is not there yet, and notes it.
    ///
    /// # Errors
    /// If it is there, cannot be made or not be noted.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.make(path, |inode| Thing::Folder { path: path.to_owned(), inode })
    }

    /// Makes a control group that is not there yet, and notes it.
    ///
    /// # Errors
    /// If it is there, cannot be made or not be noted.
    pub fn make_group(&self, path: &Path) -> io::Result<()> {
        self.make(path, |inode| Thing::Group { path: path.to_owned(), inode })
    }

    fn make(&self, path: &Path, thing: impl Fn(Option<Inode>) -> Thing) -> io::Result<()> {
        self.add(thing(None))?;
        let made = DirBuilder::new().mode(0o700).create(path).and_then(|()| self.add(thing(Some(Inode::of(path)?))));
        made.inspect_err(|_| {
            // The first error is the one to report; a registered thing that does not exist is harmless.
            let _ = self.gone(path);
        })
    }

    /// Notes that the thing registered by this path has been removed.
    ///
    /// # Errors
    /// If it cannot be written down.
    pub fn gone(&self, path: &Path) -> io::Result<()> {
        match self.0.things().remove(path) {
            Some(_) => self.0.write(&Line::Gone(path.to_owned())),
            None => Ok(()),
        }
    }
}

impl Inner {
    fn things(&self) -> std::sync::MutexGuard<'_, Things> {
        self.things.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In one call, so that no line is ever written in parts.
    fn write(&self, entry: &Line) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        (&self.file).write_all(&line)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.things().is_empty() {
            // A register that stays names nothing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A folder of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterFolder {
    /// Its path.
    pub path: PathBuf,
    /// The user who owns it.
    pub user: u32,
}

/// The folders in which registers can be, the best first: the one that `KVDYNO_REGISTER` names, or those of this user.
/// A user's registers are in the user's own system folder (`/run/user/UID`) where there is one.
pub fn register_folders() -> Vec<RegisterFolder> {
    folders(env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from))
}

fn folders(chosen: Option<PathBuf>) -> Vec<RegisterFolder> {
    let user = rustix::process::geteuid().as_raw();
    if let Some(path) = chosen {
        // Resolved now, in the folder in which this process was started, because it may change its folder.
        return vec![RegisterFolder { path: std::path::absolute(&path).unwrap_or(path), user }];
    }
    let runtime = if user == 0 { "/run/kvdyno".to_owned() } else { format!("/run/user/{user}/kvdyno") };
    [runtime, format!("/tmp/kvdyno-{user}")].map(|path| RegisterFolder { path: path.into(), user }).to_vec()
}

/// The first of them that is there or can be made.
fn own_folder() -> io::Result<PathBuf> {
    let mut last = None;
    for home in register_folders() {
        match home.make() {
            Ok(()) => return Ok(home.path),
            Err(cause) => last = Some(cause),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

impl RegisterFolder {
    fn make(&self) -> io::Result<()> {
        let told = |cause: io::Error| {
            io::Error::new(cause.kind(), format!("there is no place for a register, {}: {cause}", self.path.display()))
        };
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(told(error)),
            _ => self.check().map_err(told),
        }
    }

    /// Refuses a folder into which another user may have written.
    fn check(&self) -> io::Result<()> {
        let facts = fs::symlink_metadata(&self.path)?;
        match facts.is_dir() && facts.uid() == self.user && facts.mode() & 0o022 == 0 {
            true => Ok(()),
            false => Err(io::Error::other("it is no folder that its user alone can write to; remove it")),
        }
    }

    /// The registers here, in use or not.
    ///
    /// # Errors
    /// If the folder is there and cannot be trusted or read.
    pub fn registers(&self) -> io::Result<Vec<ReadRegister>> {
        match self.check() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            checked => checked?,
        }
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            all.extend(ReadRegister::read(&entry?.path(), self.user)?);
        }
        all.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(all)
    }
}

/// A register as it was read.
#[derive(Debug)]
pub struct ReadRegister {
    /// The token of its process.
    pub maker: Maker,
    /// Things that the process made and did not note as gone.
    pub things: Vec<Thing>,
    path: PathBuf,
    /// Held if its process has ended, so that no other process uses it too.
    lock: Option<LockedFile>,
}

impl ReadRegister {
    /// `None` if it has gone just now, or is no register.
    fn read(path: &Path, user: u32) -> io::Result<Option<ReadRegister>> {
        let file = match File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let facts = file.metadata()?;
        if !facts.is_file() || facts.uid() != user || facts.len() > MOST_BYTES {
            return Ok(None);
        }
        let mut text = String::new();
        let is_locked = file.try_lock().is_err();
        let read = (&file).take(MOST_BYTES).read_to_string(&mut text);
        let lock = (!is_locked).then(|| LockedFile::of(file));
        read?;
        let Some((maker, things)) = parse(&text) else { return Ok(None) };
        // The lock also covers a process whose number differs here, as in a container, and its tools.
        let lock = lock.filter(|_| !maker.is_alive());
        // Only folders outlive a start of the system.
        let outlives = |thing: &Thing| maker.is_of_this_boot() || matches!(thing, Thing::Folder { .. });
        let things = things.into_values().filter(outlives).collect();
        Ok(Some(ReadRegister { maker, things, path: path.to_owned(), lock }))
    }

    /// Whether its process has ended, and nobody else uses it at the moment.
    pub fn is_abandoned(&self) -> bool {
        self.lock.is_some()
    }

    /// Removes the register: none of its things is left.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn close(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// The maker and what is there. A last line without its end was written before its thing was made.
fn parse(text: &str) -> Option<(Maker, Things)> {
    let mut maker = None;
    let mut things = Things::new();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(Line::Maker(one)) => maker = Some(one),
            Ok(Line::Made(thing)) => drop(things.insert(thing.path().to_owned(), thing)),
            Ok(Line::Gone(path)) => drop(things.remove(&path)),
            Err(_) => {}
        }
    }
    Some((maker?, things))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn home() -> (tempfile::TempDir, RegisterFolder) {
        let folder = tempfile::tempdir().unwrap();
        let home = RegisterFolder { path: folder.path().join("registers"), user: rustix::process::geteuid().as_raw() };
        home.make().unwrap();
        (folder, home)
    }

    /// A register as a killed process leaves it: of this process's number, which was started at another time.
    fn left(home: &RegisterFolder, make: impl FnOnce(&Register)) {
        let register = Register::below(&home.path, RunName::new().unwrap()).unwrap();
        make(&register);
        let text = fs::read_to_string(&register.0.path).unwrap();
        let dead = text.replacen("\"started\":", "\"started\":9", 1);
        fs::write(home.path.join("left"), dead).unwrap();
        fs::remove_file(&register.0.path).unwrap();
    }

    #[test]
    fn a_resumed_run_takes_over_what_its_killed_process_left() {
        let (folder, home) = home();
        let one = folder.path().join("one");
        left(&home, |register| register.make_folder(&one).unwrap());
        let other = abandoned(&home).remove(0);
        let resumed = Register::below(&home.path, other.maker.run.clone()).unwrap();
        drop(other);
        assert!(resumed.took_over(std::slice::from_ref(&home)).unwrap());
        assert!(abandoned(&home).is_empty());
        assert_eq!(resumed.0.things().keys().collect::<Vec<_>>(), [&one]);
    }

    fn abandoned(home: &RegisterFolder) -> Vec<ReadRegister> {
        home.registers().unwrap().into_iter().filter(ReadRegister::is_abandoned).collect()
    }

    #[test]
    fn what_a_dead_process_made_is_known_and_what_is_gone_is_not() {
        let (folder, home) = home();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        left(&home, |register| {
            register.make_folder(&one).unwrap();
            register.make_folder(&two).unwrap();
            fs::remove_dir(&two).unwrap();
            register.gone(&two).unwrap();
        });
        let left = abandoned(&home);
        let inode = Some(Inode::of(&one).unwrap());
        assert_eq!(left[0].things, [Thing::Folder { path: one, inode }]);
    }

    #[test]
    fn a_register_goes_with_its_process_unless_something_is_left() {
        let (folder, home) = home();
        let count = || fs::read_dir(&home.path).unwrap().count();
        let register = Register::below(&home.path, RunName::new().unwrap()).unwrap();
        register.make_folder(&folder.path().join("one")).unwrap();
        register.gone(&folder.path().join("one")).unwrap();
        assert!(abandoned(&home).is_empty() && count() == 1);
        drop(register);
        assert_eq!(count(), 0);
        let register = Register::below(&home.path, RunName::new().unwrap()).unwrap();
        register.make_folder(&folder.path().join("two")).unwrap();
        drop(register);
        assert_eq!(count(), 1);
    }

    #[test]
    fn a_place_that_was_chosen_is_the_only_one() {
        let paths = |chosen: Option<&str>| folders(chosen.map(PathBuf::from)).into_iter().map(|folder| folder.path);
        assert_eq!(paths(Some("/my/own")).collect::<Vec<_>>(), [Path::new("/my/own")]);
        assert_eq!(paths(Some("own")).collect::<Vec<_>>(), [env::current_dir().unwrap().join("own")]);
        assert_eq!(paths(None).count(), 2);
    }

    #[test]
    fn a_line_that_was_cut_off_is_none() {
        let (folder, home) = home();
        left(&home, |register| register.make_folder(&folder.path().join("one")).unwrap());
        let text = fs::read_to_string(home.path.join("left")).unwrap();
        fs::write(home.path.join("left"), format!("{text}{{\"made\":{{\"folder\":")).unwrap();
        assert_eq!(abandoned(&home)[0].things.len(), 1);
    }

    #[test]
    fn a_fifo_among_registers_blocks_nobody() {
        let (_folder, home) = home();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, home.path.join("f"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(home.registers().unwrap().is_empty());
    }

    #[test]
    fn a_place_that_others_can_write_to_is_not_trusted() {
        let (_folder, home) = home();
        fs::set_permissions(&home.path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(home.make().is_err() && home.registers().is_err());
        let stranger = RegisterFolder { user: home.user + 1, ..home };
        fs::set_permissions(&stranger.path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(stranger.make().unwrap_err().to_string().contains("remove it"));
    }
}
