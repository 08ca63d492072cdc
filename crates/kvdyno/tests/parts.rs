//! A plan in parts, as several machines measure it: each part for itself, then all in one folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::support::{Lab, Ran, eventually};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{Phase, TrialKey, TrialResult};
use serde_json::{Value, json};

/// Two variants with three sorts of runs on their databases: three blocks, 32 trials.
const FILE: &str = "engines = [\"lmdb\", \"faulty\"]\n[data]\nrecords = 500\n[lab]\nrepeat = 2\n\
    [[run]]\nworkload = \"readrandom\"\nreaders = [1, 2]\nduration = \"40ms\"\nwarmup = \"0s\"\n\
    [[run]]\nworkload = \"readseq\"\nreaders = [1]\nduration = \"40ms\"\nwarmup = \"0s\"\n\
    [[variant]]\nname = \"small\"\n[[variant]]\nname = \"large\"\nenvironment.cpus = \"0-0\"\n";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("experiment.toml", FILE);
    lab
}

fn part(lab: &Lab, part: &str, out: &str) -> Ran {
    lab.run(["run", "experiment.toml", "--part", part, "--out", out])
}

/// All parts, in the folders `part-1`, `part-2`, …
fn parts(lab: &Lab, of: usize) {
    for number in 1..=of {
        part(lab, &format!("{number}/{of}"), &format!("part-{number}")).exits(0);
    }
}

fn merge(lab: &Lab, parts: &[&str], out: &str) -> Ran {
    lab.run_with(&[&["merge"], parts, &["--out", out]].concat())
}

fn results(lab: &Lab, folder: &str) -> Vec<TrialResult> {
    ResultsFolder::at(lab.path(folder)).results().unwrap()
}

/// The trials of a folder that were ordered, each with the seed of its work.
fn work(lab: &Lab, folder: &str) -> BTreeMap<TrialKey, u64> {
    let ordered = results(lab, folder).into_iter().filter(|result| result.trial.repeat <= 2);
    ordered.map(|result| (result.trial, result.workload.seed)).collect()
}

/// Every file below a folder, to the byte, with the nanosecond of its last change.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, i64)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let changed = entry.metadata().unwrap().mtime_nsec();
                    all.insert(entry.path().display().to_string(), (fs::read(entry.path()).unwrap(), changed));
                }
            }
        }
    }
    all
}

#[test]
fn merged_parts_have_the_trials_and_the_seeds_of_the_whole() {
    let lab = lab();
    lab.run(["run", "experiment.toml", "--out", "whole"]).exits(0);
    parts(&lab, 2);
    let sizes = ["part-1", "part-2"].map(|folder| work(&lab, folder).len());
    // One block of eight runs, and two. Each part loads eight databases.
    assert_eq!(sizes, [16, 24]);
    let all = ["part-2", "part-1"];
    // As a merge leaves it that is killed at its beginning.
    fs::create_dir(lab.path("all")).unwrap();
    lab.write("all/.lock", "").write("all/.plan.json.writing", "{");
    let merged = merge(&lab, &all, "all");
    assert!(merged.exits(0).stdout.ends_with(" of 2 parts: all\n"), "{}", merged.stdout);
    assert_eq!(work(&lab, "all"), work(&lab, "whole"));
    // A load that two parts did is that of the first of them.
    let load = |folder: &str| results(&lab, folder).into_iter().find(|result| result.trial.number == 1).unwrap();
    assert_eq!(load("all").started, load("part-1").started);
    assert_ne!(load("all").started, load("part-2").started);
    let report = lab.run(["report", "all", "--format", "md"]);
    assert!(!report.exits(0).stdout.contains("**Incomplete**"), "{}", report.stdout);
    for name in ["plan.json", "left-out.json", "machine.json", "machines/0001.json", "machines/0002.json"] {
        assert!(lab.path("all").join(name).is_file(), "{name}");
    }
    // A trial has all of its files.
    let trial = &load("all").trial;
    for name in ["latency.hlog", "series.csv", "worker.log"] {
        assert!(ResultsFolder::at(lab.path("all")).trial_folder(trial).join(name).is_file(), "{name}");
    }
    // Once more changes no trial.
    let before = files(&lab.path("all/trials"));
    merge(&lab, &all, "all").exits(0);
    assert_eq!(files(&lab.path("all/trials")), before);
    // A trial that was not whole when the merge was killed is copied again.
    let [one, other] =
        [1, 2].map(|number| ResultsFolder::at(lab.path("all")).trial_folder(&results(&lab, "all")[number].trial));
    fs::remove_file(one.join("result.json")).unwrap();
    fs::write(other.join("result.json"), "").unwrap();
    merge(&lab, &all, "all").exits(0);
    let contents = |files: BTreeMap<String, (Vec<u8>, _)>| -> BTreeMap<String, Vec<u8>> {
        files.into_iter().map(|(name, (content, _))| (name, content)).collect()
    };
    assert_eq!(contents(files(&lab.path("all/trials"))), contents(before));
    merge(&lab, &["part-1"], "all").exits(2).says("all has part 2/2, too; name that as well, or choose another --out");
    lab.run(["run", "--resume", "all"]).exits(2).says("all has merged results; resume a part that has trials left");
}

#[test]
fn parts_are_merged_before_all_are_there_and_again_when_they_are() {
    let lab = lab();
    part(&lab, "1/2", "part-1").exits(0);
    let merged = merge(&lab, &["part-1"], "all");
    merged.exits(0).says("part 2 is missing");
    let report = lab.run(["report", "all", "--format", "md"]);
    assert!(report.exits(0).stdout.contains("there is no result of part 2 of 2"), "{}", report.stdout);
    let second = lab.start(["run", "experiment.toml", "--part", "2/2", "--out", "part-2"]);
    eventually("a result", || has_result(&lab, "part-2"));
    second.killed();
    let merged = merge(&lab, &["part-1", "part-2"], "all");
    merged
        .exits(0)
        .says("part 2/2 is not complete; to go on with it, before merging again: kvdyno run --resume part-2");
    lab.run(["run", "--resume", "part-2"]).exits(0);
    merge(&lab, &["part-1", "part-2"], "all").exits(0);
    let status = lab.run(["status", "all", "--format", "json"]);
    let status: Value = serde_json::from_str(&status.exits(0).stdout).unwrap();
    assert_eq!(status["folders"][0]["complete"], true, "{status}");
    assert_eq!(work(&lab, "all").len(), 32);
}

#[test]
fn what_does_not_belong_together_is_refused_before_anything_is_written() {
    let lab = lab();
    parts(&lab, 2);
    part(&lab, "2/2", "again").exits(0);
    part(&lab, "1/3", "of-three").exits(0);
    lab.write("other.toml", &FILE.replace("records = 500", "records = 600"));
    lab.run(["run", "other.toml", "--part", "2/2", "--out", "other"]).exits(0);
    lab.run(["run", "experiment.toml", "--out", "whole"]).exits(0);
    lab.write("full", "");
    let before = lab.tree();
    let refused = |parts: &[&str], out: &str, words: &str| {
        merge(&lab, parts, out).exits(2).says(words);
        assert_eq!(lab.tree(), before, "{parts:?}");
    };
    refused(&["part-2", "again"], "all", "part-2 and again are both part 2/2; name one of them");
    refused(&["part-1", "part-1"], "all", "part-1 and part-1 are both part 1/2; name one of them");
    refused(&["part-1", "of-three"], "all", "parts of one plan have one number of parts");
    refused(&["part-1", "other"], "all", "other is of another experiment than part-1: data.records was 500 and is 600");
    refused(&["part-1", "whole"], "all", "whole is no part of a plan: it was not measured with `kvdyno run --part`");
    refused(&["part-1", "nothing"], "all", "nothing is not a results folder");
    refused(&["part-1"], "whole", "whole is not empty; choose another --out");
    refused(&["part-1"], "full", "full cannot be the folder of the results");
    // Of other engines, or by another kvdyno.
    let edited = |name: &str, edit: &dyn Fn(&mut Value)| {
        let file = lab.path("part-2").join(name);
        let text = fs::read_to_string(&file).unwrap();
        let mut value = serde_json::from_str(&text).unwrap();
        edit(&mut value);
        fs::write(&file, value.to_string()).unwrap();
        let merged = merge(&lab, &["part-1", "part-2"], "all");
        fs::write(&file, text).unwrap();
        merged
    };
    let merged = edited("plan.json", &|plan| plan["part"]["plan"] = "0123456789abcdef".into());
    merged.exits(2).says("part-2 is of another plan than part-1, though of the same experiment");
    let merged = edited("machine.json", &|machine| machine["kvdyno"] = "0.0.1".into());
    merged.exits(2).says("part-2 was measured by another build of kvdyno than part-1");
    // A copy that was broken off, and another version of an engine.
    let result = results(&lab, "part-2").pop().unwrap();
    let file = ResultsFolder::at("").trial_folder(&result.trial).join("result.json").display().to_string();
    let merged = edited(&file, &|result| result["engine"]["version"] = "9.9".into());
    merged.exits(2).says(&format!("part-2 has {} of version 9.9, and part-1 of version", result.trial.engine));
    let whole = fs::read(lab.path("part-2").join(&file)).unwrap();
    fs::write(lab.path("part-2").join(&file), &whole[..whole.len() - 2]).unwrap();
    merge(&lab, &["part-1", "part-2"], "all").exits(2).says("is damaged");
    assert!(!lab.path("all").exists());
    assert!(!lab.path("all/.lock").exists());
}

/// Whether a part has a trial that has ended.
fn has_result(lab: &Lab, part: &str) -> bool {
    let trials = lab.path(part).join("trials").read_dir();
    trials.is_ok_and(|mut trials| trials.any(|trial| trial.unwrap().path().join("result.json").is_file()))
}

#[test]
fn parts_that_are_free_are_run_one_after_the_other_by_as_many_as_want_to() {
    let lab = lab();
    lab.run(["run", "experiment.toml", "--out", "whole"]).exits(0);
    let begin = || lab.start(["run", "experiment.toml", "--part", "auto/3", "--out", "shared"]);
    let first = begin();
    eventually("a result", || has_result(&lab, "shared/part-1"));
    first.killed();
    // Another machine has the third.
    let claim = fs::read_to_string(lab.path("shared/part-1.claim-1")).unwrap();
    let mut claim: Value = serde_json::from_str(&claim).unwrap();
    claim["host"] = "node9".into();
    claim["maker"]["boot"] = "another".into();
    lab.write("shared/part-3.claim-1", &claim.to_string());
    let both = [begin(), begin()].map(|run| run.ends());
    for ran in &both {
        ran.exits(0).says("part 3/3 is claimed by process").says("of node9; if that has ended, remove ");
    }
    let done: Vec<String> = both.iter().flat_map(|ran| ran.stdout.lines().map(str::to_owned)).collect();
    assert_eq!(done.iter().filter(|line| line.starts_with("part 1/3: ")).count(), 1, "{done:?}");
    assert_eq!(done.iter().filter(|line| line.starts_with("part 2/3: ")).count(), 1, "{done:?}");
    assert!(!has_result(&lab, "shared/part-3"));
    fs::remove_file(lab.path("shared/part-3.claim-1")).unwrap();
    let last = lab.run(["run", "experiment.toml", "--part", "auto/3", "--out", "shared"]);
    assert!(last.exits(0).stdout.starts_with("part 3/3: "), "{}", last.stdout);
    merge(&lab, &["shared/part-1", "shared/part-2", "shared/part-3"], "all").exits(0);
    assert_eq!(work(&lab, "all"), work(&lab, "whole"));
    let other = lab.run(["run", "experiment.toml", "--part", "auto/4", "--out", "shared"]);
    other.exits(2).says("shared/part-1 is not part 1/4; choose another --out");
    lab.write("other.toml", &FILE.replace("records = 500", "records = 600"));
    let other = lab.run(["run", "other.toml", "--part", "auto/3", "--out", "shared"]);
    other.exits(2).says("shared/part-1 is of another experiment: data.records was 500 and is 600");
    lab.run(["run", "experiment.toml", "--part", "auto/3"]).exits(2).says("--part auto/3 requires --out");
    lab.run(["run", "experiment.toml", "--part", "auto/0", "--out", "x"]).exits(2).says("auto/PARTS, such as auto/8");
}

/// Where machines differ, the report says how, and which part was measured on which.
#[test]
fn a_report_names_the_machines_of_the_parts() {
    let lab = lab();
    parts(&lab, 3);
    let edit = |name: &str, edit: &dyn Fn(&mut Value)| {
        let mut value = serde_json::from_str(&fs::read_to_string(lab.path(name)).unwrap()).unwrap();
        edit(&mut value);
        lab.write(name, &value.to_string());
    };
    let host = |name: &str| json!({"name": name, "id": "", "boot": name});
    edit("part-1/plan.json", &|plan| plan["hosts"] = json!([host("node1")]));
    edit("part-2/plan.json", &|plan| plan["hosts"] = json!([host("node1")]));
    edit("part-3/plan.json", &|plan| plan["hosts"] = json!([host("node2"), host("node3")]));
    edit("part-3/machine.json", &|machine| machine["kernel"] = "2.0.1".into());
    merge(&lab, &["part-1", "part-2", "part-3"], "all").exits(0);
    let report = lab.run(["report", "all", "--format", "md"]);
    let text = &report.exits(0).stdout;
    for words in [
        "on 3 machines",
        "node1 (1, 2), node2 (3), node3 (3)",
        "part 3 was resumed on another machine, so its trials are of node2 and node3",
        "part 3: the kernel was ",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    // Variants are in one part, so all of them are compared.
    let report: Value = serde_json::from_str(&lab.run(["report", "all", "--format", "json"]).exits(0).stdout).unwrap();
    let doubts = report["doubts"].as_array().unwrap();
    assert!(doubts.iter().any(|doubt| doubt["text"].as_str().unwrap().contains("was resumed on another machine")));
    assert!(!report["relative"].as_array().unwrap().is_empty());
}

#[test]
fn a_part_that_is_none_is_refused_and_one_without_trials_does_nothing() {
    let lab = lab();
    for (part, words) in [("9/8", "there is no part 9 of 8"), ("3", "a part is NUMBER/PARTS, such as 3/8")] {
        lab.run(["run", "experiment.toml", "--part", part, "--out", "part"]).exits(2).says(words);
    }
    assert!(!lab.path("part").exists());
    part(&lab, "1/8", "part-1").exits(0).says("part 1/8 has nothing to do: the plan has 3 blocks");
    lab.run(["run", "--resume", "part-1"]).exits(0).says("part 1/8 has nothing to do");
    part(&lab, "3/8", "part-3").exits(0);
    let merged = merge(&lab, &["part-1", "part-3"], "all");
    merged.exits(0).says("parts 2, 4, 5, 6, 7, 8 are missing");
    assert_eq!(work(&lab, "all"), work(&lab, "part-3"));
}

/// The number of repeats is decided part by part.
#[test]
fn parts_decide_for_themselves_how_often_they_are_repeated() {
    let lab = lab();
    let text = FILE.replace("repeat = 2", "repeat = \"auto\"\nbudget = \"3s\"\ndatabase = \"snapshot\"");
    lab.write("experiment.toml", &text);
    parts(&lab, 3);
    merge(&lab, &["part-1", "part-2", "part-3"], "all").exits(0);
    let status: Value =
        serde_json::from_str(&lab.run(["status", "all", "part-2", "--format", "json"]).exits(0).stdout).unwrap();
    assert_eq!((&status["folders"][0]["complete"], &status["folders"][1]["complete"]), (&json!(true), &json!(true)));
    let runs =
        |folder: &str| results(&lab, folder).into_iter().filter(|result| result.trial.phase == Phase::Run).count();
    assert_eq!(runs("all"), ["part-1", "part-2", "part-3"].map(runs).iter().sum::<usize>());
}

/// A run that writes leaves its database to the next: both are in one part.
#[test]
fn runs_that_go_on_with_what_others_wrote_stay_together() {
    let lab = Lab::new();
    lab.write("experiment.toml", &FILE.replace("readrandom", "overwrite"));
    part(&lab, "1/2", "part-1").exits(0).says("part 1/2 has nothing to do: the plan has 1 block");
    part(&lab, "2/2", "part-2").exits(0);
    let runs = results(&lab, "part-2").into_iter().filter(|result| result.trial.phase == Phase::Run);
    assert_eq!(runs.filter(|result| result.trial.repeat == 1).count(), 12);
}

#[test]
fn status_tells_how_far_each_folder_is() {
    let lab = lab();
    part(&lab, "2/3", "part-2").exits(0);
    lab.write("experiment.toml", &FILE.replace("40ms", "40s"));
    let running = lab.start(["run", "experiment.toml", "--part", "1/3", "--out", "results"]).has_records(2);
    eventually("a run", || lab.path("results/trials").read_dir().unwrap().count() > 2);
    let status = lab.run(["status", "results", "part-2"]);
    let text = &status.exits(0).stdout;
    assert!(text.contains(&format!("results: part 1/3, running (process {}), 2 of ", running.pid())), "{text}");
    assert!(text.contains("; now ") && text.contains("part-2: part 2/3, complete, "), "{text}");
    assert!(text.contains("\npart 3 is missing\n"), "{text}");
    assert!(text.contains("small: lmdb readrandom, 1 reader"), "{text}");
    running.killed();
    let status = lab.run(["status", "results"]);
    assert!(status.exits(0).stdout.contains("results: part 1/3, ended early, 2 of "), "{}", status.stdout);
    lab.run(["status", "nothing"]).exits(2).says("nothing is not a results folder");
    fs::create_dir(lab.path("begun")).unwrap();
    lab.write("begun/.lock", "");
    let status = lab.run(["status", "begun"]);
    assert!(status.exits(0).stdout.contains("begun: starting on another machine, or ended before its first trial"));
}

/// Programs that stand in for a scheduler's: they do at once, and here, what it does elsewhere and later.
const SCHEDULERS: [(&str, &str); 3] = [
    // Of an array, each task; a job without one, once.
    (
        "sbatch",
        "job=$(mktemp -p .); cat >\"$job\"; echo \"sbatch $*\" >>calls; echo 4711\n\
         case \" $* \" in *--array=1-4*) for SLURM_ARRAY_TASK_ID in 1 2 3 4; do export SLURM_ARRAY_TASK_ID\n\
         bash \"$job\" >&2 || exit; done;; *) bash \"$job\" >&2;; esac\n",
    ),
    ("srun", "while [[ $1 == --* ]]; do shift; done; exec \"$@\"\n"),
    ("parallel", "echo \"parallel $*\" >>calls; while read -r number; do bash -c \"part $number\"; done\n"),
];

#[test]
fn the_scripts_for_schedulers_run_all_parts_and_merge_them() {
    let lab = lab();
    lab.write("no table.toml", FILE);
    fs::create_dir(lab.path("bin")).unwrap();
    for (name, script) in SCHEDULERS {
        lab.write(&format!("bin/{name}"), &format!("#!/bin/bash\n{script}"));
        fs::set_permissions(lab.path("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", lab.path("bin").display(), std::env::var("PATH").unwrap());
    for (scheduler, call) in
        [("slurm", "--array=1-4 --exclusive --mem=0 --requeue"), ("parallel", "--jobs 1 --env part")]
    {
        let out = format!("of {scheduler}");
        let script = lab.run(["submit", scheduler, "no table.toml", "--parts", "4", "--out", &out]);
        lab.write("script", &script.exits(0).stdout).write("calls", "");
        let mut bash = Command::new("bash");
        bash.args(["script", "--partition=one"]).current_dir(lab.path("")).env("PATH", &path);
        let kvdyno = lab.kvdyno();
        let environment = kvdyno.get_envs().filter_map(|(key, value)| Some((key, value?)));
        bash.envs(environment).env("KVDYNO", kvdyno.get_program()).env("KVDYNO_DIR", lab.path("bin"));
        // The second time it goes on with a part that lost a trial.
        for time in ["first", "second"] {
            let ended = bash.output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.success(), "{scheduler}, {time}: {said}");
            assert_eq!(work(&lab, &format!("{out}/all")).len(), 32, "{scheduler}, {time}: {said}");
            let fourth = ResultsFolder::at(lab.path(format!("{out}/part-4")));
            let last = results(&lab, &format!("{out}/part-4")).pop().unwrap();
            fs::remove_file(fourth.trial_folder(&last.trial).join("result.json")).unwrap();
            let experiment = fs::read_to_string(fourth.experiment_file()).unwrap();
            assert!(experiment.contains(&lab.path("bin").display().to_string()), "{experiment}");
        }
        let calls = fs::read_to_string(lab.path("calls")).unwrap();
        assert!(calls.contains(call) && calls.contains("--partition=one"), "{calls}");
        assert_eq!(calls.contains("--dependency=afterany:4711"), scheduler == "slurm", "{calls}");
        script.says("the plan has 3 blocks, so 1 of 4 parts will have nothing to do");
        lab.run(["submit", scheduler, "no table.toml", "--parts", "4", "--out", &out]).exits(2).says("is not empty");
    }
    let script = lab.run(["submit", "github", "experiment.toml", "--parts", "4"]);
    let workflow = &script.exits(0).stdout;
    assert!(workflow.contains("        part: [1, 2, 3, 4]\n"), "{workflow}");
    assert!(workflow.contains("kvdyno run experiment.toml --part ${{ matrix.part }}/4 --out"), "{workflow}");
    let dealt = lab.run(["submit", "github", "experiment.toml", "--parts", "4", "--deal", "repeats"]);
    assert!(dealt.stdout.contains("--part ${{ matrix.part }}/4 --deal repeats --out"), "{}", dealt.stdout);
    lab.run(["submit", "github", "experiment.toml", "--parts", "257"]).exits(2).says("at most 256 --parts");
    lab.run(["submit", "slurm", "nothing.toml", "--parts", "4"]).exits(2).says("there is no file nothing.toml");
    lab.run(["submit", "slurm", "experiment.toml", "--parts", "0"]).exits(2);
}

// ---- each part does the whole plan

/// Makes a part one that a machine of another name measured.
fn move_to(lab: &Lab, folder: &str, host: &str) {
    let path = lab.path(folder).join("plan.json");
    let mut plan: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    plan["hosts"] = json!([{ "name": host, "id": host, "boot": host }]);
    fs::write(&path, plan.to_string()).unwrap();
}

/// Two repeats on each of six machines are twelve, with one value for each machine; on four they are not pooled.
#[test]
fn where_repeats_are_dealt_a_machine_is_one_value() {
    let lab = Lab::new();
    let text = "engines = [\"lmdb\", \"faulty\"]\n[data]\nrecords = 500\n[lab]\nrepeat = 2\n\
        [[run]]\nworkload = \"readrandom\"\nreaders = [1]\nduration = \"40ms\"\nwarmup = \"0s\"\n";
    lab.write("experiment.toml", text);
    let names: Vec<String> = (1..=6).map(|number| format!("part-{number}")).collect();
    for (number, name) in (1..).zip(&names) {
        let part = format!("{number}/6");
        lab.run(["run", "experiment.toml", "--part", &part, "--deal", "repeats", "--out", name]).exits(0);
        move_to(&lab, name, &format!("node{number}"));
    }
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    merge(&lab, &all, "all").exits(0);
    let before = files(&lab.path("all"));
    merge(&lab, &all, "all").exits(0);
    let after = files(&lab.path("all"));
    let trials = |files: BTreeMap<String, (Vec<u8>, i64)>| {
        files.into_iter().filter(|(path, _)| path.contains("/trials/")).collect::<Vec<_>>()
    };
    assert_eq!(trials(before), trials(after), "nothing is copied twice");

    let merged = results(&lab, "all");
    let ordered: Vec<&TrialKey> = merged.iter().map(|result| &result.trial).collect();
    let of_part = |name: &str| results(&lab, name).len();
    assert_eq!(ordered.len(), all.iter().map(|name| of_part(name)).sum::<usize>());
    let repeats = |engine: &str, phase: Phase| {
        let own = ordered.iter().filter(|trial| trial.engine == engine && trial.phase == phase);
        own.map(|trial| trial.repeat).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!(repeats("lmdb", Phase::Run) >= 12 && repeats("lmdb", Phase::Load) >= 12, "{ordered:?}");
    let report = lab.run(["report", "all"]);
    report.exits(0);
    let others = merged.iter().any(|result| !result.environment.interference.is_empty());
    let pooled = report.stdout.contains("repeats on 6 machines");
    assert!(pooled || others && report.stdout.contains("repeats on "), "{}", report.stdout);
    let seeds = |folder: &str| -> std::collections::BTreeSet<u64> {
        results(&lab, folder).iter().map(|result| result.workload.seed).collect()
    };
    assert!(seeds("part-1").is_disjoint(&seeds("part-2")), "each machine draws for itself");

    let machines = lab.run(["diff", "all", "--by", "machine"]);
    for words in ["lmdb (node6)", "faulty (node2)", "lmdb (node1)", "either machine"] {
        assert!(machines.stdout.contains(words), "{words}: {}", machines.stdout);
    }
    let one = lab.run(["diff", "part-1", "--by", "machine"]);
    one.exits(2).says("part-1 has no results of several machines");

    merge(&lab, &all[..4], "four").exits(0);
    let four = lab.run(["report", "four", "--format", "json"]);
    assert!(four.stdout.contains("on 4 machines: too few machines: 5 are needed to pool them"), "{}", four.stdout);
    assert!(lab.run(["report", "four"]).stdout.contains("node4 (4)"));
}

#[test]
fn parts_are_dealt_by_one_rule() {
    let lab = lab();
    part(&lab, "1/2", "part-1").exits(0);
    let second = lab.run(["run", "experiment.toml", "--part", "2/2", "--deal", "repeats", "--out", "part-2"]);
    second.exits(0);
    let merged = merge(&lab, &["part-1", "part-2"], "all");
    merged.exits(2).says("part-2 is of a plan that was dealt by --deal repeats, and part-1 by blocks");
    let unknown = lab.run(["run", "experiment.toml", "--part", "2/2", "--deal", "cards", "--out", "x"]);
    unknown.exits(2).says("[possible values: blocks, repeats]");
    lab.run(["run", "experiment.toml", "--deal", "repeats", "--out", "x"]).exits(2).says("--part");
}
