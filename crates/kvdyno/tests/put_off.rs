//! Work that an engine puts off until its database is closed: told, and in the sentences that it would reverse.

use kvdyno_results::{Phase, TrialResult};

use crate::support::Lab;

/// Two of the hundred updates of `slow` take 50 ms longer. Those of `late` do not, but its close takes 300 ms.
const EXPERIMENT: &str = r#"
engines = ["late", "slow"]
[engine.late]
engine = "faulty"
options = { fault = "slow-close" }
[engine.slow]
engine = "faulty"
options = { fault = "slow-get", every = 50 }
[data]
records = 300
[lab]
repeat = 3
[[run]]
workload = "mix"
mix = "read-modify-write 100"
readers = [1]
operations = 100
warmup = "0s"
"#;

#[test]
fn a_closing_that_would_reverse_a_verdict_is_told_in_its_sentence() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).is_whole();
    let closing = |engine: &str| {
        let run = |result: &TrialResult| result.trial.engine == engine && result.trial.phase == Phase::Run;
        ran.results().into_iter().find(run).unwrap().window.unwrap().closing.unwrap()
    };
    assert!(closing("late").seconds >= 0.3 && closing("late").written_bytes.is_some(), "{:?}", closing("late"));
    assert!(closing("slow").cpu_s <= closing("slow").seconds + 0.02, "{:?}", closing("slow"));
    lab.without_interference("results");
    lab.has_quickest_figures("results");
    let report = lab.run(["report", "results"]);
    report.exits(0);
    let said = report.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("; late took 3") && said.contains(" of work: counted in, "), "{}", report.stdout);
}
