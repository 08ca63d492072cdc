//! Mixes and distributions.

use super::{refused, refused_at, refused_file, refused_in};
use crate::support::Lab;

#[test]
fn a_mix_that_cannot_be_drawn() {
    for (mix, words) in [
        ("get 95, put 6", "the weights of `get 95, put 6` are 101 in all; they must be 100"),
        ("get 95, puts 5", "`puts` is not an operation; it can be get, put, insert, range, read-modify-write"),
        ("get 50, get 50", "get comes twice"),
        ("get -5, put 105", "`get -5` is not an operation with its weight"),
        ("get=95,update=6", "the weights of `get=95,update=6` are 101 in all; they must be 100"),
        ("get==100", "`get==100` is not an operation with its weight"),
    ] {
        refused(["compare", "lmdb", "--workload", "mix", "--mix", mix]).says(words);
        let file = format!("engines = [\"lmdb\"]\n[[run]]\nworkload = \"mix\"\nmix = \"{mix}\"\n");
        refused_at("4:7", &file).says(words);
    }
    refused(["compare", "lmdb", "--workload", "mix"]).says("mix").says("operations with their weights");
    refused(["compare", "lmdb", "--workload", "ycsb-a", "--mix", "get 100"]).says("mix").says("ycsb-a");
    // In a file a mix alone is no choice of the workload.
    let file = "engines = [\"lmdb\"]\n[[run]]\nmix = \"get 100\"\n";
    refused_at("3:7", file).says("so mix means nothing to it; take workload = \"mix\"");
}

#[test]
fn a_distribution_that_there_is_not() {
    for (distribution, words) in [
        ("zip", "`zip` is not a distribution"),
        ("zipfian", "did you mean `zipf`?"),
        ("hotspot::0.8", "`hotspot::0.8`: the fraction of the records is absent; it must be"),
        ("window:2", "`window:2`: the fraction of the records is 2; it must be 0.000001 to 1"),
        ("zipf 0", "the exponent is 0; it must be 0.01 to 10"),
        ("hotspot 0.2 1.5", "the fraction of the draws is 1.5; it must be"),
        ("uniform 3", "`uniform 3` has more numbers than the 0 that uniform takes"),
        ("normal NaN", "the standard deviation, as a fraction of the records, is NaN"),
    ] {
        refused(["compare", "lmdb", "--distribution", distribution]).says(words);
        let file =
            format!("engines = [\"lmdb\"]\n[[run]]\nworkload = \"readrandom\"\ndistribution = \"{distribution}\"\n");
        refused_at("4:16", &file).says(words);
    }
    let scan = refused(["compare", "lmdb", "--workload", "readseq", "--distribution", "zipf"]);
    scan.says("distribution").says("readseq");
}

#[test]
fn ranges_of_an_engine_without_cursors() {
    let ran = refused(["compare", "rocksdb:pfx", "--workload", "ycsb-e"]);
    ran.says("rocksdb:pfx").says("which the ranges of `ycsb-e` need");
}

/// After inserts there are more records than a scan in key order expects.
#[test]
fn a_scan_after_inserts_on_the_same_database() {
    let ran = refused(["compare", "lmdb", "--workload", "ycsb-d,readseq", "--database", "kept"]);
    ran.says("`readseq` reads the loaded records in key order").says("an earlier run inserts others").says("\"fresh\"");
}

/// After deletes there are fewer than most workloads expect, and a queue has others than a mix that deletes any.
#[test]
fn a_workload_that_knows_nothing_of_deletes_after_them() {
    let after = |first: &str, second: &str, database: &str| {
        let lab = Lab::new();
        let runs = [(first, 1), (second, 2)];
        let runs = runs.map(|(run, readers)| format!("[[run]]\n{run}\nreaders = [{readers}]\noperations = 1000\n"));
        let lab_section = format!("[lab]\ndatabase = \"{database}\"\n");
        let text = format!("engines = [\"lmdb\"]\n[data]\nrecords = 10000\n{lab_section}{}", runs.concat());
        lab.write("experiment.toml", &text).run(["run", "experiment.toml", "--dry-run"])
    };
    let mix = |mix: &str| format!("workload = \"mix\"\nmix = \"{mix}\"");
    let (queue, deletes) = (mix("insert 50, take 50"), mix("get 50, delete 50"));
    for (first, second) in [
        (&deletes, "workload = \"readrandom\"".to_owned()),
        (&deletes, queue.clone()),
        (&queue, "workload = \"overwrite\"".to_owned()),
        (&queue, mix("get 50, put 50")),
        (&queue, deletes.clone()),
    ] {
        after(first, &second, "kept")
            .exits(2)
            .says("does not know which records an earlier run deleted")
            .says("\"fresh\"");
        after(first, &second, "fresh").exits(0);
    }
    for (first, second) in [(&deletes, mix("get 50, put 50")), (&queue, queue.clone()), (&queue, mix("range 100"))] {
        after(first, &second, "kept").exits(0);
    }
}

#[test]
fn deletes_that_cannot_be() {
    let mixed = |engine: &str, mix: &str, more: &[&str]| {
        let arguments = [&["compare", engine, "--workload", "mix", "--mix", mix], more].concat();
        let ran = Lab::with_null().run_with(&arguments);
        ran.exits(2);
        ran
    };
    mixed("lmdb", "put 50, take 50", &[]).says("take without put: a record that was taken would be written again");
    mixed("lmdb", "get 50, delete 50", &["--records", "4000", "--readers", "8"]).says("4096 or more");
    mixed("null", "get 50, delete 50", &[]).says("keeps nothing that `mix` could delete");
    let binary = ["--key-format", "binary", "--key-size", "8"];
    mixed("lmdb", "get 50, miss 50", &binary).says("longer than the number");
}

/// An engine that cannot do a part of a run is told of at its name in the file.
#[test]
fn an_engine_that_cannot_do_what_a_mix_or_a_transaction_asks() {
    let at = |engine: &str, run: &str, words: &str| {
        let text = format!("name = \"x\"\nengines = [\"lmdb\", \"{engine}\"]\n[[run]]\n{run}\n");
        let lab = Lab::with_null();
        lab.write("experiment.toml", &text);
        refused_in(&lab, ["run", "experiment.toml"]).says("experiment.toml:2:20").says(words);
    };
    at("null", "workload = \"mix\"\nmix = \"get 50, delete 50\"", "keeps nothing that `mix` could delete");
    let expiry = "workload = \"mix\"\nmix = \"insert 50, expire 50\"";
    refused_at("1:12", &format!("engines = [\"leveldb\"]\n[[run]]\n{expiry}")).says("cannot delete ranges");
    let isolated = "workload = \"transfer\"\nisolation = \"serializable\"";
    at("wiredtiger:btree", isolated, "isolates its transactions as snapshot, and isolation = serializable is required");
    let multiget = "workload = \"mix\"\nmix = \"get 100\"\nkeys_per_multiget = 5";
    at("bdb", multiget, "cannot get several records in one call, which `keys_per_multiget` of `mix` needs");
}

#[test]
fn batches_that_a_mix_cannot_have() {
    let run = |keys: &str| format!("engines = [\"rocksdb\"]\n[[run]]\nworkload = \"mix\"\n{keys}");
    refused_at("5:9", &run("mix = \"get 100\"\nbatch = 5")).says("1: the mix has neither put nor insert");
    refused_at("5:9", &run("mix = \"put 50, delete 50\"\nbatch = 5")).says("while others are deleted");
    refused_at("5:21", &run("mix = \"put 100\"\nkeys_per_multiget = 5")).says("1: the mix has no get");
    let roles = "[[run.role]]\nmix = \"get 100\"\nkeys_per_multiget = 5\n[[run.role]]\nmix = \"get 100\"\nbatch = 2\n";
    refused_at("9:9", &run(roles)).says("role-2").says("1: the mix has neither put nor insert");
    let ycsb = "engines = [\"rocksdb\"]\n[[run]]\nworkload = \"ycsb-a\"\nbatch = 5";
    refused_at("4:9", ycsb).says("batch");
}

/// Else the figures of one would be repeats of the other's.
#[test]
fn two_runs_that_would_be_one_cell() {
    let file = |second: &str| {
        let runs = [("get 50, put 50", "1, 2"), second.split_once(';').unwrap()];
        let runs =
            runs.map(|(mix, readers)| format!("[[run]]\nworkload = \"mix\"\nmix = \"{mix}\"\nreaders = [{readers}]\n"));
        let lab = Lab::new();
        lab.write("experiment.toml", &format!("engines = [\"lmdb\"]\n{}", runs.concat()));
        lab.run(["run", "experiment.toml", "--dry-run"])
    };
    let same = file("get 95, put 5;2, 4");
    same.exits(2).says("run 1 has `mix` with the same number of readers").says("a variant of its own");
    file("get 95, put 5;4").exits(0);
    file("get 50, put 50;1, 2").exits(0);
}

/// A precision that nothing has, and one that ends nothing.
#[test]
fn a_precision_that_cannot_be() {
    for none in ["0", "0%", "-3%", "101%"] {
        let precision = format!("--precision={none}");
        let ran = refused(["compare", "lmdb", "faulty", "--repeat", "auto", &precision]);
        ran.says("above 0 and at most 1, or a percentage");
    }
    refused(["compare", "lmdb", "faulty", "--repeat", "1", "--precision", "3%"])
        .says("repeat = 1 is a number")
        .says("repeat = \"auto\"");
    let file = "engines = [\"lmdb\", \"faulty\"]\n[lab]\nrepeat = 5\nprecision = 0.1\n";
    refused_file(file).says("the precision of cells");
    let lab = Lab::new();
    lab.run(["compare", "lmdb", "faulty", "--repeat", "auto", "--precision", "3%", "--dry-run"]).exits(0);
}

#[test]
fn a_question_and_a_budget_that_end_nothing() {
    let ran = refused(["compare", "lmdb", "faulty", "--repeat", "4", "--question", "difference"]);
    ran.says("the comparisons that end repeats").says("repeat = 4 is a number");
    refused(["compare", "lmdb", "faulty", "--repeat", "4", "--budget", "1m"]).says("the time limit of repeats");
    // The question is a default of a diff, and its repeats can be ordered.
    let lab = Lab::new();
    lab.run(["diff", "lmdb", "lmdb", "--repeat", "4", "--dry-run"]).exits(0);
}
