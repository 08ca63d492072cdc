//! Data that an engine keeps outside its database's folder, and memory beyond what it was given, are doubts.

use kvdyno_results::{KeptOutside, TrialResult};

use crate::support::{Lab, Ran};

/// 2.3 MB of records.
const RECORDS: u64 = 20_000;
const HIDDEN_KIB: u64 = 64 * 1024;

fn hiding(location: &str, cache: &str) -> Ran {
    let comparison = Lab::new().compare(["faulty"]).with("records", RECORDS).operations(3000);
    let comparison = comparison.workload("overwrite").with("cache", cache).with("write-buffer", "64KiB");
    let hides = comparison.option(&format!("faulty.hides={location}")).option("faulty.fill_limit=64MiB").run();
    hides.exits(0).is_whole();
    hides
}

fn outside(result: &TrialResult) -> &KeptOutside {
    result.environment.outside.as_ref().unwrap()
}

const IN_FILES: &str = "KiB open outside its database's folder, the largest";
const IN_MEMORY: &str = "KiB of memory, where its cache and write buffers were to have";

#[test]
fn files_outside_the_folder_are_told() {
    let ran = hiding("file", "64MiB");
    for result in ran.results() {
        let kept = outside(&result);
        let path = kept.largest_file.as_ref().unwrap().to_string_lossy();
        assert!(kept.files_kib >= HIDDEN_KIB && path.ends_with(" (deleted)"), "{kept:?}");
        assert!(path.contains("kvdyno-faulty-hidden"), "{path}");
    }
    let report = ran.lab.report("json");
    assert!(report.contains(IN_FILES) && !report.contains(IN_MEMORY));
}

#[test]
fn memory_is_told_where_the_cache_cannot_hold_all() {
    for location in ["memory", "shared-memory"] {
        let ran = hiding(location, "1MiB");
        assert!(ran.results().iter().all(|result| outside(result).memory_kib >= HIDDEN_KIB), "{location}");
        let report = ran.lab.report("json");
        assert!(report.contains(IN_MEMORY) && !report.contains(IN_FILES), "{location}");
        let report = hiding(location, "64MiB").lab.report("json");
        assert!(!report.contains(IN_MEMORY), "{location}: the cache may hold all records");
    }
}

#[test]
fn an_engine_that_keeps_to_its_folder_is_not_doubted() {
    let sound = Lab::new().compare(["lmdb", "rocksdb", "leveldb"]).with("records", RECORDS).operations(3000);
    let ran = sound.workload("overwrite").with("cache", "1MiB").with("write-buffer", "256KiB").run();
    ran.exits(0).is_whole();
    for result in ran.results() {
        assert_eq!(outside(&result).files_kib, 0, "{:?}", result.trial);
    }
    assert!(!ran.lab.report("json").contains(IN_FILES));
}
