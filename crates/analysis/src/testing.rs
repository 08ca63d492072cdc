//! Made-up results for the tests of this crate.

use kvdyno_model::{Distribution, Durability, MixOperation, OperationMix};
use kvdyno_results::{
    ClientKind, Cpu, DriverCost, EngineFacts, Failure, FailureKind, Filesystem, Latency, Machine, MachineSetup, OpKind,
    Operations, OsFacts, Percentiles, Phase, RoleFacts, SeriesPoint, TrialKey, TrialOutcome, TrialResult, Window,
    WorkloadFacts,
};

/// A trial of 10 s with one kind of operation, `get`.
pub(crate) fn result(engine: &str, readers: u32, repeat: u32, reads_per_s: f64) -> TrialResult {
    let trial = TrialKey {
        number: 10 * readers + repeat,
        engine: engine.into(),
        variant: String::new(),
        phase: Phase::Run,
        workload: "readrandom".into(),
        readers,
        writers: 0,
        clients: ClientKind::Threads,
        repeat,
    };
    TrialResult {
        window: Some(Window {
            seconds: 10.0,
            warmup_seconds: 1.0,
            user_s: 9.0,
            sys_s: 0.5,
            ctx_switches: Some(1000),
            clock: "tsc".into(),
            ..Window::default()
        }),
        operations: vec![gets(readers, reads_per_s)],
        os: OsFacts { wall_s: 11.0, user_s: 10.0, sys_s: 0.6, cpu_pct: 96, ..OsFacts::default() },
        ..TrialResult::without_figures(trial, engine_facts(engine), workload(), TrialOutcome::Finished)
    }
}

/// A role of one client that gets until so many seconds of the window.
pub(crate) fn role_until(seconds: f64) -> RoleFacts {
    RoleFacts {
        name: "early".into(),
        clients: 1,
        mix: OperationMix::of([(MixOperation::Get, 100.0)]),
        distribution: Distribution::default(),
        batch: None,
        keys_per_multiget: None,
        rate: None,
        arrival: None,
        durability: None,
        from_s: None,
        until_s: Some(seconds),
    }
}

/// A trial that crashed before its window.
pub(crate) fn failed(engine: &str, readers: u32, repeat: u32) -> TrialResult {
    let failure = Failure { kind: FailureKind::Crashed, reason: "segmentation fault".into() };
    let outcome = TrialOutcome::Failed(failure);
    TrialResult { outcome, window: None, operations: Vec::new(), ..result(engine, readers, repeat, 0.0) }
}

/// A second each.
pub(crate) fn points(kind: OpKind, rates: &[f64]) -> Vec<SeriesPoint> {
    (1u32..)
        .zip(rates)
        .map(|(end, rate)| SeriesPoint {
            end_s: f64::from(end),
            seconds: 1.0,
            kind,
            operations: *rate as u64,
            records: *rate as u64,
            records_per_s: *rate,
            percentiles: Percentiles::from_fn(|percentile| 900 + 1000 * percentile as u64),
            max_ns: 20_000,
        })
        .collect()
}

/// Four processors and a driver of 60 ns.
pub(crate) fn machine() -> Machine {
    let driver = DriverCost { get_ns: 60.0, get_ns_range: (58.0, 63.0), scaling: 3.9, scaling_threads: 4 };
    Machine {
        cpu: Cpu { model: "Test".into(), threads: 4, cores: 4, sockets: 1, governor: None, hypervisor: None },
        caches: Vec::new(),
        memory_kib: 8 << 20,
        numa: Vec::new(),
        kernel: "6.1".into(),
        system: "Test".into(),
        filesystem: Filesystem {
            kind: "ext4".into(),
            options: "rw".into(),
            device: None,
            rotational: None,
            read_ahead_kib: None,
            free_bytes: 1 << 30,
        },
        clock: "tsc".into(),
        setup: MachineSetup::default(),
        kvdyno: "0.1.0".into(),
        build: None,
        driver: Some(driver),
        limits: None,
    }
}

fn engine_facts(name: &str) -> EngineFacts {
    EngineFacts {
        name: name.into(),
        version: "1".into(),
        adapter: format!("libkvdyno_{name}.so"),
        ..EngineFacts::default()
    }
}

fn workload() -> WorkloadFacts {
    WorkloadFacts {
        name: "readrandom".into(),
        records: 1_000_000,
        key_size: 16,
        key_format: "hex".into(),
        value_size: 100,
        value_sizes: None,
        compressibility: 0.5,
        batch: 1,
        reads_per_transaction: 1,
        distribution: Some(Distribution::default()),
        durability: Durability::None,
        cache_bytes: 32 << 20,
        write_buffer_bytes: 8 << 20,
        seed: 42,
        ..WorkloadFacts::default()
    }
}

fn gets(threads: u32, per_s: f64) -> Operations {
    let mean_ns = (f64::from(threads) * 1e9 / per_s.max(1.0)) as u64;
    Operations {
        kind: OpKind::Get,
        threads,
        operations: (per_s * 10.0) as u64,
        records: (per_s * 10.0) as u64,
        operations_per_s: per_s,
        records_per_s: per_s,
        latency: Latency { mean_ns, max_ns: 10 * mean_ns, ..Latency::default() },
        pacing: None,
    }
}
