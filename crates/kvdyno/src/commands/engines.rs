//! `kvdyno engines`: what can be measured here.

mod json;

use std::path::Path;
use std::thread;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use kvdyno_engine::catalog;
use kvdyno_engine::inspect::{Declared, Inspection, Request};
use kvdyno_engine::installed::{self, Installed};
use kvdyno_engine::{AbiCode, Compression, Durability, OptionKind, PresetInfo, Probe};
use kvdyno_install::{Recipe, recipes};
use kvdyno_model::EngineName;
use kvdyno_plan::inspection;
use kvdyno_report::Format;

use crate::cli::EnginesArguments;
use crate::error::Error;
use crate::output::{print_columns, print_json, screen};

/// Runs the command.
pub fn run(arguments: EnginesArguments) -> Result<(), Error> {
    let is_json = arguments.list.format == Format::Json;
    match (arguments.name, is_json) {
        (Some(name), false) => print_columns(&describe(&name, arguments.library.as_deref())?),
        (Some(name), true) => print_json(&json::described(inspected(&name, arguments.library.as_deref())?)),
        (None, false) => print_columns(&list()?),
        (None, true) => print_json(&json::listed(known_engines()?)),
    }
}

/// An engine that a user named and that can be measured.
pub struct UsableEngine {
    /// The request that it answered.
    pub request: Request,
    /// Its declaration, and the library that it takes.
    pub inspection: Inspection,
    /// The version that the engine reports.
    pub version: String,
}

/// The result of a search for an engine.
pub enum EngineSearch {
    /// It can be measured.
    Usable(Box<UsableEngine>),
    /// There is no adapter, or it finds no library, for this reason.
    Missing(String),
}

/// Looks for an engine and asks it about itself. One that is there and cannot be used is an error.
pub fn find(name: &str, library: Option<&Path>) -> Result<EngineSearch, Error> {
    let request = match inspection::request(&EngineName::parse(name), library.map(Path::to_owned)) {
        Ok(request) => request,
        Err(obstacle) => return Ok(EngineSearch::Missing(obstacle.message)),
    };
    let inspection = inspection::inspect_in_child(&request).map_err(|obstacle| Error::Input(obstacle.message))?;
    Ok(match inspection.probe.clone() {
        Probe::Available { version } => EngineSearch::Usable(Box::new(UsableEngine { request, inspection, version })),
        Probe::Missing { reason } => EngineSearch::Missing(reason),
    })
}

/// A line that names the engines that were named and are not here; empty if there are none.
pub(super) fn left_out(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => format!("\nLeft out because they are missing: {}.\n", names.join(", ")),
    }
}

/// Columns, if the width is unknown.
const USUAL_WIDTH: u16 = 120;

pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(screen().width.map_or(USUAL_WIDTH, |width| u16::try_from(width).unwrap_or(u16::MAX)));
    table.set_header(header);
    table
}

/// Lets columns be no narrower than their longest number, so that none is broken.
fn keep_numbers(table: &mut Table, columns: &[usize]) {
    let is_number = |word: &&str| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    for index in columns {
        let longest = |text: String| text.split_whitespace().filter(is_number).map(|word| word.chars().count()).max();
        let cells = table.column_cells_iter(*index).flatten();
        let Some(longest) = cells.filter_map(|cell| longest(cell.content())).max() else { continue };
        let Some(column) = table.column_mut(*index) else { continue };
        let width = longest as u16 + column.padding_width();
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
}

/// An engine that is known: here with the system's library, installed in a version, or in a recipe.
struct KnownEngine {
    name: String,
    installed: Option<Installed>,
    recipe: Option<Recipe>,
    /// No inspection if there is no adapter at all; or why it cannot be asked.
    inspection: Result<Option<Inspection>, String>,
}

/// Installed engines, and those that a recipe can install.
fn known_engines() -> Result<Vec<KnownEngine>, Error> {
    let recipes = recipes().map_err(|error| Error::Input(error.to_string()))?;
    let mut names: Vec<String> = catalog::list().into_keys().chain(recipes.iter().map(|r| r.name.clone())).collect();
    names.extend(installed::all(&catalog::folders()).into_iter().map(|one| one.name));
    names.sort();
    names.dedup();
    let all: Vec<(String, Option<Installed>)> = names.iter().flat_map(|name| entries(name)).collect();
    // Each is inspected in a process of its own, so they can be inspected side by side.
    let inspections: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> =
            all.iter().map(|(name, installed)| scope.spawn(|| ask(name, installed.as_ref()))).collect();
        started.into_iter().map(|one| one.join()).collect()
    });
    let known = |((name, installed), inspection): ((String, Option<Installed>), thread::Result<_>)| KnownEngine {
        recipe: recipes.iter().find(|recipe| recipe.name == name).cloned(),
        inspection: inspection.unwrap_or_else(|_| Err("its inspection failed".to_owned())),
        name,
        installed,
    };
    Ok(all.into_iter().zip(inspections).map(known).collect())
}

/// A row for each.
fn list() -> Result<String, Error> {
    let mut rows = table(&["engine", "version", "origin, description, capabilities"]);
    for known in known_engines()? {
        rows.add_row(row(&known.name, known.installed.as_ref(), known.recipe.as_ref(), known.inspection));
    }
    Ok(format!(
        "{}\n\nDetails of an engine: kvdyno engines NAME. For another adapter give its path, such as ./libmine.so.\n",
        rows.trim_fmt()
    ))
}

/// The engine with the system's library, and each version that was installed.
fn entries(name: &str) -> Vec<(String, Option<Installed>)> {
    let versions = installed::versions(name, &catalog::folders());
    let plain = (name.to_owned(), None);
    let of_its_own = versions.iter().any(|one| one.adapter.is_some()) && !catalog::list().contains_key(name);
    let first = (!of_its_own).then_some(plain);
    first.into_iter().chain(versions.into_iter().map(|one| (name.to_owned(), Some(one)))).collect()
}

/// `None` if there is no adapter at all.
fn ask(name: &str, installed: Option<&Installed>) -> Result<Option<Inspection>, String> {
    let version = installed.map(|one| one.version.clone());
    let name = EngineName { adapter: name.to_owned(), version, preset: None };
    match inspection::request(&name, None) {
        Err(_) => Ok(None),
        Ok(request) => inspection::inspect_in_child(&request).map(Some).map_err(|obstacle| obstacle.message),
    }
}

fn row(
    name: &str,
    installed: Option<&Installed>,
    recipe: Option<&Recipe>,
    inspection: Result<Option<Inspection>, String>,
) -> [String; 3] {
    let label = installed.map_or(name.to_owned(), |one| format!("{name}@{}", one.version));
    let here = match inspection {
        Err(problem) => return [label, "unusable".to_owned(), problem],
        Ok(here) => here,
    };
    let mut lines = Vec::new();
    let version = match here.as_ref().map(|here| &here.probe) {
        Some(Probe::Available { version }) => version.clone(),
        Some(Probe::Missing { .. }) | None => "–".to_owned(),
    };
    let declared = here.as_ref().map(|here| &here.declared);
    let newest = here.as_ref().filter(|here| installed.is_none() && here.library.is_some());
    let origin = installed
        .map(|one| one.source.clone())
        .or_else(|| newest.map(|_| "newest installed version; the system has no library".to_owned()))
        .or_else(|| declared.map(|it| it.origin.clone()));
    match recipe.filter(|_| version == "–") {
        Some(Recipe { default: Some(_), .. }) => {
            lines.push(format!("missing; to get it: kvdyno engines install {name}"))
        }
        Some(Recipe { manual: Some(manual), .. }) => {
            lines.push(format!("missing: {} (see {})", manual.hint, manual.page))
        }
        _ => lines.extend(origin),
    }
    if let Some(declared) = declared.filter(|_| installed.is_none() || !catalog::list().contains_key(name)) {
        lines.push(declared.summary.clone());
        lines.push(declared.capabilities().join(", "));
        lines.extend(declared.presets.iter().map(|preset| format!("{name}:{} — {}", preset.name, preset.help)));
    }
    [label, version, lines.join("\n")]
}

fn inspected(name: &str, library: Option<&Path>) -> Result<(Request, Inspection), Error> {
    let request = inspection::request(&EngineName::parse(name), library.map(Path::to_owned));
    let inspected =
        request.and_then(|request| inspection::inspect_in_child(&request).map(|inspection| (request, inspection)));
    inspected.map_err(|obstacle| Error::Input(obstacle.message))
}

fn describe(name: &str, library: Option<&Path>) -> Result<String, Error> {
    let (request, inspection) = inspected(name, library)?;
    let engine = &inspection.declared;
    let mut text = format!("{} — {}\n\n", engine.name, engine.summary);
    let version = match &inspection.probe {
        Probe::Available { version } => version.clone(),
        Probe::Missing { reason } => format!("missing: {reason}"),
    };
    let mut facts = table(&[]);
    let mut fact = |what: &str, value: String| {
        facts.add_row([what.to_owned(), value]);
    };
    fact("version", version);
    fact("library", inspection.library.map_or(engine.origin.clone(), |path| path.display().to_string()));
    fact("adapter", request.adapter.display().to_string());
    fact("capabilities", engine.capabilities().join(", "));
    let listed = |words: Vec<String>| words.join(", ");
    fact("durability", listed(words(Durability::ALL, engine.durabilities, |level| level.code())));
    fact("compression", listed(words(Compression::ALL, engine.compressions, |kind| kind.code())));
    fact("key size", bounds(engine.min_key_size, engine.max_key_size));
    fact("value size", bounds(0, engine.max_value_size));
    text.push_str(&facts.trim_fmt());
    text.push_str("\n\n");
    text.push_str(&presets_and_options(engine));
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

fn presets_and_options(adapter: &Declared) -> String {
    let mut text = String::new();
    if !adapter.presets.is_empty() {
        let mut rows = table(&["preset", "sets", "for"]);
        for preset in &adapter.presets {
            rows.add_row([format!("{}:{}", adapter.name, preset.name), set_by(preset), preset.help.clone()]);
        }
        keep_numbers(&mut rows, &[1]);
        text.push_str(&format!("{}\n\n", rows.trim_fmt()));
    }
    if adapter.options.is_empty() {
        return text + "It has no options of its own.\n";
    }
    let mut rows = table(&["option", "type", "default", "effect"]);
    for option in &adapter.options {
        let scales = if option.scales { " `--fit` scales it with the database." } else { "" };
        let help = format!("{}{scales}", option.help);
        rows.add_row([option.name.clone(), kind(&option.kind), option.default_value.clone(), help]);
    }
    keep_numbers(&mut rows, &[1, 2]);
    text + &format!("{}\n", rows.trim_fmt())
}

/// The options of a preset, with spaces at which lines can be broken.
fn set_by(preset: &PresetInfo) -> String {
    preset.options.replace('=', " = ").replace(',', ", ")
}

fn kind(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Bool => "true, false".to_owned(),
        OptionKind::Integer { minimum, maximum } => format!("{minimum} to {maximum}"),
        OptionKind::Size { minimum, maximum } => {
            let size = |bytes: i64| kvdyno_model::ByteSize(bytes.max(0) as u64);
            format!("{} to {}", size(*minimum), size(*maximum))
        }
        OptionKind::Real => "number".to_owned(),
        OptionKind::Text => "text".to_owned(),
        OptionKind::Choice(choices) => choices.join(", "),
    }
}
