//! `kvdyno experiments`.

use kvdyno_experiment::{SHIPPED, Shipped, reference};
use kvdyno_report::Format;

use crate::cli::ExperimentsArguments;
use crate::error::Error;
use crate::output::{print, print_columns, print_json};

/// Lists the experiments that come with the program, or prints the file of one, or the schema of all.
pub fn run(arguments: &ExperimentsArguments) -> Result<(), Error> {
    if arguments.schema {
        return print_json(&reference::schema());
    }
    if arguments.list.format == Format::Json {
        let entry = |one: &Shipped| serde_json::json!({ "name": one.name, "question": one.question() });
        let with_file =
            |one: &Shipped| serde_json::json!({ "name": one.name, "question": one.question(), "file": one.text });
        return match &arguments.name {
            None => print_json(&SHIPPED.iter().map(entry).collect::<Vec<_>>()),
            Some(name) => print_json(&with_file(shipped(name)?)),
        };
    }
    let line = |shipped: &Shipped| format!("{:<12} {}\n", shipped.name, shipped.question());
    match &arguments.name {
        None => print_columns(&SHIPPED.iter().map(line).collect::<String>()),
        Some(name) => print(shipped(name)?.text),
    }
}

fn shipped(name: &str) -> Result<&'static Shipped, Error> {
    Shipped::named(name).ok_or_else(|| Error::Input(format!("there is no experiment `{name}`; there are {}", names())))
}

/// For people who asked for another.
pub fn names() -> String {
    SHIPPED.map(|shipped| shipped.name).join(", ")
}
