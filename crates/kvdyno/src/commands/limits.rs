//! `kvdyno machine --limits`: measures what memory and storage allow, and keeps it for reports on this machine.

use std::path::{Path, PathBuf};
use std::{fs, io};

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

/// Those in the file; none if there is none.
fn read(file: &Path) -> io::Result<Vec<KeptLimits>> {
    match fs::read(file) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The limits of this machine, with the filesystem that it has, if they were measured before.
pub fn kept(machine: &Machine) -> Option<MachineLimits> {
    let key = LimitsKey::of(machine);
    // A file of another version is no error of the run: its limits are absent.
    read(&file()?).ok()?.into_iter().find(|kept| kept.of == key).map(|kept| kept.limits)
}

/// Measures the limits of this machine and of the filesystem of `folder`, and keeps them instead of earlier ones.
pub fn measure(folder: &Path, machine: &Machine) -> Result<MachineLimits, Error> {
    let Some(file) = file() else {
        return Err(Error::Input("set XDG_DATA_HOME or HOME: limits are kept below it".to_owned()));
    };
    let kept = read(&file).map_err(Error::io(format!(
        "cannot read the limits that are kept in {} (remove it to measure all anew)",
        file.display()
    )))?;
    let threads = machine.cpu.threads;
    let largest = machine.caches.iter().max_by_key(|cache| cache.size_kib);
    let caches = largest.map_or((0, 0), |cache| {
        let (bytes, number) = (cache.size_kib << 10, threads.div_ceil(cache.shared_by.max(1)));
        (bytes, bytes * u64::from(number))
    });
    let limits = kvdyno_environment::limits::measure(folder, threads, caches)
        .map_err(Error::io(format!("cannot measure the storage of {}", folder.display())))?;
    let key = LimitsKey::of(machine);
    let others = kept.into_iter().filter(|kept| kept.of != key);
    let all: Vec<KeptLimits> = others.chain([KeptLimits { of: LimitsKey::of(machine), limits }]).collect();
    let unkept = || Error::io(format!("cannot keep the limits in {}", file.display()));
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(unkept())?;
    files::write_json(&file, &all).map_err(unkept())?;
    Ok(limits)
}
