//! `--metrics`: the progress of a run, as OpenMetrics text that a collector reads from a file or requests at a port. A
//! file is written under another name and renamed, so that no reader sees a part of it; it is not synced, so that no
//! measured storage waits.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kvdyno_model::text::metrics_label;
use kvdyno_results::{CellKey, TrialKey, TrialResult, files};
use kvdyno_run::{Live, Progress};

use super::complain;
use super::metrics_port::{MetricsPort, MetricsTarget};
use crate::error::Error;

/// Between two writes while a trial goes on.
const PERIOD: Duration = Duration::from_secs(1);

/// A figure of a cell: the family's name, its help, and the figure of the cell's last trial.
type CellFigure = (&'static str, &'static str, fn(&TrialResult) -> f64);

const CELL_FIGURES: [CellFigure; 3] = [
    ("kvdyno_cell_reads_per_second", "Records read, of the last trial of a cell.", TrialResult::reads_per_s),
    ("kvdyno_cell_writes_per_second", "Records written, of the same.", TrialResult::writes_per_s),
    ("kvdyno_cell_wall_seconds", "From its worker's start to its end.", |result| result.os.wall_s),
];

/// A figure of a trial under way: the family's name, its help, and its value where it is known.
type TrialFigure = (&'static str, &'static str, fn(&TrialKey, Option<&Live>) -> Option<f64>);

const TRIAL_FIGURES: [TrialFigure; 9] = [
    ("kvdyno_trial_number", "The trial under way.", |trial, _| Some(f64::from(trial.number))),
    ("kvdyno_trial_repeat", "Which repeat it is.", |trial, _| Some(f64::from(trial.repeat))),
    ("kvdyno_trial_elapsed_seconds", "Since it began.", |_, live| Some(live?.elapsed.as_secs_f64())),
    ("kvdyno_trial_left_seconds", "What it still needs, about.", |_, live| Some(live?.trial_left()?.as_secs_f64())),
    ("kvdyno_trial_done_ratio", "The part of it that is done.", |_, live| live?.fraction),
    ("kvdyno_trial_reads_per_second", "Records read, lately.", |_, live| Some(live?.reads_per_s)),
    ("kvdyno_trial_writes_per_second", "Records written, lately.", |_, live| Some(live?.writes_per_s)),
    ("kvdyno_trial_read_p99_seconds", "Of its reads so far.", |_, live| Some(live?.so_far?.read_p99_ns? as f64 / 1e9)),
    ("kvdyno_trial_write_p99_seconds", "Of its writes so far.", |_, live| {
        Some(live?.so_far?.write_p99_ns? as f64 / 1e9)
    }),
];

/// Writes them.
pub struct Metrics {
    target: OpenTarget,
    written: Instant,
    state: RunState,
    has_complained: bool,
}

/// An opened target of metrics.
enum OpenTarget {
    File(PathBuf),
    Port(MetricsPort),
}

/// The reported facts.
#[derive(Default)]
struct RunState {
    planned: usize,
    finished: u64,
    failed: u64,
    /// Trials under way: several if they are measured together.
    trials: Vec<(TrialKey, Option<Live>)>,
    /// The last that finished of each cell.
    cells: BTreeMap<CellKey, TrialResult>,
}

impl Metrics {
    /// Writes a first file, or opens the port.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn new(target: &MetricsTarget) -> Result<Metrics, Error> {
        let (open, deed) = match target {
            MetricsTarget::File(path) => (Ok(OpenTarget::File(path.clone())), "write"),
            MetricsTarget::Port(address) => (MetricsPort::open(*address).map(OpenTarget::Port), "listen at"),
        };
        let refused = |error| Error::Input(format!("--metrics: cannot {deed} {target}: {error}"));
        let metrics = Metrics {
            target: open.map_err(refused)?,
            written: Instant::now(),
            state: RunState::default(),
            has_complained: false,
        };
        metrics.write().map_err(refused)?;
        Ok(metrics)
    }

    /// No trial is under way any more.
    pub fn finish(&mut self) {
        self.state.trials.clear();
        self.tell();
    }

    fn tell(&mut self) {
        self.written = Instant::now();
        if let Err(error) = self.write() {
            complain(&mut self.has_complained, "cannot write the metrics", &error);
        }
    }

    fn write(&self) -> std::io::Result<()> {
        match &self.target {
            OpenTarget::File(path) => write_file(path, &self.state.text()),
            OpenTarget::Port(port) => {
                port.set(self.state.text());
                Ok(())
            }
        }
    }
}

fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?);
    name.push(".writing");
    let temporary = path.with_file_name(name);
    files::create_anew(&temporary)?.write_all(text.as_bytes())?;
    fs::rename(&temporary, path)
}

impl Progress for Metrics {
    fn begin(&mut self, trial: &TrialKey, _: usize, count: usize) {
        self.state.planned = count;
        self.state.trials.push((trial.clone(), None));
        self.tell();
    }

    fn live(&mut self, live: &Live) {
        let under_way = self.state.trials.iter_mut().find(|(trial, _)| *trial == live.trial);
        under_way.into_iter().for_each(|(_, last)| *last = Some(live.clone()));
        if self.written.elapsed() >= PERIOD {
            self.tell();
        }
    }

    fn end(&mut self, result: &TrialResult) {
        self.state.trials.retain(|(trial, _)| trial.number != result.trial.number);
        match result.is_finished() {
            true => {
                self.state.finished += 1;
                self.state.cells.insert(CellKey::from(&result.trial), result.clone());
            }
            false => self.state.failed += 1,
        }
        self.tell();
    }

    fn note(&mut self, _: &str) {}
}

impl RunState {
    fn text(&self) -> String {
        let mut text = MetricsText::default();
        text.family("kvdyno_trials_planned", "gauge", "Trials of the plan.");
        text.sample("kvdyno_trials_planned", &[], self.planned as f64);
        text.family("kvdyno_trials", "counter", "Trials that ended, by how.");
        for (outcome, count) in [("finished", self.finished), ("failed", self.failed)] {
            text.sample("kvdyno_trials_total", &[("outcome", outcome.to_owned())], count as f64);
        }
        self.trials_under_way(&mut text);
        self.cells(&mut text);
        text.0 + "# EOF\n"
    }

    fn trials_under_way(&self, text: &mut MetricsText) {
        for (name, help, figure) in TRIAL_FIGURES {
            let told = self.trials.iter().filter_map(|(trial, live)| Some((trial, figure(trial, live.as_ref())?)));
            let told: Vec<(&TrialKey, f64)> = told.collect();
            if told.is_empty() {
                continue;
            }
            text.family(name, "gauge", help);
            for (trial, value) in told {
                text.sample(name, &labels(&CellKey::from(trial)), value);
            }
        }
        // The plan is common to all of them; the last report is the newest.
        let left = self.trials.iter().filter_map(|(_, live)| live.as_ref()?.left).min();
        if let Some(left) = left {
            text.family("kvdyno_plan_left_seconds", "gauge", "What the plan still needs, about.");
            text.sample("kvdyno_plan_left_seconds", &[], left.as_secs_f64());
        }
    }

    fn cells(&self, text: &mut MetricsText) {
        for (name, help, figure) in CELL_FIGURES.into_iter().filter(|_| !self.cells.is_empty()) {
            text.family(name, "gauge", help);
            for (key, result) in &self.cells {
                text.sample(name, &labels(key), figure(result));
            }
        }
        if self.cells.is_empty() {
            return;
        }
        let name = "kvdyno_cell_latency_seconds";
        text.family(name, "gauge", "Latency of a kind of operation, by percentile.");
        for (key, result) in &self.cells {
            for operations in &result.operations {
                for percentile in kvdyno_results::Percentile::ALL {
                    let (kind, at) = (operations.kind.word().to_owned(), percentile.to_string());
                    let mut labels = labels(key);
                    labels.extend([("kind", kind), ("percentile", at)]);
                    text.sample(name, &labels, operations.latency.at(percentile) as f64 / 1e9);
                }
            }
        }
    }
}

type Labels = Vec<(&'static str, String)>;

fn labels(key: &CellKey) -> Labels {
    vec![
        ("engine", key.engine.clone()),
        ("variant", key.variant.clone()),
        ("phase", key.phase.to_string()),
        ("workload", key.workload.clone()),
        ("readers", key.readers.to_string()),
        ("writers", key.writers.to_string()),
        ("clients", key.clients.to_string()),
    ]
}

/// The text so far.
#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# TYPE {name} {kind}"));
        if let Some(unit) = ["seconds", "ratio"].into_iter().find(|unit| name.ends_with(&format!("_{unit}"))) {
            self.line(format_args!("# UNIT {name} {unit}"));
        }
        self.line(format_args!("# HELP {name} {help}"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, String)], value: f64) {
        let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", metrics_label(value));
        match labels {
            [] => self.line(format_args!("{name} {value}")),
            labels => {
                let labels: Vec<String> = labels.iter().map(label).collect();
                self.line(format_args!("{name}{{{}}} {value}", labels.join(",")));
            }
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_kept() {
        let trial = TrialKey {
            number: 3,
            engine: "a\"b\\c\nd".to_owned(),
            variant: String::new(),
            phase: kvdyno_results::Phase::Run,
            workload: "readseq".to_owned(),
            readers: 2,
            writers: 0,
            clients: kvdyno_results::ClientKind::Threads,
            repeat: 1,
        };
        let trials = vec![(trial, None)];
        let state = RunState { planned: 12, finished: 2, failed: 1, trials, ..RunState::default() };
        let labels = "engine=\"a\\\"b\\\\c\\nd\",variant=\"\",phase=\"run\",workload=\"readseq\",\
                      readers=\"2\",writers=\"0\",clients=\"threads\"";
        let text = state.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("# HELP ")).collect();
        let expected = [
            "# TYPE kvdyno_trials_planned gauge",
            "kvdyno_trials_planned 12",
            "# TYPE kvdyno_trials counter",
            "kvdyno_trials_total{outcome=\"finished\"} 2",
            "kvdyno_trials_total{outcome=\"failed\"} 1",
            "# TYPE kvdyno_trial_number gauge",
            &format!("kvdyno_trial_number{{{labels}}} 3"),
            "# TYPE kvdyno_trial_repeat gauge",
            &format!("kvdyno_trial_repeat{{{labels}}} 1"),
            "# EOF",
        ];
        assert_eq!(lines, expected);
    }

    /// Trials that run together have figures of their own, whichever was reported last.
    #[test]
    fn figures_of_trials_beside_each_other_are_told_apart() {
        let trial = |number: u32, engine: &str| TrialKey {
            number,
            engine: engine.to_owned(),
            variant: String::new(),
            phase: kvdyno_results::Phase::Run,
            workload: "readseq".to_owned(),
            readers: 1,
            writers: 0,
            clients: kvdyno_results::ClientKind::Threads,
            repeat: 1,
        };
        let live = |reads_per_s| Live { reads_per_s, ..super::super::words::testing::live() };
        let trials = vec![(trial(1, "lmdb"), Some(live(5.0))), (trial(2, "rocksdb"), Some(live(7.0)))];
        let text = RunState { trials, ..RunState::default() }.text();
        let reads: Vec<&str> = text.lines().filter(|line| line.starts_with("kvdyno_trial_reads_per_second{")).collect();
        assert!(reads.len() == 2 && reads[0].contains("lmdb") && reads[0].ends_with(" 5"), "{reads:?}");
        assert!(reads[1].contains("rocksdb") && reads[1].ends_with(" 7"), "{reads:?}");
        let families: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        assert_eq!(families.iter().collect::<std::collections::BTreeSet<_>>().len(), families.len());
        assert!(text.contains("\nkvdyno_plan_left_seconds 600\n"), "{text}");
    }
}
