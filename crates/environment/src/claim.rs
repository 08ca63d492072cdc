//! Claims on work that several processes share by a folder, also of several machines.
//!
//! The claims of one work are the files `WORK.claim-1`, `WORK.claim-2`, … in the folder; the last one counts. Each is a
//! link to a file that was whole before, and of several processes that link one name one succeeds, on NFS too. A next
//! claim is made only where the last one's process was of this machine and has died: whether a process of another
//! machine, or of another container, lives cannot be seen from here.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine::host;
use crate::ownership::{Maker, RunName};

/// No claim is as long.
const MOST_BYTES: u64 = 4096;

/// A process that has a claim.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claimant {
    /// The name of its machine; empty if the kernel does not tell.
    pub host: String,
    /// The processes among which its number is given (`/proc/self/ns/pid`): each container has its own.
    pid_namespace: PathBuf,
    /// The process.
    pub maker: Maker,
}

impl Claimant {
    fn this_process(run: &RunName) -> io::Result<Claimant> {
        let host = host().map(|host| host.name).unwrap_or_default();
        let maker = Maker::this_process(run.clone())?;
        Ok(Claimant { host, pid_namespace: fs::read_link("/proc/self/ns/pid")?, maker })
    }

    /// Whether it has certainly died.
    fn is_dead_for(&self, other: &Claimant) -> bool {
        self.pid_namespace == other.pid_namespace && self.maker.is_of_this_boot() && !self.maker.is_alive()
    }
}

/// Claims work, and gives back who has it already, with the file of the claim; `None` if it is this process's now.
///
/// # Errors
/// If the folder cannot be written, or a claim in it is none.
pub fn claim(folder: &Path, work: &str, run: &RunName) -> io::Result<Option<(Claimant, PathBuf)>> {
    let own = Claimant::this_process(run)?;
    // With a name of its own: threads of a process may claim, too.
    let draft = folder.join(format!(".{work}-{}", RunName::new()?));
    let claimed = write_draft(&draft, &own).and_then(|()| link_next(&own, &draft, folder, work));
    // What stays of it keeps nobody from anything.
    let _ = fs::remove_file(draft);
    claimed
}

fn write_draft(draft: &Path, own: &Claimant) -> io::Result<()> {
    let mut file = File::create_new(draft)?;
    file.write_all(&serde_json::to_vec(own)?)?;
    file.sync_all()
}

fn link_next(own: &Claimant, draft: &Path, folder: &Path, work: &str) -> io::Result<Option<(Claimant, PathBuf)>> {
    for number in 1_u32.. {
        let path = folder.join(format!("{work}.claim-{number}"));
        let linked = fs::hard_link(draft, &path);
        // A server's answer may have been lost, so that its repetition finds the link: the number of links tells.
        if linked.is_ok() || fs::metadata(draft)?.nlink() > 1 {
            return Ok(None);
        }
        linked.or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        })?;
        let holder = read(&path)?;
        if !holder.is_dead_for(own) {
            return Ok(Some((holder, path)));
        }
    }
    Err(io::Error::other("there are too many claims"))
}

fn read(path: &Path) -> io::Result<Claimant> {
    let mut text = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    serde_json::from_slice(&text)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{} is no claim: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn files(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn one_of_many_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let claims = || claim(folder.path(), "part-1", &RunName::new().unwrap()).unwrap().is_none();
        let own = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(claims)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|own| *own).count()
        });
        assert_eq!(own, 1);
        assert_eq!(files(folder.path()), ["part-1.claim-1"]);
        let (holder, path) = claim(folder.path(), "part-1", &RunName::new().unwrap()).unwrap().unwrap();
        assert_eq!((holder.maker.pid, path), (std::process::id(), folder.path().join("part-1.claim-1")));
        assert!(claim(folder.path(), "part-2", &RunName::new().unwrap()).unwrap().is_none());
    }

    #[test]
    fn a_claim_of_the_dead_is_taken_over_and_one_of_another_machine_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunName::new().unwrap();
        let own = Claimant { host: "node1".to_owned(), ..Claimant::this_process(&run).unwrap() };
        let edited = |key: &str, value: serde_json::Value| {
            let mut claimant = serde_json::to_value(&own).unwrap();
            *claimant.pointer_mut(key).unwrap() = value;
            claimant.to_string()
        };
        // Started at another time: another process had the number.
        fs::write(folder.path().join("x.claim-1"), edited("/maker/started", 1.into())).unwrap();
        assert!(claim(folder.path(), "x", &run).unwrap().is_none());
        assert_eq!(files(folder.path()), ["x.claim-1", "x.claim-2"]);
        for key in ["/maker/boot", "/pid_namespace"] {
            let dead: serde_json::Value = serde_json::from_str(&edited("/maker/started", 1.into())).unwrap();
            let mut elsewhere = dead.clone();
            *elsewhere.pointer_mut(key).unwrap() = "another".into();
            fs::write(folder.path().join("y.claim-1"), elsewhere.to_string()).unwrap();
            let (holder, _) = claim(folder.path(), "y", &run).unwrap().unwrap();
            assert_eq!(holder.host, "node1", "{key}");
        }
        fs::write(folder.path().join("z.claim-1"), "x").unwrap();
        let error = claim(folder.path(), "z", &run).unwrap_err().to_string();
        assert!(error.ends_with("z.claim-1 is no claim: expected value at line 1 column 1"), "{error}");
        assert!(!files(folder.path()).iter().any(|name| name.starts_with('.')));
    }
}
