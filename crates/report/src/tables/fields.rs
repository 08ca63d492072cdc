//! The columns of the tables, and where each takes its figure from.

use kvdyno_analysis::{Cell, Estimate};
use kvdyno_results::{Operations, TrialResult};

use super::Column;
use super::cpu::SETTLING;
use crate::numbers::{clock, duration, grouped, part_of_one, plus_minus, rate};
use crate::study::threads;

/// A column of a table of cells.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) head: &'static str,
    number: bool,
    pub(super) value: fn(&Cell<'_>) -> String,
}

impl Field {
    pub(super) const fn number(head: &'static str, value: fn(&Cell<'_>) -> String) -> Field {
        Field { head, number: true, value }
    }

    pub(super) fn column(&self) -> Column {
        if self.number { Column::number(self.head) } else { Column::words(self.head) }
    }
}

/// Stands where there is no figure.
pub(super) const NONE: &str = "–";

pub(super) const ENGINE: Field = Field { head: "engine", number: false, value: |cell| cell.key.engine.clone() };
pub(super) const WORKLOAD: Field = Field { head: "workload", number: false, value: |cell| cell.key.workload.clone() };
pub(super) const READERS: Field = Field::number("readers", |cell| cell.key.readers.to_string());
/// In words, for tables that have no head for them.
pub(super) const THREADS: Field =
    Field { head: "threads", number: false, value: |cell| threads(cell.key.readers, cell.key.writers) };
pub(super) const ONLY_READERS: Field =
    Field { head: "threads", number: false, value: |cell| threads(cell.key.readers, 0) };
/// Of a load.
pub(super) const LOAD_THREADS: Field = Field::number("threads", |cell| cell.key.writers.to_string());
pub(super) const WRITERS: Field = Field::number("writers", |cell| cell.key.writers.to_string());

/// The head of a column that needs an explanation where there are several processes.
pub(super) const PROCESS_KB: &str = "process KiB";

/// What `time` said, and what the reports add to it, in their order.
pub(super) const COSTS: [Field; 9] = [
    Field::number("wall", |cell| median(cell, clock, |r| r.os.wall_s)),
    Field::number("user", |cell| median(cell, clock, |r| r.os.user_s)),
    Field::number("sys", |cell| median(cell, clock, |r| r.os.sys_s)),
    Field::number("CPU %", |cell| median(cell, grouped, |r| r.os.cpu_pct as f64)),
    Field::number("DB KiB", |cell| median(cell, grouped, |r| r.space.db_kib as f64)),
    Field::number(PROCESS_KB, |cell| median(cell, grouped, |r| r.process_kib() as f64)),
    Field::number("total KiB", |cell| median(cell, grouped, |r| r.total_kib() as f64)),
    Field::number("ctx vol", |cell| median(cell, grouped, |r| r.os.ctx_voluntary as f64)),
    Field::number("ctx invol", |cell| median(cell, grouped, |r| r.os.ctx_involuntary as f64)),
];

/// Rates with their uncertainty.
pub(super) const WRITES: [Field; 2] = [
    Field::number("writes/s", |cell| marked_rate(cell, cell.writes_per_s.as_ref())),
    Field::number("±", |cell| relative(cell.writes_per_s.as_ref())),
];
pub(super) const READS: [Field; 2] = [
    Field::number("reads/s", |cell| marked_rate(cell, cell.reads_per_s.as_ref())),
    Field::number("±", |cell| relative(cell.reads_per_s.as_ref())),
];
pub(super) const LOADED: [Field; 2] = [
    Field::number("records/s", |cell| marked_rate(cell, cell.writes_per_s.as_ref())),
    Field::number("±", |cell| relative(cell.writes_per_s.as_ref())),
];

/// Latencies of the reads: gets, or what the workload reads by.
pub(super) const READ_LATENCY: [Field; 3] = [
    Field::number("read p50", |cell| latency(cell, main_reads, |o| o.latency.p50_ns)),
    Field::number("p99", |cell| latency(cell, main_reads, |o| o.latency.p99_ns)),
    Field::number("p99.9", |cell| latency(cell, main_reads, |o| o.latency.p99_9_ns)),
];
pub(super) const HIGH_READ_LATENCY: [Field; 2] = [
    Field::number("p99.99", |cell| latency(cell, main_reads, |o| o.latency.p99_99_ns)),
    Field::number("max", |cell| latency(cell, main_reads, |o| o.latency.max_ns)),
];
pub(super) const WRITE_LATENCY: [Field; 3] = [
    Field::number("write p50", |cell| latency(cell, main_writes, |o| o.latency.p50_ns)),
    Field::number("p99", |cell| latency(cell, main_writes, |o| o.latency.p99_ns)),
    Field::number("p99.9", |cell| latency(cell, main_writes, |o| o.latency.p99_9_ns)),
];

pub(super) const HIGH_WRITE_LATENCY: [Field; 2] = [
    Field::number("p99.99", |cell| latency(cell, main_writes, |o| o.latency.p99_99_ns)),
    Field::number("max", |cell| latency(cell, main_writes, |o| o.latency.max_ns)),
];

/// What the engine caused on the device.
pub(super) const WRITE_AMPLIFICATION: Field = Field::number("write amp.", |cell| {
    cell.median(TrialResult::write_amplification).map_or(NONE.to_owned(), |factor| format!("{factor:.2}"))
});

/// What went to and from the storage.
pub(super) const STORAGE: [Field; 6] = [
    Field::number("in/op", |cell| part(cell, TrialResult::fs_in_per_operation)),
    Field::number("out/op", |cell| part(cell, TrialResult::fs_out_per_operation)),
    Field::number("device read MB", |cell| part(cell, |r| Some(r.os.device.as_ref()?.read_bytes as f64 / 1e6))),
    Field::number("written MB", |cell| part(cell, |r| Some(r.os.device.as_ref()?.write_bytes as f64 / 1e6))),
    WRITE_AMPLIFICATION,
    Field::number("DB KiB", |cell| median(cell, grouped, |r| r.space.db_kib as f64)),
];

/// CPU time and context switches of the measured part.
pub(super) const CPU: [Field; 7] = [
    Field::number("ops/s", |cell| median(cell, rate, TrialResult::operations_per_s)),
    Field::number("user µs/op", |cell| known(cell, micros, |r| Some(r.cpu_us_per_operation()?.0))),
    Field::number("sys µs/op", |cell| known(cell, micros, |r| Some(r.cpu_us_per_operation()?.1))),
    Field::number("switches/s", |cell| known(cell, grouped, TrialResult::context_switches_per_s)),
    Field::number("us %", |cell| known(cell, grouped, |r| Some(r.window_cpu_pct()?.0))),
    Field::number("sy %", |cell| known(cell, grouped, |r| Some(r.window_cpu_pct()?.1))),
    Field::number(SETTLING, |cell| {
        cell.median(|r| Some(r.window.as_ref()?.settling?.seconds)).map_or(String::new(), |s| duration(1e9 * s))
    }),
];

/// The kind of read that a trial made most of.
pub(crate) fn main_reads(result: &TrialResult) -> Option<&Operations> {
    result.operations.iter().filter(|o| !o.writes()).max_by_key(|o| o.operations)
}

/// The kind of write that a trial made most of.
pub(crate) fn main_writes(result: &TrialResult) -> Option<&Operations> {
    result.operations.iter().filter(|o| o.writes()).max_by_key(|o| o.operations)
}

fn median(cell: &Cell<'_>, print: fn(f64) -> String, figure: fn(&TrialResult) -> f64) -> String {
    cell.median(|result| Some(figure(result))).map_or(NONE.to_owned(), print)
}

fn known(cell: &Cell<'_>, print: fn(f64) -> String, figure: fn(&TrialResult) -> Option<f64>) -> String {
    cell.median(figure).map_or(NONE.to_owned(), print)
}

/// Microseconds, three digits of them.
fn micros(us: f64) -> String {
    if us < 9.995 {
        format!("{us:.2}")
    } else if us < 99.95 {
        format!("{us:.1}")
    } else {
        grouped(us)
    }
}

fn part(cell: &Cell<'_>, figure: fn(&TrialResult) -> Option<f64>) -> String {
    cell.median(figure).map_or(NONE.to_owned(), part_of_one)
}

fn latency(cell: &Cell<'_>, of: fn(&TrialResult) -> Option<&Operations>, percentile: fn(&Operations) -> u64) -> String {
    cell.median(|result| of(result).map(|o| percentile(o) as f64)).map_or(NONE.to_owned(), duration)
}

/// A rate, with a mark if one of the trials that it was made from was disturbed.
pub(super) fn marked(cell: &Cell<'_>, estimate: &Estimate) -> String {
    let mark = if has_interference(cell) { "! " } else { "" };
    format!("{mark}{}", rate(estimate.value))
}

pub(super) fn has_interference(cell: &Cell<'_>) -> bool {
    cell.finished.iter().any(|result| !result.environment.interference.is_empty())
}

fn marked_rate(cell: &Cell<'_>, estimate: Option<&Estimate>) -> String {
    estimate.map_or(NONE.to_owned(), |estimate| marked(cell, estimate))
}

fn relative(estimate: Option<&Estimate>) -> String {
    estimate.and_then(Estimate::relative).map_or(String::new(), plus_minus)
}
