//! Words of progress: the work of a trial, rates, times.

use kvdyno_model::text::{counted, duration, short_clock, short_rate};
use kvdyno_results::{Phase, TrialKey};
use kvdyno_run::Live;

/// `load (fillseq)` or `readwhilewriting, 4 readers`, with the variant before it, and the repeat.
pub fn what(trial: &TrialKey) -> String {
    let work = match trial.phase {
        Phase::Load => format!("load ({})", trial.workload),
        Phase::Run if trial.readers > 0 => format!("{}, {}", trial.workload, counted(trial.readers, "reader")),
        Phase::Run => format!("{}, {}", trial.workload, counted(trial.writers, "client")),
    };
    let work = if trial.variant.is_empty() { work } else { format!("{}: {work}", trial.variant) };
    let work = if trial.processes() > 1 { work + " as processes" } else { work };
    if trial.repeat > 1 { format!("{work}, repeat {}", trial.repeat) } else { work }
}

/// `[ 3/28]`, of one width for all.
pub fn position(number: usize, count: usize) -> String {
    format!("[{number:>0$}/{count}]", count.to_string().len())
}

/// The trial's time, and apart from it the plan's, where it is known how long that takes.
pub fn times(live: &Live) -> String {
    let trial = match live.trial_left() {
        Some(left) => format!("trial {} left", short_clock(left.as_secs())),
        None => format!("trial {} so far", short_clock(live.elapsed.as_secs())),
    };
    live.left.map_or(trial.clone(), |left| format!("{trial}, all {} left", short_clock(left.as_secs())))
}

/// The rates of a trial that measures, else its state.
pub fn doing(live: &Live) -> String {
    if live.state != "measuring" {
        return live.state.to_owned();
    }
    let so_far = live.so_far.unwrap_or_default();
    let of = |(verb, records, p99): (&str, f64, Option<u64>)| {
        let p99 = p99.map(|p99| format!(", p99 {}", duration(p99 as f64))).unwrap_or_default();
        (records > 0.0).then(|| format!("{verb} {}/s{p99}", short_rate(records)))
    };
    let sides = [("read", live.reads_per_s, so_far.read_p99_ns), ("write", live.writes_per_s, so_far.write_p99_ns)];
    let words: Vec<String> = sides.into_iter().filter_map(of).collect();
    if words.is_empty() { live.state.to_owned() } else { words.join("; ") }
}

#[cfg(test)]
pub mod testing {
    use std::time::Duration;

    use kvdyno_results::ClientKind;

    use super::*;

    /// A run of `readwhilewriting` with 4 readers and a writer.
    pub fn trial(engine: &str, number: u32, repeat: u32) -> TrialKey {
        TrialKey {
            number,
            engine: engine.to_owned(),
            variant: String::new(),
            phase: Phase::Run,
            workload: "readwhilewriting".to_owned(),
            readers: 4,
            writers: 1,
            clients: ClientKind::Threads,
            repeat,
        }
    }

    /// A trial that has measured for ten seconds.
    pub fn live() -> Live {
        Live {
            trial: trial("lmdb", 1, 1),
            elapsed: Duration::from_secs(10),
            state: "measuring",
            reads_per_s: 0.0,
            writes_per_s: 0.0,
            so_far: None,
            fraction: Some(0.25),
            left: Some(Duration::from_secs(600)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvdyno_run::SoFar;

    #[test]
    fn the_time_of_the_trial_is_told_apart_from_that_of_the_plan() {
        let mut live = testing::live();
        assert_eq!(times(&live), "trial 0:30 left, all 10:00 left");
        live.left = None;
        assert_eq!(times(&live), "trial 0:30 left");
        live.fraction = None;
        assert_eq!(times(&live), "trial 0:10 so far");
        live.fraction = Some(0.0);
        assert_eq!(times(&live), "trial 0:10 so far");
    }

    #[test]
    fn rates_are_told_with_the_p99_of_what_was_measured_so_far() {
        let so_far = SoFar { read_p99_ns: Some(12_345), ..SoFar::default() };
        let live = Live { reads_per_s: 1.5e6, writes_per_s: 10_000.0, so_far: Some(so_far), ..testing::live() };
        assert_eq!(doing(&live), "read 1.50 M/s, p99 12.3 µs; write 10.0 k/s");
        assert_eq!(doing(&Live { state: "opening", ..live }), "opening");
    }
}
