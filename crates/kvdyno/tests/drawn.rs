//! Sizes of values, lengths of ranges and key ranges by laws with numbers, and mixes at a rate: each is verified on
//! every kind of work, and impossible numbers are refused before anything is touched.

use kvdyno_model::{Arrival, ArrivalKind};

use crate::support::{Comparison, Lab};

/// Every kind of work that reads or writes values.
const WORKLOADS: &str = "readrandom,readseq,readreverse,multireadrandom,fwdrange,overwrite,readwhilewriting";

fn drawn(sizes: &str, engine: &str) -> Comparison {
    Lab::new().compare([engine]).with("records", 1000).with("value-size", sizes).operations(2000).with("readers", 2)
}

// ---- sizes of values

#[test]
fn values_of_drawn_sizes_are_right_wherever_they_are_read() {
    for sizes in ["uniform 24 2000", "normal 300 100", "pareto 0.2615 25.45", "histogram 24 1, 100 5, 9000 0.5"] {
        let ran = drawn(sizes, "lmdb").workload(WORKLOADS).run();
        ran.is_clean();
        let result = ran.trials("lmdb", "overwrite").remove(0).result;
        assert!(result.workload.value_sizes.is_some_and(|drawn| drawn.to_string().starts_with(sizes)));
        let (mean, writes) = (result.workload.value_size as f64, 4000.0);
        let bytes = result.user_bytes_written as f64 / writes - 16.0;
        assert!((bytes / mean - 1.0).abs() < 0.2, "{sizes}: {bytes} bytes a value, {mean} expected");
    }
}

#[test]
fn values_of_drawn_sizes_are_right_in_mixes_and_for_an_engine_that_keeps_none() {
    let mix = "get 40, put 30, range 10, read-modify-write 20";
    drawn("uniform 24 500", "lmdb").workload("mix").with("mix", mix).run().is_clean();
    let inserts = drawn("uniform 24 500", "lmdb").workload("mix").with("mix", "get 50, insert 50");
    inserts.run().is_clean();
    let null = Lab::with_null().compare(["null"]).with("value-size", "uniform 24 500").operations(2000);
    null.workload("readrandom").run().exits(0);
}

/// A fault strikes at each 97th operation.
#[test]
fn wrong_values_of_drawn_sizes_are_caught() {
    let faults = ["other-key", "flipped-bit", "short-value", "torn-value"];
    for (fault, workload) in faults.iter().flat_map(|fault| ["readrandom", "readseq"].map(|work| (*fault, work))) {
        let ran = drawn("uniform 24 500", "faulty").workload(workload).fault(fault, 97).run();
        let answers = ran.exits(1).trials("faulty", workload).remove(0).result.answers;
        assert!(answers.wrong + answers.torn + answers.stale > 0, "{fault} in {workload}: {answers:?}");
        assert!(answers.right > answers.failures(), "{fault} in {workload}: {answers:?}");
    }
}

/// Ranges that the engine ends, and ranges without values, beside inserts and deletes; who goes beyond a bound, or ends
/// before it, is caught.
#[test]
fn ranges_of_cursors_that_are_told_more_are_right() {
    let ranges = |engine: &str, cursors: &str, mix: &str| {
        let comparison = Lab::new().compare([engine]).workload("mix").with("mix", mix).with("readers", 2);
        let comparison = comparison.with("range-cursors", cursors).with("range-lengths", "uniform");
        comparison.with("records", 3000).operations(4000)
    };
    let ways = [("rocksdb", "bounded"), ("bdb", "keys"), ("sqlite", "bounded-keys"), ("faulty", "bounded-keys")];
    for (engine, cursors) in ways {
        for mix in ["range 50, insert 50", "range 40, put 20, delete 40"] {
            let ran = ranges(engine, cursors, mix).run();
            let result = ran.is_clean().trial(engine, "mix").result;
            assert_eq!(result.user_bytes_read.is_none(), cursors.ends_with("keys"), "{result:?}");
            let of = result.operations.iter().find(|of| of.kind.word() == "range").unwrap();
            assert!(of.records > 2 * of.operations, "{of:?}");
        }
    }
    for (fault, mix) in
        [("unbounded", "range 100"), ("scan-short", "range 60, put 40"), ("unbounded", "range 60, delete 40")]
    {
        let caught = ranges("faulty", "bounded-keys", mix).fault(fault, 97).run();
        caught.exits(1).trial("faulty", "mix").failed("wrong-answer", "a scan");
    }
    ranges("lmdb", "bounded", "range 100")
        .run()
        .exits(2)
        .says("cannot keep a scan within bounds, which `range_cursors`");
    ranges("rocksdb", "keys", "range 100").run().exits(2).says("cannot scan keys without their values");
    ranges("lmdb", "bound", "range 100").run().exits(2).says("did you mean `bounded`?");
    let gets = Lab::new().compare(["rocksdb"]).workload("readrandom").with("range-cursors", "bounded").run();
    gets.exits(2).says("opens no cursor for each range");
}

/// A range is the keys of one prefix, beside inserts and deletes; an engine that goes on beyond it is caught.
#[test]
fn ranges_by_prefix_are_right() {
    let ranges = |engine: &str, cursors: &str, mix: &str| {
        let comparison = Lab::new().compare([engine]).workload("mix").with("mix", mix).with("readers", 2);
        let comparison = comparison.with("range-cursors", cursors).with("key-size", 20).with("prefix-size", 12);
        comparison.with("keys-per-prefix", 7).with("records", 3000).operations(4000)
    };
    for (engine, cursors) in [("rocksdb", "prefix"), ("faulty", "prefix"), ("faulty", "prefix-keys")] {
        for mix in ["range 50, insert 50", "range 40, put 20, delete 40", "range 50, insert 25, take 25"] {
            let comparison = ranges(engine, cursors, mix);
            let ran = match engine {
                "rocksdb" => comparison.option("rocksdb.prefix_extractor=true").run(),
                _ => comparison.run(),
            };
            let result = ran.is_clean().trial(engine, "mix").result;
            let of = result.operations.iter().find(|of| of.kind.word() == "range").unwrap();
            assert!(of.records > 2 * of.operations, "{engine}, {mix}: {of:?}");
        }
    }
    for (fault, mix) in [("unbounded", "range 100"), ("scan-short", "range 60, put 40"), ("scan-skip", "range 100")] {
        let caught = ranges("faulty", "prefix", mix).fault(fault, 97).run();
        caught.exits(1).trial("faulty", "mix").failed("wrong-answer", "a scan");
    }
    let refused = |comparison: Comparison, words: &str| {
        comparison.run().exits(2).says(words);
    };
    refused(ranges("lmdb", "prefix", "range 100"), "cannot scan the keys with one prefix, which `range_cursors`");
    refused(ranges("rocksdb", "prefix", "range 100"), "cannot scan the keys with one prefix");
    let plain = Lab::new().compare(["faulty"]).workload("mix").with("mix", "range 100");
    refused(plain.with("range-cursors", "prefix"), "data.keys_per_prefix must say how many keys");
}

/// The copy of the experiment in the results has the histogram, so that the file can go.
#[test]
fn a_histogram_is_read_from_a_file_beside_the_experiment() {
    let lab = Lab::new();
    let text = "engines = [\"lmdb\"]\n[data]\nrecords = 1000\nvalue_size = \"histogram sizes\"\n[[run]]\nworkload = \
                \"readrandom\"\nreaders = [1]\noperations = 1000\n[[variant]]\nname = \"small\"\ndata.value_size = 30\n\
                [[variant]]\nname = \"large\"\ndata.value_size = \"histogram large\"\n";
    lab.write("experiment.toml", text).write("sizes", "24 1 # the least\n\n100 3\n").write("large", "3000 1\n");
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_clean();
    let sizes: Vec<u64> = ran.results().iter().map(|result| result.workload.value_size).collect();
    assert!(sizes.contains(&30) && sizes.contains(&3000), "{sizes:?}");
    let kept = std::fs::read_to_string(lab.folder().experiment_file()).unwrap();
    assert!(kept.contains("histogram 24 1, 100 3") && kept.contains("histogram 3000 1"), "{kept}");
}

// ---- lengths of ranges, key ranges, rates

#[test]
fn ranges_are_as_long_as_their_law_has_them() {
    let mix =
        Lab::new().compare(["lmdb"]).with("records", 1000).operations(3000).workload("mix").with("mix", "range 100");
    let ran = mix.with("range-lengths", "pareto 0 20").with("seek-nexts", 199).with("readers", 1).run();
    let ranges = ran.is_clean().trials("lmdb", "mix").remove(0).result.operations.remove(0);
    // The mean of what is rounded up is 20.5; of those that begin near the last record some are cut, and where they
    // begin again hardly any: e^-10.
    let length = ranges.records as f64 / ranges.operations as f64;
    assert!((18.5..21.5).contains(&length), "{length}");
}

#[test]
fn keys_of_hot_ranges_are_right() {
    let power = "power 0.002312 0.3467 30 14.18 -2.917 0.0164 -0.08082";
    let ran = Lab::new().compare(["lmdb"]).workload("readrandom,overwrite").with("distribution", power).run();
    let result = ran.is_clean().trials("lmdb", "readrandom").remove(0).result;
    assert_eq!(result.workload.distribution, Some(power.parse().unwrap()));
}

/// No operation comes before it is due: the last of 200 by two clients, 100 each at half of 1000 a second, 198 ms after
/// the first or later.
#[test]
fn a_mix_at_a_rate_does_its_operations_when_they_are_due() {
    for arrival in ArrivalKind::ALL.iter().map(|kind| Arrival::of(*kind)) {
        let mix = Lab::new().compare(["faulty"]).workload("mix").with("mix", "get 50, put 30, range 20");
        let ran = mix.with("readers", 2).operations(100).with("rate", "1k/s").with("arrival", arrival).run();
        let result = ran.is_clean().trials("faulty", "mix").remove(0).result;
        assert_eq!((result.workload.rate, result.workload.arrival), (Some(1000.0), Some(arrival)));
        assert_eq!(result.operations.iter().map(|kind| kind.operations).sum::<u64>(), 200);
        assert!(result.operations.iter().all(|kind| kind.pacing.is_some()), "{arrival}");
        assert!(arrival != Arrival::Fixed || result.window.unwrap().seconds >= 0.198);
    }
}

/// More than any engine does, so that it comes late, and what waited says so: the first operation of a kind is due long
/// before it is done.
#[test]
fn operations_of_a_mix_that_come_too_fast_wait_from_when_they_were_due() {
    let mix = Lab::new().compare(["lmdb"]).workload("mix").with("mix", "get 50, put 50").with("readers", 1);
    let result = mix.operations(100_000).with("rate", "50M/s").run().exits(0).trials("lmdb", "mix").remove(0).result;
    for kind in &result.operations {
        assert!(kind.latency.mean_ns > 10_000_000, "{:?}: {} ns", kind.kind, kind.latency.mean_ns);
    }
}

// ---- what cannot be

/// Exit code 2, with the line and the column, and nothing touched.
#[track_caller]
fn refused_at(location: &str, text: &str, words: &str) {
    let lab = Lab::new();
    lab.write("experiment.toml", text)
        .write("empty", "")
        .write("garbage", "24 1\n\u{1}\u{2}nonsense\n")
        .write("low", "8 1\n");
    let before = lab.tree();
    let ran = lab.run(["run", "experiment.toml"]);
    ran.exits(2).says(words).says(&format!("experiment.toml:{location}"));
    assert_eq!(lab.tree(), before, "something was touched: {}", ran.stderr);
}

#[test]
fn impossible_sizes_are_refused() {
    for (sizes, words) in [
        ("uniform 200 100", "`uniform 200 100` begins above its end"),
        (
            "uniform 8 100",
            "8 is too short; it must be from 24 to 2^30 bytes, for a value whose size is drawn has its id",
        ),
        ("uniform 100", "is none of uniform LEAST MOST"),
        ("normal 100 -5", "the standard deviation of `normal 100 -5` is -5; it must be 0 to 76"),
        ("normal 20 1", "20 is too short"),
        ("pareto -0.2 25", "the k of pareto is -0.2; it must be 0 to 10"),
        ("pareto 0.2 -25", "the sigma of pareto is -25; it must be 0.001 to 1000000000"),
        ("pareto 0.2 25 10", "10 is too short"),
        ("zipf 1", "`zipf 1` is not a distribution of sizes"),
        ("histogram nowhere", "nowhere: No such file"),
        ("histogram empty", "empty: it has no sizes with their weights"),
        ("histogram garbage", "garbage: line 2: "),
        ("histogram low", "low: line 1: 8 is too short"),
    ] {
        refused_at("3:14", &format!("engines = [\"lmdb\"]\n[data]\nvalue_size = \"{sizes}\"\n"), words);
    }
    let variant = "engines = [\"lmdb\"]\n[[variant]]\nname = \"a\"\ndata.value_size = \"histogram empty\"\n";
    refused_at("4:19", variant, "it has no sizes with their weights");
}

/// A mix as most people write it, without a workload beside it.
#[test]
fn a_mix_and_its_distribution_are_read_as_people_write_them() {
    let line = ["compare", "lmdb", "--mix", "get=90,update=5,insert=5", "--distribution", "zipf:0.99"];
    let lab = Lab::new();
    let printed = lab.run_with(&[&line[..], &["--dry-run"]].concat()).exits(0).stdout.clone();
    for key in ["workload = \"mix\"", "mix = \"get 90, put 5, insert 5\"", "distribution = \"zipf 0.99\""] {
        assert!(printed.contains(key), "{printed}");
    }
    let small = ["--records", "2000", "--readers", "1", "--operations", "2000", "--repeat", "1", "--out", "results"];
    let ran = lab.run_with(&[&line[..], &small].concat());
    let kinds = ran.is_clean().trial("lmdb", "mix").result.operations;
    assert_eq!(kinds.iter().map(|one| one.kind.word()).collect::<Vec<_>>(), ["get", "put", "insert"]);
}

#[test]
fn impossible_laws_and_rates_of_runs_are_refused() {
    let mix = "workload = \"mix\"\nmix = \"get 50, range 50\"\n";
    for (location, text, words) in [
        ("6:17", "range_lengths = \"pareto -1 5\"\n", "the k of pareto is -1"),
        ("6:17", "range_lengths = \"pareto 1 0\"\n", "the sigma of pareto is 0"),
        ("6:17", "range_lengths = \"pareto 1\"\n", "pareto two numbers, k and sigma"),
        ("6:16", "distribution = \"power 0.1 0.5 0\"\n", "the number of key ranges is 0; it must be 1 to 256"),
        ("6:16", "distribution = \"power 0.1 0.5 2.5\"\n", "it must be whole"),
        ("6:16", "distribution = \"power 2 0.5\"\n", "the probability of the likeliest record is 2"),
        ("6:16", "distribution = \"power 0.1 0.5 9 0 1 0 1\"\n", "weights that are 0"),
        ("6:8", "rate = 0\n", "it must be above 0 operations a second"),
        ("6:8", "rate = \"10G\"\nreaders = [1]\n", "rate is 10000000000; it must be at most 100000000 a second"),
        ("6:11", "arrival = \"sine\"\n", "give read_rate, write_rate, rate or find_max_rate"),
        ("6:11", "arrival = \"sine 60\"\nrate = 5\n", "`sine 60`: the period `60` is not a time such as 5s or 10m"),
        ("6:11", "arrival = \"fixed 60s\"\nrate = 5\n", "`fixed 60s`: fixed has no period; bursty and sine have one"),
        ("6:11", "arrival = \"sine 60s\"\nrate = 5\n", "a period of 1m, longer than the duration of 10s; give a"),
        ("6:14", "write_rate = 5\n", "write_rate means nothing to it"),
    ] {
        refused_at(location, &format!("engines = [\"lmdb\"]\n\n[[run]]\n{mix}{text}"), words);
    }
    let few = "engines = [\"lmdb\"]\n[data]\nrecords = 29\n[[run]]\nworkload = \"readrandom\"\ndistribution = \"power \
               0.1 0.5 30\"\n";
    refused_at("6:16", few, "it must be of at most 29 key ranges: each has a record at least");
    let pure = "engines = [\"lmdb\"]\n[[run]]\nworkload = \"readrandom\"\nrate = 5\n";
    refused_at("4:8", pure, "`readrandom` mixes no operations, so rate means nothing to it");
}
