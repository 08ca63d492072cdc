//! The search for the highest rate that keeps a promise.

use crate::support::{Comparison, Lab, Ran};
use kvdyno_model::{Design, LatencyPromise};
use kvdyno_results::{RateSearch, TrialResult};

fn searching<const N: usize>(engines: [&str; N], promise: &str) -> Comparison {
    let comparison = Lab::new().compare(engines).with("records", 2000).with("find-max-rate", promise);
    comparison.milliseconds(50).with("warmup", "10ms")
}

fn search_of(ran: &Ran, engine: &str, workload: &str) -> (TrialResult, RateSearch) {
    let result = ran.trial(engine, workload).result;
    let search = result.search.clone().unwrap();
    (result, search)
}

/// Each rate follows from the outcomes before, the rate that was found is the highest that kept the promise, and the
/// measured part has it.
#[track_caller]
fn agrees_with_itself(result: &TrialResult, search: &RateSearch) {
    let promise: LatencyPromise = result.workload.find_max_rate.unwrap();
    assert_eq!(search.promise, promise);
    for probe in &search.probes {
        assert!(probe.per_s >= search.least_per_s && probe.per_s <= search.capacity_per_s, "{search:?}");
        let keeps = promise.is_kept(|latency| probe.latency.promised(latency));
        assert!(!probe.kept || keeps && probe.behind_s <= 0.01, "{probe:?}");
        assert!(probe.reached_per_s <= 1.2 * probe.per_s + 40.0, "more than were due: {probe:?}");
    }
    // The rate that was found was kept twice, and not broken since.
    if let Some(highest) = search.highest_per_s {
        let outcomes: Vec<bool> =
            search.probes.iter().filter(|probe| probe.per_s == highest).map(|probe| probe.kept).collect();
        assert!(outcomes.ends_with(&[true, true]) || search.probes.len() >= 25, "{search:?}");
    }
    let design = result.design.as_ref().unwrap();
    assert_eq!((design.design, design.slices), (Design::Turns, 1), "{design:?}");
    assert!(result.window.as_ref().unwrap().seconds >= 0.04, "{:?}", result.window);
    let measured = search.measured.as_ref();
    assert_eq!(measured.map(|measured| measured.per_s), search.highest_per_s, "{search:?}");
    if let (Some(measured), [only]) = (measured, result.operations.as_slice()) {
        assert_eq!(measured.latency, only.latency, "the account of the search and that of the trial");
    }
    let due = search.highest_per_s.unwrap_or(search.least_per_s) * result.window.as_ref().unwrap().seconds;
    let done: u64 = result.operations.iter().filter(|one| one.pacing.is_some()).map(|one| one.operations).sum();
    assert!(done as f64 <= 1.2 * due + 4.0, "{done} operations, and {due} were due");
}

/// A bound of ten seconds is kept wherever the backlog does not grow.
#[test]
fn a_rate_is_found_for_readers_writers_and_mixes() {
    let ran = searching(["lmdb", "faulty"], "p90=10s, mean=10s").workload("readrandom").with("readers", "1,2").run();
    ran.is_clean();
    for engine in ["lmdb", "faulty"] {
        for ended in ran.trials(engine, "readrandom") {
            let (result, search) = (ended.result.clone(), ended.result.search.clone().unwrap());
            agrees_with_itself(&result, &search);
            assert!(search.highest_per_s.is_some_and(|highest| highest > 1000.0), "{search:?}");
        }
    }
    for workload in ["overwrite", "ycsb-a", "fwdrange", "multireadrandom"] {
        let ran = searching(["faulty"], "mean=10s").workload(workload).with("readers", 1).run();
        let (result, search) = search_of(ran.is_clean(), "faulty", workload);
        agrees_with_itself(&result, &search);
        assert!(search.highest_per_s.is_some(), "{workload}: {search:?}");
    }
}

/// Writers keep the rate that is given, while that of the readers is searched.
#[test]
fn readers_are_searched_beside_writers_at_a_rate() {
    let comparison = searching(["faulty"], "p99=10s").workload("readwhilewriting").with("readers", 1);
    let ran = comparison.with("write-rate", 1000).milliseconds(200).run();
    let (result, search) = search_of(ran.is_clean(), "faulty", "readwhilewriting");
    agrees_with_itself(&result, &search);
    let writes = result.operations.iter().find(|one| one.writes()).unwrap();
    assert!(writes.operations <= 220, "{writes:?}");
}

#[test]
fn a_promise_that_is_never_kept_is_an_answer() {
    let comparison = searching(["lmdb", "faulty"], "p50=1ns").workload("readrandom").with("readers", 1);
    let ran = comparison.with("repeat", 2).run();
    ran.exits(0);
    for ended in ["lmdb", "faulty"].into_iter().flat_map(|engine| ran.trials(engine, "readrandom")) {
        let (result, search) = (ended.result.clone(), ended.result.search.clone().unwrap());
        agrees_with_itself(&result, &search);
        assert_eq!(search.highest_per_s, None);
        assert!(search.probes.len() > 1, "{search:?}");
    }
    let report = ran.lab.report("table");
    // Among the verdicts, and in the answer.
    for engine in ["lmdb", "faulty"] {
        let sentence = format!("{engine} keeps p50=1ns at no rate from ");
        assert_eq!(report.matches(&sentence).count(), 2, "{report}");
    }
}

/// One engine is compared with none, and its rate is repeated until it is known.
#[test]
fn a_search_lasts_until_its_rate_is_known() {
    let comparison = searching(["faulty"], "mean=10s").workload("readrandom").with("readers", 1);
    let ran = comparison.with("repeat", "auto").with("precision", "100%").run();
    let enough = ran.exits(0).lab.folder().plan().unwrap().unwrap().enough.unwrap();
    assert_eq!(ran.trials("faulty", "readrandom").len(), enough.repeat as usize);
    let report = ran.lab.report("table");
    let is_answer = |line: &str| line.starts_with("- faulty") && line.contains(" keeps mean=10s up to ");
    assert!(report.lines().any(is_answer), "{report}");
    let ranking = &serde_json::from_str::<serde_json::Value>(&ran.lab.report("json")).unwrap()["rankings"][0];
    assert!(ranking["rates"][0].as_str().unwrap().contains(" keeps mean=10s up to "), "{ranking}");
    // On a busy machine it may differ too much in each of the most repeats.
    assert!(enough.repeat >= 10 && (enough.repeat >= 30 || enough.why == "each highest rate is known"), "{enough:?}");
}

#[test]
fn a_report_says_which_rate_keeps_what() {
    let comparison = searching(["lmdb", "faulty"], "p90=10s").workload("readrandom").with("readers", 1);
    let ran = comparison.with("repeat", 3).run();
    ran.exits(0);
    let report = ran.lab.report("table");
    for words in [
        "by the highest rate that keeps p90=10s",
        "Highest rate",
        "capacity/s",
        "measured, kept %",
        "highest rate with p90=10s",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    let page = std::fs::read_to_string(ran.lab.path("results/report/index.html")).unwrap();
    assert!(page.contains("p90 against the rate, 1 reader") && page.contains("p90=10s"));
}

#[test]
fn contradictory_searches_are_refused() {
    let lab = Lab::new();
    for (words, says) in [
        (&["--find-max-rate", "p98=1ms"][..], "p98"),
        (
            &["--find-max-rate", "p99=1ms", "--read-rate", "100"],
            "read_rate gives the rate that find_max_rate is to find",
        ),
        (&["--find-max-rate", "p99=1ms", "--operations", "100"], "give a duration instead"),
        (&["--find-max-rate", "p99=1ms", "--arrival", "sine"], "varies the rate that is searched"),
        (&["--find-max-rate", "p99=1ms", "--workload", "readwhilewriting"], "give the rate of the writers"),
        (&["--find-max-rate", "p99=1ms", "--workload", "readseq"], "has no clients whose rate could be set"),
        (&["--find-max-rate", "p99=1ms", "--design", "slices"], "has the machine to itself"),
    ] {
        let workload = if words.contains(&"--workload") { &[][..] } else { &["--workload", "readrandom"] };
        let all = [&["compare", "lmdb", "faulty", "--records", "1000", "--dry-run"], words, workload].concat();
        lab.run_with(&all).exits(2).says(says);
    }
}
