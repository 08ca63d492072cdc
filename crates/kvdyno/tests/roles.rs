//! Clients of a mix with roles of their own: each works by its own numbers, they know of each other's records, and the
//! figures of each stand by themselves.

use crate::support::{EndedTrial, Lab, Ran};
use kvdyno_results::{OpKind, RoleOperations, TrialResult};

/// A mix on an engine with these keys of its run.
fn mixed(engine: &str, run: &str) -> Ran {
    let lab = Lab::new();
    let text = format!(
        "engines = [\"{engine}\"]\n[data]\nrecords = 5000\n[lab]\naudit = \"full\"\n[[run]]\nworkload = \"mix\"\n{run}"
    );
    lab.write("experiment.toml", &text);
    lab.run(["run", "experiment.toml", "--out", "results"])
}

fn only(ran: &Ran, engine: &str) -> EndedTrial {
    ran.is_clean().trials(engine, "mix").remove(0)
}

/// The first trial of which `is_so` holds, of those with once, ten times and a hundred times the operations, with that
/// factor. The operations of the first role end a trial, and who gets a processor when decides what the others have
/// done by then.
#[track_caller]
fn first_in_which(is_so: impl Fn(&TrialResult) -> bool, run: impl Fn(u64) -> EndedTrial) -> (u64, EndedTrial) {
    let mut trials = [1, 10, 100].into_iter().map(|times| (times, run(times)));
    trials.find(|(_, trial)| is_so(&trial.result)).expect("operations of all roles")
}

fn all_work(result: &TrialResult) -> bool {
    result.of_roles.iter().all(|role| role.operations.iter().any(|of| of.operations > 0))
}

fn count(role: &RoleOperations, kind: OpKind) -> u64 {
    role.operations.iter().filter(|of| of.kind == kind).map(|of| of.operations).sum()
}

/// Visitors come at a rate, for half a second: a report is done meanwhile.
const VISITORS_AND_REPORTS: &str = "readers = [3]\noperations = 4000\nwarmup = \"0s\"\n\
    [[run.role]]\nname = \"visitors\"\nmix = \"get 95, put 5\"\ndistribution = \"zipf\"\nrate = 24000\n\
    [[run.role]]\nname = \"reports\"\nclients = 2\nmix = \"range 100\"\nseek_nexts = 99\n";

#[test]
fn each_role_does_its_own_operations() {
    for engine in ["lmdb", "faulty"] {
        let of = |times: u64| VISITORS_AND_REPORTS.replace("4000", &(4000 * times).to_string());
        let (times, trial) = first_in_which(all_work, |times| only(&mixed(engine, &of(times)), engine));
        let result = trial.result;
        let [visitors, reports] = &result.of_roles[..] else { panic!("{:?}", result.of_roles) };
        assert_eq!((visitors.name.as_str(), reports.name.as_str()), ("visitors", "reports"));
        // Three clients of the first role, whose operations end the trial.
        assert_eq!(count(visitors, OpKind::Get) + count(visitors, OpKind::Put), 12_000 * times);
        assert_eq!((count(visitors, OpKind::Range), count(reports, OpKind::Get)), (0, 0));
        let ranges = reports.operations.iter().find(|of| of.kind == OpKind::Range).unwrap();
        assert!(ranges.records > 90 * ranges.operations, "{ranges:?}");
        assert_eq!((ranges.threads, result.trial.writers), (2, 5));
        // All of them together are what the trial did.
        let all: u64 = result.operations.iter().map(|of| of.operations).sum();
        assert_eq!(all, 12_000 * times + ranges.operations);
        let facts = &result.workload.roles;
        assert_eq!([0, 1].map(|role| facts[role].distribution.to_string()), ["zipf 0.99", "uniform"]);
        let rates = result.figures.unwrap().figures;
        assert!(rates.iter().any(|figure| figure.column == "reports_ops_per_s"), "{rates:?}");
    }
}

/// Two clients at half of 200 a second each: the last of 50 is due 490 ms after the first.
#[test]
fn a_role_at_a_rate_keeps_it_beside_one_in_a_closed_loop() {
    let run = "readers = [2]\noperations = 50\nwarmup = \"0s\"\n[[run.role]]\nmix = \"put 100\"\nrate = 200\n\
               arrival = \"fixed\"\n[[run.role]]\nmix = \"get 100\"\n";
    let of = |times: u64| run.replace("operations = 50", &format!("operations = {}", 50 * times));
    let (times, trial) = first_in_which(all_work, |times| only(&mixed("lmdb", &of(times)), "lmdb"));
    let [puts, gets] = &trial.result.of_roles[..] else { panic!("{:?}", trial.result.of_roles) };
    assert_eq!((puts.name.as_str(), gets.name.as_str()), ("role-1", "role-2"));
    let (puts, gets) = (&puts.operations[0], &gets.operations[0]);
    assert!(gets.pacing.is_none() && puts.pacing.is_some(), "{puts:?}");
    assert_eq!(puts.operations, 100 * times);
    let seconds = trial.result.window.as_ref().unwrap().seconds;
    assert!(seconds >= (50 * times - 1) as f64 / 100.0, "{seconds}");
}

/// Who neither inserts nor takes knows of what others do: a get draws from what is there now.
#[test]
fn a_reader_follows_what_others_insert_and_take() {
    let latest = |times: u64| {
        format!(
            "readers = [1]\noperations = {}\nwarmup = \"0s\"\n\
             [[run.role]]\nname = \"feed\"\nmix = \"get 100\"\ndistribution = \"latest\"\n\
             [[run.role]]\nname = \"authors\"\nmix = \"insert 100\"\n",
            60_000 * times
        )
    };
    for engine in ["lmdb", "faulty"] {
        first_in_which(all_work, |times| only(&mixed(engine, &latest(times)), engine));
    }
    let queue = |times: u64| {
        format!(
            "readers = [1]\noperations = {}\nwarmup = \"0s\"\n\
             [[run.role]]\nname = \"lookups\"\nmix = \"get 100\"\nrate = 40000\n\
             [[run.role]]\nname = \"queue\"\nclients = 2\nmix = \"insert 50, take 50\"\n",
            20_000 * times
        )
    };
    let takes = |result: &TrialResult| count(&result.of_roles[1], OpKind::Take) > 0;
    for engine in ["lmdb", "leveldb", "faulty"] {
        first_in_which(takes, |times| only(&mixed(engine, &queue(times)), engine));
    }
}

/// A fault that strikes the writers' records is found by those who only read.
#[test]
fn readers_find_what_writers_lost() {
    let lab = Lab::new();
    let text = "engines = [\"bad\"]\n[engine.bad]\nengine = \"faulty\"\noptions = { fault = \"other-key\", \
                every = 97, after = 3000 }\n\
        [data]\nrecords = 1000\n[[run]]\nworkload = \"mix\"\nreaders = [1]\noperations = 5000\n\
        [[run.role]]\nmix = \"get 100\"\n[[run.role]]\nmix = \"put 100\"\n";
    lab.write("experiment.toml", text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(1).trials("bad", "mix").remove(0).failed("wrong-answer", "wrong");
}

/// So is one that strikes where only the second role steps, or only the second reads single records. The first, whose
/// operations end the trial, comes at a rate that gives the second half a second.
#[test]
fn what_goes_wrong_in_the_second_role_fails_the_trial() {
    for (fault, mix) in [("scan-order", "range 100"), ("missing", "get 100")] {
        let run = |times: u64| {
            let lab = Lab::new();
            let text = format!(
                "engines = [\"bad\"]\n[engine.bad]\nengine = \"faulty\"\n\
                 options = {{ fault = \"{fault}\", every = 1 }}\n\
                 [data]\nrecords = 1000\n[lab]\naudit = \"off\"\n[[run]]\nworkload = \"mix\"\nreaders = [1]\n\
                 operations = {}\nwarmup = \"0s\"\n[[run.role]]\nmix = \"put 100\"\nrate = 10\narrival = \"fixed\"\n\
                 [[run.role]]\nmix = \"{mix}\"\nrate = 1000\n",
                5 * times
            );
            lab.write("experiment.toml", &text);
            lab.run(["run", "experiment.toml", "--out", "results"]).trials("bad", "mix").remove(0)
        };
        first_in_which(all_work, run).1.failed("wrong-answer", "");
    }
}

#[test]
fn roles_work_as_processes() {
    let run = VISITORS_AND_REPORTS.replacen("readers", "clients = \"processes\"\nreaders", 1);
    let trial = only(&mixed("lmdb", &run), "lmdb");
    assert_eq!(trial.result.of_roles.len(), 2);
}

#[test]
fn a_report_has_a_column_for_each_role() {
    let ran = mixed("lmdb", VISITORS_AND_REPORTS);
    ran.is_clean();
    let table = ran.lab.report("table");
    for words in [
        "visitors ops/s",
        "reports ops/s",
        "visitors: 3 x get 95, put 5, zipf 0.99, 24,000 a second; reports: 2 x range 100, uniform",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
}

#[test]
fn roles_that_make_no_sense_are_refused() {
    let role = "[[run.role]]\nmix = \"get 100\"\n";
    let in_mix = |text: &str| format!("workload = \"mix\"\n{text}");
    for (location, text, words) in [
        ("4:1", format!("workload = \"ycsb-a\"\n{role}"), "`ycsb-a` has operations of its own, so role means nothing"),
        ("4:7", in_mix(&format!("mix = \"get 100\"\n{role}")), "each role has a mix of its own; leave this one out"),
        ("4:8", in_mix(&format!("rate = 5\n{role}")), "each role has a rate of its own"),
        ("6:11", in_mix(&format!("{role}clients = 2\n")), "the first role has as many clients as `readers`"),
        ("6:1", in_mix(&format!("{role}[[run.role]]\nclients = 2\n")), "role-2 has no mix; give it operations"),
        ("6:8", in_mix(&format!("{role}name = \"a b\"\n")), "`a b` is no name of a role"),
        ("9:8", in_mix(&format!("{role}name = \"a\"\n{role}name = \"a\"\n")), "role 1 is called `a` too"),
        ("6:14", in_mix(&format!("{role}seek_nexts = 5\n")), "the mix of role-1 has no range, so seek_nexts means"),
        ("6:11", in_mix(&format!("{role}arrival = \"sine\"\n")), "give role-1 a rate, or leave it out"),
        (
            "7:11",
            in_mix(&format!("{role}rate = 5\narrival = \"bursty 20s\"\n")),
            "role-1: arrival = bursty 20s has a period of 20s, longer than the duration of 10s",
        ),
        (
            "6:8",
            in_mix(&format!("{role}rate = \"900M\"\n")),
            "role-1: rate is 900000000; it must be at most 100000000 a second",
        ),
        ("6:1", in_mix(&format!("{role}rates = 5\n")), "there is no key `rates` here; it can be"),
        ("6:16", in_mix(&format!("{role}distribution = \"power 0.1 0.5 9 0 1 0 1\"\n")), "weights that are 0"),
    ] {
        let file = format!("engines = [\"lmdb\"]\n[[run]]\n{text}");
        let lab = Lab::new();
        lab.write("experiment.toml", &file);
        let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
        ran.exits(2).says(words);
        assert!(ran.stderr.contains(&format!("experiment.toml:{location}")), "{file}{}", ran.stderr);
        assert!(!lab.path("results").exists());
    }
    let few = "engines = [\"lmdb\"]\n[data]\nrecords = 600\n[[run]]\nworkload = \"mix\"\nreaders = [1]\n[[run.role]]\n\
               mix = \"get 100\"\n[[run.role]]\nmix = \"delete 100\"\n";
    let lab = Lab::new();
    lab.write("experiment.toml", few);
    lab.run(["run", "experiment.toml", "--out", "results"]).exits(2).says("1024 or more");
}
