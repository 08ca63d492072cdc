//! `kvdyno clean`: removes what runs left behind that were killed.

use std::io::{self, Write, stdout};

use kvdyno_environment::memory;
use kvdyno_environment::storage::backing_store::{self, LeftoverStorage};

use crate::cli::CleanArguments;
use crate::error::Error;

/// Something that is left over, in words, and how it is removed.
struct Leftover {
    what: String,
    remove: Box<dyn Fn() -> io::Result<()>>,
}

/// Runs the command.
pub fn run(arguments: &CleanArguments) -> Result<(), Error> {
    let all = leftovers();
    if all.is_empty() {
        return say("nothing left over");
    }
    let mut failed = 0;
    for leftover in &all {
        let outcome = if arguments.dry_run { Ok(()) } else { (leftover.remove)() };
        match outcome {
            Ok(()) if arguments.dry_run => say(&format!("would remove {}", leftover.what))?,
            Ok(()) => say(&format!("removed {}", leftover.what))?,
            Err(cause) => {
                failed += 1;
                say(&format!("could not remove {}: {cause}", leftover.what))?;
            }
        }
    }
    match failed {
        0 => Ok(()),
        failed => Err(Error::NotCleaned(failed, all.len())),
    }
}

/// Processes before what they use, filesystems before their devices.
fn leftovers() -> Vec<Leftover> {
    let groups = memory::leftovers().into_iter().map(|group| {
        let processes = match group.processes.as_slice() {
            [] => String::new(),
            pids => format!(" with the processes {}", pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        };
        let what = format!("the control group {}{processes}", group.folder.display());
        Leftover { what, remove: Box::new(move || group.remove()) }
    });
    let storage = backing_store::leftovers().into_iter().map(|one| {
        let what = match &one {
            LeftoverStorage::Mount(point) => format!("the mount at {}", point.display()),
            LeftoverStorage::Loop { device, file } => {
                format!("the loop device {} of {}", device.display(), file.display())
            }
        };
        Leftover { what, remove: Box::new(move || one.remove()) }
    });
    groups.chain(storage).collect()
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(stdout(), "{line}").map_err(Error::io("cannot print"))
}
