//! `kvdyno diff`: what its exit code says, and of what.
//!
//! The change is a slow-down that is built here: a library in front of LMDB's whose `mdb_get` burns far more than a get
//! takes, so that no test hangs on what a machine does otherwise.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Lab, Ran, adapters};
use kvdyno_results::Interference;
use serde_json::Value;

/// Burns about 20 µs in each get. The linker brings everything else from the library behind it.
const SLOW: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
typedef int get_function(void *, unsigned, void *, void *);
int mdb_get(void *transaction, unsigned database, void *key, void *value)
{
    static get_function *next;
    if (!next)
        next = (get_function *)dlsym(RTLD_NEXT, "mdb_get");
    for (volatile int left = 20000; left > 0; left--)
        ;
    return next(transaction, database, key, value);
}
"#;

/// A lab with `old/liblmdb.so`, which is the system's, and `new/liblmdb.so`, which is slow.
struct SlowLab(Lab);

impl SlowLab {
    fn new() -> SlowLab {
        let lab = Lab::new();
        lab.write("slow.c", SLOW).write("as-it-is.c", "");
        SlowLab(lab).build("new", "slow.c").build("old", "as-it-is.c")
    }

    fn build(self, folder: &str, source: &str) -> SlowLab {
        let library = self.path(folder);
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(self.0.path(source));
        compiler.args(["-Wl,--no-as-needed", "-l:liblmdb.so.0", "-ldl"]);
        assert!(compiler.status().unwrap().success(), "no library in front of LMDB's can be built");
        self
    }

    fn path(&self, folder: &str) -> PathBuf {
        self.0.path(folder).join("liblmdb.so")
    }

    /// `lmdb@/…/liblmdb.so`.
    fn setup(&self, folder: &str) -> String {
        format!("lmdb@{}", self.path(folder).display())
    }

    fn diff(&self, before: &str, after: &str, more: &[&str]) -> Ran {
        let usual = ["--records", "1000", "--duration", "100ms", "--warmup", "0s", "--out", "results"];
        self.0.run_with(&[&["diff", before, after][..], &usual, more].concat())
    }

    /// The verdict of six repeats, whatever others took of the machine meanwhile.
    #[track_caller]
    fn verdict(&self, before: &str, after: &str, more: &[&str], code: i32) -> Ran {
        self.diff(before, after, &[&["--repeat", "6"], more].concat()).is_whole();
        self.0.without_interference("results");
        self.0.has_steady_figures("results");
        let ran = self.0.run(["diff", "--resume", "results"]);
        ran.exits(code);
        ran
    }

    /// Results of one setup, in a folder of that name.
    fn measured(&self, setup: &str, folder: &str, more: &[&str]) -> &SlowLab {
        let usual = ["--duration", "100ms", "--warmup", "0s"];
        let readers: &[&str] = if more.contains(&"--readers") { &[] } else { &["--readers", "1"] };
        let workload: &[&str] = if more.contains(&"--workload") { &[] } else { &["--workload", "readrandom"] };
        let ran =
            self.0.run_with(&[&["compare", setup, "--out", folder][..], &usual, readers, workload, more].concat());
        ran.exits(0);
        self.0.without_interference(folder);
        self.0.has_steady_figures(folder);
        self
    }
}

const FEW: [&str; 4] = ["--records", "1000", "--repeat", "3"];

#[test]
fn a_slower_build_is_worse_and_the_other_way_round_better() {
    let change = SlowLab::new();
    let worse = change.verdict(&change.setup("old"), &change.setup("new"), &[], 3);
    worse.says("1 cell is worse");
    assert!(
        worse.stdout.contains("1 reader, by throughput: lmdb@new ") && worse.stdout.contains(": worse"),
        "{}",
        worse.stdout
    );
    assert!(worse.stdout.contains(&change.path("new").display().to_string()), "{}", worse.stdout);
    // Its results are those of a run, and it goes on as one: there is nothing left to measure. By either figure it is
    // worse.
    let before = change.0.result_files();
    change.0.run(["diff", "--resume", "results"]).exits(3);
    let by_cpu_time = change.0.run(["diff", "--resume", "results", "--figure", "cpu"]);
    assert!(by_cpu_time.stdout.contains("by CPU time per operation"), "{}", by_cpu_time.stdout);
    assert_eq!(change.0.result_files(), before);
    fs::remove_dir_all(change.0.path("results")).unwrap();
    change.verdict(&change.setup("new"), "lmdb", &[], 0);
    let better = change.0.run(["diff", "--resume", "results", "--format", "markdown"]);
    better.exits(0);
    assert!(
        better.stdout.starts_with("### The same or better by throughput\n") && better.stdout.contains("| better |")
    );
}

/// The cost of a library differs from one start to the next; here both cost the same as one of them did.
#[test]
fn one_library_against_itself_is_the_same() {
    let change = SlowLab::new();
    change.diff("lmdb", &change.setup("old"), &["--repeat", "6", "--detect", "10%"]).is_whole();
    change.0.without_interference("results");
    change.0.gives_figures_of("results", "lmdb", "lmdb@new");
    let ran = change.0.run(["diff", "--resume", "results"]);
    ran.exits(0);
    assert!(ran.stdout.contains("within 10 %") && ran.stdout.contains(": the same\n"), "{}", ran.stdout);
}

#[test]
fn one_repeat_cannot_tell() {
    let change = SlowLab::new();
    let ran = change.diff(&change.setup("old"), &change.setup("new"), &["--repeat", "1", "--format", "json"]);
    ran.exits(4);
    let entries: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let keys = |entry: &Value| entry.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let of_throughput = entries.iter().filter(|entry| entry["name"].as_str().unwrap().contains(", throughput: "));
    assert_eq!(of_throughput.count(), 3, "{entries:?}");
    assert!(entries.iter().all(|entry| keys(entry) == ["extra", "name", "range", "unit", "value"]), "{entries:?}");
    let ratio = entries.iter().find(|entry| entry["unit"] == "ratio").unwrap();
    assert_eq!(ratio["name"], "readrandom, 1 reader, throughput: lmdb@new over lmdb");
    assert!(ratio["value"].as_f64().unwrap() < 0.9 && ratio["range"] == "", "{ratio}");
    assert!(ratio["extra"].as_str().unwrap().starts_with("cannot tell: "));
}

#[test]
fn more_time_is_given_to_what_cannot_be_told() {
    let change = SlowLab::new();
    let ran = change.diff("lmdb", &change.setup("old"), &["--budget", "1ms"]);
    ran.exits(4);
    assert!(ran.stdout.contains("A longer time may help: kvdyno diff --resume "), "{}", ran.stdout);
    let again = change.0.run(["diff", "--resume", "results", "--budget", "2ms"]);
    again.exits(4).says("the budget of 2ms has no time for another");
    change.0.run(["diff", "--resume", "results", "--readers", "2"]).exits(2).says("cannot change --readers");
}

#[test]
fn failed_trials_come_first() {
    let lab = Lab::new();
    let options = ["--option", "B.fault=missing", "--option", "B.every=1", "--audit", "off", "--repeat", "2"];
    let usual = ["--records", "1000", "--operations", "500", "--warmup", "0s", "--out", "results"];
    let ran = lab.run_with(&[&["diff", "faulty", "faulty"][..], &usual, &options].concat());
    ran.exits(1).says("trials failed");
    assert!(ran.stdout.contains("faulty@new"), "{}", ran.stdout);
}

#[test]
fn results_of_two_runs_are_compared() {
    let change = SlowLab::new();
    change.measured("lmdb", "monday", &FEW).measured(&change.setup("new"), "friday", &FEW);
    let worse = change.0.run(["diff", "monday", "friday"]);
    worse.exits(3);
    assert!(worse.stdout.contains("not measured beside each other"), "{}", worse.stdout);
    change.0.run(["diff", "friday", "monday"]).exits(0);
    change.measured("lmdb", "once", &["--records", "1000"]);
    change.0.run(["diff", "monday", "once"]).exits(4).says("cannot tell in 1 cell");
}

#[test]
fn results_that_cannot_be_compared_name_the_difference() {
    let change = SlowLab::new();
    change.measured("lmdb", "monday", &["--records", "1000"]);
    change.measured("lmdb", "more", &["--records", "2000"]);
    change.measured("lmdb", "seeded", &["--records", "1000", "--seed", "7"]);
    change.measured("lmdb", "cached", &["--records", "1000", "--cache", "64MiB"]);
    change.measured("lmdb", "two", &["--records", "1000", "--readers", "2"]);
    let differs = |folder: &str, words: &str| {
        change.0.run(["diff", "monday", folder]).exits(2).says(words);
    };
    differs("more", "data.records was 1000 and is 2000");
    differs("seeded", "lab.seed was 1 and is 7");
    differs("cached", "settings.cache was");
    differs("two", "the first did");
    // A kernel is another on another day: only who says so compares what they measured.
    let machine = change.0.path("monday/machine.json");
    let text = fs::read_to_string(&machine).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["kernel"] = "1.0".into();
    fs::write(&machine, other.to_string()).unwrap();
    change.measured("lmdb", "friday", &["--records", "1000"]);
    differs("friday", "the kernel was 1.0 and is");
    change.0.run(["diff", "monday", "friday", "--across"]).exits(4);
}

#[test]
fn what_is_no_diff_is_refused() {
    let change = SlowLab::new();
    change.measured("lmdb", "monday", &["--records", "1000"]);
    let refused = |arguments: &[&str], words: &str| {
        change.0.run_with(arguments).exits(2).says(words);
    };
    refused(&["diff", "monday", "lmdb"], "monday is a folder and lmdb is not");
    refused(&["diff", "monday", "monday", "--records", "5"], "--records applies to new measurements");
    refused(&["diff", "lmdb", "lmdb", "--option", "C.x=1"], "`C` is none of the engines");
    refused(&["diff", "lmdb", "lmdb", "--detect", "300%"], "from 0 to 1");
    refused(&["diff", "lmdb"], "<B>");
    refused(&["diff", "--resume", "monday"], "a diff compares two");
    refused(&["diff", "lmdb", "lmdb@/nowhere/liblmdb.so", "--records", "10"], "/nowhere/liblmdb.so");
}

/// In `compare`, in a file beside which it lies, and where adapters are looked at and checked.
#[test]
fn a_version_may_be_a_path_everywhere() {
    let change = SlowLab::new();
    let setup = change.setup("old");
    change.measured(&setup, "results", &["--records", "1000"]);
    let library = |change: &SlowLab| change.0.folder().results().unwrap()[0].engine.library.clone();
    assert_eq!(library(&change), Some(change.path("old").display().to_string()));
    fs::remove_dir_all(change.0.path("results")).unwrap();
    let file = "engines = [\"lmdb@./liblmdb.so\"]\ndata.records = 1000\n[[run]]\nworkload = \"readrandom\"\n\
                readers = [1]\noperations = 100\nwarmup = \"0s\"\n";
    change.0.write("old/mine.toml", file);
    change.0.run(["run", "old/mine.toml", "--out", "results"]).exits(0);
    let loaded = library(&change).unwrap();
    assert!(PathBuf::from(&loaded).is_absolute() && loaded.ends_with("/old/liblmdb.so"), "{loaded}");
    let looked_at = change.0.run_with(&["engines", "lmdb@old/liblmdb.so"]);
    looked_at.exits(0);
    assert!(looked_at.stdout.contains("old/liblmdb.so"), "{}", looked_at.stdout);
    change.0.run_with(&["engines", "check", "lmdb@old/liblmdb.so", "--only", "miss"]).exits(0);
    change.0.run_with(&["engines", "check", "lmdb@old/nothing.so", "--only", "miss"]).exits(2).says("nothing.so");
}

/// Others had two fifths of the machine while it scanned.
#[test]
fn of_several_cells_worse_comes_before_cannot_tell() {
    let change = SlowLab::new();
    let of = |workloads: &str| {
        let more = ["--records", "1000", "--repeat", "3", "--workload", workloads];
        let (old, new) = (change.setup("old"), change.setup("new"));
        for (setup, folder) in [(old, "before"), (new, "after")] {
            change.measured(&setup, folder, &more);
            let scans = |result: &Value| result["trial"]["workload"] == "readseq";
            change.0.say_interference(folder, &[Interference::StolenCpuTime { cpu_time_share: 0.41 }], scans);
        }
        let ran = change.0.run(["diff", "before", "after"]);
        ["before", "after"].iter().for_each(|folder| fs::remove_dir_all(change.0.path(folder)).unwrap());
        ran
    };
    let both = of("readrandom,readseq");
    both.exits(3).says("1 cell is worse");
    assert!(both.stdout.contains("cannot tell"), "{}", both.stdout);
    let scan = of("readseq");
    scan.exits(4).says("cannot tell in 1 cell");
}

/// One engine, one version, another option.
#[test]
fn two_settings_have_a_verdict() {
    let change = SlowLab::new();
    let of = |before: &str, after: &str, code: i32| {
        let options = [format!("A.get_ns={before}"), format!("B.get_ns={after}")];
        let options = ["--option", &options[0], "--option", &options[1]];
        let ran = change.verdict("synthetic", "synthetic", &options, code);
        fs::remove_dir_all(change.0.path("results")).unwrap();
        ran
    };
    of("5000", "100000", 3).says("1 cell is worse");
    let better = of("100000", "5000", 0);
    assert!(
        better.stdout.contains("1 reader, by throughput: synthetic@new ") && better.stdout.contains(": better"),
        "{}",
        better.stdout
    );
}

/// An engine whose gets take 900 ns, and the same with 100 ns more that its copy burns. Where others leave so few
/// operations of a trial that it cannot be told, trials last longer.
#[test]
fn a_hundred_nanoseconds_more_are_found_and_nothing_where_there_are_none() {
    let slow = adapters().join("../libkvdyno_slow.so");
    assert!(slow.is_file(), "{} is not there: run make build first", slow.display());
    let lab = Lab::new();
    fs::create_dir(lab.path("slow")).unwrap();
    let copy = lab.path("slow/libkvdyno_slow-synthetic.so");
    fs::copy(slow, &copy).unwrap();
    fs::copy(adapters().join("libkvdyno_synthetic.so"), lab.path("slow/libkvdyno_synthetic.so")).unwrap();
    let copy = copy.display().to_string();
    let verdict = |burn_ns: u32| {
        let burn = format!("B.burn_ns={burn_ns}");
        let options = [
            "--option",
            "A.get_ns=900",
            "--option",
            "B.get_ns=900",
            "--option",
            &burn,
            "--detect",
            "3%",
            "--figure",
            "cpu",
        ];
        let usual = ["--records", "1000", "--warmup", "0s", "--repeat", "6", "--out", "results"];
        let mut told = ["100ms", "1s", "10s"].into_iter().map(|duration| {
            lab.run_with(&[&["diff", &copy, &copy, "--duration", duration][..], &usual, &options].concat()).is_whole();
            lab.without_interference("results");
            let ran = lab.run(["diff", "--resume", "results"]);
            fs::remove_dir_all(lab.path("results")).unwrap();
            ran
        });
        told.find(|ran| !ran.stdout.contains("Cannot tell in ")).expect("a verdict")
    };
    verdict(100).exits(3).says("1 cell is worse");
    let same = verdict(0);
    assert!(same.exits(0).stdout.contains(": the same\n"), "{}", same.stdout);
}
