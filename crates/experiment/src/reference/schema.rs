//! The JSON Schema of an experiment file, by which editors complete and check it.

use kvdyno_model::{Definition, Json, Otherwise};
use serde_json::{Map, json};

use crate::experiment::{SectionInfo, sections};

/// The schema.
pub fn schema() -> Json {
    let mut properties = Map::new();
    for section in sections() {
        let table = table(section);
        match section.name {
            "" => properties.extend(section.keys.iter().map(|key| (key.name.to_owned(), value(key)))),
            "run" => drop(properties.insert("run".to_owned(), json!({ "type": "array", "items": table }))),
            "run.role" => properties["run"]["items"]["properties"]["role"] = json!({ "type": "array", "items": table }),
            name => match name.split_once('.') {
                Some((group, _)) => {
                    let named = json!({ "type": "object", "additionalProperties": table });
                    properties.insert(group.to_owned(), named);
                }
                None => drop(properties.insert(name.to_owned(), table)),
            },
        }
    }
    properties.insert(
        "variant".to_owned(),
        json!({
            "description": "The experiment with some keys changed.",
            "type": "array",
            "items": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } }
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of kvdyno",
        "type": "object",
        "required": ["engines"],
        "properties": properties,
        "additionalProperties": false
    })
}

fn table(section: &SectionInfo) -> Json {
    let properties: Map<String, Json> = section.keys.iter().map(|key| (key.name.to_owned(), value(key))).collect();
    json!({
        "description": section.doc, "type": "object", "properties": properties, "additionalProperties": false
    })
}

fn value(key: &Definition) -> Json {
    let mut schema = key.value.schema.clone();
    let about = match &key.otherwise {
        Otherwise::Absent(meaning) => format!("{} Absent: {meaning}.", key.doc),
        Otherwise::Default { value, .. } => {
            schema["default"] = value.clone();
            key.doc.to_owned()
        }
    };
    schema["description"] = Json::String(about);
    schema
}
