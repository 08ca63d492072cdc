//! The token: a run, and a process of it.

use std::fmt;
use std::fs;
use std::io;

use procfs::process::Process;
use serde::{Deserialize, Serialize};

/// The name of a run that no other has: 32 hexadecimal digits. It stays the same when the run is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct RunName(String);

impl RunName {
    /// A new one.
    ///
    /// # Errors
    /// If the kernel gives none.
    pub fn new() -> io::Result<RunName> {
        let uuid = kernel_word("uuid")?;
        RunName::try_from(uuid.replace('-', "")).map_err(io::Error::other)
    }

    /// Its first digits: enough to tell folders apart for people.
    pub fn short(&self) -> &str {
        &self.0[..8]
    }
}

impl TryFrom<String> for RunName {
    type Error = String;

    /// Accepts nothing else: a name read from a file becomes a part of others' names.
    fn try_from(text: String) -> Result<Self, String> {
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        match text.len() == 32 && text.chars().all(is_digit) {
            true => Ok(RunName(text)),
            false => Err("the name of a run is 32 hexadecimal digits".to_owned()),
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The maker of something: a process of a run. The number of a process is given again, its number with the time of its
/// start is not until the system is started anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// The run.
    pub run: RunName,
    /// The number of the process.
    pub pid: u32,
    /// When it was started, in the kernel's ticks since the system was.
    started: u64,
    /// The kernel's name for the time since the system was started.
    boot: String,
}

impl Maker {
    /// This process, as one of a run.
    ///
    /// # Errors
    /// If the kernel does not tell about it.
    pub fn this_process(run: RunName) -> io::Result<Maker> {
        let pid = std::process::id();
        let started =
            started(pid).ok_or_else(|| io::Error::other("/proc does not tell when this process was started"))?;
        Ok(Maker { run, pid, started, boot: kernel_word("boot_id")? })
    }

    /// Whether the process lives.
    pub fn is_alive(&self) -> bool {
        self.is_of_this_boot() && started(self.pid) == Some(self.started)
    }

    /// Whether the system has not been started again since.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        // If the kernel does not say, the system counts as the same.
        kernel_word("boot_id").map_or(true, |boot| boot == self.boot)
    }

    /// A name that nothing else has, for what this process makes.
    pub(super) fn name(&self) -> String {
        format!("{}-{}-{}", self.run, self.pid, self.started)
    }
}

/// Absent for a process that is not there, or has ended and was not reaped.
fn started(pid: u32) -> Option<u64> {
    let stat = Process::new(pid.try_into().ok()?).ok()?.stat().ok()?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

fn kernel_word(name: &str) -> io::Result<String> {
    Ok(fs::read_to_string(format!("/proc/sys/kernel/random/{name}"))?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Maker {
        Maker::this_process(RunName::new().unwrap()).unwrap()
    }

    #[test]
    fn this_process_lives() {
        assert!(here().is_alive());
    }

    #[test]
    fn a_process_of_the_same_number_is_another_maker() {
        let maker = here();
        assert!(!Maker { started: maker.started + 1, ..maker.clone() }.is_alive());
        assert!(!Maker { boot: "another".into(), ..maker }.is_alive());
    }

    #[test]
    fn a_process_that_ended_is_dead_before_it_is_reaped() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        let maker = Maker { pid, started: started(pid).unwrap_or_default(), ..here() };
        let since = std::time::Instant::now();
        while maker.is_alive() {
            assert!(since.elapsed().as_secs() < 60, "`true` does not end");
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!maker.is_alive());
    }

    #[test]
    fn names_of_runs_are_nothing_but_digits() {
        assert_ne!(RunName::new().unwrap(), RunName::new().unwrap());
        for text in ["", "abc", "../../../../../../../../../../etc", &"g".repeat(32), &"A".repeat(32)] {
            assert!(RunName::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
