//! Finds the script that draws the page's charts: Apache ECharts, which the crate `charming` carries among its assets.
//!
//! The script is never in the repository. It comes with the package, whose version `Cargo.toml` pins, and is taken only
//! if it is byte for byte the one that is known.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The crate that carries the script.
const CARRIER: &str = "charming";
/// Where it lies there.
const SCRIPT: &str = "src/asset/echarts-5.5.1.min.js";
/// SHA-256 of it.
const HASH: &str = "e84270bd0cd5bdf60fefc26d00c2a391cb2e81f4d26a7a9ee16185a54773a3cf";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let script = carrier()?.join(SCRIPT);
    println!("cargo::rerun-if-changed={}", script.display());
    let content = fs::read(&script).map_err(|error| format!("cannot read {}: {error}", script.display()))?;
    let hash: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    if hash != HASH {
        return Err(format!("{} has SHA-256 {hash} and not {HASH}", script.display()).into());
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("echarts.js"), content)?;
    Ok(())
}

/// The folder of the carrier. Cargo tells no crate where its dependencies lie, but `cargo metadata` does.
fn carrier() -> Result<PathBuf, Box<dyn Error>> {
    // A fresh clone has fetched what is built, and `metadata` also wants what only tests use: then it may fetch.
    let metadata = metadata(&["--offline"]).or_else(|_| metadata(&[]))?;
    let packages = metadata["packages"].as_array().ok_or("`cargo metadata` names no packages")?;
    let carrier = packages.iter().find(|package| package["name"] == CARRIER);
    let manifest = carrier.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    Ok(folder.ok_or_else(|| format!("`cargo metadata` does not name {CARRIER}"))?.to_owned())
}

fn metadata(more: &[&str]) -> Result<Value, Box<dyn Error>> {
    let host = env::var("HOST")?;
    let mut command = Command::new(env::var("CARGO")?);
    command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host]).args(more);
    let output = command.current_dir(env::var("CARGO_MANIFEST_DIR")?).output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
