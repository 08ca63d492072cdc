//! Runs package clients and builds quietly, and keeps their output for failures.

use std::env;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kvdyno_environment::process::{Exit, status};

/// Lines of a failed command's output that are shown.
const LINES: usize = 15;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
#[error("{what} failed{}", tail(.output))]
pub struct Failed {
    what: String,
    output: String,
}

fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = &lines[lines.len().saturating_sub(LINES)..];
    match shown {
        [] => String::new(),
        shown => format!(":\n    {}", shown.join("\n    ")),
    }
}

/// Runs `command` and appends its output to `log`. Nothing that it starts outlives it, or this process.
///
/// # Errors
/// If it cannot be started, or ends with another status than 0.
pub fn run(what: &str, command: &mut Command, log: &Path) -> Result<(), Failed> {
    let failed = |output: String| Failed { what: what.to_owned(), output };
    let open = || -> io::Result<(File, File)> {
        let file = OpenOptions::new().create(true).append(true).open(log)?;
        Ok((file.try_clone()?, file))
    };
    let (out, err) = open().map_err(|error| failed(error.to_string()))?;
    match status(command.stdin(Stdio::null()).stdout(out).stderr(err)) {
        Ok(Exit::Code(0)) => Ok(()),
        Ok(exit) => {
            let said = std::fs::read(log).unwrap_or_default();
            Err(failed(format!("{}\n({exit})", String::from_utf8_lossy(&said))))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The command's file, if `PATH` has it.
pub fn find(command: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(command))
        .find(|file| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0))
}

/// The Debian package that has a command, as far as it is known.
pub fn package_of(command: &str) -> &'static str {
    match command {
        "c++" | "g++" => "Debian package g++",
        "cc" | "gcc" => "Debian package gcc",
        "cargo" | "rustc" => "Debian package rustup or cargo",
        "go" => "Debian package golang-go, or a newer one from the Go project",
        "mvn" => "Debian package maven",
        "npm" => "Debian package npm",
        "python3" => "Debian package python3-pip",
        "apt-get" => "only Debian and its descendants",
        "cmake" => "Debian package cmake",
        "make" => "Debian package make",
        _ => "your distribution",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_last_lines_and_the_status() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "for i in $(seq 30); do echo line $i; done; echo oops >&2; exit 3"]);
        let error = run("the build", &mut command, &log).unwrap_err().to_string();
        assert!(error.starts_with("the build failed:\n"), "{error}");
        assert!(error.contains("oops") && error.contains("exit code 3") && !error.contains("line 3\n"), "{error}");
    }

    #[test]
    fn commands_are_found_or_not() {
        assert!(find("sh").is_some());
        assert!(find("surely-no-such-command").is_none());
    }
}
