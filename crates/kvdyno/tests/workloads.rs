//! Workloads do what they say, to the record, on every engine, and cost no memory for their keys.

use std::cell::Cell;
use std::fs;

use kvdyno_model::{Arrival, ArrivalKind, Durability};

use crate::support::{Comparison, Lab, Ran, eventually};
use kvdyno_results::{Operations, TrialResult};

fn reads(ran: &Ran, engine: &str, workload: &str) -> u64 {
    let trial = ran.trial(engine, workload);
    trial.result.operations.iter().filter(|o| !o.writes()).map(|o| o.operations).sum()
}

// ---- how much is done

#[test]
fn each_reader_does_as_many_operations_as_asked() {
    let lab = Lab::new();
    let reading = "readrandom,readseq,readreverse,readwhilewriting";
    let ran = lab.compare(["faulty", "lmdb"]).workload(reading).with("readers", 3).operations(1234).run();
    ran.is_clean();
    for engine in ["faulty", "lmdb"] {
        for workload in reading.split(',') {
            assert_eq!(reads(&ran, engine, workload), 3 * 1234, "{engine} {workload}");
        }
    }
}

/// Where nobody reads, the writers are what the workload is about.
#[test]
fn each_writer_of_an_overwrite_does_as_many_operations_as_asked() {
    let ran = Lab::new().compare(["faulty"]).workload("overwrite").with("readers", 2).operations(777).run();
    let result = ran.is_clean().trials("faulty", "overwrite").remove(0).result;
    assert_eq!((result.trial.readers, result.trial.writers), (0, 2));
    assert_eq!((result.operations[0].operations, result.operations[0].threads), (2 * 777, 2));
    assert_eq!(result.user_bytes_written, 2 * 777 * 116);
}

/// Longer, if the machine was busy when it was to end; a window that knows nothing of what was asked takes ten seconds.
#[test]
fn the_window_is_as_long_as_asked() {
    let ran =
        Lab::new().compare(["faulty"]).workload("readwhilewriting").milliseconds(400).with("warmup", "200ms").run();
    let window = ran.is_clean().trials("faulty", "readwhilewriting").remove(0).result.window.unwrap();
    assert!((0.4..4.0).contains(&window.seconds), "{window:?}");
    assert_eq!(window.warmup_seconds, 0.2);
}

/// Half a second at a thousand a second: as many operations as were due, less those that the result says were late.
#[track_caller]
fn comes_at_a_thousand_a_second(result: &TrialResult, operations: &Operations) {
    let (done, seconds) = (operations.operations as f64, result.window.as_ref().unwrap().seconds);
    let behind_s = operations.pacing.unwrap().behind_s;
    let due = 0.9 * 1000.0 * (0.5 - behind_s)..=1.1 * 1000.0 * seconds + 2.0;
    assert!(due.contains(&done), "{done} in {seconds} s, {behind_s} s behind");
}

/// A limit, not a wish: no more than was asked, and not much less.
#[test]
fn writes_keep_to_their_rate() {
    let limited = Lab::new().compare(["faulty", "lmdb"]).workload("readwhilewriting").milliseconds(500);
    // In slices what was late at the end of one is not due in the next.
    let ran = limited.with("write-rate", 1000).with("design", "turns").run();
    for engine in ["faulty", "lmdb"] {
        let result = ran.is_clean().trials(engine, "readwhilewriting").remove(0).result;
        assert_eq!(result.workload.write_rate, Some(1000.0));
        let [gets, puts] = result.operations.as_slice() else { panic!("{:?}", result.operations) };
        comes_at_a_thousand_a_second(&result, puts);
        assert!(gets.pacing.is_none() && gets.operations > 2 * puts.operations, "the reader is held back: {gets:?}");
    }
}

/// No operation comes before it is due: the last of 200 by two readers, 100 each at half of 1000 a second, 198 ms after
/// the first or later. A reader sleeps until then, unless it is behind by more than is between two operations.
#[test]
fn reads_come_when_they_are_due_and_all_are_answered() {
    let workloads = ["readrandom", "multireadrandom", "readwhilewriting"];
    for arrival in ArrivalKind::ALL.iter().map(|kind| Arrival::of(*kind)) {
        let open = Lab::new().compare(["faulty"]).workload(&workloads.join(",")).with("readers", 2).operations(100);
        let ran = open.with("read-rate", "1k/s").with("arrival", arrival).run();
        for workload in workloads {
            let result = ran.is_clean().trials("faulty", workload).remove(0).result;
            assert_eq!((result.workload.read_rate, result.workload.arrival), (Some(1000.0), Some(arrival)));
            assert_eq!(result.operations[0].operations, 200, "{workload}, {arrival}");
            let (pacing, seconds) = (result.operations[0].pacing.unwrap(), result.window.unwrap().seconds);
            assert!(pacing.sleeping_s > 0.0 || pacing.most_behind_s > 0.002, "{pacing:?}");
            assert!(arrival != Arrival::Fixed || seconds >= 0.198, "{seconds}");
        }
    }
}

#[test]
fn ranges_at_a_rate_are_no_more_than_were_due() {
    let open = Lab::new().compare(["faulty"]).workload("fwdrange").with("readers", 1).milliseconds(500);
    let result = open.with("read-rate", 1000).run().is_clean().trial("faulty", "fwdrange").result;
    comes_at_a_thousand_a_second(&result, &result.operations[0]);
}

/// More than any engine does, so the backlog grows, and report and result say so.
#[test]
fn a_rate_beyond_the_engine_is_told_as_not_kept() {
    let open = Lab::with_null().compare(["null"]).workload("readrandom").with("readers", 1).milliseconds(300);
    let ran = open.with("read-rate", "100M/s").run();
    let result = ran.exits(0).trials("null", "readrandom").remove(0).result;
    let pacing = result.operations[0].pacing.unwrap();
    assert!(!pacing.kept && pacing.behind_s > 0.003 && pacing.most_behind_s >= pacing.behind_s, "{pacing:?}");
    assert!(ran.lab.report("md").contains("The rate of get operations was not kept"), "{}", ran.lab.report("md"));
}

// ---- the steps of db_bench

const RANGES: &str = "fwdrange,revrange,fwdrangewhilewriting,revrangewhilewriting";

/// A range is a seek and ten steps, fewer at the end of the database; a batch is ten gets.
#[test]
fn ranges_and_batches_read_as_many_records_as_they_say() {
    for threads in [1, 2] {
        let steps = Lab::new().compare(["faulty", "lmdb", "leveldb", "rocksdb"]).with("readers", threads);
        let ran = steps.workload(&format!("{RANGES},multireadrandom")).operations(1000).run();
        for engine in ["faulty", "lmdb", "leveldb", "rocksdb"] {
            for (workload, kind, most) in [
                ("fwdrange", "range", 11),
                ("revrange", "range", 11),
                ("fwdrangewhilewriting", "range", 11),
                ("revrangewhilewriting", "range", 11),
                ("multireadrandom", "multiget", 10),
            ] {
                let result = ran.is_clean().trial(engine, workload).result;
                let reads = result.operations.iter().find(|o| !o.writes()).unwrap();
                assert_eq!(
                    (reads.kind.word(), reads.operations, reads.threads),
                    (kind, 1000 * u64::from(threads), threads)
                );
                let (records, all) = (reads.records, reads.operations * most);
                // Of 2000 records ten begin a range that is cut short.
                let expected = if kind == "range" { all * 99 / 100..all } else { all..all + 1 };
                assert!(expected.contains(&records), "{engine} {workload}: {records} of {all}");
                assert!((result.reads_per_s() / reads.operations_per_s - most as f64).abs() < 0.2);
            }
        }
    }
}

/// At either end of a database that is shorter than a range, and of one record.
#[test]
fn ranges_end_where_the_database_does() {
    for (records, per_range) in [(1, 1.0), (5, 3.0)] {
        let short = Lab::new().compare(["faulty", "lmdb", "rocksdb"]).with("records", records);
        let ran = short.workload(RANGES).operations(2000).run();
        for engine in ["faulty", "lmdb", "rocksdb"] {
            for workload in RANGES.split(',') {
                let result = ran.is_clean().trial(engine, workload).result;
                let reads = result.operations.iter().find(|o| !o.writes()).unwrap();
                let mean = reads.records as f64 / reads.operations as f64;
                assert!((mean - per_range).abs() < 0.2, "{engine} {workload}: {mean} records a range");
            }
        }
    }
}

#[test]
fn the_length_of_ranges_and_batches_and_where_ranges_begin_can_be_said() {
    let file = "engines = [\"faulty\"]\n[data]\nrecords = 1000\n[[run]]\nworkload = \"revrange\"\nreaders = [1]\n\
                operations = 500\nwarmup = \"0s\"\nseek_nexts = 3\nseek_within = 1\n[[run]]\nworkload = \"fwdrange\"\n\
                readers = [1]\noperations = 500\nwarmup = \"0s\"\nseek_nexts = 3\nseek_within = 1\n[[run]]\n\
                workload = \"multireadrandom\"\nreaders = [1]\noperations = 500\nwarmup = \"0s\"\nkeys_per_multiget = \
                25\n";
    let lab = Lab::new();
    lab.write("steps.toml", file);
    let ran = lab.run(["run", "steps.toml", "--out", "results"]);
    let of = |workload: &str| ran.is_clean().trial("faulty", workload).result;
    // All begin at result 0: before it there is none, after it there are three.
    assert_eq!(of("revrange").operations[0].records, 500);
    assert_eq!(of("fwdrange").operations[0].records, 500 * 4);
    assert_eq!(of("multireadrandom").operations[0].records, 500 * 25);
    assert_eq!((of("fwdrange").workload.seek_nexts, of("fwdrange").workload.seek_within), (Some(3), Some(1)));
    assert_eq!(of("multireadrandom").workload.keys_per_multiget, Some(25));
}

/// A tenth of the records, over all writers together.
#[test]
fn overwritesome_updates_a_tenth() {
    let ran = Lab::new().compare(["faulty", "lmdb"]).workload("overwritesome").with("readers", 2).run();
    for engine in ["faulty", "lmdb"] {
        let result = ran.is_clean().trial(engine, "overwritesome").result;
        assert_eq!((result.operations[0].operations, result.trial.writers), (200, 2));
    }
}

#[test]
fn overwriteandwait_flushes_and_says_how_long_that_took_or_that_it_could_not() {
    for threads in [1, 2] {
        let engines = Lab::new().compare(["faulty", "lmdb", "rocksdb"]).workload("overwriteandwait,readseq");
        let ran = engines.with("readers", threads).operations(2000).run();
        ran.is_clean();
        let settling = |engine: &str| {
            let result = ran.trial(engine, "overwriteandwait").result;
            (result.window.unwrap().settling.unwrap(), result.notes.join("\n"))
        };
        let (rocksdb, notes) = settling("rocksdb");
        assert!(rocksdb.flushed && rocksdb.waited && rocksdb.seconds > 0.0, "{rocksdb:?}");
        assert!(!notes.contains("no call that waits"), "{notes}");
        let (lmdb, notes) = settling("lmdb");
        assert!(lmdb.flushed && !lmdb.waited, "{lmdb:?}");
        assert!(notes.contains("no call that waits for background work"), "{notes}");
        assert!(ran.trial("lmdb", "readseq").result.window.unwrap().settling.is_none());
    }
}

/// It is the load that waits, for each engine as far as it has calls for that, and its rate knows nothing of it.
#[test]
fn a_load_settles_if_it_is_told_to_and_says_how_long_that_took() {
    let engines =
        || Lab::new().compare(["leveldb", "rocksdb"]).workload("readrandom").with("readers", 1).operations(1000);
    let ran = engines().arguments(["--settle"]).run();
    ran.is_clean();
    let settling = |engine: &str| {
        let result = ran.trial(engine, "load").result;
        let window = result.window.unwrap();
        assert!(window.settling.unwrap().seconds > 0.0);
        assert!(window.seconds + window.settling.unwrap().seconds <= result.os.wall_s + 0.02);
        assert!(ran.trial(engine, "readrandom").result.window.unwrap().settling.is_none());
        (window.settling.unwrap().waited, result.notes.join("\n"))
    };
    let (waited, notes) = settling("rocksdb");
    assert!(waited && !notes.contains("no call that waits"), "{notes}");
    let (waited, notes) = settling("leveldb");
    assert!(!waited && notes.contains("no call that waits for background work"), "{notes}");
    assert!(ran.stdout.contains("settling"), "{}", ran.stdout);
    let ran = engines().run();
    assert!(ran.is_clean().trial("rocksdb", "load").result.window.unwrap().settling.is_none());
    assert!(!ran.stdout.contains("settling"), "{}", ran.stdout);
}

/// The null engine has no multi-get: its gets one after the other are a batch all the same, and the result says so.
#[test]
fn an_engine_without_multi_get_reads_a_batch_one_by_one() {
    let ran = Lab::with_null().compare(["null"]).workload("multireadrandom").with("readers", 2).operations(1000).run();
    let result = ran.exits(0).trials("null", "multireadrandom").remove(0).result;
    assert_eq!((result.operations[0].operations, result.operations[0].records), (2000, 20_000));
    assert!(result.notes.iter().any(|note| note.contains("has no multi-get")), "{:?}", result.notes);
    let ran = Lab::new().compare(["lmdb"]).workload("multireadrandom").operations(100).run();
    assert!(ran.trial("lmdb", "multireadrandom").result.notes.iter().all(|note| !note.contains("multi-get")));
}

/// Bytes of keys and values, as db_bench's limit is.
#[test]
fn a_rate_of_writes_can_be_in_bytes() {
    let limited = Lab::new().compare(["faulty"]).workload("fwdrangewhilewriting").milliseconds(500);
    let result = limited.with("write-rate", "116KB/s").run().is_clean().trial("faulty", "fwdrangewhilewriting").result;
    assert_eq!(result.workload.write_rate, Some(1000.0));
    comes_at_a_thousand_a_second(&result, result.operations.iter().find(|o| o.writes()).unwrap());
}

/// CPU time and context switches within the measured part alone.
#[test]
fn the_window_has_cpu_time_and_context_switches_of_its_own() {
    let slow = Lab::new().compare(["faulty"]).workload("readrandom").milliseconds(300).fault("slow-get", 1);
    let result = slow.run().is_clean().trial("faulty", "readrandom").result;
    let switches = result.window.as_ref().unwrap().ctx_switches.unwrap();
    let gets = result.operations[0].operations;
    assert!((gets / 2..=result.os.ctx_voluntary + result.os.ctx_involuntary).contains(&switches), "{switches}, {gets}");
    let read = result.window.as_ref().unwrap().read_bytes.unwrap();
    assert!(read <= result.os.fs_in_ops * 512, "{read} bytes in the window, {} blocks in all", result.os.fs_in_ops);
    assert!(result.context_switches_per_s().unwrap() > 0.0 && result.cpu_us_per_operation().is_some());
}

// ---- loads

/// The load without a log, the runs with one.
#[test]
fn a_load_may_have_a_durability_of_its_own() {
    let lab = Lab::new();
    lab.write(
        "load.toml",
        "engines = [\"faulty\", \"rocksdb\"]\n[data]\nrecords = 2000\n[load]\ndurability = \"none\"\n[[run]]\n\
         workload = \"readseq\"\nreaders = [1]\noperations = 2000\nwarmup = \"0s\"\n",
    );
    let ran = lab.run(["run", "load.toml", "--out", "results"]);
    for engine in ["faulty", "rocksdb"] {
        let durability = |workload: &str| ran.is_clean().trial(engine, workload).result.workload.durability;
        assert_eq!((durability("load"), durability("readseq")), (Durability::None, Durability::Process));
    }
}

/// All records come back in order, so all were loaded; as many were written as there are, so each was once.
#[track_caller]
fn loads_everything_once(load: Comparison, records: u64) -> Ran {
    let ran = load.with("records", records).workload("readseq,readreverse").operations(2 * records).run();
    ran.is_clean();
    for result in ran.results().into_iter().filter(|result| result.trial.readers == 0) {
        let loaded: u64 = result.operations.iter().map(|o| o.records).sum();
        assert_eq!((loaded, result.user_bytes_written), (records, records * 116), "{:?}", result.trial);
    }
    ran
}

#[test]
fn loads_in_order_write_every_record_once() {
    for records in [1, 999, 1000, 1001, 12_345] {
        loads_everything_once(Lab::new().compare(["faulty"]).with("load", "fillseq"), records);
    }
}

#[test]
fn loads_at_random_write_every_record_once() {
    for records in [1, 2, 999, 12_345] {
        loads_everything_once(Lab::new().compare(["faulty"]).with("load", "fillrandom"), records);
    }
    loads_everything_once(Lab::new().compare(["lmdb", "leveldb", "rocksdb"]).with("load", "fillrandom"), 5000);
}

#[test]
fn several_threads_share_a_load() {
    for load in ["fillseq", "fillrandom"] {
        let lab = Lab::new();
        let shared =
            lab.compare(["faulty", "rocksdb"]).with("load", load).with("load-batch", 7).with("load-writers", 3);
        let ran = loads_everything_once(shared, 5000);
        assert_eq!(ran.trial("faulty", "load").result.operations[0].threads, 3);
    }
}

#[test]
fn a_batch_of_one_is_a_put() {
    let ran = loads_everything_once(Lab::new().compare(["faulty", "lmdb"]).with("load-batch", 1), 1500);
    for engine in ["faulty", "lmdb"] {
        let operations = &ran.trial(engine, "load").result.operations[0];
        assert_eq!((operations.kind.word(), operations.operations), ("put", 1500));
    }
}

#[test]
fn batches_are_as_large_as_asked() {
    let ran = loads_everything_once(Lab::new().compare(["faulty", "lmdb"]).with("load-batch", 100), 1550);
    for engine in ["faulty", "lmdb"] {
        let operations = &ran.trial(engine, "load").result.operations[0];
        assert_eq!((operations.kind.word(), operations.operations, operations.records), ("batch", 16, 1550));
    }
}

/// The load is at `commit`, the run is not, and the result says so in the engine's words too.
#[test]
fn a_load_at_commit_is_synced() {
    let engines = ["faulty", "lmdb", "leveldb", "rocksdb"];
    let ran = loads_everything_once(
        Lab::new().compare(engines).with("load-batch", 500).with("load-durability", "commit"),
        2000,
    );
    for engine in engines {
        let (load, run) = (ran.trial(engine, "load").result, ran.trial(engine, "readseq").result);
        assert_eq!((load.workload.durability, run.workload.durability), (Durability::Commit, Durability::Process));
        assert_ne!(of_topic(&load, "durability"), of_topic(&run, "durability"), "{engine}");
    }
}

fn of_topic(result: &TrialResult, topic: &str) -> Vec<(String, String)> {
    let settings = result.engine.settings.iter().filter(|setting| setting.topic == topic);
    settings.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
}

// ---- every size, every format, every level

/// Reads beside a writer, and scans after it, on four engines.
fn everything() -> Comparison {
    let engines = Lab::new().compare(["faulty", "lmdb", "leveldb", "rocksdb"]).with("records", 1000);
    engines.workload("readwhilewriting,readseq,readreverse").operations(2000)
}

#[test]
fn small_values_are_right() {
    for (size, format) in [(0, "hex"), (3, "decimal"), (8, "binary"), (16, "hex"), (24, "decimal")] {
        everything().with("value-size", size).with("key-format", format).run().is_clean();
    }
}

#[test]
fn large_values_and_all_formats_of_keys_are_right() {
    for (size, format) in [(100, "hex"), (100, "decimal"), (100, "binary"), (4000, "binary")] {
        everything().with("value-size", size).with("key-format", format).run().is_clean();
    }
}

#[test]
fn short_and_long_keys_are_right() {
    for (size, format) in [(8, "binary"), (9, "decimal"), (500, "hex"), (500, "decimal")] {
        everything().with("key-size", size).with("key-format", format).run().is_clean();
    }
}

#[test]
fn values_that_compress_are_right() {
    for compressibility in ["0", "1"] {
        everything().with("compressibility", compressibility).with("value-size", 1000).run().is_clean();
    }
}

#[test]
fn every_level_of_durability_is_right() {
    for level in Durability::ALL {
        let ran = everything().operations(200).with("durability", level).run();
        ran.is_clean();
        assert!(ran.results().iter().all(|result| result.workload.durability == *level));
    }
}

/// Updates of one trial are there in the next, by the ledger of acknowledged writes.
#[test]
fn updates_stay_from_trial_to_trial() {
    let engines = ["faulty", "lmdb", "leveldb", "rocksdb"];
    let updates = "overwrite,readrandom,readwhilewriting,readseq,overwrite,readreverse";
    let ran = Lab::new().compare(engines).with("records", 500).workload(updates).operations(2000).run();
    ran.is_clean();
}

// ---- order

#[test]
fn engines_take_turns_or_come_one_after_the_other() {
    let order = |order: &str| {
        let quick = Lab::new().compare(["faulty", "lmdb"]).workload("readrandom").operations(100);
        let ran = quick.with("readers", "1,2").with("order", order).run();
        ran.is_clean();
        ran.results().into_iter().map(|result| result.trial.engine).collect::<Vec<_>>()
    };
    // Who is first in a step is drawn.
    let steps = order("interleaved");
    assert!(steps.len() == 6 && steps.chunks(2).all(|step| step[0] != step[1]), "{steps:?}");
    let blocks = order("sequential").join(" ");
    let (one, other) = ("faulty faulty faulty", "lmdb lmdb lmdb");
    assert!([format!("{one} {other}"), format!("{other} {one}")].contains(&blocks), "{blocks}");
}

/// When sequential, the storage needs room for one database at a time.
#[test]
fn one_after_the_other_there_is_one_database_at_a_time() {
    let slow =
        Lab::new().compare(["faulty", "lmdb"]).workload("readrandom").milliseconds(300).with("order", "sequential");
    let running = slow.start();
    let most = Cell::new(0);
    eventually("all four trials", || {
        most.set(most.get().max(running.lab().databases().len()));
        running.lab().result_files().len() == 4
    });
    assert_eq!(most.get(), 1);
    running.ends().is_clean();
}

// ---- memory

/// Keys and their permutation are computed, not stored; what is known of them is in a ledger of a million slots.
/// Loading four billion records would take minutes, so the file of a run on a million is changed after its load: the
/// null engine has no database that could tell.
#[test]
fn four_billion_records_take_no_more_memory_than_a_million() {
    for (workload, mix, trial) in [
        ("readrandom", None, "0002-null-readrandom-1r0w"),
        ("overwrite", None, "0002-null-overwrite-0r1w"),
        ("mix", Some("get 50, put 50"), "0002-null-mix-0r1w"),
        ("mix", Some("get 50, insert 50"), "0002-null-mix-0r1w"),
    ] {
        let few = null(workload);
        let few = mix.map_or(few.clone(), |mix| few.with("mix", mix)).run();
        few.exits(0);
        let few_kib = few.trial("null", workload).result.os.peak_rss_kib;
        let file = few.lab.folder().experiment_file();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("records = 1048576\n"), "{text}");
        fs::write(file, text.replace("records = 1048576\n", "records = 4_000_000_000\n")).unwrap();
        // So that it is the experiment that was begun.
        let plan = few.lab.path("results/plan.json");
        let text = fs::read_to_string(&plan).unwrap();
        assert!(text.contains("\"records\": 1048576,"), "{text}");
        fs::write(plan, text.replace("\"records\": 1048576,", "\"records\": 4000000000,")).unwrap();
        fs::remove_dir_all(few.lab.path("results/trials").join(trial)).unwrap();
        let many = few.lab.resume();
        let result = many.exits(0).trials("null", workload).remove(0).result;
        assert_eq!(result.workload.records, 4_000_000_000);
        let many_kib = result.os.peak_rss_kib;
        assert!(many_kib.abs_diff(few_kib) < 2048, "{workload}: {few_kib} KiB for few, {many_kib} KiB for many");
    }
}

fn null(workload: &str) -> Comparison {
    let null = Lab::with_null().compare(["null"]).with("records", 1 << 20).workload(workload).operations(200_000);
    null.arguments(["--keep"])
}
