//! Work that an engine puts off until its database is closed: told, and in the sentences that it would reverse.

use crate::support::Lab;

/// Each of the puts of `synthetic` takes 0.1 ms. Those of `faulty` take less, and its close takes 300 ms.
const EXPERIMENT: &str = r#"
engines = ["faulty", "synthetic"]
[engine.faulty]
options = { fault = "slow-close" }
[engine.synthetic]
options = { put_ns = 100000 }
[data]
records = 300
[lab]
repeat = 3
[[run]]
workload = "overwrite"
readers = [1]
operations = 300
warmup = "0s"
"#;

#[test]
fn a_closing_that_would_reverse_a_verdict_is_told_in_its_sentence() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).is_whole();
    let closing = |engine: &str| ran.trial(engine, "overwrite").result.window.unwrap().closing.unwrap();
    assert!(closing("faulty").seconds >= 0.3 && closing("faulty").written_bytes.is_some(), "{:?}", closing("faulty"));
    assert!(closing("synthetic").cpu_s <= closing("synthetic").seconds + 0.02, "{:?}", closing("synthetic"));
    lab.without_interference("results");
    lab.has_steady_figures("results");
    let report = lab.run(["report", "results"]);
    report.exits(0);
    let said = report.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("of work: counted in, synthetic would be faster"), "{}", report.stdout);
}
