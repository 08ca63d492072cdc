//! A made-up result for the tests of this crate.

use kvdyno_results::{
    ClientKind, EngineFacts, Latency, OpKind, Operations, Phase, TrialKey, TrialOutcome, TrialResult, Window,
    WorkloadFacts,
};

/// The only trial of an engine: one reader runs a workload.
pub(crate) fn only_trial(engine: &str, workload: &str) -> TrialKey {
    TrialKey {
        number: 1,
        engine: engine.into(),
        variant: String::new(),
        phase: Phase::Run,
        workload: workload.into(),
        readers: 1,
        writers: 0,
        clients: ClientKind::Threads,
        repeat: 1,
    }
}

/// A trial of 10 s that read so many records a second.
pub(crate) fn result(trial: TrialKey, reads_per_s: f64) -> TrialResult {
    let reads = (reads_per_s * 10.0) as u64;
    let engine = EngineFacts { name: trial.engine.clone(), version: "1".into(), ..EngineFacts::default() };
    let workload = WorkloadFacts { name: trial.workload.clone(), batch: 1, ..WorkloadFacts::default() };
    let operations = Operations {
        kind: OpKind::Get,
        threads: trial.readers,
        operations: reads,
        records: reads,
        operations_per_s: reads_per_s,
        records_per_s: reads_per_s,
        latency: Latency::default(),
        pacing: None,
    };
    TrialResult {
        window: Some(Window { seconds: 10.0, ..Window::default() }),
        operations: vec![operations],
        ..TrialResult::without_figures(trial, engine, workload, TrialOutcome::Finished)
    }
}
