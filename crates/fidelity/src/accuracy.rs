//! The row `accuracy`: rates and latencies of the synthetic engine, whose own account is the truth.

use std::io;

use kvdyno_model::text::counted;
use kvdyno_results::{Operations, Percentile, Setting, TrialResult};

use crate::table::FidelityLine;
use crate::tries::Tries;

/// Service times, nanoseconds, from less than the driver itself takes to a slow disk's.
const SERVICES: [u64; 7] = [50, 200, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// So few records that the host's answers are made beforehand.
const RECORDS: u64 = 1000;
const THREADS: [u32; 2] = [1, 2];
const DURATION: &str = "2s";

/// The most that a rate may be off.
const RATE_BOUND: f64 = 0.005;
/// The most that a time may be off: this, or a bucket of the worker's histogram if that is wider.
const TIME_BOUND_NS: f64 = 3.0;
const BUCKETS_OF_A_POWER: f64 = 128.0;

/// A figure that both kvdyno and the engine have.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    name: &'static str,
    measured: fn(&Operations) -> f64,
    /// The engine's name for it; none: its rate.
    told: Option<&'static str>,
    /// Least number of operations: with fewer, the figure is the time of a handful of them.
    least: u64,
}

const QUANTITIES: [Quantity; 6] = [
    Quantity { name: "throughput", measured: |ops| ops.operations_per_s, told: None, least: 1 },
    Quantity { name: "mean", measured: |ops| ops.latency.mean_ns as f64, told: Some("mean_ns"), least: 1 },
    Quantity { name: "p50", measured: |ops| ops.latency.at(Percentile::P50) as f64, told: Some("p50_ns"), least: 1 },
    Quantity { name: "p90", measured: |ops| ops.latency.at(Percentile::P90) as f64, told: Some("p90_ns"), least: 100 },
    Quantity { name: "p99", measured: |ops| ops.latency.at(Percentile::P99) as f64, told: Some("p99_ns"), least: 1000 },
    Quantity {
        name: "p99.9",
        measured: |ops| ops.latency.at(Percentile::P99_9) as f64,
        told: Some("p99_9_ns"),
        least: 10_000,
    },
];

/// An error in units of its bound, and as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Deviation {
    of_bound: f64,
    measured: f64,
    truth: f64,
}

/// Measures what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut runs = Vec::new();
    for service_ns in SERVICES {
        for number in 1..=tries.count {
            let results = tries.results(&format!("{service_ns}ns-{number}"), &arguments(service_ns, number))?;
            let results = results.unwrap_or_default();
            runs.extend(results.into_iter().filter(|result| result.trial.readers > 0).map(|run| (service_ns, run)));
        }
    }
    let lines = THREADS.iter().flat_map(|&threads| QUANTITIES.iter().map(move |quantity| (threads, quantity)));
    lines.map(|(threads, quantity)| line(&runs, threads, quantity)).collect()
}

fn arguments(service_ns: u64, number: u32) -> Vec<String> {
    let readers = THREADS.map(|threads| threads.to_string()).join(",");
    let option = format!("synthetic.get_ns={service_ns}");
    let (records, seed) = (RECORDS.to_string(), number.to_string());
    let mut words = vec!["synthetic", "--option", &option, "--workload", "readrandom", "--readers", &readers];
    // The engine's account knows no warm-up.
    words.extend(["--records", &records, "--duration", DURATION, "--warmup", "0s", "--repeat", "1", "--seed", &seed]);
    words.into_iter().map(str::to_owned).collect()
}

/// The worst of the service times; of each, the middle one of its tries.
fn line(runs: &[(u64, TrialResult)], threads: u32, quantity: &Quantity) -> io::Result<FidelityLine> {
    let mut worst: Option<(u64, Deviation)> = None;
    let mut tries = 0;
    for service_ns in SERVICES {
        let of_cell = runs.iter().filter(|(service, run)| *service == service_ns && run.trial.readers == threads);
        let mut deviations = Vec::new();
        for (_, run) in of_cell {
            deviations.extend(deviation(run, quantity)?);
        }
        tries += deviations.len();
        let Some(middle) = middle(deviations) else { continue };
        if worst.is_none_or(|(_, other)| other.of_bound < middle.of_bound) {
            worst = Some((service_ns, middle));
        }
    }
    let figure = |(service_ns, worst): (u64, Deviation)| match quantity.told {
        None => format!("{:+.3} %, at a service of {service_ns} ns", 100.0 * (worst.measured / worst.truth - 1.0)),
        Some(_) => {
            let error = worst.measured - worst.truth;
            format!("{error:+.1} ns of {:.1} ns, at a service of {service_ns} ns", worst.truth)
        }
    };
    Ok(FidelityLine {
        target: format!("{}, {}", quantity.name, counted(threads, "thread")),
        tries,
        figure: worst.map_or("none".to_owned(), figure),
        bound: if quantity.told.is_none() { "0.5 %".to_owned() } else { "3 ns or a bucket".to_owned() },
        is_met: worst.is_some_and(|(_, worst)| worst.of_bound <= 1.0),
    })
}

fn middle(mut deviations: Vec<Deviation>) -> Option<Deviation> {
    deviations.sort_by(|a, b| a.of_bound.total_cmp(&b.of_bound));
    deviations.get(deviations.len().checked_sub(1)? / 2).copied()
}

/// How far one run is off; nothing of a run with too few operations.
fn deviation(run: &TrialResult, quantity: &Quantity) -> io::Result<Option<Deviation>> {
    let operations = run.operations.first().ok_or_else(|| io::Error::other("a run without operations"))?;
    let counted = told(run, "gets", "operations")?;
    if operations.operations != counted as u64 {
        let text = format!("{} operations, and the engine served {counted}", operations.operations);
        return Err(io::Error::other(text));
    }
    if operations.operations < quantity.least {
        return Ok(None);
    }
    let measured = (quantity.measured)(operations);
    let (truth, bound) = match quantity.told {
        None => {
            let rate = counted / told(run, "served", "seconds")?;
            (rate, RATE_BOUND * rate)
        }
        Some(name) => {
            let truth = told(run, "gets", name)?;
            (truth, TIME_BOUND_NS.max(truth / BUCKETS_OF_A_POWER))
        }
    };
    Ok(Some(Deviation { of_bound: (measured - truth).abs() / bound, measured, truth }))
}

/// A figure of the engine's own account.
///
/// # Errors
/// If it tells no such number.
pub fn told(run: &TrialResult, topic: &str, name: &str) -> io::Result<f64> {
    own_account(run, topic, name)
        .ok_or_else(|| io::Error::other(format!("the engine does not tell its {topic} {name}")))
}

/// A figure of the engine's own account; absent if it tells no such number.
pub fn own_account(run: &TrialResult, topic: &str, name: &str) -> Option<f64> {
    let is_it = |statistic: &&Setting| (statistic.topic.as_str(), statistic.name.as_str()) == (topic, name);
    run.statistics.iter().find(is_it)?.value.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_several_tries_counts() {
        let deviation = |of_bound| Deviation { of_bound, measured: 1.0, truth: 1.0 };
        assert_eq!(middle([3.0, 0.1, 0.5].map(deviation).to_vec()), Some(deviation(0.5)));
        assert_eq!(middle(Vec::new()), None);
    }
}
