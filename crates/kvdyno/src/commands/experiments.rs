//! `kvdyno experiments`.

use std::io::{Write, stdout};

use kvdyno_experiment::{SHIPPED, Shipped};

use crate::cli::Experiments;
use crate::error::Error;

/// Lists the experiments that come with the program, or prints the file of one.
pub fn run(arguments: &Experiments) -> Result<(), Error> {
    let mut out = stdout().lock();
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
