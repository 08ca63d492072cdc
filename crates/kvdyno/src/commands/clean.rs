//! `kvdyno clean`: removes what runs left behind that were killed.

use std::time::Duration;

use kvdyno_environment::leftovers::{LeftoversOfProcess, leftovers, wait_for_ending};
use kvdyno_environment::ownership::register_folders;

use crate::cli::CleanArguments;
use crate::error::Error;
use crate::output::print;

/// Time that workers and tools of a killed run have to end.
const ENDING: Duration = Duration::from_secs(3);

/// Runs the command.
pub fn run(arguments: &CleanArguments) -> Result<(), Error> {
    let folders = register_folders();
    wait_for_ending(&folders, ENDING);
    let (all, kept) = leftovers(&folders);
    let count: usize = all.iter().map(|one| one.things.len()).sum();
    let mut failed = 0;
    for one in all {
        failed += if arguments.dry_run { tell(&one)? } else { remove(one)? };
    }
    for one in &kept {
        say(&format!("left {}: {}", one.what, one.why))?;
    }
    match failed {
        0 if count == 0 => say("nothing to remove"),
        0 => Ok(()),
        failed => Err(Error::NotCleaned(failed, count)),
    }
}

fn tell(left: &LeftoversOfProcess) -> Result<usize, Error> {
    left.things.iter().try_for_each(|thing| say(&format!("would remove {thing}")))?;
    Ok(0)
}

/// Gives back how many could not be removed.
fn remove(left: LeftoversOfProcess) -> Result<usize, Error> {
    let mut failed = 0;
    for thing in &left.things {
        match thing.remove() {
            Ok(()) => say(&format!("removed {thing}"))?,
            Err(cause) => {
                failed += 1;
                say(&format!("could not remove {thing}: {cause}"))?;
            }
        }
    }
    if failed == 0 {
        left.close().map_err(Error::io("cannot remove the register of what was removed"))?;
    }
    Ok(failed)
}

fn say(line: &str) -> Result<(), Error> {
    print(&format!("{line}\n"))
}
