//! Asks adapters about themselves, each in a process of its own, so that one that crashes or hangs costs nothing else,
//! and nothing of it remains.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kvdyno_engine::catalog::{self, FindError};
use kvdyno_engine::guarded;
use kvdyno_engine::inspect::{Inspection, Obstacle, Request, inspect};
use kvdyno_environment::process::{Exit, WorkerProcess, spawn};
use kvdyno_install::{recipe, recipes};
use kvdyno_model::EngineName;
use serde::{Deserialize, Serialize};

/// Begins what a child writes of the step that it is at.
const STEP: &str = "step: ";

/// No library takes as long to load and to say its version.
const PATIENCE: Duration = Duration::from_secs(60);

/// The means to find engines and to ask them about themselves. Tests have engines that are nowhere installed.
pub trait Inspector {
    /// The request about the engine that a user named, as [`request`] makes it.
    ///
    /// # Errors
    /// If it is not here.
    fn request(&self, name: &EngineName, library: Option<PathBuf>) -> Result<Request, Obstacle>;

    /// The answer to a request.
    ///
    /// # Errors
    /// If the engine cannot be used, or refuses what is requested.
    fn inspect(&self, request: &Request) -> Result<Inspection, Obstacle>;
}

/// Asks the engines that are installed, each in a child process.
#[derive(Clone, Copy, Debug)]
pub struct InstalledEngines;

impl Inspector for InstalledEngines {
    fn request(&self, name: &EngineName, library: Option<PathBuf>) -> Result<Request, Obstacle> {
        request(name, library)
    }

    fn inspect(&self, request: &Request) -> Result<Inspection, Obstacle> {
        inspect_in_child(request)
    }
}

/// The request about the engine that a user named: its adapter, library and preset, without options and settings.
///
/// # Errors
/// If no folder has it, with how to get it where there is a recipe.
pub fn request(name: &EngineName, library: Option<PathBuf>) -> Result<Request, Obstacle> {
    let installed = catalog::find(name).map_err(|error| Obstacle { message: not_found(name, error), option: None })?;
    Ok(Request {
        adapter: installed.adapter,
        fallback: catalog::fallback(name),
        library: library.or(installed.library),
        preset: name.preset.clone(),
        options: Vec::new(),
        settings: Vec::new(),
    })
}

/// The message about an engine that no folder has: how to get it, or which names there are, of recipes too.
fn not_found(wanted: &EngineName, error: FindError) -> String {
    let FindError::Unknown { name, mut known, .. } = error else { return error.to_string() };
    if let Some(advice) = how_to_get(wanted) {
        return format!("{name} is not installed; {advice}");
    }
    // A recipe that cannot be read has no name to suggest.
    known.extend(recipes().unwrap_or_default().into_iter().map(|recipe| recipe.name));
    known.sort();
    known.dedup();
    FindError::Unknown { name, known }.to_string()
}

/// Instructions for installing an engine, or the named version of it; `None` without a recipe.
pub fn how_to_get(name: &EngineName) -> Option<String> {
    let recipe = recipe(&name.adapter).ok().filter(|_| name.library().is_none())?;
    Some(match recipe.version(name.version.as_deref()) {
        Ok(_) => {
            let version = name.version.as_ref().map(|version| format!("@{version}")).unwrap_or_default();
            format!("to get it: kvdyno engines install {}{version}", recipe.name)
        }
        Err(error) => error.to_string(),
    })
}

/// Inspects in a child process, which is this program's hidden command `inspect`.
///
/// # Errors
/// As [`inspect`]; and if the child crashes, hangs or cannot be started, with how it ended.
pub fn inspect_in_child(request: &Request) -> Result<Inspection, Obstacle> {
    let obstacle = |reason: String| Obstacle {
        message: format!("{} cannot be used: {reason}", request.adapter.display()),
        option: None,
    };
    let broken = |error: io::Error| obstacle(format!("cannot ask it: {error}"));
    let mut file = file_of(request).map_err(broken)?;
    let mut printed = tempfile::tempfile().map_err(broken)?;
    let (input, errors) = (file.try_clone().map_err(broken)?, printed.try_clone().map_err(broken)?);
    // Started by `/proc/self/exe`: the program's file may have been replaced since this process began.
    let mut command = Command::new("/proc/self/exe");
    command.arg("inspect").stdin(input).stdout(Stdio::null()).stderr(errors);
    let ended = spawn(&mut command).and_then(wait).map_err(broken)?;
    let text = content(&mut file).map_err(broken)?;
    match (serde_json::from_slice::<InspectionAnswer>(&text), ended) {
        (Ok(answer), _) => answer.answer,
        (Err(_), Some(exit)) => {
            let said = last_words(&content(&mut printed).map_err(broken)?);
            Err(obstacle(format!("{}it {}{said}", doing(&text), how(&exit))))
        }
        (Err(_), None) => Err(obstacle(format!("{}it came to no end in {} s", doing(&text), PATIENCE.as_secs()))),
    }
}

/// The words of a child.
#[derive(Deserialize, Serialize)]
struct InspectionAnswer {
    answer: Result<Inspection, Obstacle>,
}

/// A file without a name, which nobody has to remove, with a request.
fn file_of(request: &Request) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(&serde_json::to_vec(request)?)?;
    file.rewind()?;
    Ok(file)
}

/// All that is in a file.
fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut text)?;
    Ok(text)
}

/// Writes `text` in the place of what is in a file.
fn replace(file: &mut File, text: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text)
}

/// The child's side: the file on its standard input has the request, then the step that it is at, and then the answer.
///
/// # Errors
/// If the file is no good.
pub fn answer() -> io::Result<()> {
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let request: Request = serde_json::from_slice(&content(&mut file)?)?;
    let mut steps = file.try_clone()?;
    // A failure to report a step is no fault of the adapter.
    let mut tell = |what: &str| drop(replace(&mut steps, format!("{STEP}{what}").as_bytes()));
    let answer = guarded(|| inspect(&request, &mut tell));
    // An answer that is cut off, because the engine's library crashes while the process ends, is none.
    replace(&mut file, &serde_json::to_vec(&InspectionAnswer { answer })?)
}

/// The step that a child was at, from the text that it left.
fn doing(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.strip_prefix(STEP).map(|step| format!("while the lab was {step}, ")).unwrap_or_default()
}

/// The last line that the engine printed.
fn last_words(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map(|line| format!("; it said: {line}")).unwrap_or_default()
}

/// The exit of the child; `None` if it had to be ended.
fn wait(mut child: WorkerProcess) -> io::Result<Option<Exit>> {
    let until = Instant::now() + PATIENCE;
    loop {
        child.wait_event(until.saturating_duration_since(Instant::now()))?;
        match child.try_finish()? {
            Some(finished) => return Ok(Some(finished.exit)),
            // Dropping it ends it.
            None if Instant::now() >= until => return Ok(None),
            None => {}
        }
    }
}

fn how(exit: &Exit) -> String {
    match exit {
        Exit::Signal { number, .. } => format!("died of signal {number}"),
        Exit::Code(code) => format!("ended the process with exit code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_advice() {
        for recipe in recipes().unwrap() {
            let advice = how_to_get(&EngineName::parse(&recipe.name)).unwrap();
            let page = recipe.manual.as_ref().is_some_and(|manual| advice.contains(&manual.page));
            let command = advice.contains(&format!("kvdyno engines install {}", recipe.name));
            assert!(page || command, "{advice}");
        }
        assert_eq!(how_to_get(&EngineName::parse("voldemort")), None);
    }
}
