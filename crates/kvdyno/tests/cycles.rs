//! The 3n+1 workload: the same answers from every engine, with any number of threads or processes, also after a crash.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::support::{Lab, Ran, eventually};
use kvdyno_results::{OpKind, Percentile, TrialResult, WorkloadFigures};

/// Those that `make test` has.
const ENGINES: [&str; 5] = ["lmdb", "leveldb", "rocksdb", "bdb", "wiredtiger"];

/// The answer, from a program of its own: longest cycle, its start, highest number, puts and gets of one thread.
struct ExpectedCycles(u64, u64, u64, u64, u64);
const HUNDRED_THOUSAND: ExpectedCycles = ExpectedCycles(351, 77_031, 1_570_824_736, 217_211, 317_209);
const TWENTY_THOUSAND: ExpectedCycles = ExpectedCycles(279, 17_647, 27_114_424, 43_347, 63_345);
const THREE_HUNDRED_THOUSAND: ExpectedCycles = ExpectedCycles(443, 230_631, 24_648_077_896, 651_570, 951_568);

fn file(engines: &[&str], records: u64, more: &str) -> String {
    format!(
        "name = \"3n1\"\nengines = {engines:?}\nload.workload = \"3n1\"\nsettings.cache = \"32MiB\"\n\
         data.records = {records}\n{more}"
    )
}

fn run(lab: &Lab, engines: &[&str], records: u64, more: &str) -> Ran {
    lab.write("3n1.toml", &file(engines, records, more));
    lab.run(["run", "3n1.toml", "--out", "results"])
}

#[track_caller]
fn cycles(result: &TrialResult) -> Cycles {
    assert!(result.is_finished(), "{:?}: {:?}", result.trial, result.outcome);
    let figures: &WorkloadFigures = result.figures.as_ref().unwrap();
    let count = |column| figures.count(column).unwrap();
    Cycles {
        longest: count("longest_cycle"),
        longest_start: count("longest_start"),
        highest: count("highest"),
        puts: count("puts"),
        gets: count("gets"),
    }
}

/// The figures of a trial.
#[derive(Debug)]
struct Cycles {
    longest: u64,
    longest_start: u64,
    highest: u64,
    puts: u64,
    gets: u64,
}

/// The answers are right; one thread did exactly what it had to, several did no less.
#[track_caller]
fn is_right(result: &TrialResult, answer: &ExpectedCycles) {
    let measured = cycles(result);
    let ExpectedCycles(longest, start, highest, puts, gets) = *answer;
    assert_eq!(
        (measured.longest, measured.longest_start, measured.highest),
        (longest, start, highest),
        "{:?}",
        result.trial
    );
    match result.trial.writers {
        1 => assert_eq!((measured.puts, measured.gets), (puts, gets), "{:?}", result.trial),
        _ => assert!(measured.puts >= puts && measured.gets >= gets, "{:?}: {measured:?}", result.trial),
    }
}

// ---- the answers

#[test]
fn the_published_answers_come_out() {
    let lab = Lab::new();
    let ran = run(&lab, &["bdb"], 100_000, "settings.durability = \"none\"\nsettings.write_buffer = \"1MiB\"\n");
    ran.is_clean();
    assert!(ran.stdout.contains("1,570,824,736"), "{}", ran.stdout);
    let result = &ran.results()[0];
    is_right(result, &HUNDRED_THOUSAND);
    let kinds: Vec<(OpKind, u64)> = result.operations.iter().map(|o| (o.kind, o.operations)).collect();
    assert_eq!(kinds, [(OpKind::Get, 317_209), (OpKind::Put, 217_211)]);
    assert!(result.operations.iter().all(|o| o.latency.at(Percentile::P50) > 0 && o.threads == 1));
    let csv = fs::read_to_string(lab.path("results/report/load.csv")).unwrap();
    assert!(csv.contains("n,spelling,longest_cycle,longest_start,highest,puts,gets,ops,ops_per_s"), "{csv}");
    assert!(csv.contains(",100000,plain,351,77031,1570824736,217211,317209,534420,"), "{csv}");
    let page = fs::read_to_string(lab.path("results/report/index.html")).unwrap();
    assert!(page.contains("<h2>3n+1</h2>") && page.contains("1,570,824,736"));
}

#[test]
fn every_engine_gives_the_same_answers_with_any_number_of_threads() {
    let lab = Lab::new();
    let variants: String = [1, 2, 4].map(|n| format!("[[variant]]\nname = \"{n}\"\nload.writers = {n}\n")).concat();
    let ran = run(&lab, &ENGINES, 20_000, &variants);
    ran.is_clean();
    let results = ran.results();
    assert_eq!(results.len(), 3 * ENGINES.len());
    results.iter().for_each(|result| is_right(result, &TWENTY_THOUSAND));
}

#[test]
fn however_numbers_are_spelled() {
    let lab = Lab::new();
    let variants = "[[variant]]\nname = \"enhanced\"\ndata.spelling = \"enhanced\"\n\
                    [[variant]]\nname = \"decimal\"\ndata.key_format = \"decimal\"\n\
                    [[variant]]\nname = \"binary\"\ndata.key_format = \"binary\"\n\
                    [[variant]]\nname = \"batches\"\nload.batch = 16\n";
    let ran = run(&lab, &["lmdb", "faulty"], 20_000, variants);
    ran.is_clean();
    for result in ran.results() {
        // A batch is an operation of many puts.
        is_right(&result, &TWENTY_THOUSAND);
        let put = result.operations.iter().find(|o| o.writes()).unwrap();
        assert_eq!(
            (put.kind == OpKind::Batch, put.operations < put.records),
            ((result.trial.variant == "batches"), put.kind == OpKind::Batch)
        );
    }
}

#[test]
fn processes_compute_as_threads_do() {
    let lab = Lab::new();
    let ran = run(&lab, &["lmdb", "bdb"], 20_000, "load.clients = \"processes\"\nload.writers = 2\n");
    ran.is_clean();
    ran.results().iter().for_each(|result| is_right(result, &TWENTY_THOUSAND));
}

/// The report's settings of Berkeley DB change nothing in the answers; the one that promises what it does not keep is
/// told.
#[test]
fn the_settings_of_the_report() {
    let lab = Lab::new();
    let more = "settings.durability = \"none\"\ndata.spelling = \"enhanced\"\nload.writers = 3\n\
                [engine.bdb.options]\nlog_buffer = \"100KiB\"\npartitions = 8\n\
                [[variant]]\nname = \"words\"\nengine.bdb.options.comparator = \"words\"\n\
                [[variant]]\nname = \"length\"\nengine.bdb.options.comparator = \"length\"\n\
                [[variant]]\nname = \"dsync\"\nengine.bdb.options.log_dsync = true\n";
    let ran = run(&lab, &["bdb"], 20_000, more);
    ran.is_clean();
    for words in ["bdb TAINTED", "TAINTED by DB_LOG_DSYNC with DB_TXN_NOSYNC: the log is synced whenever"] {
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
    }
    for result in ran.results() {
        is_right(&result, &TWENTY_THOUSAND);
        assert_eq!(result.taints().count() == 1, result.trial.variant == "dsync");
        assert_eq!(result.notes.iter().any(|note| note.starts_with("TAINTED")), result.trial.variant == "dsync");
    }
}

// ---- what is wrong is found

#[test]
fn an_engine_that_forgets_or_lies_is_found_out() {
    for (fault, kind) in [
        ("dropped-write", "wrong-answer"),
        ("missing", "wrong-answer"),
        ("other-key", "wrong-answer"),
        ("flipped-bit", "wrong-answer"),
        ("short-value", "wrong-answer"),
        ("error-get", "engine-error"),
        ("error-put", "engine-error"),
    ] {
        let lab = Lab::new();
        let options = format!("[engine.faulty.options]\nfault = \"{fault}\"\nevery = 200\n");
        let ran = run(&lab, &["faulty"], 20_000, &options);
        ran.exits(1);
        ran.trial("faulty", "load").failed(kind, "");
    }
}

#[test]
fn what_means_nothing_to_it_is_refused() {
    for (more, engines, words) in [
        ("data.key_size = 20\n", &["lmdb"][..], "key_size means nothing to `3n1`"),
        ("data.value_size = 20\n", &["lmdb"], "value_size means nothing to `3n1`"),
        ("data.prefix_size = 4\n", &["lmdb"], "prefix_size means nothing to `3n1`"),
        ("[[run]]\nworkload = \"readrandom\"\n", &["lmdb"], "`readrandom` cannot follow `3n1`"),
        ("data.spelling = \"enhance\"\n", &["lmdb"], "`enhance` is not a spelling; it can be plain or enhanced"),
        ("", &["null"], "null keeps nothing, so that `3n1` would never find what it has put"),
    ] {
        let lab = Lab::with_null();
        run(&lab, engines, 1000, more).exits(2).says(words);
        assert!(!lab.path("results").exists());
    }
    let lab = Lab::new();
    run(&lab, &["lmdb"], 300_000_001, "").exits(2).says("from 1 to 300000000 starting points");
    lab.write("other.toml", "engines = [\"lmdb\"]\ndata = { spelling = \"enhanced\" }\n");
    lab.run(["run", "other.toml"])
        .exits(2)
        .says("spelling means nothing to `fillseq`, which spells no numbers; leave it out, or load with 3n1");
}

// ---- crash and restart

/// Killed in the middle: some of it is in the database, and none of it is a result.
fn killed(engine: &str, more: &str) -> Lab {
    let lab = Lab::new();
    lab.write("3n1.toml", &file(&[engine], 300_000, more));
    let running = lab.start(["run", "3n1.toml", "--out", "results"]);
    let written = |lab: &Lab| -> u64 {
        let files = lab.databases().into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        files.filter_map(|file| file.metadata().ok()).map(|facts| facts.blocks() * 512).sum()
    };
    let states = |lab: &Lab| {
        let folders = fs::read_dir(lab.path("results/databases")).into_iter().flatten().flatten();
        folders.filter_map(|folder| fs::read_to_string(folder.path().join("state.json")).ok()).collect::<String>()
    };
    eventually("a load under way", || states(&lab).contains("load_begun"));
    let at_first = written(&lab);
    eventually("some of the database", || written(&lab) > at_first + (1 << 20));
    let killed = running.killed();
    killed.lab.has_no_workers();
    assert!(lab.result_files().is_empty(), "it had ended already");
    lab
}

#[test]
fn a_killed_computation_goes_on_with_what_is_in_the_database() {
    for (engine, more) in [("lmdb", ""), ("leveldb", "load.writers = 2\n"), ("lmdb", "load.clients = \"processes\"\n")]
    {
        let lab = killed(engine, more);
        let ran = lab.resume();
        ran.is_clean().says("going on with what the ended run has computed");
        let result = &ran.results()[0];
        let (answer, ExpectedCycles(longest, start, highest, puts, _)) = (cycles(result), THREE_HUNDRED_THOUSAND);
        assert_eq!((answer.longest, answer.longest_start, answer.highest), (longest, start, highest));
        assert!(answer.puts > 0 && answer.puts + 10_000 < puts, "{engine}: {} of {puts} were put again", answer.puts);
        ran.trial(engine, "load").notes("went on in the database of a worker that was killed");
    }
}

/// Records that nobody promised to keep are not relied on.
#[test]
fn without_durability_it_begins_anew() {
    let lab = killed("lmdb", "settings.durability = \"none\"\n");
    let ran = lab.resume();
    ran.is_clean();
    let result = &ran.results()[0];
    is_right(result, &THREE_HUNDRED_THOUSAND);
    assert!(result.notes.iter().all(|note| !note.contains("went on")), "{:?}", result.notes);
}
