//! Positions of keys in the text of an experiment file.

use std::ops::Range;

use kvdyno_model::{KeyPath, KeyStep};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The span of the value of `key` in `text`. For a key that a variant does not set, it is the span of the variant.
/// `None` for any other key that the file does not set.
pub fn span_of(text: &str, key: &KeyPath) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut value = None;
    for (number, step) in key.steps().iter().enumerate() {
        let next = match (value, step) {
            (None, KeyStep::Key(name)) => table.get_ref().get(name.as_str()),
            (Some(value), step) => next(value, step),
            (None, KeyStep::Index(_)) => None,
        };
        match next {
            Some(next) => value = Some(next),
            None if number >= 2 && is_variant(key) => break,
            None => return None,
        }
    }
    value.map(Spanned::span).filter(|span| !span.is_empty())
}

fn is_variant(key: &KeyPath) -> bool {
    matches!(key.steps(), [KeyStep::Key(name), KeyStep::Index(_), ..] if name == "variant")
}

fn next<'a, 't>(value: &'a Spanned<DeValue<'t>>, step: &KeyStep) -> Option<&'a Spanned<DeValue<'t>>> {
    match (value.get_ref(), step) {
        (DeValue::Table(table), KeyStep::Key(name)) => table.get(name.as_str()),
        (DeValue::Array(list), KeyStep::Index(index)) => list.get(*index),
        // A variant says `run.readers` of all `[[run]]`.
        (DeValue::Table(_), KeyStep::Index(_)) => Some(value),
        _ => None,
    }
}

/// The key whose value is at `span`: the innermost that is no table.
pub fn key_at(text: &str, span: &Range<usize>) -> Option<KeyPath> {
    let table = DeTable::parse(text).ok()?;
    let mut path = KeyPath::default();
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    loop {
        let (name, value) = entries.into_iter().find(|(_, value)| contains(value, span))?;
        path = path.then(KeyStep::Key(name.get_ref().to_string()));
        match value.get_ref() {
            DeValue::Table(table) => entries = table.iter().collect(),
            DeValue::Array(list) => match list.iter().enumerate().find(|(_, item)| contains(item, span)) {
                Some((index, item)) => match item.get_ref() {
                    DeValue::Table(table) => {
                        path = path.then(KeyStep::Index(index));
                        entries = table.iter().collect();
                    }
                    _ => return Some(path),
                },
                None => return Some(path),
            },
            _ => return Some(path),
        }
    }
}

/// The span of a table in the text is its header alone, so its entries count too.
fn contains(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
    let own = value.span();
    if own.start <= span.start && span.end <= own.end {
        return true;
    }
    match value.get_ref() {
        DeValue::Table(table) => table.iter().any(|(_, value)| contains(value, span)),
        DeValue::Array(list) => list.iter().any(|value| contains(value, span)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "engines = [\"lmdb\"]\n[data]\nrecords = 5\n[[run]]\nbatch = 1\n[[run]]\nbatch = 2\n\
                        [[variant]]\nname = \"a\"\nrun.batch = 3\n";

    fn at(key: &KeyPath) -> Option<&'static str> {
        span_of(TEXT, key).map(|span| &TEXT[span])
    }

    #[test]
    fn a_key_stands_where_its_value_does() {
        let batch = || KeyPath::new("run", "batch");
        assert_eq!(at(&KeyPath::new("data", "records")), Some("5"));
        assert_eq!(at(&batch().numbered(0)), Some("1"));
        assert_eq!(at(&batch().numbered(1)), Some("2"));
        assert_eq!(at(&batch().numbered(1).in_variant(0)), Some("3"));
        assert_eq!(at(&KeyPath::new("data", "records").in_variant(0)), Some("[[variant]]"));
        assert_eq!(at(&KeyPath::new("data", "key_size")), None);
        assert_eq!(at(&KeyPath::new("", "engines").then(KeyStep::Index(0))), Some("\"lmdb\""));
    }

    #[test]
    fn what_stands_at_a_span_is_a_key() {
        let key = key_at(TEXT, &(TEXT.find("batch = 2").unwrap() + 8..TEXT.find("batch = 2").unwrap() + 9)).unwrap();
        assert_eq!(key, KeyPath::new("run", "batch").numbered(1));
    }
}
