//! `kvdyno machine --limits`: measures what memory and storage allow, and keeps it for reports on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_engine::catalog;
use kvdyno_results::{Machine, MachineLimits, files};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The limits of a machine with a filesystem.
#[derive(Debug, Serialize, Deserialize)]
struct KeptLimits {
    of: LimitsKey,
    limits: MachineLimits,
}

/// A machine and its filesystem, as far as limits depend on them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LimitsKey {
    cpu: String,
    threads: u32,
    memory_kib: u64,
    filesystem: String,
    device: Option<String>,
}

impl LimitsKey {
    fn of(machine: &Machine) -> LimitsKey {
        LimitsKey {
            cpu: machine.cpu.model.clone(),
            threads: machine.cpu.threads,
            memory_kib: machine.memory_kib,
            filesystem: machine.filesystem.kind.clone(),
            device: machine.filesystem.device.clone(),
        }
    }
}

/// `$XDG_DATA_HOME/kvdyno/limits.json`; `None` if the user has no home.
fn file() -> Option<PathBuf> {
    Some(catalog::own_folder()?.with_file_name("limits.json"))
}

fn read(file: &Path) -> Vec<KeptLimits> {
    fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// The limits of this machine, with the filesystem that it has, if they were measured before.
pub fn kept(machine: &Machine) -> Option<MachineLimits> {
    let key = LimitsKey::of(machine);
    read(&file()?).into_iter().find(|kept| kept.of == key).map(|kept| kept.limits)
}

/// Measures the limits of this machine and of the filesystem of `folder`, and keeps them instead of earlier ones.
pub fn measure(folder: &Path, machine: &Machine) -> Result<MachineLimits, Error> {
    let cache = machine.caches.iter().map(|cache| cache.size_kib << 10).max().unwrap_or(0);
    let limits = kvdyno_environment::limits::measure(folder, machine.cpu.threads, cache)
        .map_err(Error::io(format!("cannot measure the storage of {}", folder.display())))?;
    let Some(file) = file() else {
        return Err(Error::Input("set XDG_DATA_HOME or HOME: limits are kept below it".to_owned()));
    };
    let key = LimitsKey::of(machine);
    let others = read(&file).into_iter().filter(|kept| kept.of != key);
    let all: Vec<KeptLimits> = others.chain([KeptLimits { of: LimitsKey::of(machine), limits }]).collect();
    let unkept = || Error::io(format!("cannot keep the limits in {}", file.display()));
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(unkept())?;
    files::write_json(&file, &all).map_err(unkept())?;
    Ok(limits)
}
