//! Roles that work in parts of the measured window: each does its operations in its own part, with rates over that, in
//! one opening of the database.

use std::fs;

use crate::support::{EndedTrial, Lab, Ran, squeezed};
use kvdyno_results::{OpKind, SeriesPoint, TrialResult};

/// Three roles, one after the other, each for so many milliseconds. Between two of them nobody works for as long.
fn experiment(engine: &str, each_ms: u64, more: &str) -> String {
    let [one, two, three, four, all] = [1, 2, 3, 4, 5].map(|times| times * each_ms);
    format!(
        "engines = [\"{engine}\"]\n[data]\nrecords = 5000\n[lab]\naudit = \"full\"\n[[run]]\nworkload = \"mix\"\n\
         readers = [1]\nduration = \"{all}ms\"\nwarmup = \"10ms\"\n{more}\
         [[run.role]]\nname = \"before\"\nmix = \"miss 100\"\nuntil = \"{one}ms\"\n\
         [[run.role]]\nname = \"burst\"\nclients = 2\nmix = \"put 100\"\nfrom = \"{two}ms\"\nuntil = \"{three}ms\"\n\
         [[run.role]]\nname = \"after\"\nmix = \"get 100\"\nfrom = \"{four}ms\"\n"
    )
}

fn lab_with(experiment: &str) -> Lab {
    let lab = Lab::new();
    lab.write("experiment.toml", experiment);
    lab
}

fn run(lab: &Lab) -> Ran {
    lab.run(["run", "experiment.toml", "--out", "results"])
}

fn only(ran: &Ran, engine: &str) -> EndedTrial {
    ran.trials(engine, "mix").remove(0)
}

/// The first trial of which `is_so` holds, of parts of 200 ms, of 1 s and of 5 s: who gets a processor when decides how
/// much of a short part is seen.
#[track_caller]
fn first_in_which<T>(is_so: impl Fn(&T) -> bool, trial: impl Fn(u64) -> T) -> T {
    [200, 1000, 5000].into_iter().map(trial).find(is_so).expect("operations of all roles")
}

fn all_work(result: &TrialResult) -> bool {
    result.of_roles.iter().all(|role| role.operations.iter().any(|of| of.operations > 0))
}

fn count(rows: &[SeriesPoint], kind: OpKind) -> u64 {
    rows.iter().filter(|row| row.kind == kind).map(|row| row.operations).sum()
}

/// The rows behind the first that has operations of a kind.
fn behind(rows: &[SeriesPoint], kind: OpKind) -> &[SeriesPoint] {
    let first = rows.iter().find(|row| row.kind == kind && row.operations > 0);
    let first = first.unwrap_or_else(|| panic!("no {kind}")).end_s;
    &rows[rows.iter().position(|row| row.end_s > first).unwrap_or(rows.len())..]
}

/// A client ends at most one operation after its part. The kinds of later parts are counted first, so a row that has
/// one of a part has all of the parts before it.
#[test]
fn operations_of_a_role_come_in_its_part_alone() {
    for engine in ["lmdb", "faulty"] {
        let all_seen = |(ran, rows): &(Ran, Vec<SeriesPoint>)| {
            all_work(&only(ran, engine).result) && [OpKind::Put, OpKind::Get].iter().all(|kind| count(rows, *kind) > 0)
        };
        let (ran, rows) = first_in_which(all_seen, |each_ms| {
            let ran = run(&lab_with(&experiment(engine, each_ms, "")));
            let rows = ran.lab.folder().series(&only(&ran, engine).result.trial).unwrap();
            (ran, rows)
        });
        ran.is_clean();
        assert!(count(behind(&rows, OpKind::Put), OpKind::Miss) <= 1, "{rows:?}");
        assert!(count(behind(&rows, OpKind::Get), OpKind::Put) <= 2, "{rows:?}");
        rates_are_over_the_parts(&only(&ran, engine).result);
    }
}

/// A role's rate is over its own part, that of a kind over the whole window.
#[track_caller]
fn rates_are_over_the_parts(result: &TrialResult) {
    let window_s = result.window.as_ref().unwrap().seconds;
    assert_eq!(result.of_roles.len(), 3);
    for (role, facts) in result.of_roles.iter().zip(&result.workload.roles) {
        let (seconds, own) = (role.seconds.unwrap(), &role.operations[0]);
        assert!(seconds <= window_s - facts.from_s.unwrap_or(0.0) + 1e-3, "{seconds} of {window_s}: {facts:?}");
        let whole = result.operations.iter().find(|of| of.kind == own.kind).unwrap();
        assert_eq!(whole.operations, own.operations);
        let over_window = whole.operations as f64 / window_s;
        assert!((whole.operations_per_s / over_window - 1.0).abs() < 1e-6, "{whole:?} in {window_s} s");
        let over_part = own.operations as f64 / seconds;
        // Each of its clients has its own last operation.
        assert!(own.operations_per_s >= 0.999 * over_part, "{own:?} in {seconds} s");
    }
}

#[test]
fn parts_are_reported() {
    let ran = run(&lab_with(&experiment("lmdb", 50, "")));
    ran.exits(0);
    let table = squeezed(&ran.lab.report("table"));
    for words in [
        "before: 1 x miss 100, uniform, until 50ms; burst: 2 x put 100, uniform, from 100ms until 150ms; after: ",
        "Rates of roles are over their parts of the window (before until 50ms, burst from 100ms until 150ms, after",
        "their roles work in parts of the measured window",
    ] {
        assert!(table.contains(&squeezed(words)), "{words}: {table}");
    }
    let (csv, json) = (fs::read_to_string(ran.lab.path("results/report/run.csv")).unwrap(), ran.lab.report("json"));
    assert!(csv.contains(",burst_time,") && csv.contains(",from 100ms until 150ms,"), "{csv}");
    assert!(squeezed(&json).contains(&squeezed("\"burst_time\":\"from 100ms until 150ms\"")), "{json}");
}

#[test]
fn roles_work_in_their_parts_as_processes() {
    let processes = |each_ms| {
        let ran = run(&lab_with(&experiment("lmdb", each_ms, "clients = \"processes\"\n")));
        only(ran.exits(0), "lmdb").result
    };
    rates_are_over_the_parts(&first_in_which(all_work, processes));
}

/// Killed while some role works, or none does.
#[test]
fn a_killed_trial_is_run_again() {
    for milliseconds in [50, 150, 250, 350] {
        let lab = lab_with(&experiment("lmdb", 100, ""));
        let running = lab.start(["run", "experiment.toml", "--out", "results"]);
        running.has_records(1).after(milliseconds).killed();
        lab.has_no_workers();
        let resumed = lab.resume();
        resumed.exits(0);
        only(&resumed, "lmdb").finished();
    }
}

/// The fault of a role that works in the middle alone.
#[test]
fn what_goes_wrong_in_a_part_fails_the_trial() {
    let faulty = |each_ms| {
        let setup = "[engine.bad]\nengine = \"faulty\"\noptions = { fault = \"missing\", every = 1 }\n";
        let text = experiment("bad", each_ms, "").replace("\"full\"", "\"off\"");
        // The reads of records are those of the middle alone.
        let text = text.replace("mix = \"get", "mix = \"other").replace("put 100", "get 100").replace("other", "put");
        only(&run(&lab_with(&(text + setup))), "bad")
    };
    first_in_which(|trial: &EndedTrial| all_work(&trial.result), faulty).failed("wrong-answer", "missing");
}

/// Neither a role at work nor one that sleeps for an hour outlasts a trial that cannot go on.
#[test]
fn a_trial_that_fails_ends_for_all_roles() {
    let text = "engines = [\"bad\"]\n[engine.bad]\nengine = \"faulty\"\n\
        options = { fault = \"error-put\", every = 1, after = 2000 }\n[data]\nrecords = 1000\n[lab]\naudit = \"off\"\n\
        [[run]]\nworkload = \"mix\"\nreaders = [1]\nduration = \"2h\"\n\
        [[run.role]]\nmix = \"get 100\"\n[[run.role]]\nmix = \"put 100\"\nfrom = \"100ms\"\nuntil = \"1h\"\n\
        [[run.role]]\nmix = \"get 100\"\nfrom = \"1h\"\n";
    let ran = run(&lab_with(text));
    only(ran.exits(1), "bad").failed("engine-error", "error-put");
}

#[test]
fn parts_that_make_no_sense_are_refused() {
    let role = |name: &str, keys: &str| format!("[[run.role]]\nname = \"{name}\"\nmix = \"get 100\"\n{keys}");
    let whole = role("whole", "");
    let inserts = |keys: &str| role("in", keys).replace("get", "insert");
    for (location, run, roles, words) in [
        ("11:8", "", whole.clone() + &role("x", "from = \"5s\"\nuntil = \"5s\"\n"), "would begin at 5s and end at 5s"),
        ("11:8", "", whole.clone() + &role("x", "from = \"10s\"\n"), "would begin at 10s and end at 10s"),
        ("11:9", "", whole.clone() + &role("x", "until = \"11s\"\n"), "and the run ends after 10s"),
        ("12:9", "duration = \"3s\"\n", whole.clone() + &role("x", "until = \"4s\"\n"), "the run ends after 3s"),
        (
            "12:8",
            "operations = 9\n",
            whole.clone() + &role("x", "from = \"4s\"\n"),
            "`duration`, which this run has not",
        ),
        ("9:9", "records_fraction = 0.5\n", role("x", "until = \"4s\"\n"), "`duration`, which this run has not"),
        ("8:8", "", role("x", "from = \"2s\"\n") + &role("y", "from = \"3s\"\n"), "no role works before 2s"),
        ("12:9", "", role("x", "until = \"2s\"\n") + &role("y", "until = \"3s\"\n"), "no role works after 3s"),
        (
            "11:9",
            "",
            whole.clone() + &inserts("until = \"3s\"\n") + &inserts("").replace("\"in\"", "\"more\""),
            "roles that insert must end at the same time; in ends at 3s",
        ),
        ("5:1", "from = \"2s\"\n", whole.clone(), "there is no key `from` here"),
        ("11:8", "", whole.clone() + &role("x", "from = 5\n"), "time"),
    ] {
        let file = format!("engines = [\"lmdb\"]\n[[run]]\nworkload = \"mix\"\nreaders = [1]\n{run}{roles}");
        let lab = lab_with(&file);
        let ran = self::run(&lab);
        ran.exits(2).says(words);
        assert!(ran.stderr.contains(&format!("experiment.toml:{location}")), "{file}{}", ran.stderr);
        assert!(!lab.path("results").exists());
    }
    let slices = format!(
        "engines = [\"lmdb\", \"faulty\"]\n[lab]\ndesign = \"slices\"\n[[run]]\nworkload = \"mix\"\n\
                          {whole}{}",
        role("x", "from = \"5s\"\n")
    );
    let lab = lab_with(&slices);
    run(&lab).exits(2).says("lab.design = slices cannot be: its roles work in parts of the measured window");
}
