//! The environment: what cannot be had is refused before anything is touched; what was set is observed by the worker.

use std::fs;
use std::process::Command;

use crate::support::{Lab, Ran, RunningKvdyno};
use insta::assert_snapshot;
use kvdyno_results::ObservedEnvironment;

/// A comparison with these arguments: exit code 2, nothing touched.
#[track_caller]
fn refused<const N: usize>(environment: [&str; N]) -> Ran {
    let lab = Lab::new();
    let before = lab.tree();
    let mut arguments = vec!["compare", "lmdb"];
    arguments.extend(environment);
    let mut command = lab.kvdyno();
    command.args(arguments);
    let ran = RunningKvdyno::start(lab.clone(), command).ends();
    ran.exits(2);
    assert_eq!(lab.tree(), before, "something was touched: {}", ran.stderr);
    ran
}

/// The environment that the worker of each trial observed.
#[track_caller]
fn observed<const N: usize>(environment: [&str; N], clients: &str) -> Vec<ObservedEnvironment> {
    let ran = Lab::new()
        .compare(["lmdb"])
        .operations(200)
        .with("clients", clients)
        .with("load-clients", clients)
        .arguments(environment)
        .run();
    ran.is_clean();
    let results = ran.results();
    assert_eq!(results.len(), 2, "a load and a run");
    results.into_iter().map(|result| result.environment).collect()
}

/// The processors that this process may use, as the kernel lists them.
fn allowed() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u32>().unwrap()..=last.parse::<u32>().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

/// Whether some core has two hardware threads.
fn has_smt() -> bool {
    allowed().iter().any(|cpu| {
        let list = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(list).is_ok_and(|list| list.contains([',', '-']))
    })
}

fn has_numa() -> bool {
    fs::exists("/sys/devices/system/node/node0").unwrap()
}

/// Where the memory may come from any other node than 0, the words are others.
fn has_one_node() -> bool {
    has_numa() && !fs::exists("/sys/devices/system/node/node1").unwrap()
}

// ---- what cannot be had

#[test]
fn processors_that_are_not_there() {
    refused(["--cpus", "60000-60001"]).says("environment.cpus: this machine has no CPU 60000; this process may use");
    refused(["--cpus", "60000"]).says("environment.cpus: it must be from 1 to").says("so many CPUs there are");
    refused(["--cpus", "0"]).says("0 CPUs are too few; 1 is the least");
    refused(["--cpus", "3-1"]).says("`3-1` is not a list of numbers such as 0-3,8");
}

#[test]
fn what_a_file_asks_for_is_refused_at_its_place() {
    let lab = Lab::new();
    lab.write("experiment.toml", "engines = [\"lmdb\"]\n[environment]\nnuma = \"local\"\ncpus = \"60000-60000\"\n");
    let ran = lab.run(["run", "experiment.toml"]);
    ran.exits(2).says("experiment.toml:4:8").says("environment.cpus: this machine has no CPU 60000");
    lab.write("experiment.toml", "engines = [\"lmdb\"]\n[[variant]]\nname = \"a\"\nenvironment.cpus = 60000\n");
    lab.run(["run", "experiment.toml"]).exits(2).says("variant `a`: environment.cpus: it must be from 1 to");
}

#[test]
fn second_hardware_threads_where_there_are_none() {
    if has_smt() {
        eprintln!(
            "not run: this machine has SMT; crates/environment/src/placement/cpus.rs tests it on made-up machines"
        );
        return;
    }
    refused(["--smt", "on"])
        .says("environment.smt: there are no second hardware threads here")
        .says("it can be \"off\"");
}

#[test]
fn nodes_that_are_not_there() {
    if !has_numa() {
        refused(["--numa", "local"]).says("environment.numa: this system shows no NUMA nodes");
        return;
    }
    refused(["--numa", "bind:999"]).says("environment.numa: this machine has no node 999;");
    refused(["--numa", "interleave:0,999"]).says("environment.numa: this machine has no node 999;");
    refused(["--numa", "preferred:999"]).says("environment.numa: this machine has no node 999;");
    refused(["--numa-cpus", "999"]).says("environment.numa_cpus: this machine has no node 999;");
    if has_one_node() {
        assert_snapshot!(refused(["--numa", "bind:1"]).stderr, @"  × environment.numa: this machine has no node 1; the only one here is 0");
    }
    refused(["--numa", "bind"]).says("`bind` is no policy; it can be local, interleave, interleave:NODES, bind:NODES");
}

#[test]
fn allocators_that_are_not_there() {
    assert_snapshot!(refused(["--allocator", "/nowhere/libx.so"]).stderr, @"  × environment.allocator: /nowhere/libx.so: No such file or directory (os error 2)");
    refused(["--allocator", "/etc/passwd"]).says("environment.allocator: /etc/passwd: it is no library");
    refused(["--allocator", "jemaloc"]).says("`jemaloc` is none of libc, jemalloc, tcmalloc, mimalloc");
}

#[test]
fn words_that_are_none() {
    refused(["--smt", "of"]).says("`of` is not a state of SMT; it can be on or off");
    refused(["--storage", "ext5"]).says("it can be folder, ext4, ext4-nojournal");
    refused(["--cache-state", "cold"]).says("it can be warm, filled or dropped");
}

// ---- what was set

#[test]
fn a_worker_runs_on_the_processors_that_were_asked_for() {
    let last = *allowed().last().unwrap();
    for environment in observed(["--cpus", &format!("{last}-{last}")], "threads") {
        assert_eq!((environment.cpus.as_str(), environment.smt), (last.to_string().as_str(), Some(false)));
    }
    let first = allowed()[0];
    for environment in observed(["--cpus", "1", "--smt", "off"], "threads") {
        assert_eq!((environment.cpus.as_str(), environment.smt), (first.to_string().as_str(), Some(false)));
    }
}

#[test]
fn so_does_each_process_of_one() {
    let last = *allowed().last().unwrap();
    for environment in observed(["--cpus", &format!("{last}-{last}"), "--allocator", "libc"], "processes") {
        assert_eq!((environment.cpus.as_str(), environment.allocator.as_str()), (last.to_string().as_str(), "libc"));
    }
}

#[test]
fn memory_policies_are_found_as_they_were_asked_for() {
    if !has_numa() {
        eprintln!("not run: this system shows no NUMA nodes; make test-numa boots one that does");
        return;
    }
    for policy in ["local", "interleave:0", "bind:0", "preferred:0"] {
        for environment in observed(["--numa", policy, "--numa-cpus", "0"], "threads") {
            assert_eq!(environment.numa_policy.as_deref(), Some(policy));
            assert!(environment.numa_pages.iter().any(|pages| pages.node == 0 && pages.kib > 1000), "{environment:?}");
        }
    }
    for environment in observed([], "threads") {
        assert_eq!(environment.numa_policy.as_deref(), Some("default"));
    }
}

/// scripts/setup.sh installs jemalloc for this.
#[test]
fn an_allocator_is_found_where_malloc_comes_from() {
    for clients in ["threads", "processes"] {
        for environment in observed(["--allocator", "jemalloc"], clients) {
            assert!(environment.allocator.ends_with("/libjemalloc.so.2"), "{environment:?}");
        }
    }
    let path = observed(["--allocator", "jemalloc"], "threads")[0].allocator.clone();
    assert_eq!(observed(["--allocator", &path], "threads")[1].allocator, path);
}

#[test]
fn a_preloaded_library_of_the_caller_s_is_not_there_with_libc() {
    let lab = Lab::new();
    let jemalloc = observed(["--allocator", "jemalloc"], "threads")[0].allocator.clone();
    let run = |out: &str, allocator: &[&str]| {
        let mut command = lab.kvdyno();
        command.args(["compare", "lmdb", "--records", "2000", "--readers", "1", "--operations", "200", "--out", out]);
        command.args(["--warmup", "0s"]).args(allocator).env("LD_PRELOAD", &jemalloc);
        RunningKvdyno::start(lab.clone(), command).ends().exits(0);
        kvdyno_results::folder::ResultsFolder::at(lab.path(out)).results().unwrap().remove(0).environment.allocator
    };
    assert_eq!(run("as-it-is", &[]), jemalloc);
    assert_eq!(run("libc", &["--allocator", "libc"]), "libc");
}

/// A library that is loaded, but is no allocator: `malloc` stays the C library's.
#[test]
fn a_trial_in_another_environment_than_was_requested_fails() {
    let lab = Lab::new();
    lab.write("empty.c", "int nothing_at_all;\n");
    let library = lab.path("libempty.so").canonicalize().unwrap_or_else(|_| lab.path("libempty.so"));
    let compiled =
        Command::new("cc").arg("-shared").arg("-fPIC").arg("-o").arg(&library).arg(lab.path("empty.c")).status();
    assert!(compiled.unwrap().success());
    let comparison = lab.compare(["lmdb"]).operations(200);
    let ran = comparison.arguments(["--allocator", library.to_str().unwrap()]).run();
    ran.exits(1).reports_failures();
    let words = "malloc was to come from";
    ran.trial("lmdb", "load")
        .failed("environment", words)
        .failed("environment", "the worker found it to come from libc");
}

// ---- what is told

#[test]
fn an_environment_that_was_requested_is_in_the_report() {
    let lab = Lab::new();
    let ran = lab.compare(["lmdb"]).operations(200).arguments(["--cpus", "1"]).run();
    ran.is_clean();
    assert!(ran.stdout.contains("Observed environment"), "{}", ran.stdout);
    let page = fs::read_to_string(lab.path("results/report/index.html")).unwrap();
    assert!(page.contains("id=\"environment\""));
    let plain = Lab::new().compare(["lmdb"]).operations(200).run();
    assert!(!plain.stdout.contains("Observed environment"), "{}", plain.stdout);
}

#[test]
fn the_machine_says_which_environments_it_can_give() {
    let lab = Lab::new();
    let ran = lab.run(["machine"]);
    ran.exits(0);
    for part in ["CPUs: ", "NUMA: ", "memory limit: ", "allocators: ", "storage: ", "user: "] {
        assert!(ran.stdout.contains(part), "{}", ran.stdout);
    }
}

#[test]
fn the_command_line_writes_the_section() {
    let lab = Lab::new();
    let ran = lab.run(["compare", "lmdb", "--cpus", "1", "--numa-cpus", "0", "--allocator", "libc", "--dry-run"]);
    let section = ran.exits(0).stdout.split("[environment]\n").nth(1).unwrap().split("\n\n").next().unwrap().to_owned();
    assert_snapshot!(section, @r#"
    cpus = 1
    numa_cpus = "0"
    allocator = "libc"
    cache_state = "warm"
    storage = "folder"
    "#);
}

/// The switch of the machine is the upper limit: what is below it is set, what is above it is refused.
#[test]
fn huge_pages_are_limited_and_counted() {
    let switch = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    for environment in observed(["--huge-pages", "never"], "threads") {
        assert!(environment.figures.iter().all(|figure| figure.value.number() == Some(0.0)), "{environment:?}");
    }
    if !switch.contains("[always]") {
        refused(["--huge-pages", "always"]).says("environment.huge_pages: ").says("it can be \"never\"");
    }
    refused(["--huge-pages", "sometimes"]).says("`sometimes` is not a use of huge pages");
}
