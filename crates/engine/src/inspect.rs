//! An adapter's description of itself and of a set-up, as data.
//!
//! Loading an adapter, or its engine's library, runs foreign code: it can crash, hang, or clash with another version of
//! itself. So the lab never does it in its own process: it hands a [`Request`] to a child and gets an [`Inspection`].

use std::path::PathBuf;

use kvdyno_abi as abi;
use kvdyno_model::OptionText;
use serde::{Deserialize, Serialize};

use crate::adapter::{Adapter, PresetInfo, Probe};
use crate::choice::{Choice, ChoiceError, Resolved};
use crate::lab::{EngineSettings, Hints};
use crate::options::{OptionError, OptionInfo, ScaledOption, scaled, split_list};

/// The question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The adapter's file.
    pub adapter: PathBuf,
    /// The library that it is to load instead of the system's.
    pub library: Option<PathBuf>,
    /// A library to take if the system has none.
    pub fallback: Option<PathBuf>,
    /// A preset of its.
    pub preset: Option<String>,
    /// Options over the preset's.
    pub options: Vec<OptionText>,
    /// Settings to be resolved in the engine's words.
    pub settings: Vec<(EngineSettings, Hints)>,
}

/// An adapter's declarations, as far as it holds with the options and the library that were requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// The engine's name.
    pub name: String,
    /// A description, one line.
    pub summary: String,
    /// The source of the engine's library, for people.
    pub origin: String,
    /// `abi::CAN_…` and `abi::IS_…`.
    pub capabilities: u64,
    /// Bit N: level N can be met.
    pub durabilities: u32,
    /// Bit N: compression N can be had.
    pub compressions: u32,
    /// Bytes.
    pub min_key_size: u64,
    /// Bytes; 0: no limit.
    pub max_key_size: u64,
    /// Bytes; 0: no limit.
    pub max_value_size: u64,
    /// It may keep something outside a database's folder, and gives it back on request.
    pub destroys: bool,
    /// Its own options.
    pub options: Vec<OptionInfo>,
    /// Its presets.
    pub presets: Vec<PresetInfo>,
}

impl Declared {
    fn of(adapter: &Adapter) -> Declared {
        let table = adapter.table();
        Declared {
            name: adapter.name.clone(),
            summary: adapter.summary.clone(),
            origin: adapter.origin.clone(),
            capabilities: table.capabilities,
            durabilities: table.durabilities,
            compressions: table.compressions,
            min_key_size: table.min_key_size,
            max_key_size: table.max_key_size,
            max_value_size: table.max_value_size,
            destroys: table.destroy.is_some(),
            options: adapter.options.clone(),
            presets: adapter.presets.clone(),
        }
    }

    /// The size options that scale with the database, with the values of `preset` and then those of `given` over the
    /// defaults.
    ///
    /// # Errors
    /// If an option does not fit.
    pub fn scaled_options(&self, preset: Option<&str>, given: &[OptionText]) -> Result<Vec<ScaledOption>, OptionError> {
        let preset = self.presets.iter().find(|one| Some(one.name.as_str()) == preset);
        let mut texts = preset.map_or(Ok(Vec::new()), |preset| split_list(&preset.options))?;
        texts.extend_from_slice(given);
        scaled(&self.name, &self.options, &texts)
    }

    /// Whether every one of `capabilities` is declared.
    pub fn can(&self, capabilities: u64) -> bool {
        self.capabilities & capabilities == capabilities
    }

    /// The declared capabilities, in words.
    pub fn capabilities(&self) -> Vec<&'static str> {
        abi::CAPABILITIES.iter().filter(|(bit, _)| self.can(*bit)).map(|(_, word)| *word).collect()
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The adapter's declarations.
    pub declared: Declared,
    /// Whether the engine's library is there.
    pub probe: Probe,
    /// The library that is taken, if not the system's.
    pub library: Option<PathBuf>,
    /// For each of the request's settings: in the engine's words, or why they are refused. Empty without the library.
    pub settings: Vec<Result<Resolved, String>>,
}

/// Why there is nothing to inspect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Obstacle {
    /// The mistake, and a correction.
    pub message: String,
    /// The option that it is about.
    pub option: Option<String>,
}

impl From<ChoiceError> for Obstacle {
    fn from(error: ChoiceError) -> Self {
        use OptionError::{Unknown, Value};
        let option = match &error {
            ChoiceError::Option(Unknown { name, .. } | Value { name, .. }) => Some(name.clone()),
            _ => None,
        };
        Obstacle { message: error.to_string(), option }
    }
}

/// Inspects in this process: the module's text says which processes should. `tell` gets the next step, in case it is
/// the last that is heard of the process.
///
/// # Errors
/// If the adapter cannot be used, or has no such preset or option.
pub fn inspect(request: &Request, tell: &mut dyn FnMut(&str)) -> Result<Inspection, Obstacle> {
    let adapter = Adapter::load_in_steps(&request.adapter, tell)
        .map_err(|error| Obstacle { message: error.to_string(), option: None })?;
    tell("calling probe");
    let (probe, library) = look(&adapter, request);
    tell("calling effective_capabilities");
    let choice = Choice::new(adapter, request.preset.as_deref(), &request.options, library.clone())?;
    let declared = Declared::of(choice.adapter());
    let resolve =
        |(lab, hints): &(EngineSettings, Hints)| choice.settings(lab, hints).map_err(|error| error.to_string());
    tell("calling settings");
    let settings = match &probe {
        Probe::Available { .. } => request.settings.iter().map(resolve).collect(),
        Probe::Missing { .. } => Vec::new(),
    };
    Ok(Inspection { declared, probe, library, settings })
}

/// The requested library, or the system's, or the fallback.
fn look(adapter: &Adapter, request: &Request) -> (Probe, Option<PathBuf>) {
    let first = adapter.probe(request.library.as_deref());
    if let (Probe::Missing { .. }, None, Some(fallback)) = (&first, &request.library, &request.fallback) {
        let second = adapter.probe(Some(fallback));
        if let Probe::Available { .. } = second {
            return (second, Some(fallback.clone()));
        }
    }
    (first, request.library.clone())
}
