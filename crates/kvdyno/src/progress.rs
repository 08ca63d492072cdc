//! Progress on the terminal: what runs, the rate now, the time left. Where standard error is no terminal, a line for
//! each trial that ended.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kvdyno_results::{Phase, TrialKey, TrialOutcome, TrialResult};
use kvdyno_run::{Live, Progress};

/// Draws what the lab tells.
pub struct Terminal {
    bar: Option<ProgressBar>,
    count: usize,
}

const STEPS: u64 = 1000;

impl Terminal {
    /// On standard error.
    pub fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix:.bold} {bar:24.cyan/dim} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━╸─");
            ProgressBar::new(STEPS).with_style(style)
        });
        Terminal { bar, count: 0 }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `load` or `readwhilewriting, 4 readers`, and the repeat.
fn what(trial: &TrialKey) -> String {
    let threads = |count: u32, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let work = match trial.phase {
        Phase::Load => format!("load ({})", trial.workload),
        Phase::Run if trial.readers > 0 => format!("{}, {}", trial.workload, threads(trial.readers, "reader")),
        Phase::Run => format!("{}, {}", trial.workload, threads(trial.writers, "writer")),
    };
    let work = if trial.variant.is_empty() { work } else { format!("{}: {work}", trial.variant) };
    let work = if trial.processes() > 1 { work + " as processes" } else { work };
    if trial.repeat > 1 { format!("{work}, repeat {}", trial.repeat) } else { work }
}

/// `[ 3/28]`, of one width for all.
fn position(number: usize, count: usize) -> String {
    format!("[{number:>0$}/{count}]", count.to_string().len())
}

fn rate(records_per_s: f64) -> String {
    match records_per_s {
        r if r >= 1e6 => format!("{:.2} M/s", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k/s", r / 1e3),
        r => format!("{r:.0} /s"),
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        3600.. => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        _ => format!("{}:{:02}", seconds / 60, seconds % 60),
    }
}

impl Progress for Terminal {
    fn begin(&mut self, trial: &TrialKey, index: usize, count: usize) {
        self.count = count;
        if let Some(bar) = &self.bar {
            bar.set_position(0);
            bar.set_prefix(format!("{} {:<16} {}", position(index + 1, count), trial.engine, what(trial)));
            bar.set_message("");
        }
    }

    fn live(&mut self, live: &Live) {
        let Some(bar) = &self.bar else { return };
        if let Some(fraction) = live.fraction {
            bar.set_position((fraction * STEPS as f64) as u64);
        }
        let mut message = live.state.to_owned();
        if live.state == "measuring" {
            message = [("read", live.reads_per_s), ("write", live.writes_per_s)]
                .iter()
                .filter(|(_, records)| *records > 0.0)
                .map(|(verb, records)| format!("{verb} {}", rate(*records)))
                .collect::<Vec<_>>()
                .join(", ");
        }
        match live.left {
            Some(left) => message.push_str(&format!("  ·  {} left", clock(left))),
            None => message.push_str(&format!("  ·  {}", clock(live.elapsed))),
        }
        bar.set_message(message);
    }

    fn end(&mut self, result: &TrialResult) {
        let name = format!(
            "{} {:<16} {}",
            position(result.trial.number as usize, self.count),
            result.trial.engine,
            what(&result.trial)
        );
        let result = match &result.outcome {
            TrialOutcome::Failed(failure) => format!("FAILED: {}", failure.reason),
            TrialOutcome::Finished if result.trial.phase == Phase::Load => {
                format!("{:.2} s, {} written", result.os.wall_s, rate(result.writes_per_s()))
            }
            TrialOutcome::Finished => [("read", result.reads_per_s()), ("written", result.writes_per_s())]
                .iter()
                .filter(|(_, records)| *records > 0.0)
                .map(|(verb, records)| format!("{} {verb}", rate(*records)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        self.say(&format!("{name:<58} {result}"));
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }
}
