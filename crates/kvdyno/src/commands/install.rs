//! `kvdyno engines install`: brings engines.

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kvdyno_engine::Probe;
use kvdyno_engine::catalog;
use kvdyno_engine::inspect::Request;
use kvdyno_install::{EngineVersion, Event, InstallError, Installation, Recipe, recipe, recipes};
use kvdyno_model::EngineName;
use kvdyno_plan::inspection::{inspect_in_child, request};

use crate::cli::InstallArguments;
use crate::error::Error;
use crate::output::tell;

/// Runs the command. Every name is looked up before the first engine is fetched; one that fails does not stop the rest.
pub fn run(arguments: &InstallArguments) -> Result<(), Error> {
    let wanted = wanted(arguments)?;
    let root = catalog::own_folder()
        .ok_or_else(|| Error::Input("set XDG_DATA_HOME or HOME: engines are installed below it".into()))?;
    let mut failed = 0;
    for (recipe, version) in &wanted {
        let label = label(recipe, version);
        let line = InstallProgress::new(&label);
        let trial = |adapter: Option<&Path>, library: Option<&Path>| try_out(&recipe.name, adapter, library);
        let lacks_adapter = !catalog::has_adapter(&recipe.name);
        let tell = |event| line.tell(&event);
        let outcome = kvdyno_install::install(recipe, version, (&root, lacks_adapter), &trial, &tell);
        failed += usize::from(outcome.is_err());
        line.end(&outcome);
    }
    match failed {
        0 => Ok(()),
        failed => Err(Error::NotInstalled(failed, wanted.len())),
    }
}

fn wanted(arguments: &InstallArguments) -> Result<Vec<(Recipe, EngineVersion)>, Error> {
    let input = |error: kvdyno_install::RecipeError| Error::Input(error.to_string());
    if arguments.all {
        let all = recipes().map_err(input)?;
        return Ok(all
            .into_iter()
            .flat_map(|one| one.versions.clone().into_iter().map(move |v| (one.clone(), v)))
            .collect());
    }
    let mut wanted = Vec::new();
    for text in &arguments.engines {
        let name = EngineName::parse(text);
        if let Some(preset) = &name.preset {
            let message = format!("`{text}`: a preset is chosen when the engine is measured; leave out `:{preset}`");
            return Err(Error::Input(message));
        }
        let recipe = recipe(&name.adapter).map_err(input)?;
        let version = match &arguments.library {
            Some(prefix) => own_version(&recipe, prefix)?,
            None => recipe.version(name.version.as_deref()).map_err(input)?,
        };
        wanted.push((recipe, version));
    }
    Ok(wanted)
}

/// The version that is built against what the user has in `prefix`.
fn own_version(recipe: &Recipe, prefix: &Path) -> Result<EngineVersion, Error> {
    let prefix: PathBuf =
        prefix.canonicalize().map_err(|error| Error::Input(format!("--library {}: {error}", prefix.display())))?;
    recipe.own(&prefix).ok_or_else(|| {
        let name = &recipe.name;
        Error::Input(format!(
            "{name} cannot be built against a library of your own; to load one: kvdyno compare {name} --library \
             {name}=PATH"
        ))
    })
}

fn label(recipe: &Recipe, version: &EngineVersion) -> String {
    match version.is_system() {
        true => recipe.name.clone(),
        false => format!("{}@{}", recipe.name, version.version),
    }
}

/// Loads what was built in a process of its own, and answers the version that the engine says it has.
fn try_out(name: &str, adapter: Option<&Path>, library: Option<&Path>) -> Result<String, String> {
    let request = match adapter {
        Some(adapter) => Request { adapter: adapter.to_owned(), ..Request::default() },
        None => request(&EngineName::parse(name), None).map_err(|error| error.message)?,
    };
    let request = Request { library: library.map(Path::to_owned), fallback: None, ..request };
    let inspection = inspect_in_child(&request).map_err(|error| error.message)?;
    if inspection.declared.name != name {
        return Err(format!("it is an adapter of {}, not of {name}", inspection.declared.name));
    }
    match inspection.probe {
        Probe::Available { version } => Ok(version),
        Probe::Missing { reason } => Err(reason),
    }
}

/// The progress of one engine's installation: a spinner on a terminal, else a line for each step.
struct InstallProgress {
    label: String,
    spinner: Option<ProgressBar>,
}

impl InstallProgress {
    fn new(label: &str) -> InstallProgress {
        let spinner = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {prefix:.bold} {msg} ({elapsed})")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            let spinner = ProgressBar::new_spinner().with_style(style).with_prefix(label.to_owned());
            spinner.enable_steady_tick(Duration::from_millis(120));
            spinner
        });
        InstallProgress { label: label.to_owned(), spinner }
    }

    fn tell(&self, event: &Event) {
        let words = match event {
            Event::Fetching(source) => format!("fetching {source}"),
            Event::Checking(Some(_)) => "verifying the checksum".to_owned(),
            Event::Checking(None) => "no checksum is known: relying on the package client's own check".to_owned(),
            Event::Building => "building".to_owned(),
            Event::Trying => "testing it".to_owned(),
        };
        match &self.spinner {
            Some(spinner) => spinner.set_message(words),
            None => tell(format_args!("{}: {words}", self.label)),
        }
    }

    fn end(self, outcome: &Result<Installation, InstallError>) {
        let words = match outcome {
            Ok(Installation::Installed { folder, version }) => format!("version {version} is in {}", folder.display()),
            Ok(Installation::AlreadyThere(folder)) => format!("is in {} already", folder.display()),
            Ok(Installation::System { version }) => format!("version {version} is installed in the system"),
            Err(error) => format!("NOT installed: {error}"),
        };
        if let Some(spinner) = self.spinner {
            spinner.finish_and_clear();
        }
        tell(format_args!("{}: {words}", self.label));
    }
}
