//! The files written from the definitions of keys are up to date, and show the defaults.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use kvdyno_experiment::{Experiment, reference, sections};
use kvdyno_model::Otherwise;

const PAGE: &str = "docs/experiment-keys.md";
const EXAMPLE: &str = "experiments/example.toml";
const SCHEMA: &str = "experiments/schema.json";

fn schema() -> String {
    serde_json::to_string_pretty(&reference::schema()).unwrap() + "\n"
}

/// A file of the repository is what the definitions give; with `KVDYNO_REGENERATE=run` it is made so.
#[track_caller]
fn is_as_defined(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("KVDYNO_REGENERATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "{file} is not as the keys are defined; `make mend` writes it anew");
}

#[test]
fn the_reference_is_as_the_keys_are_defined() {
    is_as_defined(PAGE, &reference::page());
}

#[test]
fn the_example_is_as_the_keys_are_defined() {
    is_as_defined(EXAMPLE, &reference::example());
}

#[test]
fn the_schema_is_as_the_keys_are_defined() {
    is_as_defined(SCHEMA, &schema());
}

#[test]
fn the_example_has_every_key_and_can_be_read() {
    let example = reference::example();
    let experiment = Experiment::parse(&example).unwrap();
    assert_eq!(experiment.name, "example");
    for key in sections().iter().flat_map(|section| &section.keys) {
        let has = |line: &str| line.trim_start_matches("# ").starts_with(&format!("{} =", key.name));
        assert!(example.lines().any(has), "{}", key.path);
    }
}

/// A default that changes in its definition changes in every document.
#[test]
fn a_default_is_told_everywhere() {
    let (page, example, schema) = (reference::page(), reference::example(), reference::schema());
    let resolved = Experiment::on(&[]).resolved();
    for section in sections().iter().filter(|section| !["", "engine.NAME", "fit"].contains(&section.name)) {
        for key in &section.keys {
            let Otherwise::Default { value, .. } = &key.otherwise else { continue };
            let (section_schema, values) = match section.name {
                "run" => (&schema["properties"]["run"]["items"], &resolved["run"][0]),
                name => (&schema["properties"][name], &resolved[name]),
            };
            assert_eq!(&section_schema["properties"][key.name]["default"], value, "schema: {}", key.path);
            assert_eq!(&values[key.name], value, "resolved: {}", key.path);
            let row =
                page.lines().find(|line| line.starts_with(&format!("| `{}` |", key.name)) && line.contains(key.doc));
            assert!(row.unwrap().contains(&format!("| `{value}` |")), "page: {}", key.path);
            assert!(
                example.contains(&format!("{} = {value} ", key.name)) || example.contains(&format!("Default: {value}"))
            );
        }
    }
}
