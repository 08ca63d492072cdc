//! Variants of an experiment, engines that are left out, and experiments made to fit.

use crate::support::{Lab, adapters};
use kvdyno_results::TrialResult;

const FILE: &str = r#"
name = "sizes"
engines = ["lmdb", "voldemort", "faulty"]
lab = { missing_engines = "skip" }
fit = { memory = "64TiB", cores = 1024 }
[data]
records = 20000
[[run]]
workload = "readrandom"
readers = [1, 2]
operations = 200
warmup = "0s"
[[variant]]
name = "small"
data.value_size = 30
[[variant]]
name = "large"
data.value_size = 900
run.readers = [1]
engines = ["lmdb"]
"#;

#[test]
fn each_variant_has_its_own_databases_and_what_is_not_here_is_left_out() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    let ran = lab.run(["run", "sizes.toml", "--out", "results", "--format", "csv"]);
    ran.exits(0).says("left out: voldemort (small): there is no engine `voldemort`");
    let results = lab.folder().results().unwrap();
    let named: Vec<String> = results
        .iter()
        .map(|result| format!("{} {} {}", result.trial.variant, result.trial.engine, result.workload.value_size))
        .collect();
    // Who is first in a step is drawn.
    let in_steps: Vec<[&str; 2]> =
        named.chunks(2).map(|step| [step[0].as_str().min(&step[1]), step[0].as_str().max(&step[1])]).collect();
    let small = ["small faulty 30", "small lmdb 30"];
    assert_eq!(in_steps, [small, small, small, ["large lmdb 900"; 2]]);
    assert!(results.iter().all(|result| result.is_finished()));
    assert!(!lab.path("results/databases").exists());
    assert!(lab.report("table").contains("voldemort was left out: there is no engine `voldemort`"));
    assert!(lab.report("table").contains("readrandom, large: reads/s"));
}

#[test]
fn an_interrupted_experiment_with_variants_goes_on() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    lab.run(["run", "sizes.toml", "--out", "results"]).exits(0);
    let trials = lab.path("results/trials");
    let last = std::fs::read_dir(&trials).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    std::fs::remove_dir_all(last).unwrap();
    lab.resume().exits(0);
    assert_eq!(lab.folder().results().unwrap().len(), 8);
}

#[test]
fn a_variant_that_cannot_be_says_where() {
    let lab = Lab::new();
    lab.write("sizes.toml", &FILE.replace("data.value_size = 30", "data.value_sise = 30"));
    let ran = lab.run(["run", "sizes.toml"]);
    ran.exits(2).says("variant `small`: there is no key `value_sise` here").says("sizes.toml:13");
}

#[test]
fn an_experiment_is_made_to_fit() {
    let lab = Lab::new();
    lab.write("sizes.toml", FILE);
    let ran = lab.run(["run", "sizes.toml", "--fit", "--dry-run"]);
    ran.exits(0).says("fit: data.records: 10000 instead of 20000").says("fit: run.readers: [1] instead of [1, 2]");
    ran.says("6 trials: 3 loads of about a second in all, 3 runs as long as their operations take");
    assert!(ran.stdout.contains("records = 10000"), "{}", ran.stdout);
    lab.run(["run", "sizes.toml", "--budget", "1m"]).exits(2).says("--fit");
}

/// It does as much as it can, and its last trial is still the last on its database.
#[test]
fn an_engine_is_left_out_of_the_steps_that_it_cannot_do() {
    let file = "engines = [\"null\", \"faulty\"]\nlab = { missing_engines = \"skip\" }\n[data]\nrecords = 1000\n\
                [[run]]\nworkload = \"readrandom\"\nreaders = [1, 2]\noperations = 200\nwarmup = \"0s\"\n\
                [[run]]\nworkload = \"revrange\"\nreaders = [1, 2]\noperations = 200\nwarmup = \"0s\"\n";
    let lab = Lab::with_null();
    lab.write("steps.toml", file);
    let ran = lab.run(["run", "steps.toml", "--out", "results"]);
    ran.exits(0).says("left out: null, revrange: null cannot scan against key order, which `revrange` needs");
    // Who is first in a step is drawn.
    let of_step = |result: &TrialResult| {
        format!("{} {} {}", result.trial.number.div_ceil(2), result.trial.engine, result.trial.workload)
    };
    let mut done: Vec<String> = ran.results().iter().map(of_step).collect();
    done.sort();
    let (loads, reads) = (["1 faulty fillseq", "1 null fillseq"], ["2 faulty readrandom", "2 null readrandom"]);
    let more = ["3 faulty readrandom", "3 null readrandom", "4 faulty revrange", "4 faulty revrange"];
    assert_eq!(done, [&loads[..], &reads, &more].concat());
    assert!(!lab.path("results/databases").exists());
    assert!(lab.report("table").contains("null was left out of revrange: null cannot scan"), "{}", lab.report("table"));
    // Where nothing may be missing, it is refused; and where nothing is left to do, it is left out altogether.
    lab.write("strict.toml", &file.replace("skip", "refuse"));
    lab.run(["run", "strict.toml"]).exits(2).says("null cannot scan against key order").says("strict.toml:1");
    lab.write("none.toml", &file.replace("readrandom", "fwdrange"));
    lab.run(["run", "none.toml", "--out", "none"]).exits(0).says("left out: null: null cannot scan");
}

#[test]
fn an_experiment_without_any_engine_that_is_here_is_refused() {
    let lab = Lab::new();
    lab.write("none.toml", "engines = [\"voldemort\"]\nlab = { missing_engines = \"skip\" }\n");
    lab.run(["run", "none.toml"]).exits(2).says("none of the engines can be measured here").says("voldemort");
}

/// Whoever is left out because it is not here is told with the way to get it.
#[test]
fn an_engine_that_is_not_here_is_left_out_with_how_to_get_it() {
    let engines = ["redb", "fjall", "bbolt", "badger", "pebble", "sled", "tokuft", "basho-leveldb"];
    let here = |engine: &&str| adapters().join(format!("libkvdyno_{engine}.so")).is_file();
    let absent: Vec<&str> = engines.into_iter().filter(|engine| !here(engine)).collect();
    let lab = Lab::new();
    lab.write(
        "experiment.toml",
        &format!(
            "engines = [\"lmdb\", \"{}\"]\n[data]\nrecords = 1000\n[lab]\nmissing_engines = \"skip\"\n[[run]]\n\
             workload = \"readrandom\"\nreaders = [1]\noperations = 10\nwarmup = \"0s\"\n",
            absent.join("\", \"")
        ),
    );
    let ran = lab.run(["run", "experiment.toml", "--fit", "--budget", "2m", "--out", "results"]);
    ran.exits(0);
    for engine in absent {
        ran.says(&format!("left out: {engine}: ")).says(&format!("kvdyno engines install {engine}"));
    }
}
