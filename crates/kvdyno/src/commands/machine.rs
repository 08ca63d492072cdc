//! `kvdyno machine`: what figures come from.

use std::path::Path;
use std::time::Duration;

use kvdyno_engine::{Choice, catalog};
use kvdyno_environment::abilities::abilities;
use kvdyno_model::EngineName;
use kvdyno_model::text::{counted, grouped};
use kvdyno_report::Format;
use kvdyno_results::{DriverCost, KvdynoBuild, Machine, MachineLimits};
use kvdyno_worker::clock::{self, Calibration, Tsc};

use crate::cli::MachineArguments;
use crate::commands::limits;
use crate::error::Error;
use crate::output::{print_columns, print_json};

/// The most time that measuring the driver's own cost takes.
const DRIVER_TIME: Duration = Duration::from_millis(1000);
/// The least: ten measurements of 10 ms each, in which a thread does a hundred thousand gets and more.
const SHORTEST_DRIVER_TIME: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(arguments: MachineArguments) -> Result<(), Error> {
    if !arguments.dir.is_dir() {
        return Err(Error::Input(format!("--dir {}: there is no such folder", arguments.dir.display())));
    }
    let mut facts = describe(&arguments.dir, None);
    if arguments.limits {
        facts.limits = Some(limits::measure(&arguments.dir, &facts)?);
    }
    match arguments.json || arguments.list.format == Format::Json {
        true => print_json(&facts),
        false => print_columns(&words(&facts)),
    }
}

/// This machine, with the filesystem of `folder` and the driver's own cost. To measure that takes a hundredth of the
/// `budget`, within [`SHORTEST_DRIVER_TIME`] and [`DRIVER_TIME`].
pub fn describe(folder: &Path, budget: Option<Duration>) -> Machine {
    let mut facts = kvdyno_environment::machine::machine(folder);
    facts.clock = match clock::has_invariant_tsc() {
        true => clock::describe(Calibration::begin(Tsc).settle()),
        false => clock::describe(1.0),
    };
    facts.kvdyno = env!("CARGO_PKG_VERSION").to_owned();
    facts.build = Some(build());
    let driver_time = budget.map_or(DRIVER_TIME, |budget| budget / 100);
    facts.driver = driver(facts.cpu.threads.max(1), driver_time.clamp(SHORTEST_DRIVER_TIME, DRIVER_TIME));
    facts.limits = limits::kept(&facts);
    facts
}

/// The build of this program.
fn build() -> KvdynoBuild {
    KvdynoBuild {
        commit: option_env!("KVDYNO_COMMIT").map(str::to_owned),
        profile: env!("KVDYNO_PROFILE").to_owned(),
        rust: env!("KVDYNO_RUST").to_owned(),
    }
}

/// The version of this program, with its build.
pub fn version() -> String {
    kvdyno(env!("CARGO_PKG_VERSION"), Some(&build()))
}

/// `0.1.0, commit 1a2b3c4d5e6f, release, rustc 1.95.0`.
fn kvdyno(version: &str, build: Option<&KvdynoBuild>) -> String {
    let commit = build.and_then(|build| build.commit.as_ref()).map(|commit| format!("commit {commit}"));
    let how = build.map(|build| format!("{}, {}", build.profile, build.rust));
    [Some(version.to_owned()), commit, how].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A sentence, if another version or build of kvdyno began the run on this machine. Builds are compared if both are
/// known.
pub fn begun_by_another(machine: &Machine) -> Option<String> {
    let (version, own) = (env!("CARGO_PKG_VERSION"), build());
    let is_same = machine.kvdyno == version && machine.build.as_ref().is_none_or(|build| *build == own);
    let (this, that) = (kvdyno(version, Some(&own)), kvdyno(&machine.kvdyno, machine.build.as_ref()));
    (!is_same).then(|| format!("by kvdyno {this}; the run was begun by {that}"))
}

/// `None` if the null engine's adapter is not installed: then there is no figure, and none is made up.
fn driver(threads: u32, time: Duration) -> Option<DriverCost> {
    let adapter = catalog::load(&EngineName::parse("null")).ok()?;
    let choice = Choice::new(adapter, None, &[], None).ok()?;
    kvdyno_run::driver_cost(&choice, threads, time).ok()
}

fn words(facts: &Machine) -> String {
    let mut lines = Vec::new();
    let mut line = |what: &str, value: String| lines.push(format!("{what:<13} {value}"));
    let cpu = &facts.cpu;
    line("cpu", cpu.model.clone());
    let (sockets, cores, threads) = (cpu.sockets, cpu.cores, cpu.threads);
    let parts = [counted(sockets, "socket"), counted(cores, "core"), counted(threads, "thread") + " usable"];
    line("", parts.join(", "));
    if let Some(governor) = &cpu.governor {
        line("governor", governor.clone());
    }
    if let Some(hypervisor) = &cpu.hypervisor {
        line("hypervisor", hypervisor.clone());
    }
    for cache in &facts.caches {
        let shared = if cache.shared_by > 1 { format!(", shared by {}", cache.shared_by) } else { String::new() };
        line("cache", format!("L{} {} {} KiB{shared}", cache.level, cache.kind, cache.size_kib));
    }
    line("memory", format!("{:.1} GiB", facts.memory_kib as f64 / 1_048_576.0));
    for node in &facts.numa {
        let memory = node.memory_kib as f64 / 1_048_576.0;
        line(
            "numa node",
            format!("{}: cpus {}, {memory:.1} GiB, distances {:?}", node.node, node.cpus, node.distances),
        );
    }
    let filesystem = &facts.filesystem;
    let device = filesystem.device.as_ref().map(|device| format!(" on {device}")).unwrap_or_default();
    let free = filesystem.free_bytes as f64 / f64::from(1 << 30);
    line("filesystem", format!("{}{device} ({}), {free:.1} GiB free", filesystem.kind, filesystem.options));
    line("kernel", facts.kernel.clone());
    line("system", facts.system.clone());
    for (name, words) in facts.setup.facts() {
        line(name, words);
    }
    line("clock", facts.clock.clone());
    line("driver", facts.driver.as_ref().map_or("not measured: the null engine is not installed".into(), driver_words));
    line("limits", facts.limits.as_ref().map_or("not measured: kvdyno machine --limits".into(), limit_words));
    line("kvdyno", kvdyno(&facts.kvdyno, facts.build.as_ref()));
    for (number, (part, ability)) in abilities().into_iter().enumerate() {
        line(if number == 0 { "environment" } else { "" }, format!("{part}: {ability}"));
    }
    lines.join("\n") + "\n"
}

fn limit_words(limits: &MachineLimits) -> String {
    let reads = limits.reads_per_s.map_or("no reads past the page cache".to_owned(), |reads| {
        format!("{} random reads of 4 KiB a second", grouped(reads))
    });
    format!(
        "{:.1} ns for a dependent load from memory; {:.1} GB/s from it; {} synced writes of 4 KiB a second; {reads}",
        limits.memory_latency_ns,
        limits.memory_bytes_per_s / 1e9,
        grouped(limits.syncs_per_s)
    )
}

fn driver_words(driver: &DriverCost) -> String {
    format!(
        "{:.1} ns for a verified get with its latency recorded ({:.1} to {:.1}); {} threads do {:.2} times one \
         thread's work",
        driver.get_ns, driver.get_ns_range.0, driver.get_ns_range.1, driver.scaling_threads, driver.scaling
    )
}
