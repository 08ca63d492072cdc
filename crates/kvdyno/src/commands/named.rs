//! The names of engines: one that is given by its path is called as its adapter calls itself, or as the user says.

use std::collections::BTreeMap;

use kvdyno_experiment::{EngineSection, Experiment};
use kvdyno_model::{EngineName, FilePath};
use kvdyno_plan::inspection::{inspect_in_child, request};

use crate::error::Error;

/// An engine as the command line gives it: `lmdb`, `./libmine.so`, `mine=./libmine.so`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEngine {
    /// The name in tables, and for options.
    pub name: String,
    /// A name or path, if the engine is not found by `name`.
    pub engine: Option<String>,
    /// The letter that means it alone, in a diff.
    pub side: Option<&'static str>,
}

impl NamedEngine {
    /// Reads what a user wrote; an adapter given by its path is asked for its name.
    fn parse(text: &str) -> Result<NamedEngine, Error> {
        let Some((name, engine)) = text.split_once('=').filter(|(name, _)| !name.contains('/')) else {
            let name = own_name(text);
            return Ok(NamedEngine {
                engine: name.is_some().then(|| text.to_owned()),
                name: name.unwrap_or(text.into()),
                side: None,
            });
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        match !name.is_empty() && name.chars().all(fits) && !engine.is_empty() {
            true => Ok(NamedEngine { name: name.to_owned(), engine: Some(engine.to_owned()), side: None }),
            false => Err(Error::Input(format!(
                "{text}: it must be of the form NAME=ENGINE, the name of letters, digits, `_`, `-` and `.`"
            ))),
        }
    }

    /// Whether `text`, given before an option or a library, means this engine: its name, the name that it was given by,
    /// or either without version and preset.
    fn is_meant(&self, text: &str) -> bool {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([':', '@']);
        let means = |name: &str| name.strip_prefix(text).is_some_and(ends);
        self.side == Some(text) || means(&self.name) || self.engine.as_deref().is_some_and(means)
    }
}

/// The two sides of a diff. Two builds or settings of one engine have one name: then the second is the new one.
pub fn sides(before: &str, after: &str) -> Result<[NamedEngine; 2], Error> {
    let [before, after] = [(before, "A"), (after, "B")].map(|(text, side)| -> Result<_, Error> {
        let mut engine = NamedEngine::parse(text)?;
        let name = EngineName::parse(text);
        if engine.engine.is_none() && name.library().is_some() {
            engine.name = EngineName { version: None, ..name }.to_string();
            engine.engine = Some(text.to_owned());
        }
        Ok(NamedEngine { side: Some(side), ..engine })
    });
    let (before, mut after) = (before?, after?);
    if after.name == before.name {
        after.engine = Some(after.engine.unwrap_or(after.name));
        after.name = format!("{}@new", before.name);
    }
    Ok([before, after])
}

/// Sections of the file for engines with names that are not their own, for `--option` and for `--library`. A text that
/// names `rocksdb` applies to `rocksdb:pfx` too.
pub fn sections(
    engines: &[NamedEngine],
    options: &[String],
    libraries: &[String],
) -> Result<BTreeMap<String, EngineSection>, Error> {
    let mut sections: BTreeMap<String, EngineSection> = BTreeMap::new();
    for engine in engines.iter().filter(|engine| engine.engine.is_some()) {
        sections.entry(engine.name.clone()).or_default().engine = engine.engine.clone();
    }
    for item in options {
        let form = || Error::Input(format!("--option {item}: it must be of the form ENGINE.OPTION=VALUE"));
        let (name, value) = item.split_once('=').ok_or_else(form)?;
        let (engine, option) = name.rsplit_once('.').ok_or_else(form)?;
        for name in concerned(engines, engine, &format!("--option {item}"))? {
            let value = toml::Value::String(value.to_owned());
            sections.entry(name).or_default().options.0.insert(option.to_owned(), value);
        }
    }
    for item in libraries {
        let form = || Error::Input(format!("--library {item}: it must be of the form ENGINE=PATH"));
        let (engine, path) = item.split_once('=').ok_or_else(form)?;
        for name in concerned(engines, engine, &format!("--library {item}"))? {
            sections.entry(name).or_default().library = Some(FilePath(path.into()));
        }
    }
    Ok(sections)
}

/// The names of the engines on the command line that `text` means: itself, or all presets of it.
fn concerned(engines: &[NamedEngine], text: &str, what: &str) -> Result<Vec<String>, Error> {
    let meant = engines.iter().filter(|engine| engine.is_meant(text));
    let names: Vec<String> = meant.map(|engine| engine.name.clone()).collect();
    match names.is_empty() {
        true => Err(Error::Input(format!(
            "{what}: `{text}` is none of the engines to compare, which are {}",
            engines.iter().map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(", ")
        ))),
        false => Ok(names),
    }
}

/// All engines of a command line, each with a name of its own.
pub fn named(texts: &[String]) -> Result<Vec<NamedEngine>, Error> {
    let engines = texts.iter().map(|text| NamedEngine::parse(text)).collect::<Result<Vec<_>, _>>()?;
    for (index, one) in engines.iter().enumerate() {
        let same = engines[..index].iter().position(|other| other.name == one.name);
        // The same given twice is refused with the other mistakes of an experiment.
        if let Some(other) = same.filter(|other| texts[*other] != texts[index]) {
            return Err(Error::Input(format!(
                "{} and {} are both called `{}`; give one another name: NAME={}",
                texts[other],
                texts[index],
                one.name,
                one.engine.as_deref().unwrap_or(&one.name)
            )));
        }
    }
    Ok(engines)
}

/// The own name of an adapter given by its path, with the preset; nothing if it is no path, or the adapter cannot be
/// asked: the check of the experiment reports the error.
fn own_name(text: &str) -> Option<String> {
    let name = EngineName::parse(text);
    if !name.is_path() {
        return None;
    }
    let inspection = request(&name, None).and_then(|request| inspect_in_child(&request)).ok()?;
    Some(inspection.declared.name + &name.preset.map(|preset| format!(":{preset}")).unwrap_or_default())
}

/// The same for the engines of a file, with absolute paths: engines named by their path get their own names, unless
/// another has that name, or a variant chooses engines.
pub fn use_own_names(experiment: &mut Experiment) {
    let of_engines = |variant: &toml::Table| variant.contains_key("engine") || variant.contains_key("engines");
    if experiment.variant.iter().any(of_engines) {
        return;
    }
    for index in 0..experiment.engines.len() {
        let given = experiment.engines[index].clone();
        let path = experiment.engine.get(&given).and_then(|section| section.engine.clone());
        let named_by_path = EngineName::parse(&given).is_path();
        let own = path.filter(|_| named_by_path).and_then(|path| own_name(&path));
        let free = |name: &String| !experiment.engines.contains(name) && !experiment.engine.contains_key(name);
        if let Some(name) = own.filter(free) {
            let section = experiment.engine.remove(&given).unwrap_or_default();
            experiment.engine.insert(name.clone(), section);
            experiment.engines.0[index] = name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, Option<String>)> {
        NamedEngine::parse(text).ok().map(|engine| (engine.name, engine.engine))
    }

    #[test]
    fn an_engine_has_the_name_that_it_is_given() {
        let some = |name: &str, engine: &str| Some((name.to_owned(), Some(engine.to_owned())));
        assert_eq!(parsed("mine=./libmine.so"), some("mine", "./libmine.so"));
        assert_eq!(parsed("big=rocksdb:big"), some("big", "rocksdb:big"));
        assert_eq!(parsed("lmdb"), Some(("lmdb".to_owned(), None)));
        assert_eq!(parsed("./a=b/libnothing.so"), Some(("./a=b/libnothing.so".to_owned(), None)));
        assert_eq!(parsed("=./libmine.so"), None);
        assert_eq!(parsed("my engine=lmdb"), None);
    }

    #[test]
    fn two_builds_of_one_engine_have_two_names() {
        let names = |before: &str, after: &str| sides(before, after).unwrap().map(|side| (side.name, side.engine));
        let of = |name: &str, engine: Option<&str>| (name.to_owned(), engine.map(str::to_owned));
        let (old, new) = ("lmdb@/old/liblmdb.so:x", "lmdb@/new/liblmdb.so:x");
        assert_eq!(names(old, new), [of("lmdb:x", Some(old)), of("lmdb:x@new", Some(new))]);
        assert_eq!(names("lmdb", "lmdb"), [of("lmdb", None), of("lmdb@new", Some("lmdb"))]);
        assert_eq!(names("lmdb@1", "lmdb@2"), [of("lmdb@1", None), of("lmdb@2", None)]);
        assert_eq!(names("a=lmdb", "lmdb"), [of("a", Some("lmdb")), of("lmdb", None)]);
        let sides = sides("lmdb", "lmdb").unwrap();
        let meant = |text: &str| sides.iter().filter(|side| side.is_meant(text)).count();
        assert_eq!(["A", "B", "lmdb", "lmdb@new", "C"].map(meant), [1, 1, 2, 1, 0]);
    }

    #[test]
    fn an_option_means_an_engine_by_its_name_or_its_path_with_every_preset() {
        let engine = Some("./libmine.so:fast".to_owned());
        let engine = NamedEngine { name: "mine:fast".to_owned(), engine, side: None };
        for text in ["mine", "mine:fast", "./libmine.so"] {
            assert!(engine.is_meant(text), "{text}");
        }
        assert!(!engine.is_meant("min"));
    }
}
