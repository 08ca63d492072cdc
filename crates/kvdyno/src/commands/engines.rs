//! `kvdyno engines`: what can be measured here.

use std::io::{Write, stdout};
use std::path::Path;

use comfy_table::{ContentArrangement, Table, presets};
use kvdyno_engine::catalog::{self, EngineName};
use kvdyno_engine::{Adapter, Compression, Durability, OptionKind, Probe};

use crate::cli::Engines;
use crate::error::Error;

/// Runs the command.
pub fn run(arguments: Engines) -> Result<(), Error> {
    let text = match arguments.name {
        Some(name) => describe(&name, arguments.library.as_deref())?,
        None => list(),
    };
    stdout().write_all(text.as_bytes()).map_err(Error::io("cannot print"))
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if std::env::var_os("COLUMNS").is_none() && !std::io::IsTerminal::is_terminal(&stdout()) {
        table.set_width(120);
    }
    table.set_header(header);
    table
}

/// A line for each adapter that is found, also for those that cannot be used here.
fn list() -> String {
    let mut rows = table(&["engine", "version", "what it is"]);
    for (name, path) in catalog::list() {
        match Adapter::load(&path) {
            Err(error) => {
                rows.add_row([name, "unusable".to_owned(), error.to_string()]);
            }
            Ok(adapter) => {
                let (version, more) = match adapter.probe(None) {
                    Probe::Available { version } => (version, String::new()),
                    Probe::Missing { reason } => ("missing".to_owned(), format!(" — {reason}")),
                };
                rows.add_row([adapter.name.clone(), version, format!("{}{more}", adapter.summary)]);
                for preset in &adapter.presets {
                    let help = preset.help.clone();
                    rows.add_row([format!("{}:{}", adapter.name, preset.name), String::new(), help]);
                }
            }
        }
    }
    format!(
        "{}\n\nMore of one: kvdyno engines NAME. Any other adapter: give its path, ./libmine.so.\n",
        rows.trim_fmt()
    )
}

fn describe(name: &str, library: Option<&Path>) -> Result<String, Error> {
    let name = EngineName::parse(name);
    let adapter = name.load().map_err(|error| Error::Input(error.to_string()))?;
    let mut text = format!("{} — {}\n\n", adapter.name, adapter.summary);
    let version = match adapter.probe(library) {
        Probe::Available { version } => version,
        Probe::Missing { reason } => format!("missing: {reason}"),
    };
    let mut facts = table(&[]);
    let mut fact = |what: &str, value: String| {
        facts.add_row([what.to_owned(), value]);
    };
    fact("version", version);
    fact("library", adapter.origin.clone());
    fact("adapter", adapter.path.display().to_string());
    fact("can", adapter.capabilities().join(", "));
    let declared = adapter.table();
    let listed = |words: Vec<String>| words.join(", ");
    fact("durability", listed(words(Durability::ALL, declared.durabilities, |level| level.code())));
    fact("compression", listed(words(Compression::ALL, declared.compressions, |kind| kind.code())));
    fact("key size", bounds(declared.min_key_size, declared.max_key_size));
    fact("value size", bounds(0, declared.max_value_size));
    text.push_str(&facts.trim_fmt());
    text.push_str("\n\n");
    text.push_str(&presets_and_options(&adapter));
    Ok(text)
}

fn words<T: Copy + ToString>(all: &[T], bits: u32, code: impl Fn(T) -> u32) -> Vec<String> {
    all.iter().filter(|&&item| bits >> code(item) & 1 == 1).map(ToString::to_string).collect()
}

fn bounds(least: u64, most: u64) -> String {
    match most {
        0 => format!("from {least} bytes"),
        most => format!("{least} to {most} bytes"),
    }
}

fn presets_and_options(adapter: &Adapter) -> String {
    let mut text = String::new();
    if !adapter.presets.is_empty() {
        let mut rows = table(&["preset", "sets", "for"]);
        for preset in &adapter.presets {
            rows.add_row([format!("{}:{}", adapter.name, preset.name), preset.options.clone(), preset.help.clone()]);
        }
        text.push_str(&format!("{}\n\n", rows.trim_fmt()));
    }
    if adapter.options.is_empty() {
        return text + "It has no options of its own.\n";
    }
    let mut rows = table(&["option", "type", "default", "what it does"]);
    for option in &adapter.options {
        rows.add_row([option.name.clone(), kind(&option.kind), option.default_value.clone(), option.help.clone()]);
    }
    text + &format!("{}\n", rows.trim_fmt())
}

fn kind(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Bool => "true, false".to_owned(),
        OptionKind::Integer { minimum, maximum } => format!("{minimum} to {maximum}"),
        OptionKind::Size { minimum, maximum } => {
            let size = |bytes: i64| kvdyno_lab::Bytes(bytes.max(0) as u64);
            format!("{} to {}", size(*minimum), size(*maximum))
        }
        OptionKind::Real => "number".to_owned(),
        OptionKind::Text => "text".to_owned(),
        OptionKind::Choice(choices) => choices.join(", "),
    }
}
