//! A systemd scope of the user's own: the group in which a user without root's rights may limit memory.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::hierarchy;

/// The variable that tells the program that it was started in a scope, so that it does not try again.
const INSIDE: &str = "KVDYNO_SCOPE";

/// The command that starts this program once more, with the same arguments, in a scope of its own. Absent where memory
/// can be limited without one, where one would not help, and where the user's systemd gives none.
pub fn command() -> Option<Command> {
    if env::var_os(INSIDE).is_some() || !hierarchy::scope_helps() || !gives_scopes() {
        return None;
    }
    let mut command = scope();
    command.arg(env::current_exe().ok()?).args(env::args_os().skip(1)).env(INSIDE, "1");
    Some(command)
}

/// Becomes what `command` starts. Returns only if that cannot be.
pub fn enter(mut command: Command) -> io::Error {
    // systemd-run makes the scope and becomes the program: the process, its terminal and its files stay the same.
    command.exec()
}

fn scope() -> Command {
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--scope", "--quiet", "--property=Delegate=yes", "--"]);
    command
}

/// Whether systemd starts something in a scope. The program may exist without a systemd of this user.
fn gives_scopes() -> bool {
    let mut probe = scope();
    probe.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
