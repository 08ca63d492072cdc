//! The columns of the CSV files and of the rows in JSON: first those of the published tables, under their names and in
//! their order, then ours. A failed trial has its names, its outcome and its reason, and no figures.

use kvdyno_results::{Failure, FigureValue, Latency, NodePages, Operations, Phase, Settling, TrialResult};
use serde_json::Value;

use crate::study::failure;
use crate::tables::{main_reads, main_writes, smt};

/// A column and where it takes its value from; `Null` is an empty field.
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// Its value for a trial.
    pub(crate) value: Box<dyn Fn(&TrialResult) -> Value>,
}

/// The columns of a phase's table, `figures` among them: those that only some of its workloads have.
pub(crate) fn columns(phase: Phase, figures: &[&str]) -> Vec<Column> {
    let mut columns = vec![name("engine", |r| r.trial.engine.clone().into())];
    match phase {
        Phase::Load => columns.extend(published_costs()),
        Phase::Run => {
            columns.push(name("readers", |r| r.trial.readers.into()));
            columns.extend(published_costs());
            columns.push(figure("writes_per_s", |r| whole(r.writes_per_s())));
            columns.push(figure("reads_per_s", |r| whole(r.reads_per_s())));
        }
    }
    columns.extend(own_names(phase));
    columns.extend(figures.iter().map(|column| own_figure(column)));
    columns.extend(own_figures());
    columns.extend(latencies("read", main_reads));
    columns.extend(latencies("write", main_writes));
    columns.extend(asked());
    columns.extend(environment());
    columns
}

fn published_costs() -> Vec<Column> {
    vec![
        figure("wall_s", |r| cents(r.os.wall_s)),
        figure("user_s", |r| cents(r.os.user_s)),
        figure("sys_s", |r| cents(r.os.sys_s)),
        figure("cpu_pct", |r| r.os.cpu_pct.into()),
        figure("db_kib", |r| r.space.db_kib.into()),
        figure("process_kib", |r| r.process_kib().into()),
        figure("total_kib", |r| r.total_kib().into()),
        figure("ctx_voluntary", |r| r.os.ctx_voluntary.into()),
        figure("ctx_involuntary", |r| r.os.ctx_involuntary.into()),
    ]
}

fn own_names(phase: Phase) -> Vec<Column> {
    let mut columns = Vec::new();
    if phase == Phase::Load {
        columns.push(figure("records_per_s", |r| whole(r.writes_per_s())));
    }
    columns.extend([
        name("outcome", |r| failure(r).map_or("finished".into(), failure_kind)),
        name("reason", |r| failure(r).map_or(Value::Null, |failure| failure.reason.clone().into())),
        name("tainted", |r| match r.taints().map(|taint| taint.name.as_str()).collect::<Vec<_>>().as_slice() {
            [] => Value::Null,
            names => names.join(", ").into(),
        }),
        name("version", |r| r.engine.version.clone().into()),
        name("workload", |r| r.trial.workload.clone().into()),
        name("variant", |r| r.trial.variant.clone().into()),
        name("writers", |r| r.trial.writers.into()),
        name("clients", |r| r.trial.clients.to_string().into()),
        name("processes", |r| r.trial.processes().into()),
        name("repeat", |r| r.trial.repeat.into()),
        name("trial", |r| r.trial.number.into()),
    ]);
    columns
}

/// A figure that only some workloads have.
fn own_figure(column: &str) -> Column {
    let name = column.to_owned();
    figure(column, move |result| match result.figures.as_ref().and_then(|own| own.of(&name)) {
        None => Value::Null,
        Some(FigureValue::Count(count)) => (*count).into(),
        Some(FigureValue::Rate(rate)) => whole(*rate),
        Some(FigureValue::Text(text)) => text.clone().into(),
    })
}

fn own_figures() -> Vec<Column> {
    vec![
        figure("db_peak_kib", |r| r.space.db_peak_kib.into()),
        figure("peak_rss_kib", |r| r.os.peak_rss_kib.into()),
        figure("peak_pss_kib", |r| r.os.peak_pss_kib.into()),
        figure("fs_in_ops", |r| r.os.fs_in_ops.into()),
        figure("fs_out_ops", |r| r.os.fs_out_ops.into()),
        figure("fs_in_per_op", |r| r.fs_in_per_operation().map_or(Value::Null, thousandths)),
        figure("fs_out_per_op", |r| r.fs_out_per_operation().map_or(Value::Null, thousandths)),
        figure("minor_faults", |r| r.os.minor_faults.into()),
        figure("major_faults", |r| r.os.major_faults.into()),
        figure("read_bytes", |r| r.os.read_bytes.into()),
        figure("write_bytes", |r| r.os.write_bytes.into()),
        figure("device_read_bytes", |r| r.os.device.as_ref().map(|device| device.read_bytes).into()),
        figure("device_write_bytes", |r| r.os.device.as_ref().map(|device| device.write_bytes).into()),
        figure("write_amplification", |r| r.write_amplification().map_or(Value::Null, thousandths)),
        figure("window_s", |r| r.window.as_ref().map_or(Value::Null, |window| thousandths(window.seconds))),
        figure("operations_per_s", |r| whole(r.operations_per_s())),
        figure("user_us_per_op", |r| r.cpu_us_per_operation().map_or(Value::Null, |(user, _)| thousandths(user))),
        figure("sys_us_per_op", |r| r.cpu_us_per_operation().map_or(Value::Null, |(_, sys)| thousandths(sys))),
        figure("switches_per_s", |r| r.context_switches_per_s().map_or(Value::Null, whole)),
        figure("window_user_pct", |r| r.window_cpu_pct().map_or(Value::Null, |(user, _)| thousandths(user))),
        figure("window_sys_pct", |r| r.window_cpu_pct().map_or(Value::Null, |(_, sys)| thousandths(sys))),
        figure("settling_s", |r| settling(r).map_or(Value::Null, |settling| thousandths(settling.seconds))),
    ]
}

fn settling(result: &TrialResult) -> Option<Settling> {
    result.window.as_ref()?.settling
}

/// What was asked of the engine.
fn asked() -> Vec<Column> {
    vec![
        name("records", |r| r.workload.records.into()),
        name("key_size", |r| r.workload.key_size.into()),
        name("value_size", |r| r.workload.value_size.into()),
        name("batch", |r| r.workload.batch.into()),
        name("durability", |r| r.workload.durability.clone().into()),
        name("cache_bytes", |r| r.workload.cache_bytes.into()),
        name("write_buffer_bytes", |r| r.workload.write_buffer_bytes.into()),
        name("compression", |r| r.workload.compression.clone().into()),
        name("verify", |r| r.workload.verify.clone().into()),
        name("seed", |r| r.workload.seed.into()),
    ]
}

/// What surrounded it, as it was found; of a failed trial too, for which it may be the reason.
fn environment() -> Vec<Column> {
    vec![
        name("cpus", |r| text(&r.environment.cpus)),
        name("smt", |r| smt(&r.environment).into()),
        name("numa_policy", |r| r.environment.numa_policy.clone().into()),
        name("numa_pages_kib", |r| text(&by_node(&r.environment.numa_pages))),
        name("allocator", |r| text(&r.environment.allocator)),
        name("memory_limit_bytes", |r| r.environment.memory_limit.into()),
        name("memory_peak_bytes", |r| r.environment.memory_peak.into()),
        name("memory_pressure", |r| r.environment.memory_pressure.map_or(Value::Null, thousandths)),
        name("cached_bytes", |r| r.environment.cached.map(|pages| pages.cached).into()),
        name("cached_of_bytes", |r| r.environment.cached.map(|pages| pages.total).into()),
        name("storage", |r| text(&r.environment.storage)),
        name("filesystem", |r| text(&r.environment.filesystem)),
        name("interference", |r| text(&r.environment.interference.join("; "))),
    ]
}

/// `0:123;1:456`
fn by_node(pages: &[NodePages]) -> String {
    pages.iter().map(|pages| format!("{}:{}", pages.node, pages.kib)).collect::<Vec<_>>().join(";")
}

fn text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

/// `read_kind, read_p50_ns, …` of the kind of operation that the trial made most of.
fn latencies(side: &'static str, of: fn(&TrialResult) -> Option<&Operations>) -> Vec<Column> {
    type Pick = fn(&Latency) -> u64;
    const PICKS: [(&str, Pick); 8] = [
        ("min", |l| l.min_ns),
        ("mean", |l| l.mean_ns),
        ("p50", |l| l.p50_ns),
        ("p90", |l| l.p90_ns),
        ("p99", |l| l.p99_ns),
        ("p99_9", |l| l.p99_9_ns),
        ("p99_99", |l| l.p99_99_ns),
        ("max", |l| l.max_ns),
    ];
    let kind = figure(&format!("{side}_kind"), move |r| of(r).map_or(Value::Null, |o| o.kind.name().into()));
    let pick = |(name, pick): (&str, Pick)| {
        figure(&format!("{side}_{name}_ns"), move |r| of(r).map_or(Value::Null, |o| pick(&o.latency).into()))
    };
    std::iter::once(kind).chain(PICKS.into_iter().map(pick)).collect()
}

/// Something that a failed trial has as well.
fn name(name: &str, value: impl Fn(&TrialResult) -> Value + 'static) -> Column {
    Column { name: name.to_owned(), value: Box::new(value) }
}

/// Something that only a finished trial has.
fn figure(name: &str, value: impl Fn(&TrialResult) -> Value + 'static) -> Column {
    Column { name: name.to_owned(), value: Box::new(move |r| if r.is_finished() { value(r) } else { Value::Null }) }
}

/// The kind as records spell it: `wrong-answer`.
fn failure_kind(failure: &Failure) -> Value {
    serde_json::to_value(failure.kind).unwrap_or_default()
}

fn whole(rate: f64) -> Value {
    (rate.round() as u64).into()
}

fn cents(seconds: f64) -> Value {
    ((seconds * 100.0).round() / 100.0).into()
}

fn thousandths(value: f64) -> Value {
    ((value * 1000.0).round() / 1000.0).into()
}
