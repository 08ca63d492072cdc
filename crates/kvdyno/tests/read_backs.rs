//! Writers read some of their own records back while the trial goes on, and so find what an audit cannot.

use crate::support::{Comparison, Lab};

/// A thousand records, which clients write over again and again.
fn writing(workload: &str) -> Comparison {
    let lab = Lab::new().compare(["faulty"]).with("records", 1000).with("distribution", "uniform");
    lab.workload(workload).operations(60_000).option("faulty.after=1000")
}

/// Each put is acknowledged, and done when 5,000 more were, or an audit comes: everything is there then.
#[test]
fn a_write_that_is_done_too_late_is_found_where_nothing_else_reads() {
    for (name, workload) in [("overwrite", writing("overwrite")), ("mix", writing("mix").with("mix", "put 100"))] {
        let ran = workload.clone().fault("late-write", 1).run();
        ran.exits(1).is_whole().reports_failures();
        let answers = ran.trial("faulty", name).failed("wrong-answer", "the first: ").result.answers.clone();
        assert!(answers.stale > 0 && answers.stale == answers.failures(), "{name}: {answers:?}");
        let sound = workload.again().run();
        let read_back = sound.is_clean().trial("faulty", name).result.answers.read_back;
        assert!((20..100).contains(&read_back), "{name}: {read_back}");
    }
}

/// Nothing else finds it: the audits come too late.
#[test]
fn without_verification_nothing_is_read_back() {
    let ran = writing("overwrite").with("verify", "off").fault("late-write", 1).run();
    assert_eq!(ran.is_clean().trial("faulty", "overwrite").result.answers.read_back, 0);
}
