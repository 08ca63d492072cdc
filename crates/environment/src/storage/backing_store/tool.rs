//! The system's own tools.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ownership::Register;

/// The path of a tool on `PATH`.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The output of a tool that makes something that is registered, which stays in use until the tool has ended: if this
/// process is killed before, the tool still makes it.
///
/// # Errors
/// If it fails, with the last line that it said.
pub(super) fn makes(command: &mut Command, register: &Register) -> io::Result<String> {
    register.held_by(command)?;
    says(command)
}

/// Runs a tool to its end.
///
/// # Errors
/// If it fails, with the last line that it said.
pub(super) fn run(command: &mut Command) -> io::Result<()> {
    says(command).map(drop)
}

/// The output of a tool.
///
/// # Errors
/// If it fails, with the last line that it said.
pub(super) fn says(command: &mut Command) -> io::Result<String> {
    // In a group of its own: a Ctrl-C of the terminal's is not for it, and half a filesystem is none.
    command.env("LC_ALL", "C").stdin(Stdio::null()).process_group(0);
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::to_string_lossy);
    let words = words.collect::<Vec<_>>().join(" ");
    let told = |what: String| io::Error::other(format!("`{words}`: {what}"));
    let output = command.output().map_err(|cause| told(cause.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    Err(told(line.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned())))
}
