//! A made-up experiment: seven engines, a load each, 1, 2 and 4 readers beside a writer. One load crashed, one trial
//! crashed, one gave a wrong answer, one was too short.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files has failed")]

mod engines;
pub mod stalls;

use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;
use kvdyno_model::Durability;
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{
    AnswerCounts, Cache, CallBytes, ClientKind, Cpu, Device, DriverCost, EngineFacts, Failure, FailureKind, Filesystem,
    Latency, Machine, MachineSetup, NumaNode, OpKind, Operations, OsFacts, Percentile, Percentiles, Phase,
    ResourcePoint, SeriesPoint, Setting, Space, TrialKey, TrialOutcome, TrialResult, Window, WorkloadFacts, files,
    latency_log,
};

use engines::{ENGINES, MadeUpEngine, engines};

const READERS: [u32; 3] = [1, 2, 4];
const WINDOW_S: u32 = 12;
const RECORDS: u64 = 1_000_000;

/// Writes the experiment, each cell repeated.
pub fn write(root: &Path, repeats: u32) -> ResultsFolder {
    write_of(root, repeats, ENGINES.len())
}

/// Writes the experiment with so many engines.
pub fn write_of(root: &Path, repeats: u32, count: usize) -> ResultsFolder {
    write_long(root, repeats, count, WINDOW_S)
}

/// The same, with so many points in each time series.
pub fn write_long(root: &Path, repeats: u32, count: usize, points: u32) -> ResultsFolder {
    let results = ResultsFolder::at(root);
    fs::create_dir_all(root).unwrap();
    fs::write(results.experiment_file(), experiment(repeats)).unwrap();
    files::write_json(&results.machine_file(), &machine()).unwrap();
    let mut number = 0;
    for engine in &engines(count).collect::<Vec<_>>() {
        for repeat in 1..=repeats {
            number += 1;
            save(&results, engine, load(engine, number, repeat), points);
            for readers in READERS {
                number += 1;
                save(&results, engine, run(engine, number, repeat, readers), points);
            }
        }
    }
    results
}

fn save(results: &ResultsFolder, engine: &MadeUpEngine, result: TrialResult, points: u32) {
    results.save(&result).unwrap();
    let points = series(&result, points);
    if !points.is_empty() {
        results.save_series(&result.trial, &points).unwrap();
        results.save_resources(&result.trial, &resources(engine, &result, &points)).unwrap();
    }
    let histograms = result.operations.iter().map(|operations| (operations.kind, histogram(&operations.latency)));
    latency_log::write(&results.trial_folder(&result.trial), histograms).unwrap();
}

/// 100,000 operations that have these latencies.
fn histogram(latency: &Latency) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).unwrap();
    histogram.record(latency.min_ns).unwrap();
    let (mut below, mut from) = (1, latency.min_ns as f64);
    for percentile in Percentile::ALL {
        let up_to = (100_000.0 * percentile.quantile()).round() as u64;
        // Those between lie between, and the last of them at the percentile.
        let to = latency.at(percentile) as f64;
        let steps = (up_to - below).min(16);
        for step in 1..=steps {
            let ns = from * (to / from).powf(step as f64 / steps as f64);
            let upper = below + (up_to - below) * step / steps;
            let lower = below + (up_to - below) * (step - 1) / steps;
            histogram.record_n(if step == steps { latency.at(percentile) } else { ns as u64 }, upper - lower).unwrap();
        }
        (below, from) = (up_to, to);
    }
    histogram.record_n(latency.max_ns, 100_000 - below).unwrap();
    histogram
}

fn experiment(repeats: u32) -> String {
    format!("name = \"made-up <in-memory> scaling\"\nengines = [\"lmdb\", \"rocksdb\"]\n[lab]\nrepeat = {repeats}\n")
}

/// The same number for the same words, from -1 to 1.
fn wobble(words: &[u64]) -> f64 {
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for word in words {
        state = (state ^ word).wrapping_mul(0x0100_0000_01b3);
        state ^= state >> 29;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn outcome(engine: &MadeUpEngine, phase: Phase, readers: u32, repeat: u32) -> TrialOutcome {
    let failed = |kind, reason: &str| TrialOutcome::Failed(Failure { kind, reason: reason.to_owned() });
    match (engine.named, phase, readers, repeat) {
        ("hyperleveldb", Phase::Load, ..) => {
            failed(FailureKind::Crashed, "ended by signal 11 (segmentation fault) after 0.4 s")
        }
        ("hyperleveldb", ..) => failed(FailureKind::NotRun, "its database was not loaded"),
        ("bdb", Phase::Run, 4, _) => failed(FailureKind::Crashed, "ended by signal 6 (abort) after 7.2 s"),
        ("wiredtiger:lsm", Phase::Run, 2, 1) => {
            failed(FailureKind::WrongAnswer, "3 of 1,210,344 reads gave the value of another key")
        }
        _ => TrialOutcome::Finished,
    }
}

fn key(engine: &MadeUpEngine, number: u32, repeat: u32, phase: Phase, readers: u32) -> TrialKey {
    let workload = match phase {
        Phase::Load => "fillseq",
        Phase::Run => "readwhilewriting",
    };
    TrialKey {
        number,
        engine: engine.named.into(),
        variant: String::new(),
        phase,
        workload: workload.into(),
        readers,
        writers: 1,
        clients: ClientKind::Threads,
        repeat,
    }
}

fn load(engine: &MadeUpEngine, number: u32, repeat: u32) -> TrialResult {
    let trial = key(engine, number, repeat, Phase::Load, 0);
    let seconds = engine.load_s * (1.0 + 0.03 * wobble(&[u64::from(number)]));
    let rate = RECORDS as f64 / seconds;
    let os = os(engine, seconds + 0.03, (0.71, 0.22));
    result(engine, trial, seconds, os, vec![operations(OpKind::Batch, 1, rate, 1000.0, seconds, engine.noise)])
}

fn run(engine: &MadeUpEngine, number: u32, repeat: u32, readers: u32) -> TrialResult {
    let trial = key(engine, number, repeat, Phase::Run, readers);
    let drift = 1.0 + engine.noise / 3.0 * wobble(&[u64::from(number), 7]);
    let threads = f64::from(readers);
    let reads = engine.reads * threads.powf(engine.scaling) * drift;
    let writes = engine.writes / threads.powf(0.3) * drift;
    let seconds = f64::from(WINDOW_S) + 0.004;
    let os = os(engine, seconds + 1.06, ((threads + 1.0) * 0.93, 0.02 * threads));
    let operations = vec![
        operations(OpKind::Get, readers, reads, 1.0, seconds, engine.noise),
        operations(OpKind::Put, 1, writes, 1.0, seconds, engine.noise * 3.0),
    ];
    result(engine, trial, seconds, os, operations)
}

fn operations(kind: OpKind, threads: u32, rate: f64, batch: f64, seconds: f64, tail: f64) -> Operations {
    let calls = rate / batch;
    let mean = 0.96e9 * f64::from(threads) / calls;
    let at = |factor: f64| (mean * factor) as u64;
    Operations {
        kind,
        threads,
        operations: (calls * seconds).round() as u64,
        records: (rate * seconds).round() as u64,
        operations_per_s: calls,
        records_per_s: rate,
        latency: Latency {
            min_ns: at(0.4),
            mean_ns: at(1.0),
            percentiles: Percentiles::from_fn(|percentile| match percentile {
                Percentile::P50 => at(0.93),
                Percentile::P90 => at(1.3),
                Percentile::P99 => at(2.0 + 20.0 * tail),
                Percentile::P99_9 => at(4.0 + 200.0 * tail),
                Percentile::P99_99 => at(12.0 + 2000.0 * tail),
            }),
            max_ns: at(300.0 + 20_000.0 * tail),
        },
        pacing: None,
    }
}

fn os(engine: &MadeUpEngine, wall_s: f64, (user, sys): (f64, f64)) -> OsFacts {
    let cents = |v: f64| (v * 100.0).round() / 100.0;
    OsFacts {
        wall_s: cents(wall_s),
        user_s: cents(wall_s * user),
        sys_s: cents(wall_s * sys),
        cpu_pct: (100.0 * (user + sys)) as u64,
        peak_rss_kib: engine.rss_kib,
        ctx_voluntary: (wall_s * 900.0 * (1.0 + engine.noise * 40.0)) as u64,
        ctx_involuntary: (wall_s * 31.0) as u64,
        fs_in_ops: 16,
        fs_out_ops: engine.db_kib * 3,
        minor_faults: engine.rss_kib / 4,
        major_faults: 2,
        read_bytes: Some(8192),
        write_bytes: Some(engine.db_kib * 1536),
        calls: Some(CallBytes { read: engine.rss_kib * 5000, written: engine.db_kib * 2200 }),
        device: Some(Device {
            name: "vda".into(),
            read_bytes: 8192,
            write_bytes: engine.db_kib * 1540,
            reads: 2,
            writes: engine.db_kib / 64,
            flushes: None,
        }),
        ..OsFacts::default()
    }
}

fn result(
    engine: &MadeUpEngine,
    trial: TrialKey,
    seconds: f64,
    os: OsFacts,
    operations: Vec<Operations>,
) -> TrialResult {
    let outcome = outcome(engine, trial.phase, trial.readers, trial.repeat);
    let finished = outcome == TrialOutcome::Finished;
    let started = outcome_started(&outcome);
    let reads = trial.readers > 0;
    let window = Window {
        seconds,
        warmup_seconds: 1.0,
        user_s: os.user_s,
        sys_s: os.sys_s,
        ctx_switches: Some(os.ctx_voluntary + os.ctx_involuntary),
        clock: "tsc at 2.1 GHz".into(),
        ..Window::default()
    };
    TrialResult {
        started: "2026-01-15T09:30:00Z".parse().unwrap(),
        window: finished.then_some(window),
        operations: if finished { operations } else { Vec::new() },
        answers: AnswerCounts { right: RECORDS, ..AnswerCounts::default() },
        os: if started { os } else { OsFacts::default() },
        space: Space {
            db_kib: engine.db_kib,
            db_peak_kib: engine.db_kib * 5 / 4,
            apparent_bytes: Some(engine.db_kib * 1000),
            live_bytes: Some(RECORDS * 116),
            ..Space::default()
        },
        user_bytes_written: RECORDS * 116,
        user_bytes_read: Some(if reads { RECORDS * 1160 } else { 0 }),
        statistics: statistics(engine, &trial),
        notes: notes(engine, &trial),
        ..TrialResult::without_figures(trial.clone(), facts(engine, started), workload(&trial), outcome)
    }
}

fn outcome_started(outcome: &TrialOutcome) -> bool {
    !matches!(outcome, TrialOutcome::Failed(Failure { kind: FailureKind::NotRun, .. }))
}

fn facts(engine: &MadeUpEngine, started: bool) -> EngineFacts {
    let setting = |(topic, name, value): &(&str, &str, &str)| Setting {
        topic: (*topic).into(),
        name: (*name).into(),
        value: (*value).into(),
    };
    EngineFacts {
        name: engine.named.split(':').next().unwrap().into(),
        version: if started { engine.version.into() } else { String::new() },
        library: None,
        adapter: format!("libkvdyno_{}.so", engine.named.split(':').next().unwrap()),
        file: None,
        settings: if started { engine.settings.iter().map(setting).collect() } else { Vec::new() },
        mapped: engine.named == "lmdb",
    }
}

fn statistics(engine: &MadeUpEngine, trial: &TrialKey) -> Vec<Setting> {
    let setting = |topic: &str, name: &str, value: String| Setting { topic: topic.into(), name: name.into(), value };
    match engine.named {
        "lmdb" => vec![setting("tree", "ms_depth", "3".into()), setting("tree", "ms_leaf_pages", "29412".into())],
        "rocksdb" => vec![setting("levels", "rocksdb.num-files-at-level0", trial.readers.to_string())],
        _ => Vec::new(),
    }
}

fn notes(engine: &MadeUpEngine, trial: &TrialKey) -> Vec<String> {
    let reloaded = engine.named == "leveldb" && trial.readers == 2 && trial.repeat == 1;
    reloaded.then(|| "the database was loaded again after an interruption".to_owned()).into_iter().collect()
}

fn workload(trial: &TrialKey) -> WorkloadFacts {
    WorkloadFacts {
        name: trial.workload.clone(),
        records: RECORDS,
        key_size: 16,
        key_format: "decimal".into(),
        value_size: 100,
        value_sizes: None,
        compressibility: 0.5,
        batch: if trial.phase == Phase::Load { 1000 } else { 1 },
        reads_per_transaction: 1,
        durability: Durability::None,
        cache_bytes: 32 << 20,
        write_buffer_bytes: 8 << 20,
        seed: u64::from(trial.number),
        ..WorkloadFacts::default()
    }
}

/// Memory that fills up, and a device that is written to now and then, at the same points.
fn resources(engine: &MadeUpEngine, result: &TrialResult, series: &[SeriesPoint]) -> Vec<ResourcePoint> {
    let kind = series[0].kind;
    let all: Vec<&SeriesPoint> = series.iter().filter(|point| point.kind == kind && point.end_s > 0.0).collect();
    let number = u64::from(result.trial.number);
    let point = |(nth, point): (usize, &&SeriesPoint)| {
        let part = (nth + 1) as f64 / all.len() as f64;
        let wobbles = 1.0 + wobble(&[number, nth as u64, 3]);
        ResourcePoint {
            end_s: point.end_s,
            seconds: point.seconds,
            resident_kib: Some((engine.rss_kib as f64 * (0.6 + 0.4 * part.sqrt())) as u64),
            device_read_bytes: Some((point.seconds * 8192.0 * wobbles) as u64),
            device_write_bytes: Some((point.seconds * engine.writes * 116.0 * wobbles) as u64),
            ..ResourcePoint::default()
        }
    };
    all.iter().enumerate().map(point).collect()
}

/// A point of warm-up, then so many of the window.
fn series(result: &TrialResult, count: u32) -> Vec<SeriesPoint> {
    let Some(window) = &result.window else { return Vec::new() };
    let noise =
        ENGINES.iter().find(|engine| Some(engine.named) == result.trial.engine.split('@').next()).unwrap().noise;
    let whole = window.seconds.floor() as u32;
    let (count, length) = if count == WINDOW_S { (whole, 1.0) } else { (count, f64::from(whole) / f64::from(count)) };
    let mut points = Vec::new();
    for end in 0..=count {
        for operations in &result.operations {
            let seed = [u64::from(result.trial.number), u64::from(end), u64::from(operations.writes())];
            let factor = 1.0 + noise * wobble(&seed);
            points.push(SeriesPoint { seconds: length, ..point(operations, f64::from(end) * length, factor) });
        }
    }
    points
}

fn point(operations: &Operations, end_s: f64, factor: f64) -> SeriesPoint {
    let latency = &operations.latency;
    SeriesPoint {
        end_s,
        seconds: 1.0,
        kind: operations.kind,
        operations: (operations.operations_per_s * factor) as u64,
        records: (operations.records_per_s * factor) as u64,
        records_per_s: operations.records_per_s * factor,
        percentiles: latency.percentiles,
        max_ns: latency.max_ns,
    }
}

fn machine() -> Machine {
    Machine {
        cpu: Cpu {
            model: "AMD EPYC 7763 64-Core Processor".into(),
            threads: 8,
            cores: 4,
            sockets: 1,
            governor: Some("performance".into()),
            hypervisor: Some("kvm".into()),
        },
        caches: vec![
            Cache { level: 1, kind: "data".into(), size_kib: 32, shared_by: 2 },
            Cache { level: 2, kind: "unified".into(), size_kib: 512, shared_by: 2 },
            Cache { level: 3, kind: "unified".into(), size_kib: 32_768, shared_by: 8 },
        ],
        memory_kib: 16 << 20,
        numa: vec![NumaNode { node: 0, cpus: "0-7".into(), memory_kib: 16 << 20, distances: vec![10] }],
        kernel: "6.1.0-18-amd64".into(),
        system: "Debian GNU/Linux 12 (bookworm)".into(),
        filesystem: Filesystem {
            kind: "ext4".into(),
            options: "rw,relatime".into(),
            device: Some("vda1".into()),
            rotational: Some(false),
            read_ahead_kib: Some(128),
            free_bytes: 40 << 30,
        },
        clock: "tsc at 2.1 GHz, 20 ns apart".into(),
        setup: MachineSetup::default(),
        kvdyno: "0.1.0".into(),
        build: None,
        driver: Some(DriverCost { get_ns: 310.0, get_ns_range: (296.0, 331.0), scaling: 3.8, scaling_threads: 4 }),
        limits: None,
    }
}
