//! Following a recipe.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use kvdyno_engine::installed::{InstallNote, Installed, NOTE, in_folder};
use kvdyno_environment::leftovers::leftovers;
use kvdyno_environment::ownership::{OwnedFolder, register_folders};

use crate::error::InstallError;
use crate::recipe::{EngineVersion, Recipe};
use crate::{archive, client, command, sources};

/// A step of an installation, for people to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The client works.
    Fetching(String),
    /// The archive must have this checksum; `None` if the recipe has none, and only the client's own check applies.
    Checking(Option<String>),
    /// The build works.
    Building,
    /// The result is tried.
    Trying,
}

/// The end of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installation {
    /// It is in this folder, at this version as the engine itself says it.
    Installed {
        /// The folder.
        folder: PathBuf,
        /// The version that the engine itself says it has.
        version: String,
    },
    /// It was there already.
    AlreadyThere(PathBuf),
    /// The distribution's package is installed.
    System {
        /// The version that the engine itself says it has.
        version: String,
    },
}

/// Tries what was built: the adapter in the first file, or the one that is there for the engine anyway, with the
/// library in the second. Answers the version that the engine says it has.
pub type EngineProbe<'a> = &'a dyn Fn(Option<&Path>, Option<&Path>) -> Result<String, String>;

/// Brings `version` of the recipe's engine into `root`, the user's folder for engines. Where nobody has built the
/// engine's adapter, because the program came alone, `lacks_adapter`: then that is built, too, and kept in `root`, for
/// all versions.
///
/// # Errors
/// With the reason; then nothing of it is left.
pub fn install(
    recipe: &Recipe,
    version: &EngineVersion,
    (root, lacks_adapter): (&Path, bool),
    probe: EngineProbe<'_>,
    tell: &dyn Fn(Event),
) -> Result<Installation, InstallError> {
    let lacks_adapter = lacks_adapter && sources::has_adapter_in_c(&recipe.name);
    let folder = root.join(format!("{}@{}", recipe.name, version.version));
    let is_complete = |there: Installed| !lacks_adapter || there.adapter.is_some();
    // A user's own build may have changed since.
    if version.prefix.is_none() && in_folder(&folder).is_some_and(is_complete) {
        return Ok(Installation::AlreadyThere(folder));
    }
    let compilers = ["cc", "make"].map(str::to_owned);
    let compilers = compilers.iter().filter(|_| lacks_adapter);
    for command in [client::program(version.client).to_owned()].iter().chain(&version.needs).chain(compilers) {
        if command::find(command).is_none() {
            return Err(InstallError::Needs { command: command.clone(), package: command::package_of(command) });
        }
    }
    fs::create_dir_all(root)?;
    let staging = Staging::new(root)?;
    let log = staging.path("log");
    if version.is_system() {
        tell(Event::Fetching(version.source()));
        client::install_system(&version.package, &log)?;
        if let Some(package) = sources::headers_package(&recipe.name).filter(|_| lacks_adapter) {
            client::install_system(&package, &log)?;
        }
        let adapter = lacks_adapter.then(|| build_adapter(&recipe.name, &staging, &log, tell)).transpose()?;
        tell(Event::Trying);
        let version = probe(adapter.as_deref(), None).map_err(InstallError::NoGood)?;
        keep_adapter(adapter.as_deref(), root)?;
        return Ok(Installation::System { version });
    }
    let note = make(recipe, version, &staging, &log, tell)?;
    let lacks_adapter = lacks_adapter && note.adapter.is_none();
    let common = lacks_adapter.then(|| build_adapter(&recipe.name, &staging, &log, tell)).transpose()?;
    let out = staging.path("out");
    tell(Event::Trying);
    let file = |name: &Option<String>| name.as_ref().map(|name| out.join(name));
    let adapter = file(&note.adapter).or_else(|| common.clone());
    let actual = probe(adapter.as_deref(), file(&note.library).as_deref()).map_err(InstallError::NoGood)?;
    let any = version.prefix.is_some() || actual == "unknown";
    if !any && !actual.starts_with(&version.version) {
        return Err(InstallError::WrongVersion { wanted: version.version.clone(), actual });
    }
    let text = toml::to_string(&note).map_err(io::Error::other)?;
    fs::write(out.join(NOTE), text)?;
    if folder.exists() {
        // A build of the user's own that is replaced, or what an interrupted installation left.
        fs::remove_dir_all(&folder)?;
    }
    fs::rename(&out, &folder)?;
    keep_adapter(common.as_deref(), root)?;
    Ok(Installation::Installed { folder, version: actual })
}

/// Fetches, checks and builds, and says what is then in `out`.
fn make(
    recipe: &Recipe,
    version: &EngineVersion,
    staging: &Staging,
    log: &Path,
    tell: &dyn Fn(Event),
) -> Result<InstallNote, InstallError> {
    let (out, fetched) = (staging.path("out"), staging.path("fetched"));
    fs::create_dir_all(&out)?;
    fs::create_dir_all(&fetched)?;
    tell(Event::Fetching(version.source()));
    let archive = client::fetch(version, &fetched, log)?;
    let mut sha256 = None;
    let mut source = staging.path("source");
    if let Some(archive) = &archive {
        tell(Event::Checking(version.sha256.clone()));
        sha256 = Some(check_sum(version, archive)?);
        match &version.extract {
            Some(name) => archive::extract(archive, name, &out.join(name))
                .map_err(|error| InstallError::Fetched(format!("no {name} in {}: {error}", archive.display())))?,
            None => {
                source = archive::unpack(archive, &source)
                    .map_err(|error| InstallError::Fetched(format!("{}: {error}", archive.display())))?;
            }
        }
    }
    if let Some(script) = &version.build {
        fs::create_dir_all(&source)?;
        tell(Event::Building);
        build((recipe, version), script, &source, staging, log)?;
    }
    let adapter = format!("libkvdyno_{}.so", recipe.name);
    let adapter = out.join(&adapter).is_file().then_some(adapter);
    let library = version.extract.clone().or_else(|| version.library.clone());
    match &library {
        Some(name) if !out.join(name).is_file() => Err(InstallError::NoGood(format!("the build left no {name}"))),
        None if adapter.is_none() => Err(InstallError::NoGood("the build left neither adapter nor library".to_owned())),
        _ => Ok(InstallNote { source: version.source(), sha256, adapter, library }),
    }
}

fn check_sum(version: &EngineVersion, archive: &Path) -> Result<String, InstallError> {
    let actual = archive::sha256(archive)?;
    match &version.sha256 {
        Some(wanted) if !wanted.eq_ignore_ascii_case(&actual) => Err(InstallError::Checksum {
            file: archive.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            actual,
            wanted: wanted.clone(),
        }),
        _ => Ok(actual),
    }
}

fn build(
    (recipe, version): (&Recipe, &EngineVersion),
    script: &str,
    source: &Path,
    staging: &Staging,
    log: &Path,
) -> Result<(), InstallError> {
    let project = staging.path("kvdyno");
    sources::lay_out(&project)?;
    let adapter = project.join("engines").join(&recipe.name);
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new("sh");
    command.arg("-eu").arg(adapter.join(script)).current_dir(source);
    command.env("SOURCE", source).env("ADAPTER", &adapter).env("INCLUDE", project.join("include"));
    command.env("ABI", project.join("crates/abi")).env("OUT", staging.path("out")).env("JOBS", jobs.to_string());
    command.env("HEADERS", staging.headers()?);
    // A caller's own choice of where cargo builds must not take the result elsewhere.
    command.env("CARGO_TARGET_DIR", staging.path("target"));
    if let Some(prefix) = &version.prefix {
        command.env("PREFIX", prefix);
    }
    Ok(command::run(&format!("building {}", recipe.name), &mut command, log)?)
}

/// Builds an adapter in C by the adapters' own makefile, with the headers that the engine's build has left, and returns
/// its file.
fn build_adapter(name: &str, staging: &Staging, log: &Path, tell: &dyn Fn(Event)) -> Result<PathBuf, InstallError> {
    tell(Event::Building);
    let (project, out) = (staging.path("kvdyno"), staging.path("adapter"));
    sources::lay_out(&project)?;
    let adapter = out.join(format!("libkvdyno_{name}.so"));
    let mut command = Command::new("make");
    command.arg("--directory").arg(project.join("engines")).arg(format!("OUT={}", out.display())).arg(&adapter);
    command.env("CPATH", staging.headers()?);
    command::run(&format!("building the adapter of {name}"), &mut command, log)?;
    Ok(adapter)
}

/// Moves an adapter that was built and tried to the folder in which it is found.
fn keep_adapter(adapter: Option<&Path>, root: &Path) -> io::Result<()> {
    match adapter.and_then(|adapter| Some((adapter, adapter.file_name()?))) {
        Some((adapter, name)) => fs::rename(adapter, root.join(name)),
        None => Ok(()),
    }
}

/// A folder for unfinished work, gone when it is dropped. One that a killed process left is removed by the next, or by
/// `kvdyno clean`.
struct Staging(OwnedFolder);

impl Staging {
    fn new(root: &Path) -> io::Result<Staging> {
        sweep(&root.canonicalize()?);
        Ok(Staging(OwnedFolder::new(root)?))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder for the engine's headers.
    fn headers(&self) -> io::Result<PathBuf> {
        let headers = self.path("headers");
        fs::create_dir_all(&headers)?;
        Ok(headers)
    }
}

/// Removes what processes left in `root` that are no more.
fn sweep(root: &Path) {
    let (left, _) = leftovers(&register_folders());
    for one in left.iter().flat_map(|left| &left.things).filter(|one| one.is_folder_in(root)) {
        // A folder that stays is in the way of nobody, and `kvdyno clean` reports why it stays.
        let _ = one.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::PackageClient;

    fn version(client: PackageClient) -> EngineVersion {
        EngineVersion {
            version: "1".into(),
            client,
            package: "none".into(),
            package_version: None,
            sha256: None,
            needs: vec!["surely-no-such-command".into()],
            build: None,
            extract: None,
            library: None,
            prefix: None,
        }
    }

    #[test]
    fn a_missing_command_is_named_before_anything_is_touched() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("engines");
        let recipe = Recipe { name: "x".into(), default: None, versions: Vec::new(), any: None, manual: None };
        let probe = |_: Option<&Path>, _: Option<&Path>| Ok(String::new());
        let version = EngineVersion { client: PackageClient::Go, ..version(PackageClient::Go) };
        let error = install(&recipe, &version, (&folder, false), &probe, &|_| ()).unwrap_err();
        assert!(matches!(error, InstallError::Needs { .. }), "{error}");
        assert!(!folder.exists());
    }

    #[test]
    fn another_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tgz");
        fs::write(&file, "abc").unwrap();
        let wrong = EngineVersion { sha256: Some("0".repeat(64)), ..version(PackageClient::Npm) };
        let error = check_sum(&wrong, &file).unwrap_err().to_string();
        assert!(error.contains("a.tgz has the checksum ba7816bf") && error.contains("000000"), "{error}");
    }
}
