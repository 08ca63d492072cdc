//! Amplification of an engine whose own is known by construction: what it was told to read, write and take for each
//! byte of keys and values is what results and reports have, in the layers in which that can be known.

use crate::support::{Lab, Ran, may_set_the_environment};
use kvdyno_results::{Layer, ResourcePoint, Side, TrialResult};

const RECORD: u64 = 16 + 100;
const RECORDS: u64 = 50_000;
const OPERATIONS: u64 = 100_000;
const READ: f64 = 6.0;
const WRITE: f64 = 8.0;
const SPACE: f64 = 3.0;

/// A load, reads, and updates, of an engine that amplifies all three, on what `environment` says.
fn run(environment: &str) -> Ran {
    let text = format!(
        r#"
        engines = ["synthetic"]
        [environment]
        {environment}
        [data]
        records = {RECORDS}
        [[run]]
        workload = "readrandom"
        readers = [2]
        operations = {}
        warmup = "0s"
        [[run]]
        workload = "ycsb-f"
        readers = [1]
        operations = {OPERATIONS}
        warmup = "0s"
        [engine.synthetic.options]
        get_ns = 0
        put_ns = 0
        read_amplification = {READ:?}
        write_amplification = {WRITE:?}
        space_amplification = {SPACE:?}
        [lab]
        min_free = "16MiB"
        "#,
        OPERATIONS / 2
    );
    let lab = Lab::new();
    lab.write("experiment.toml", &text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_clean();
    ran
}

#[track_caller]
fn is_near(measured: Option<f64>, truth: f64) {
    let measured = measured.expect("it is known");
    assert!((measured - truth).abs() <= 0.01 * truth, "{measured} and not {truth}");
}

#[track_caller]
fn is_as_ordered(result: &TrialResult, layer: Layer) {
    let of = |side| result.amplification(layer, side);
    if result.user_bytes_read > Some(0) {
        is_near(of(Side::Reads), READ);
    }
    if result.user_bytes_written > 0 {
        is_near(of(Side::Writes), WRITE);
    }
    is_near(result.space_amplification(), SPACE);
    is_near(result.apparent_space_amplification(), SPACE);
}

#[test]
fn calls_and_space_are_what_the_engine_was_told() {
    let ran = run("");
    let requested = |what: &str| {
        let result = ran.trial("synthetic", what).result;
        is_as_ordered(&result, Layer::Calls);
        (result.user_bytes_read, result.user_bytes_written)
    };
    assert_eq!(requested("load"), (Some(0), RECORDS * RECORD));
    assert_eq!(requested("readrandom"), (Some(OPERATIONS * RECORD), 0));
    let (read, written) = requested("ycsb-f");
    // Half of its operations read, and half read and write what they read.
    assert_eq!(read, Some(OPERATIONS * RECORD));
    assert!((OPERATIONS / 3 * RECORD..OPERATIONS * RECORD).contains(&written), "{written}");
    let table = &ran.lab.run(["report", "results", "--tables", "all"]).stdout;
    assert!(table.contains("calls read") && table.contains("space amp."), "{table}");
    let page = std::fs::read_to_string(ran.lab.path("results/report/index.html")).unwrap();
    assert!(page.contains("Read, update and space amplification"));
}

/// The counts of an engine are in the result, of the measured part: of a load all but the last piece, which comes
/// when the database is closed; of an engine that counts nothing, nothing.
#[test]
fn counters_of_the_engine_are_of_the_measured_part() {
    let lab = Lab::new();
    let compared = lab.compare(["synthetic", "lmdb"]).with("records", RECORDS).workload("readrandom").operations(100);
    let ran = compared.option("synthetic.write_amplification=8").run();
    ran.is_clean();
    let counters = |engine: &str, what: &str| ran.trial(engine, what).result.window.unwrap().counters;
    let flushed = counters("synthetic", "load").unwrap().flushed_bytes;
    is_near(flushed.map(|bytes| bytes as f64), 8.0 * (RECORDS * RECORD) as f64);
    assert_eq!(counters("lmdb", "load"), None);
    assert!(lab.report("csv").lines().next().unwrap().contains(",flushed_bytes,compacted_bytes,stalled_s,"));
}

/// On a device of its own nothing but the filesystem comes between.
#[test]
fn the_device_sees_what_the_engine_was_told() {
    if !may_set_the_environment() {
        return;
    }
    let ran = run("storage = \"ext4-nojournal\"\nstorage_size = \"200MiB\"");
    ran.lab.has_given_back();
    for what in ["load", "readrandom", "ycsb-f"] {
        let result = ran.trial("synthetic", what).result;
        is_as_ordered(&result, Layer::Calls);
        is_as_ordered(&result, Layer::Storage);
    }
}

/// Past the page cache, an engine writes to the device of its database what it counts: flushes and merges of RocksDB's
/// without a log, evictions and checkpoints of WiredTiger's. Rewrites in the page cache would be one write.
#[test]
fn what_engines_count_as_written_the_device_has_seen() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let compared = lab.compare(["rocksdb", "wiredtiger"]).workload("overwrite").operations(100_000);
    let sized = compared.with("records", 100_000).with("value-size", 1000).with("write-buffer", "2MiB");
    let direct = sized
        .with("cache", "16MiB")
        .with("durability", "none")
        .with("storage", "ext4")
        .with("design", "turns")
        .option("rocksdb.statistics=true")
        .option("rocksdb.direct_io_flush_compaction=true")
        .option("wiredtiger.direct_io=true");
    let ran = direct.run();
    for engine in ["rocksdb", "wiredtiger"] {
        let points = lab.folder().resources(&ran.trial(engine, "overwrite").result.trial).unwrap();
        // A point whose counters were not answered in time leaves them to the next.
        let answered = points.iter().rposition(|point| point.flushed_bytes.is_some()).unwrap();
        let sum = |of: fn(&ResourcePoint) -> Option<u64>| points[..=answered].iter().filter_map(of).sum::<u64>();
        let counted = sum(|point| Some(point.flushed_bytes? + point.compacted_bytes.unwrap_or(0)));
        let seen = sum(|point| point.device_write_bytes);
        assert!(seen > 20 << 20, "{engine}: {points:?}");
        assert!(counted.abs_diff(seen) <= seen / 20, "{engine} counted {counted}, its device {seen}: {points:?}");
    }
}

/// Bad input: an error that names the option, before anything is touched.
#[test]
fn no_engine_amplifies_by_less_than_nothing() {
    let ran = Lab::new().compare(["synthetic"]).option("synthetic.write_amplification=-1").run();
    ran.exits(2).says("write_amplification is -1; it is 0 to 1000");
    assert!(!ran.lab.path("results").exists());
}

/// WiredTiger's log files are 100 MB long from the start, of which nearly all was only set aside.
#[test]
fn logs_and_what_was_set_aside_are_told_from_data() {
    let lab = Lab::new();
    let ran = lab.compare(["wiredtiger:btree", "lmdb"]).with("durability", "commit").with("duration", "200ms").run();
    let space = |engine: &str| ran.trial(engine, "load").result.space;
    let (with_log, without) = (space("wiredtiger:btree"), space("lmdb"));
    assert_eq!(without.log_kib, Some(0), "{without:?}");
    let (log, preallocated) = (with_log.log_kib.unwrap(), with_log.preallocated_kib.unwrap());
    // 2000 records of 116 bytes are in the log, and in the table.
    assert!((226..10_000).contains(&log) && preallocated > 90_000, "{with_log:?}");
    let data = with_log.data_kib().unwrap();
    assert!((226..10_000).contains(&data) && data + log + preallocated == with_log.db_kib, "{with_log:?}");
    let page = lab.report("md");
    assert!(page.contains("preallocated KiB") && page.contains("preallocated space takes"), "{page}");
}
