//! A value of a key: how it is written, in the file and on the command line alike.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde::ser::Serialize;
use serde_json::{Value, json};

/// The type of a key's value. It carries unit and bounds: they are written here and nowhere else.
pub trait KeyValue: Sized + Display + Serialize + DeserializeOwned {
    /// Stands for a value in the help: `SIZE`.
    const PLACEHOLDER: &'static str;
    /// On the command line the flag alone means `true`.
    const IS_SWITCH: bool = false;
    /// It is several values of that sort, with commas between.
    const IS_LIST: bool = false;

    /// A description of the values that can be written: `a size such as 64MiB`.
    fn describe() -> String;

    /// Reads a text. A number of the file is read as its text.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    fn from_text(text: &str) -> Result<Self, String>;

    /// The JSON Schema of a value.
    fn schema() -> Value;

    /// The words that can be written, each with its meaning, where there is a choice of words.
    fn words() -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: KeyValue> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::describe())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Reads a text or a number by [`KeyValue::from_text`].
///
/// # Errors
/// As that.
pub fn deserialize<'de, T: KeyValue, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(TextVisitor(PhantomData))
}

/// `FromStr` and `Deserialize` of a [`KeyValue`], by its [`KeyValue::from_text`].
#[macro_export]
macro_rules! read_by_text {
    ($type:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? ::std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                <Self as $crate::KeyValue>::from_text(text)
            }
        }

        impl<'de $(, $($generics)+)?> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::key_value::deserialize(deserializer)
            }
        }
    };
}

/// `Serialize` as the text of `Display`.
#[macro_export]
macro_rules! written_as_text {
    ($type:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

impl KeyValue for bool {
    const PLACEHOLDER: &'static str = "true|false";
    const IS_SWITCH: bool = true;

    fn describe() -> String {
        "true or false".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{text}` is neither true nor false"))
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

impl KeyValue for String {
    const PLACEHOLDER: &'static str = "TEXT";

    fn describe() -> String {
        "a text".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// A path in the file is relative to the file, one on the command line to the user's folder.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct FilePath(pub PathBuf);

impl Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.display().to_string())
    }
}

impl AsRef<std::path::Path> for FilePath {
    fn as_ref(&self) -> &std::path::Path {
        &self.0
    }
}

impl std::ops::Deref for FilePath {
    type Target = std::path::Path;
    fn deref(&self) -> &std::path::Path {
        &self.0
    }
}

impl KeyValue for FilePath {
    const PLACEHOLDER: &'static str = "PATH";

    fn describe() -> String {
        "a path".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("a path cannot be empty".to_owned()),
            path => Ok(FilePath(path.into())),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}
