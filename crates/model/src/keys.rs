//! The definition of a key of the experiment file, from which follow its parsing, its flag with the help, its line in
//! the reference and in the example, and its part of the JSON Schema.

use std::fmt;

use serde_json::Value;

use crate::key_value::KeyValue;

/// A section of the experiment file. Made by `#[derive(Keys)]`.
pub trait KeySection {
    /// Its name in the file: `data`; empty for the top level.
    const NAME: &'static str;
    /// Its subject, for people.
    const DOC: &'static str;

    /// Its keys, in order.
    fn definitions() -> Vec<Definition>;
}

/// All there is to know of a key.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The section, empty for the top level.
    pub section: &'static str,
    /// The key in it.
    pub name: &'static str,
    /// Both.
    pub path: KeyPath,
    /// Its meaning, for people.
    pub doc: &'static str,
    /// Its flag of `kvdyno compare`, without the dashes.
    pub flag: Option<&'static str>,
    /// The value where the file is silent.
    pub otherwise: Otherwise,
    /// The values that can be written.
    pub value: ValueType,
}

/// The value of a key where the file is silent.
#[derive(Clone, Debug)]
pub enum Otherwise {
    /// This value.
    Default {
        /// For people, and as the flag takes it.
        text: String,
        /// The value in the file.
        value: Value,
    },
    /// No value, with the effect of that.
    Absent(&'static str),
}

impl Otherwise {
    /// For a key with a default.
    pub fn default_of<T: KeyValue>(value: &T) -> Otherwise {
        // Numbers, texts and lists of them always have a JSON form.
        Otherwise::Default { text: value.to_string(), value: serde_json::to_value(value).unwrap_or_default() }
    }

    /// For a key without a default.
    pub fn absent(meaning: &'static str) -> Otherwise {
        Otherwise::Absent(meaning)
    }
}

/// The values that can be written for a key: see [`KeyValue`].
#[derive(Clone, Debug)]
pub struct ValueType {
    /// [`KeyValue::PLACEHOLDER`].
    pub placeholder: &'static str,
    /// [`KeyValue::IS_SWITCH`].
    pub is_switch: bool,
    /// [`KeyValue::IS_LIST`].
    pub is_list: bool,
    /// [`KeyValue::describe`].
    pub description: String,
    /// [`KeyValue::words`].
    pub words: Vec<(&'static str, &'static str)>,
    /// [`KeyValue::schema`].
    pub schema: Value,
    /// Whether a text can be a value.
    pub check: fn(&str) -> Result<(), String>,
}

impl ValueType {
    /// The value type of `T`.
    pub fn of<T: KeyValue>() -> ValueType {
        ValueType {
            placeholder: T::PLACEHOLDER,
            is_switch: T::IS_SWITCH,
            is_list: T::IS_LIST,
            description: T::describe(),
            words: T::words(),
            schema: T::schema(),
            check: |text| T::from_text(text).map(|_| ()),
        }
    }
}

/// Position of a key in an experiment: `data.records`, `run[1].batch`, `variant[0].data.records`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(Vec<KeyStep>);

/// A step on the way to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyStep {
    /// Into a table.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl KeyPath {
    /// The key `name` of a section, or of the top level, whose name is empty.
    pub fn new(section: &str, name: &str) -> KeyPath {
        KeyPath(
            [section, name].into_iter().filter(|text| !text.is_empty()).map(|text| KeyStep::Key(text.into())).collect(),
        )
    }

    /// The same in one of several: the `index`th `[[run]]`.
    #[must_use]
    pub fn numbered(mut self, index: usize) -> KeyPath {
        self.0.insert(self.0.len().min(1), KeyStep::Index(index));
        self
    }

    /// The same, as a variant changes it.
    #[must_use]
    pub fn in_variant(self, index: usize) -> KeyPath {
        KeyPath([KeyStep::Key("variant".to_owned()), KeyStep::Index(index)].into_iter().chain(self.0).collect())
    }

    /// The path one step deeper.
    #[must_use]
    pub fn then(mut self, step: KeyStep) -> KeyPath {
        self.0.push(step);
        self
    }

    /// From the whole to the part.
    pub fn steps(&self) -> &[KeyStep] {
        &self.0
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().filter_map(|step| match step {
            KeyStep::Key(name) => Some(name.as_str()),
            KeyStep::Index(_) => None,
        });
        f.pad(&names.collect::<Vec<_>>().join("."))
    }
}
