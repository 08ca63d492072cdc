//! Engines for programs.

use kvdyno_engine::inspect::{Declared, Inspection, Request};
use kvdyno_engine::{AbiCode, Compression, Durability, OptionKind, Probe};
use serde_json::{Value, json};

use super::{KnownEngine, words};

/// An object for each.
pub(super) fn listed(known: Vec<KnownEngine>) -> Vec<Value> {
    known.into_iter().map(listed_one).collect()
}

fn listed_one(known: KnownEngine) -> Value {
    let can_install = known.recipe.as_ref().is_some_and(|recipe| recipe.default.is_some());
    let engine = match &known.installed {
        Some(installed) => format!("{}@{}", known.name, installed.version),
        None => known.name.clone(),
    };
    let (inspection, problem) = match &known.inspection {
        Ok(inspection) => (inspection.as_ref(), None),
        Err(problem) => (None, Some(problem)),
    };
    json!({
        "engine": engine,
        "version": inspection.and_then(version),
        "usable": inspection.and_then(version).is_some(),
        "problem": problem.cloned().or_else(|| inspection.and_then(missing)),
        "can_install": can_install,
        "installed_from": known.installed.map(|installed| installed.source),
        "declared": inspection.map(|inspection| declared(&inspection.declared)),
    })
}

/// One engine that was asked for.
pub(super) fn described((request, inspection): (Request, Inspection)) -> Value {
    let mut described = declared(&inspection.declared);
    described["version"] = version(&inspection).into();
    described["problem"] = missing(&inspection).into();
    described["library"] = json!(inspection.library);
    described["adapter"] = json!(request.adapter);
    described
}

fn version(inspection: &Inspection) -> Option<&str> {
    match &inspection.probe {
        Probe::Available { version } => Some(version),
        Probe::Missing { .. } => None,
    }
}

fn missing(inspection: &Inspection) -> Option<String> {
    match &inspection.probe {
        Probe::Available { .. } => None,
        Probe::Missing { reason } => Some(reason.clone()),
    }
}

/// An adapter's words about its engine; sizes are bytes, and a size without a limit is null.
fn declared(engine: &Declared) -> Value {
    let limit = |most: u64| (most > 0).then_some(most);
    let options = engine.options.iter().map(|option| {
        json!({
            "name": option.name, "type": kind(&option.kind), "default": option.default_value, "help": option.help,
        })
    });
    let presets = engine
        .presets
        .iter()
        .map(|preset| json!({ "name": preset.name, "options": preset.options, "help": preset.help }));
    json!({
        "name": engine.name,
        "summary": engine.summary,
        "origin": engine.origin,
        "capabilities": engine.capabilities(),
        "durabilities": words(Durability::ALL, engine.durabilities, |level| level.code()),
        "compressions": words(Compression::ALL, engine.compressions, |kind| kind.code()),
        "key_size": { "min": engine.min_key_size, "max": limit(engine.max_key_size) },
        "value_size": { "max": limit(engine.max_value_size) },
        "options": options.collect::<Vec<_>>(),
        "presets": presets.collect::<Vec<_>>(),
    })
}

fn kind(kind: &OptionKind) -> Value {
    match kind {
        OptionKind::Bool => json!({ "kind": "boolean" }),
        OptionKind::Integer { minimum, maximum } => json!({ "kind": "integer", "min": minimum, "max": maximum }),
        OptionKind::Size { minimum, maximum } => json!({ "kind": "bytes", "min": minimum, "max": maximum }),
        OptionKind::Real => json!({ "kind": "number" }),
        OptionKind::Text => json!({ "kind": "text" }),
        OptionKind::Choice(choices) => json!({ "kind": "choice", "choices": choices }),
    }
}
