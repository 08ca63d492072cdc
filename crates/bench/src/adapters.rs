//! The cost that a C adapter adds to its engine: the instructions of a get that are spent in the adapter's own code.
//!
//! A bare loop on the same library would make the same engine calls and spend instructions of its own on them. The
//! figure is therefore an upper bound of what the adapter costs above such a loop. The method does not work for an
//! engine that is compiled into its adapter, as those in Rust and Go are.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use kvdyno_engine::catalog;
use kvdyno_model::EngineName;

use crate::BenchError;
use crate::drive::{self, Drive};

/// The most that the adapter of an engine with a C library may spend on a get.
pub const LIMIT: f64 = 60.0;
/// Records of 16 + 100 bytes: some megabytes, more than the processor's caches.
const RECORDS: u64 = 100_000;
/// Gets of the two runs. The difference of their instructions is the cost of the additional gets alone.
const GETS: (u64, u64) = (2_000, 12_000);

/// A profile takes some seconds; an engine that does not end under valgrind is an error, not a wait.
const PATIENCE: &str = "300";

/// Prints the instructions of each of `engines`; fails if one is above the limit.
pub fn run(engines: &[&str]) -> Result<(), BenchError> {
    let mut out = std::io::stdout();
    let mut dear = Vec::new();
    for engine in engines {
        let cost = own_instructions(engine)?;
        writeln!(out, "{engine:<24} {cost:6.1} instructions of a get are the adapter's, at most {LIMIT:.0}")?;
        if cost > LIMIT {
            dear.push(format!("{engine}: {cost:.1}"));
        }
    }
    match dear.as_slice() {
        [] => Ok(()),
        dear => Err(BenchError::Limit(format!("an adapter's own part of a get: {}", dear.join(", ")))),
    }
}

fn own_instructions(engine: &str) -> Result<f64, BenchError> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("database");
    fs::create_dir(&database)?;
    drive::load(engine, &database, RECORDS)?;
    let adapter =
        catalog::find(&EngineName::parse(engine)).map_err(|error| BenchError::Program(error.to_string()))?.adapter;
    let name = adapter.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let count = |gets: u64| {
        let out = folder.path().join("callgrind.out");
        profile(engine, &database, gets, &out)?;
        Ok::<u64, BenchError>(instructions_in(&fs::read_to_string(&out)?, &name))
    };
    let (few, many) = (count(GETS.0)?, count(GETS.1)?);
    if few == 0 {
        return Err(BenchError::Program(format!("{engine}: the profile has nothing of {name}")));
    }
    Ok((many as f64 - few as f64) / (GETS.1 - GETS.0) as f64)
}

fn profile(engine: &str, database: &Path, gets: u64, out: &Path) -> Result<(), BenchError> {
    let mut command = Command::new("timeout");
    command.args([PATIENCE, "valgrind"]);
    // Valgrind runs one thread at a time; an engine that spins until its own threads move needs them to take turns.
    command.args(["--tool=callgrind", "--fair-sched=yes"]).arg(format!("--callgrind-out-file={}", out.display()));
    let drive = Drive::gets(engine, database, RECORDS).command(gets)?;
    command.arg(drive.get_program()).args(drive.get_args());
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(BenchError::Program(format!(
            "{engine} under valgrind: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// The instructions that a callgrind profile counts in functions of the object whose path ends with `object`. The
/// format is described in "Callgrind Format Specification" of valgrind's manual: names are given once with a number,
/// and the line after `calls=` is the cost of the callee.
fn instructions_in(profile: &str, object: &str) -> u64 {
    let mut names: HashMap<&str, bool> = HashMap::new();
    let (mut inside, mut of_callee, mut sum) = (false, false, 0);
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("ob=").or_else(|| line.strip_prefix("cob=")) {
            let (number, path) = name.split_once(' ').unwrap_or((name, ""));
            if !path.is_empty() {
                names.insert(number, path.ends_with(object));
            }
            if line.starts_with("ob=") {
                inside = names.get(number).copied().unwrap_or(false);
            }
        } else if line.starts_with("calls=") {
            of_callee = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            if inside && !of_callee {
                sum += cost;
            }
            of_callee = false;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_of_the_object_alone_and_without_its_callees() {
        let profile = "events: Ir\n\nob=(1) /usr/lib/libc.so\nfn=(1) memcpy\n10 500\n\nob=(2) /x/libkvdyno_lmdb.so\n\
                       fn=(2) get\n12 7\n+2 3\ncob=(1)\ncfn=(1)\ncalls=1 10\n* 400\n* 5\n\nob=(1)\nfn=(3) free\n9 \
                       90\n\nob=(2)\nfn=(4) put\n1 100\ntotals: 1105\n";
        assert_eq!(instructions_in(profile, "libkvdyno_lmdb.so"), 7 + 3 + 5 + 100);
        assert_eq!(instructions_in(profile, "libkvdyno_none.so"), 0);
    }
}
