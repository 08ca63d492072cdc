//! The engines of an experiment, as far as fitting it must know of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kvdyno_engine::inspect::{Inspection, Obstacle};
use kvdyno_engine::{Probe, ScaledOption};
use kvdyno_experiment::{Experiment, FileError};
use kvdyno_model::EngineName;

use crate::inspection::{inspect_in_child, request};

/// The engines of an experiment that are here, and those that are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnginesHere {
    /// Engines that are not here, or cannot be loaded: they take no time.
    pub missing: BTreeSet<String>,
    /// The options of the others that shrink with the database, by the names that the experiment has for the engines.
    pub sizes: BTreeMap<String, Vec<ScaledOption>>,
}

impl EnginesHere {
    /// Asks each engine of the experiment and its variants.
    ///
    /// # Errors
    /// If the variants do not hold together.
    pub fn of(experiment: &Experiment) -> Result<EnginesHere, FileError> {
        let mut here = EnginesHere::default();
        let variants = experiment.variants()?;
        for variant in variants.iter().map(|variant| &variant.experiment).chain([experiment]) {
            for label in variant.engines.iter() {
                if !here.missing.contains(label) && !here.sizes.contains_key(label) {
                    here.ask(variant, label);
                }
            }
        }
        Ok(here)
    }

    /// An option that does not fit is an error of the check that follows, which says where it stands.
    fn ask(&mut self, experiment: &Experiment, label: &str) {
        let section = experiment.engine.get(label);
        let name = EngineName::parse(section.and_then(|section| section.engine.as_deref()).unwrap_or(label));
        let given = section.map(|section| section.options.texts()).unwrap_or_default();
        let library = section.and_then(|section| section.library.clone()).map(|path| path.0);
        match inspected(&name, library) {
            Ok(Inspection { declared, probe: Probe::Available { .. }, .. }) => {
                let sizes = declared.scaled_options(name.preset.as_deref(), &given).unwrap_or_default();
                self.sizes.insert(label.to_owned(), sizes);
            }
            _ => {
                self.missing.insert(label.to_owned());
            }
        }
    }
}

fn inspected(name: &EngineName, library: Option<PathBuf>) -> Result<Inspection, Obstacle> {
    request(name, library).and_then(|request| inspect_in_child(&request))
}
