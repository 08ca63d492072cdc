//! Package clients: each fetches one archive, from the source that the user has configured.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::error::InstallError;
use crate::recipe::{EngineVersion, PackageClient};

/// Maven's plugin that copies an artifact into a folder. The version is fixed: it is the one that was tested.
const MAVEN_COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// The command that the client is.
pub fn program(client: PackageClient) -> &'static str {
    match client {
        PackageClient::Apt => "apt-get",
        PackageClient::Cargo => "cargo",
        PackageClient::Go => "go",
        PackageClient::Maven => "mvn",
        PackageClient::Npm => "npm",
        PackageClient::Pip => "python3",
        PackageClient::None => "sh",
    }
}

/// Fetches the version's archive into `folder`, which is empty. `None` if there is none to fetch: Go and Rust adapters
/// name what they need in their own lock files, and their build fetches it.
pub fn fetch(version: &EngineVersion, folder: &Path, log: &Path) -> Result<Option<PathBuf>, InstallError> {
    let (package, number) = (&version.package, version.package_version());
    let what = format!("fetching {}", version.source());
    match version.client {
        PackageClient::Npm => {
            let mut command = Command::new("npm");
            command.arg("pack").arg(format!("{package}@{number}")).arg("--pack-destination").arg(folder);
            command::run(&what, command.current_dir(folder), log)?;
            only_file(folder, &what).map(Some)
        }
        PackageClient::Maven => {
            let mut command = Command::new("mvn");
            // Strict checksums: Maven holds the archive against the registry's own sum.
            command.args(["--batch-mode", "--strict-checksums", MAVEN_COPY]);
            command.arg(format!("-Dartifact={package}:{number}"));
            command.arg(format!("-DoutputDirectory={}", folder.display()));
            command::run(&what, command.current_dir(folder), log)?;
            only_file(folder, &what).map(Some)
        }
        PackageClient::Pip => {
            let mut command = Command::new("python3");
            // The source of this package alone: pip asks it for its metadata, and may take wheels of what that needs.
            command.args(["-m", "pip", "download", "--no-deps", "--no-binary", package]);
            command.arg("--dest").arg(folder).arg(format!("{package}=={number}"));
            command::run(&what, command.current_dir(folder), log)?;
            only_file(folder, &what).map(Some)
        }
        PackageClient::Cargo if version.sha256.is_some() => crate_archive(version, folder, &what, log).map(Some),
        PackageClient::Cargo | PackageClient::Go | PackageClient::Apt | PackageClient::None => Ok(None),
    }
}

/// Installs packages of the distribution: their names, between spaces.
pub fn install_system(packages: &str, log: &Path) -> Result<(), InstallError> {
    let root = rustix::process::geteuid().is_root();
    if !root && command::find("sudo").is_none() {
        return Err(InstallError::Rights(format!("apt-get install {packages}")));
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if root { "env" } else { "sudo" });
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(arguments);
        command
    };
    let what = format!("apt-get install {packages}");
    let mut install = apt(&["install", "-y", "--no-install-recommends"]);
    install.args(packages.split_whitespace());
    if command::run(&what, &mut install, log).is_err() {
        // The list of packages may be old, or not there yet.
        command::run("apt-get update", &mut apt(&["update"]), log)?;
        command::run(&what, &mut install, log)?;
    }
    Ok(())
}

/// A crate's archive, by way of a project that depends on it: cargo has no command for one archive.
fn crate_archive(version: &EngineVersion, folder: &Path, what: &str, log: &Path) -> Result<PathBuf, InstallError> {
    let (package, number) = (&version.package, version.package_version());
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n\
         [workspace]\n[dependencies]\n{package} = {{ version = \"={number}\", default-features = false }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("lib.rs"), "")?;
    command::run(what, Command::new("cargo").arg("fetch").current_dir(folder), log)?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let caches = home.map(|home| home.join("registry/cache")).and_then(|cache| fs::read_dir(cache).ok());
    let file = format!("{package}-{number}.crate");
    let mut archives = caches.into_iter().flatten().flatten().map(|registry| registry.path().join(&file));
    let archive = archives.find(|path| path.is_file());
    archive.ok_or_else(|| InstallError::Fetched(format!("{what}: cargo left no {file} in its registry cache")))
}

fn only_file(folder: &Path, what: &str) -> Result<PathBuf, InstallError> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    match (files.len(), files.pop()) {
        (1, Some(file)) => Ok(file),
        (count, _) => Err(InstallError::Fetched(format!("{what}: the client left {count} files, not one"))),
    }
}
