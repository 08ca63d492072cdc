//! The engine that is checked.

use std::path::PathBuf;

use kvdyno_engine::catalog::{self, FindError};
use kvdyno_engine::{Adapter, Choice, Probe};
use kvdyno_model::{EngineName, OptionText};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// An adapter with a preset, options and a library: the parts of a [`Choice`], to pass from process to process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The adapter's file.
    pub adapter: PathBuf,
    /// A preset of its.
    pub preset: Option<String>,
    /// Options over the preset's.
    pub options: Vec<OptionText>,
    /// The library that it is to load instead of the system's.
    pub library: Option<PathBuf>,
}

impl Subject {
    /// The engine of that name: `lmdb`, `wiredtiger:lsm`, `./libmine.so`.
    ///
    /// # Errors
    /// If no folder has an adapter of that name.
    pub fn named(engine: &str) -> Result<Subject, FindError> {
        let name = EngineName::parse(engine);
        let location = catalog::find(&name)?;
        Ok(Subject { adapter: location.adapter, preset: name.preset, options: Vec::new(), library: location.library })
    }

    /// Why it cannot be checked here at all: the adapter cannot be used, an option does not fit, or the engine's
    /// library is missing.
    pub fn obstacle(&self) -> Option<String> {
        match self.choose() {
            Err(Finding::Wrong(reason) | Finding::NotApplicable(reason)) => Some(reason),
            Ok(choice) => match choice.adapter().probe(choice.library()) {
                Probe::Available { .. } => None,
                Probe::Missing { reason } => Some(reason),
            },
        }
    }

    /// Loads it.
    pub(crate) fn choose(&self) -> Result<Choice, Finding> {
        let adapter = Adapter::load(&self.adapter)?;
        Ok(Choice::new(adapter, self.preset.as_deref(), &self.options, self.library.clone())?)
    }

    /// The same with more options.
    pub(crate) fn with(&self, options: &[(&str, &str)]) -> Subject {
        let more = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Subject { options: self.options.iter().cloned().chain(more).collect(), ..self.clone() }
    }
}
