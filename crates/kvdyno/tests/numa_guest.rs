//! Whether each environment of `tests/numa/environments.toml` was what it says, by the records that a machine of four
//! nodes left. `make test-numa` boots it and runs this; by itself there is nothing to look at.

use std::fs;
use std::path::PathBuf;

use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{Phase, TrialResult};

const NODES: usize = 4;
/// KiB of keys and values in each database: 20,000 records of 16 + 400 bytes.
const DATA_KIB: u64 = 20_000 * 416 / 1024;

fn results() -> ResultsFolder {
    let folder = std::env::var_os("KVDYNO_NUMA_RESULTS").expect("KVDYNO_NUMA_RESULTS, as make test-numa sets it");
    ResultsFolder::at(PathBuf::from(folder))
}

/// The records of a variant, a load and a run for each of so many engines, all finished.
fn of_variant(name: &str, engines: usize) -> Vec<TrialResult> {
    let results: Vec<TrialResult> =
        results().results().unwrap().into_iter().filter(|r| r.trial.variant == name).collect();
    assert_eq!(results.len(), 2 * engines, "variant {name}");
    for result in &results {
        assert!(result.is_finished(), "{:?}: {:?}", result.trial, result.outcome);
    }
    results
}

/// A worker's KiB on each node.
#[derive(Debug)]
struct Pages {
    /// Of no file: heap, stacks, caches.
    own: [u64; NODES],
    /// Of files: the database among them, the programs too.
    files: [u64; NODES],
}

fn pages(result: &TrialResult) -> Pages {
    let mut all = Pages { own: [0; NODES], files: [0; NODES] };
    for pages in &result.environment.numa_pages {
        all.own[pages.node as usize] = pages.kib - pages.file_kib;
        all.files[pages.node as usize] = pages.file_kib;
    }
    all
}

/// By how many KiB a node's share of `own` KiB can be short by chance: four standard deviations. Pages of files take
/// their turn among a process's own, so on which node one of these falls is as good as drawn.
fn chance_kib(own: u64, nodes: usize) -> f64 {
    let (pages, share) = (own as f64 / 4.0, 1.0 / nodes as f64);
    4.0 * 4.0 * (pages * share * (1.0 - share)).sqrt()
}

/// Every trial of a variant has the policy, and its memory on these nodes alone, each with at least `share` of it: its
/// own pages strictly; those of files as far as the database's go, for programs were there before.
#[track_caller]
fn memory(variant: &str, policy: &str, nodes: &[usize], share: f64) {
    for result in of_variant(variant, 2) {
        let (pages, title) = (pages(&result), format!("{:?}", result.trial));
        assert_eq!(result.environment.numa_policy.as_deref(), Some(policy), "{title}");
        let own: u64 = pages.own.iter().sum();
        let elsewhere: u64 = (0..NODES).filter(|node| !nodes.contains(node)).map(|node| pages.own[node]).sum();
        assert_eq!(elsewhere, 0, "{title}: {pages:?}");
        for node in nodes {
            let least = (own as f64 * share - chance_kib(own, nodes.len())).max(0.0) as u64;
            assert!(pages.own[*node] >= least, "{title}: less than {least} KiB on node {node}: {pages:?}");
        }
        let is_run = result.trial.phase == Phase::Run;
        match result.engine.name.as_str() {
            // Its pages are the database's file, of which the run has read nearly all.
            "lmdb" if is_run => {
                for node in nodes {
                    let least = (DATA_KIB as f64 * share * 0.9) as u64;
                    assert!(
                        pages.files[*node] >= least,
                        "{title}: less than {least} KiB of files on {node}: {pages:?}"
                    );
                }
            }
            // Its cache is its own memory, and holds the database.
            "bdb" if is_run => assert!(own >= DATA_KIB * 9 / 10, "{title}: {pages:?}"),
            _ => {}
        }
    }
}

#[track_caller]
fn processors(variant: &str, engines: usize, cpus: &str, smt: bool) {
    for result in of_variant(variant, engines) {
        assert_eq!((result.environment.cpus.as_str(), result.environment.smt), (cpus, Some(smt)), "{:?}", result.trial);
    }
}

#[test]
#[ignore = "make test-numa"]
fn the_machine_has_four_nodes_of_one_core_with_two_threads() {
    let machine = results().machine().unwrap().unwrap();
    assert_eq!((machine.cpu.threads, machine.cpu.cores, machine.cpu.sockets), (8, 4, 4));
    let distances: Vec<_> = machine.numa.iter().map(|node| node.distances.clone()).collect();
    assert_eq!(distances, [[10, 16, 22, 16], [16, 10, 16, 22], [22, 16, 10, 16], [16, 22, 16, 10]]);
}

#[test]
#[ignore = "make test-numa"]
fn local_memory_is_of_the_node_whose_processors_run() {
    memory("local", "local", &[3], 1.0);
    processors("local", 2, "6-7", true);
}

#[test]
#[ignore = "make test-numa"]
fn interleaved_memory_is_spread_evenly() {
    memory("interleave", "interleave:0-3", &[0, 1, 2, 3], 0.2);
    processors("interleave", 2, "0-7", true);
}

#[test]
#[ignore = "make test-numa"]
fn interleaved_memory_is_of_the_nodes_that_were_named_alone() {
    memory("interleave:0,2", "interleave:0,2", &[0, 2], 0.42);
}

#[test]
#[ignore = "make test-numa"]
fn bound_memory_is_of_that_node_alone() {
    memory("bind:2", "bind:2", &[2], 1.0);
}

#[test]
#[ignore = "make test-numa"]
fn preferred_memory_is_of_that_node_whoever_runs() {
    memory("preferred:1", "preferred:1", &[1], 1.0);
    processors("preferred:1", 2, "6-7", true);
}

/// The names of the variants say what must be found.
#[test]
#[ignore = "make test-numa"]
fn processors_are_those_that_were_asked_for() {
    let mut looked_at = 0;
    let mut variants: Vec<String> = results().results().unwrap().into_iter().map(|r| r.trial.variant).collect();
    variants.dedup();
    for variant in variants {
        let Some((cpus, smt)) = variant.split_once(' ') else { continue };
        processors(&variant, 1, cpus, smt == "on");
        looked_at += 1;
    }
    assert_eq!(looked_at, 5);
}

#[test]
#[ignore = "make test-numa"]
fn what_this_machine_has_not_is_refused() {
    let refused = fs::read_to_string(results().root().join("refused")).unwrap();
    assert_eq!(refused.lines().count(), 6, "{refused}");
    assert!(refused.lines().all(|line| line.ends_with(": 2")), "{refused}");
}

#[test]
#[ignore = "make test-numa"]
fn a_user_without_rights_limits_memory_in_a_scope() {
    let limit = 128 << 20;
    let records = ResultsFolder::at(results().root().join("scope")).results().unwrap();
    assert_eq!(records.len(), 2, "a load and a run");
    for result in records {
        assert!(result.is_finished(), "{:?}: {:?}", result.trial, result.outcome);
        assert_eq!(result.environment.memory_limit, Some(limit));
        let peak = result.environment.memory_peak.unwrap();
        assert!(peak > 1 << 20 && peak <= limit, "{peak}");
    }
}
