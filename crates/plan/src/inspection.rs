//! Asks adapters about themselves, each in a process of its own, so that one that crashes or hangs costs nothing else.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use kvdyno_engine::Probe;
use kvdyno_engine::catalog::EngineName;
use kvdyno_engine::inspect::{Inspection, Obstacle, Request, inspect};

use kvdyno_experiment::Experiment;

/// No library takes as long to load and to say its version.
const PATIENCE: Duration = Duration::from_secs(60);

/// The request about the engine that a user named: its adapter, library and preset, without options and settings.
///
/// # Errors
/// If no folder has it.
pub fn request(name: &EngineName, library: Option<PathBuf>) -> Result<Request, Obstacle> {
    let installed = name.find().map_err(|error| Obstacle { message: error.to_string(), option: None })?;
    Ok(Request {
        adapter: installed.adapter,
        fallback: name.fallback(),
        library: library.or(installed.library),
        preset: name.preset.clone(),
        options: Vec::new(),
        settings: Vec::new(),
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
    let folder = tempfile::tempdir().map_err(broken)?;
    let (requested, answered) = (folder.path().join("request.json"), folder.path().join("answer.json"));
    let text = serde_json::to_vec(request).map_err(|error| obstacle(error.to_string()))?;
    fs::File::create_new(&requested).and_then(|mut file| file.write_all(&text)).map_err(broken)?;
    // Not by its name: the file may have been replaced by a newer one since this process began.
    let child = Command::new("/proc/self/exe")
        .arg("inspect")
        .args([&requested, &answered])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(broken)?;
    let ended = wait(child).map_err(broken)?;
    match (fs::read(&answered), ended) {
        (Ok(answer), _) => serde_json::from_slice(&answer).map_err(|error| obstacle(error.to_string()))?,
        (Err(_), Some(status)) => Err(obstacle(format!("while it was loaded, it {}", how(status)))),
        (Err(_), None) => Err(obstacle(format!("it was not loaded after {} s", PATIENCE.as_secs()))),
    }
}

/// The child's side: reads the request in `requested`, writes what came out to `answered`.
///
/// # Errors
/// If one of the files is no good.
pub fn answer(requested: &Path, answered: &Path) -> io::Result<()> {
    let request: Request = serde_json::from_slice(&fs::read(requested)?)?;
    let answer = serde_json::to_vec(&inspect(&request))?;
    // Whole or not at all: the engine's library may still crash while the process ends.
    let partial = answered.with_extension("partial");
    fs::write(&partial, answer)?;
    fs::rename(partial, answered)
}

/// How the child ended; `None` if it had to be killed.
fn wait(mut child: Child) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn how(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("died of signal {signal}"),
        (_, code) => format!("ended the process with exit code {}", code.unwrap_or_default()),
    }
}

/// The engines that are not here, or cannot be loaded. Their options are not looked at.
pub fn missing_engines(experiment: &Experiment) -> BTreeSet<String> {
    let missing = |label: &&str| {
        let section = experiment.engine.get(*label);
        let name = section.and_then(|section| section.engine.as_deref()).unwrap_or(label);
        let library = section.and_then(|section| section.library.clone()).map(|path| path.0);
        let inspected = request(&EngineName::parse(name), library).and_then(|request| inspect_in_child(&request));
        !inspected.is_ok_and(|engine| matches!(engine.probe, Probe::Available { .. }))
    };
    experiment.engines.iter().map(String::as_str).filter(missing).map(str::to_owned).collect()
}
