//! Clients of a mix with roles of their own: each works by its own numbers, they know of each other's records, and the
//! figures of each stand by themselves.

use crate::support::{Lab, Ran};
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

fn only(ran: &Ran, engine: &str) -> TrialResult {
    ran.is_clean().trials(engine, "mix").remove(0).result
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
        let result = only(&mixed(engine, VISITORS_AND_REPORTS), engine);
        let [visitors, reports] = &result.of_roles[..] else { panic!("{:?}", result.of_roles) };
        assert_eq!((visitors.name.as_str(), reports.name.as_str()), ("visitors", "reports"));
        // Three clients of the first role, whose operations end the trial.
        assert_eq!(count(visitors, OpKind::Get) + count(visitors, OpKind::Put), 12_000);
        assert_eq!((count(visitors, OpKind::Range), count(reports, OpKind::Get)), (0, 0));
        let ranges = reports.operations.iter().find(|of| of.kind == OpKind::Range).unwrap();
        assert!(ranges.records > 90 * ranges.operations, "{ranges:?}");
        assert_eq!((ranges.threads, result.trial.writers), (2, 5));
        // All of them together are what the trial did.
        let all: u64 = result.operations.iter().map(|of| of.operations).sum();
        assert_eq!(all, 12_000 + ranges.operations);
        let facts = &result.workload.roles;
        assert_eq!([0, 1].map(|role| facts[role].distribution.to_string()), ["zipf 0.99", "uniform"]);
        let rates = result.figures.unwrap().figures;
        assert!(rates.iter().any(|figure| figure.column == "reports_ops_per_s"), "{rates:?}");
    }
}

#[test]
fn a_role_at_a_rate_keeps_it_beside_one_in_a_closed_loop() {
    let run = "readers = [1]\nduration = \"500ms\"\nwarmup = \"0s\"\n[[run.role]]\nmix = \"get 100\"\n\
               [[run.role]]\nmix = \"put 100\"\nclients = 2\nrate = 200\narrival = \"fixed\"\n";
    let result = only(&mixed("lmdb", run), "lmdb");
    let [gets, puts] = &result.of_roles[..] else { panic!("{:?}", result.of_roles) };
    assert_eq!((gets.name.as_str(), puts.name.as_str()), ("role-1", "role-2"));
    let (gets, puts) = (&gets.operations[0], &puts.operations[0]);
    assert!(gets.pacing.is_none() && puts.pacing.is_some(), "{puts:?}");
    // 200 a second for half a second, if not one of them is late.
    assert!(puts.operations <= 101, "{puts:?}");
}

/// Who neither inserts nor takes knows of what others do: a get draws from what is there now.
#[test]
fn a_reader_follows_what_others_insert_and_take() {
    let latest = "readers = [1]\noperations = 60_000\nwarmup = \"0s\"\n\
        [[run.role]]\nname = \"feed\"\nmix = \"get 100\"\ndistribution = \"latest\"\n\
        [[run.role]]\nname = \"authors\"\nmix = \"insert 100\"\n";
    for engine in ["lmdb", "faulty"] {
        only(&mixed(engine, latest), engine);
    }
    let queue = "readers = [1]\noperations = 20_000\nwarmup = \"0s\"\n[[run.role]]\nname = \"lookups\"\n\
                 mix = \"get 100\"\nrate = 40000\n\
        [[run.role]]\nname = \"queue\"\nclients = 2\nmix = \"insert 50, take 50\"\n";
    for engine in ["lmdb", "leveldb", "faulty"] {
        let result = only(&mixed(engine, queue), engine);
        assert!(count(&result.of_roles[1], OpKind::Take) > 0, "{:?}", result.of_roles);
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
/// operations end the trial, comes at a rate that gives the second two seconds.
#[test]
fn what_goes_wrong_in_the_second_role_fails_the_trial() {
    for (fault, mix) in [("scan-order", "range 100"), ("missing", "get 100")] {
        let lab = Lab::new();
        let text = format!(
            "engines = [\"bad\"]\n[engine.bad]\nengine = \"faulty\"\noptions = {{ fault = \"{fault}\", every = 1 }}\n\
             [data]\nrecords = 1000\n[lab]\naudit = \"off\"\n[[run]]\nworkload = \"mix\"\nreaders = [1]\n\
             operations = 20\nwarmup = \"0s\"\n[[run.role]]\nmix = \"put 100\"\nrate = 10\narrival = \"fixed\"\n\
             [[run.role]]\nmix = \"{mix}\"\nrate = 1000\n"
        );
        lab.write("experiment.toml", &text);
        let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
        ran.exits(1).trials("bad", "mix").remove(0).failed("wrong-answer", "");
    }
}

#[test]
fn roles_work_as_processes() {
    let run = VISITORS_AND_REPORTS.replacen("readers", "clients = \"processes\"\nreaders", 1);
    let result = only(&mixed("lmdb", &run), "lmdb");
    assert_eq!(result.of_roles.len(), 2);
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
