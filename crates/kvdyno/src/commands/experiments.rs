//! `kvdyno experiments`.

use std::io::{Write, stdout};

use kvdyno_experiment::{SHIPPED, Shipped, reference};

use crate::cli::ExperimentsArguments;
use crate::error::Error;

/// Lists the experiments that come with the program, or prints the file of one, or the schema of all.
pub fn run(arguments: &ExperimentsArguments) -> Result<(), Error> {
    let mut out = stdout().lock();
    if arguments.schema {
        let schema =
            serde_json::to_string_pretty(&reference::schema()).map_err(|error| Error::Input(error.to_string()))?;
        return writeln!(out, "{schema}").map_err(Error::io("cannot print"));
    }
    let printed = match &arguments.name {
        None => SHIPPED.iter().try_for_each(|shipped| writeln!(out, "{:<12} {}", shipped.name, shipped.question())),
        Some(name) => out.write_all(shipped(name)?.text.as_bytes()),
    };
    printed.map_err(Error::io("cannot print"))
}

fn shipped(name: &str) -> Result<&'static Shipped, Error> {
    Shipped::named(name).ok_or_else(|| Error::Input(format!("there is no experiment `{name}`; there are {}", names())))
}

/// For people who asked for another.
pub fn names() -> String {
    SHIPPED.map(|shipped| shipped.name).join(", ")
}
