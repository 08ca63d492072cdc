//! Engines that cheat, in loads and in each workload that writes: they do not sync, put work off, keep data elsewhere,
//! or drop and delay writes. The trial fails, or the sentence of its verdict has the reason.

use kvdyno_results::{FailureKind, Phase, TrialOutcome, TrialResult};
use serde_json::Value;

use crate::support::writers::{RUNS, run_with, with_clients};
use crate::support::{Lab, Ran, may_set_the_environment};

/// An engine that cheats: its name, and the options of `faulty` that make it so.
type Cheat = (&'static str, &'static str);

/// At durability `commit` it acknowledges what is not synced.
const UNSYNCED: [Cheat; 7] = [
    ("never", "fault = 'unsynced-commit'"),
    ("another-file", "fault = 'synced-elsewhere'"),
    ("the-folder", "fault = 'synced-folder'"),
    ("not-the-cache", "fault = 'written-out'"),
    ("each-hundredth", "fault = 'synced-seldom'"),
    ("afterwards", "fault = 'synced-behind'"),
    ("each-second", "fault = 'synced-each-second'"),
];

/// It does half of the work at once, and the rest in 300 ms when what is measured is over.
const PUTTING_OFF: [Cheat; 6] = [
    ("close", "fault = 'slow-put', every = 33, hook = 'close', does = 'sleep'"),
    ("compaction", "fault = 'slow-put', every = 33, hook = 'close', does = 'work'"),
    ("session-end", "fault = 'slow-put', every = 33, hook = 'session-close', does = 'sleep'"),
    ("behind", "fault = 'slow-put', every = 33, hook = 'session-close', does = 'sleep-behind'"),
    ("statistics", "fault = 'slow-put', every = 33, hook = 'statistics', does = 'sleep'"),
    ("flush", "fault = 'slow-put', every = 33, hook = 'flush', does = 'sleep'"),
];

/// The engine that does all at once.
const SLOW: Cheat = ("slow", "fault = 'slow-put', every = 16");

/// It keeps data elsewhere than in the files of its folder; and the words that its sentences have then.
const ELSEWHERE: [(Cheat, &str); 6] = [
    (("memory", "hides = 'memory', fill_limit = '16MiB'"), "used more memory than its cache and write buffers"),
    (
        ("shared-memory", "hides = 'shared-memory', fill_limit = '16MiB'"),
        "used more memory than its cache and write buffers",
    ),
    (("deleted-file", "hides = 'file', fill_limit = '16MiB'"), "kept data outside its folder"),
    (("mapped-file", "hides = 'mapped', fill_limit = '16MiB'"), "kept data outside its folder"),
    (("moved", "hides = 'moved', fill_limit = '4MiB'"), "stored less than its values take"),
    (("folded", "fault = 'folded-values'"), "stored less than its values take"),
];

const SOUND: Cheat = ("sound", "fault = 'none'");

/// It keeps the head of each value alone, and makes up the rest.
const MADE_UP: Cheat = ("made-up", "fault = 'made-up-values'");

/// It keeps all in memory, and in its folder a file of that size.
const FORGOTTEN: Cheat = ("forgotten", "fault = 'forgotten-at-close', hides = 'dummy', fill_limit = '4MiB'");

/// It drops writes, or does them later.
const DROPPING: [Cheat; 7] = [
    ("each-hundredth", "fault = 'dropped-write', every = 100"),
    ("a-while", "fault = 'dropped-while', every = 8000"),
    ("beside-reads", "fault = 'dropped-beside-reads', after = 0"),
    ("5000-later", "fault = 'late-write'"),
    ("1000-later", "fault = 'late-write', delay = 1000"),
    ("last-of-each", "fault = 'late-last-write', delay = 900"),
    ("swapped", "fault = 'swapped-writes'"),
];

/// Tests of each cheat in each run.
macro_rules! runs {
    ($($workload:ident: $number:literal;)*) => {
        $(
            mod $workload {
                use crate::support::writers::RUNS;

                #[test]
                fn an_engine_that_does_not_sync_is_caught() {
                    super::unsynced_in(RUNS[$number]);
                }

                #[test]
                fn an_engine_that_puts_work_off_is_told() {
                    super::put_off_in(RUNS[$number], &super::PUTTING_OFF[..3]);
                }

                #[test]
                fn an_engine_that_puts_work_off_until_another_call_is_told() {
                    super::put_off_in(RUNS[$number], &super::PUTTING_OFF[3..]);
                }

                #[test]
                fn an_engine_that_keeps_data_elsewhere_is_told() {
                    super::kept_elsewhere_in(RUNS[$number]);
                }

                #[test]
                fn an_engine_that_drops_or_delays_writes_is_caught() {
                    super::dropped_in(RUNS[$number]);
                }
            }
        )*
    };
}

runs! {
    overwrite: 0;
    overwritesome: 1;
    overwriteandwait: 2;
    puts: 3;
    inserts: 4;
    read_modify_write: 5;
    roles: 6;
    transfer: 7;
    queue: 8;
}

/// A run of an experiment with these engines: `rest` is all that it has beside them.
fn experiment(cheats: &[Cheat], others: &[&str], after: u64, rest: &str) -> Ran {
    let mut names: Vec<String> = others.iter().map(|name| format!("\"{name}\"")).collect();
    names.extend(cheats.iter().map(|(name, _)| format!("\"{name}\"")));
    let mut text = format!("engines = [{}]\n{rest}", names.join(", "));
    for (name, options) in cheats {
        let given = |option: &str| options.contains(&format!("{option} = "));
        let every = if given("every") { "" } else { ", every = 1" };
        let after = if given("after") || given("hook") { String::new() } else { format!(", after = {after}") };
        text += &format!(
            "[engine.{name}]\nengine = \"faulty\"\n\
             options = {{ {options}, transactions = true, concurrent = true{every}{after} }}\n"
        );
    }
    let lab = Lab::new();
    lab.write("experiment.toml", &text);
    lab.run(["run", "experiment.toml", "--out", "results"])
}

fn kind(result: &TrialResult) -> Option<FailureKind> {
    match &result.outcome {
        TrialOutcome::Failed(failure) => Some(failure.kind),
        TrialOutcome::Finished => None,
    }
}

/// All trials of a phase failed in one of these ways, each of an engine of `cheats`.
#[track_caller]
fn all_failed(ran: &Ran, cheats: &[Cheat], phase: Phase, kinds: &[FailureKind]) {
    let results: Vec<_> = ran.results().into_iter().filter(|result| result.trial.phase == phase).collect();
    assert_eq!(results.len(), cheats.len(), "{}", ran.stderr);
    let uncaught = results.iter().filter(|result| !kind(result).is_some_and(|kind| kinds.contains(&kind)));
    let uncaught: Vec<_> = uncaught.map(|result| (&result.trial.engine, &result.outcome, result.commits())).collect();
    assert!(uncaught.is_empty(), "{uncaught:#?}");
}

/// The sentences of the verdicts on writes, or on loads, of a report, with the two labels of each.
fn sentences(ran: &Ran) -> Vec<(String, String, String)> {
    let report: Value = serde_json::from_str(&ran.lab.report("json")).unwrap();
    let verdicts = report["verdicts"].as_array().unwrap().iter();
    let of_writes = verdicts.filter(|verdict| verdict["side"] == "writes");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_writes.map(|it| (text(&it["one"]), text(&it["other"]), text(&it["sentence"]))).collect()
}

/// In the load and in the run, or in that of the two with this verb, the sentence on the two engines has these words.
#[track_caller]
fn all_say(ran: &Ran, engines: [&str; 2], verb: &str, words: &str) {
    let all = sentences(ran);
    let both = |one: &str, other: &str| engines.contains(&one) && engines.contains(&other);
    let told = all.iter().filter(|(one, other, told)| both(one, other) && told.contains(verb)).map(|(.., told)| told);
    let told: Vec<_> = told.collect();
    let is_told = told.len() == if verb.is_empty() { 2 } else { 1 } && told.iter().all(|told| told.contains(words));
    assert!(is_told, "{engines:?}: {told:#?}\n{all:#?}");
}

// ---- commits that are not synced

const AT_COMMIT: &str = "[load]\nbatch = 1\n[settings]\ndurability = \"commit\"\n[environment]\nstorage = \"ext4\"\n\
                         storage_size = \"64MiB\"\n[lab]\nmin_free = \"4MiB\"\nrepeat = 1\n";

fn unsynced_in(run: &str) {
    if !may_set_the_environment() {
        return;
    }
    // The load is spared, and so are as many commits of the run.
    let rest = format!("[data]\nrecords = 100\n{AT_COMMIT}{}", run_with(run, 2, 1000));
    let ran = experiment(&UNSYNCED, &[], 100, &rest);
    ran.exits(1).is_whole();
    all_failed(&ran, &UNSYNCED, Phase::Run, &[FailureKind::NotSynced]);
}

#[test]
fn a_load_that_does_not_sync_is_caught() {
    if !may_set_the_environment() {
        return;
    }
    let ran = experiment(&UNSYNCED, &[], 0, &format!("[data]\nrecords = 300\n{AT_COMMIT}{}", run_with(RUNS[0], 1, 1)));
    ran.exits(1).is_whole();
    all_failed(&ran, &UNSYNCED, Phase::Load, &[FailureKind::NotSynced]);
}

// ---- work that is put off

fn put_off_in(run: &str, cheats: &[Cheat]) {
    let engines = [cheats, &[SLOW]].concat();
    // Of two clients one may be through while the other works: what it puts off would be done beside that.
    let (clients, operations) = if run.contains("role") { (2, 100) } else { (1, 200) };
    let run = run_with(run, clients, operations);
    let rest = format!("[data]\nrecords = 100\n[lab]\nrepeat = 2\nsettle = true\n{run}");
    let ran = experiment(&engines, &[], 0, &rest);
    ran.exits(0).is_whole();
    ran.lab.without_interference("results");
    ran.lab.has_quickest_figures("results");
    for &(name, _) in cheats {
        // A run calls no flush, unless it waits: nothing is put off there.
        let verb = if name == "flush" && !run.contains("wait") { " loads " } else { "" };
        all_say(&ran, [name, "slow"], verb, " of work: counted in, ");
    }
}

// ---- data that is kept elsewhere

/// So many records are more than the cache holds, and with their indices less than cache and write buffers together.
const WITH_SMALL_CACHE: &str = "[data]\nrecords = 5000\n[settings]\ncache = \"512KiB\"\nwrite_buffer = \"1MiB\"\n";

fn kept_elsewhere_in(run: &str) {
    let of_all =
        |audit: &str| format!("{WITH_SMALL_CACHE}[lab]\nrepeat = 1\naudit = \"{audit}\"\n{}", run_with(run, 2, 12_000));
    let cheats: Vec<Cheat> = ELSEWHERE.into_iter().map(|(cheat, _)| cheat).chain([SOUND]).collect();
    let ran = experiment(&cheats, &["lmdb"], 0, &of_all("sample"));
    ran.exits(0).is_whole();
    for ((name, _), words) in ELSEWHERE {
        all_say(&ran, [name, "lmdb"], "", &format!("; {name} {words}"));
    }
    is_not_accused(&ran, [SOUND.0, "lmdb"]);
    let made_up = experiment(&[MADE_UP], &[], 0, &of_all("off"));
    made_up.exits(1).is_whole();
    all_failed(&made_up, &[MADE_UP], Phase::Run, &[FailureKind::WrongAnswer]);
    let forgotten = experiment(&[FORGOTTEN], &[], 5000, &of_all("sample"));
    forgotten.exits(1).is_whole();
    all_failed(&forgotten, &[FORGOTTEN], Phase::Run, &[FailureKind::LostWrite]);
}

#[test]
fn a_load_that_keeps_nothing_is_caught() {
    let cheats = [MADE_UP, FORGOTTEN];
    let ran = experiment(&cheats, &[], 0, &format!("{WITH_SMALL_CACHE}{}", run_with(RUNS[0], 1, 1)));
    ran.exits(1).is_whole();
    all_failed(&ran, &cheats, Phase::Load, &[FailureKind::LostWrite]);
}

// ---- writes that are dropped or late

fn dropped_in(run: &str) {
    let reads = run.contains("get") || run.contains("read") || run.contains("transfer");
    let cheats: Vec<Cheat> = DROPPING.into_iter().filter(|(name, _)| reads || *name != "beside-reads").collect();
    // Nobody but a writer's own read-backs, chosen at random, meets a late insert that is taken after it is done.
    let operations = if run.contains("take") { 120_000 } else { 24_000 };
    let rest = format!("[data]\nrecords = 1000\n[lab]\nrepeat = 1\n{}", run_with(run, 2, operations));
    let ran = experiment(&cheats, &[], 10_000, &rest);
    ran.exits(1).is_whole();
    all_failed(&ran, &cheats, Phase::Run, &[FailureKind::WrongAnswer, FailureKind::LostWrite]);
}

/// Each drops some in a load, too. What is late is done when the load ends.
#[test]
fn a_load_that_drops_writes_is_caught() {
    for load in ["fillseq", "fillrandom"] {
        let rest = format!("[data]\nrecords = 1000\n[load]\nworkload = \"{load}\"\n{}", run_with(RUNS[0], 1, 1));
        let ran = experiment(&DROPPING[..2], &[], 0, &rest);
        ran.exits(1).is_whole();
        all_failed(&ran, &DROPPING[..2], Phase::Load, &[FailureKind::LostWrite]);
    }
}

// ---- engines that do not cheat

/// No sentence on these two has words of a cheat.
#[track_caller]
fn is_not_accused(ran: &Ran, engines: [&str; 2]) {
    for (one, other, told) in sentences(ran).iter().filter(|it| engines.contains(&&*it.0) && engines.contains(&&*it.1))
    {
        let accuses = ELSEWHERE.iter().any(|(_, words)| told.contains(words));
        assert!(!accuses && !told.contains("not synced") && !told.contains("wrote"), "{one}, {other}: {told}");
    }
}

#[test]
fn a_sound_engine_is_not_accused() {
    let engines = ["lmdb", "leveldb", "sqlite"];
    let without_transactions: Vec<&str> = RUNS.into_iter().filter(|run| !run.contains("transfer")).collect();
    let all = |operations| with_clients(&without_transactions, operations);
    let ran = experiment(&[], &engines, 0, &format!("{WITH_SMALL_CACHE}[lab]\nrepeat = 1\n{}", all(5000)));
    ran.is_clean();
    for pair in [["lmdb", "leveldb"], ["leveldb", "sqlite"], ["lmdb", "sqlite"]] {
        is_not_accused(&ran, pair);
    }
    if may_set_the_environment() {
        experiment(&[], &engines, 0, &format!("[data]\nrecords = 100\n{AT_COMMIT}{}", all(30))).is_clean();
    }
}
