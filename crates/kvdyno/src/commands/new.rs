//! `kvdyno engines new`: an adapter to begin with.

use kvdyno_install::{NewAdapterError, new_adapter};

use crate::cli::NewArguments;
use crate::error::Error;
use crate::output::print;

/// Runs the command.
pub fn run(arguments: &NewArguments) -> Result<(), Error> {
    if !arguments.dir.is_dir() {
        return Err(Error::Input(format!("--dir {}: there is no such folder", arguments.dir.display())));
    }
    let made = new_adapter(&arguments.name, arguments.lang, &arguments.dir).map_err(|error| match error {
        NewAdapterError::Write { path, cause } => Error::Io { what: format!("cannot write {}", path.display()), cause },
        error => Error::Input(error.to_string()),
    })?;
    let text = format!(
        "{} has an adapter that works. To build and to check it:\n\n  cd {0} && {} && kvdyno engines check {}\n\n\
         Then put your engine where its comments say; docs/engine-abi.md tells the rest.\n",
        made.folder.display(),
        made.build,
        made.library
    );
    print(&text)
}
