//! An engine's own options: what users write, parsed and checked against what the adapter declares.

use bytesize::ByteSize;
use kvdyno_model::{OptionText, did_you_mean};
use serde::{Deserialize, Serialize};

/// Type and bounds of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptionKind {
    /// true or false.
    Bool,
    /// A whole number, bounds inclusive.
    Integer {
        /// Least.
        minimum: i64,
        /// Greatest.
        maximum: i64,
    },
    /// Bytes, bounds inclusive.
    Size {
        /// Least.
        minimum: i64,
        /// Greatest.
        maximum: i64,
    },
    /// A number.
    Real,
    /// Any text.
    Text,
    /// One of these.
    Choice(Vec<String>),
}

/// One of an engine's own options, as its adapter declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: OptionKind,
    /// Spelled as a user would.
    pub default_value: String,
    /// Its effect, one sentence.
    pub help: String,
    /// A size that scales with that of the database: `abi::OPTION_SCALES`.
    #[serde(default)]
    pub scales: bool,
}

/// A size that shapes an engine's files or levels, as it is chosen, and how far it may shrink with the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledOption {
    /// The option's name.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// The least that the engine takes, bytes.
    pub least: u64,
}

/// The size options that scale with the database, with the values of `given` over the defaults. A size of 0 stands for
/// the engine's own choice, and is left out.
pub(crate) fn scaled(
    engine: &str,
    declared: &[OptionInfo],
    given: &[OptionText],
) -> Result<Vec<ScaledOption>, OptionError> {
    let values = resolve(engine, declared, given)?;
    let scaled = |(option, value): (&OptionInfo, Value)| match (&option.kind, value) {
        (OptionKind::Size { minimum, .. }, Value::Integer(bytes)) if option.scales && bytes > 0 => {
            Some(ScaledOption { name: option.name.clone(), bytes: bytes as u64, least: (*minimum).max(1) as u64 })
        }
        _ => None,
    };
    Ok(declared.iter().zip(values).filter_map(scaled).collect())
}

/// A mistake in an option.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// No such option.
    #[error("{engine} has no option `{name}`{}{}", did_you_mean(name, known), listed(known))]
    Unknown {
        /// The engine.
        engine: String,
        /// The text that was written.
        name: String,
        /// The options that there are.
        known: Vec<String>,
    },
    /// The value is not of the option's type, or out of its bounds.
    #[error("`{value}` is no value for {engine}'s option `{name}`: {expected}")]
    Value {
        /// The engine.
        engine: String,
        /// The option.
        name: String,
        /// The text that was written.
        value: String,
        /// A correction.
        expected: String,
    },
    /// The text is not of the form `name=value`.
    #[error("`{0}` is not of the form name=value")]
    Form(String),
}

fn listed(known: &[String]) -> String {
    match known {
        [] => " (it has none)".to_owned(),
        known => format!(" (it has {})", known.join(", ")),
    }
}

/// A parsed value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Real(f64),
    Text(String),
}

/// Splits `name=value,name=value`.
pub(crate) fn split_list(list: &str) -> Result<Vec<OptionText>, OptionError> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(split).collect()
}

/// Splits `name=value`.
pub(crate) fn split(item: &str) -> Result<OptionText, OptionError> {
    let (name, value) = item.split_once('=').ok_or_else(|| OptionError::Form(item.to_owned()))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// One value for each declared option, in their order: the default, or the last text given for it.
pub(crate) fn resolve(engine: &str, declared: &[OptionInfo], given: &[OptionText]) -> Result<Vec<Value>, OptionError> {
    for (name, _) in given {
        if !declared.iter().any(|option| option.name == *name) {
            return Err(OptionError::Unknown {
                engine: engine.to_owned(),
                name: name.clone(),
                known: declared.iter().map(|option| option.name.clone()).collect(),
            });
        }
    }
    declared
        .iter()
        .map(|option| {
            let text = given.iter().rev().find(|(name, _)| *name == option.name).map(|(_, text)| text.as_str());
            let text = text.unwrap_or(&option.default_value);
            parse(option, text).map_err(|expected| OptionError::Value {
                engine: engine.to_owned(),
                name: option.name.clone(),
                value: text.to_owned(),
                expected,
            })
        })
        .collect()
}

/// The value, or what would have been right.
fn parse(option: &OptionInfo, text: &str) -> Result<Value, String> {
    match &option.kind {
        OptionKind::Bool => match text {
            "true" => Ok(Value::Integer(1)),
            "false" => Ok(Value::Integer(0)),
            _ => Err("it is true or false".to_owned()),
        },
        OptionKind::Integer { minimum, maximum } => bounded(text.parse().ok(), *minimum, *maximum)
            .ok_or_else(|| format!("it is a whole number from {minimum} to {maximum}")),
        OptionKind::Size { minimum, maximum } => {
            let bytes = text.parse::<ByteSize>().ok().and_then(|size| i64::try_from(size.as_u64()).ok());
            bounded(bytes, *minimum, *maximum).ok_or_else(|| {
                format!("it is a size from {} to {}, such as 64MiB", in_words(*minimum), in_words(*maximum))
            })
        }
        OptionKind::Real => {
            text.parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real).ok_or("it is a number".to_owned())
        }
        OptionKind::Text => Ok(Value::Text(text.to_owned())),
        OptionKind::Choice(choices) => match choices.iter().any(|choice| choice == text) {
            true => Ok(Value::Text(text.to_owned())),
            false => Err(format!("it is one of {}", choices.join(", "))),
        },
    }
}

fn bounded(number: Option<i64>, minimum: i64, maximum: i64) -> Option<Value> {
    number.filter(|number| (minimum..=maximum).contains(number)).map(Value::Integer)
}

fn in_words(bytes: i64) -> String {
    ByteSize::b(bytes.max(0) as u64).display().iec().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, kind: OptionKind, default: &str) -> OptionInfo {
        OptionInfo { name: name.into(), kind, default_value: default.into(), help: String::new(), scales: false }
    }

    fn declared() -> Vec<OptionInfo> {
        vec![
            option("page_size", OptionKind::Size { minimum: 512, maximum: 65536 }, "4KiB"),
            option("threads", OptionKind::Integer { minimum: 1, maximum: 64 }, "2"),
            option("sync", OptionKind::Bool, "false"),
            option("kind", OptionKind::Choice(vec!["a".into(), "b".into()]), "a"),
        ]
    }

    fn resolved(given: &[(&str, &str)]) -> Result<Vec<Value>, OptionError> {
        let given: Vec<OptionText> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        resolve("e", &declared(), &given)
    }

    #[test]
    fn defaults_stand_where_nothing_is_given_and_the_last_word_counts() {
        use Value::*;
        assert_eq!(resolved(&[]).unwrap(), [Integer(4096), Integer(2), Integer(0), Text("a".into())]);
        assert_eq!(resolved(&[("threads", "3"), ("threads", "4")]).unwrap()[1], Integer(4));
    }

    #[test]
    fn an_unknown_option_is_named_with_what_was_meant() {
        let error = resolved(&[("pagesize", "4KiB")]).unwrap_err().to_string();
        assert!(error.contains("no option `pagesize`; did you mean `page_size`?"), "{error}");
    }

    #[test]
    fn a_value_out_of_bounds_says_what_would_be_right() {
        for (name, value, expected) in [
            ("page_size", "1GiB", "from 512 B to 64.0 KiB"),
            ("threads", "0", "from 1 to 64"),
            ("threads", "two", "from 1 to 64"),
            ("sync", "yes", "true or false"),
            ("kind", "c", "one of a, b"),
        ] {
            let error = resolved(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(name) && error.contains(value), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_brings_the_parser_down(name in ".{0,12}", value in ".{0,12}", list in ".{0,40}") {
            let _ = resolve("e", &declared(), &[(name, value)]);
            let _ = split_list(&list);
        }
    }
}
