//! Lists of values.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::{Value, json};

use crate::KeyValue;

/// At least `LEAST` values: `[1, 2, 4]` in the file, `1,2,4` on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List<T, const LEAST: usize = 0>(pub Vec<T>);

impl<T, const LEAST: usize> List<T, LEAST> {
    fn checked(values: Vec<T>) -> Result<Self, String> {
        match values.len() < LEAST {
            true => Err(format!("it is empty; give at least {LEAST}")),
            false => Ok(List(values)),
        }
    }
}

impl<T> Default for List<T, 0> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T: KeyValue, const LEAST: usize> KeyValue for List<T, LEAST> {
    const PLACEHOLDER: &'static str = T::PLACEHOLDER;
    const IS_LIST: bool = true;

    fn describe() -> String {
        format!("a list, each {}", T::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let texts = text.split(',').filter(|_| !text.is_empty());
        List::checked(texts.map(T::from_text).collect::<Result<_, _>>()?)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema(), "minItems": LEAST })
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        T::words()
    }
}

impl<T: fmt::Display, const LEAST: usize> fmt::Display for List<T, LEAST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(T::to_string).collect();
        f.pad(&texts.join(","))
    }
}

struct ListVisitor<T, const LEAST: usize>(PhantomData<T>);

impl<'de, T: KeyValue, const LEAST: usize> Visitor<'de> for ListVisitor<T, LEAST> {
    type Value = List<T, LEAST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&List::<T, LEAST>::describe())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<List<T, LEAST>, E> {
        List::from_text(text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<List<T, LEAST>, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        List::checked(list).map_err(de::Error::custom)
    }
}

impl<'de, T: KeyValue, const LEAST: usize> Deserialize<'de> for List<T, LEAST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

impl<T, const LEAST: usize> Deref for List<T, LEAST> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T, const LEAST: usize> DerefMut for List<T, LEAST> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;

    #[test]
    fn lists_read_from_text_and_from_lists() {
        type Readers = List<Count<1, 9>, 1>;
        assert_eq!("1,2".parse_list(), serde_json::from_str::<Readers>("[1, \"2\"]").map_err(|e| e.to_string()));
        assert!(serde_json::from_str::<Readers>("[]").unwrap_err().to_string().contains("give at least 1"));
        assert!(Readers::from_text("1,10").unwrap_err().contains("10 is too large"));
        assert!(Readers::from_text("1,,2").is_err() && Readers::from_text("").is_err());
    }

    trait ParseList {
        fn parse_list(&self) -> Result<List<Count<1, 9>, 1>, String>;
    }

    impl ParseList for str {
        fn parse_list(&self) -> Result<List<Count<1, 9>, 1>, String> {
            List::from_text(self)
        }
    }
}
