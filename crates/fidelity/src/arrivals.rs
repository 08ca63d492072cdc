//! The row `arrivals`: a reader at a Poisson rate before the synthetic engine, which is a queue with one server. How
//! long operations wait there is known, by the load and the service times that the engine accounts.

use std::io;

use kvdyno_results::TrialResult;

use crate::accuracy::told;
use crate::pairs::middle;
use crate::table::FidelityLine;
use crate::tries::Tries;

/// The mean service of a get, nanoseconds: long beside what the driver takes, and beside what the machine's pauses add
/// to a waiting on average. Those of a server that is idle are in no account.
const SERVICE_NS: u64 = 1_000_000;
/// In M/M/1 at a load of 80 % the mean waiting of the operations of two minutes has a standard error of 3.6 % (Whitt,
/// *Planning queueing simulations*, Management Science 35, 1989).
const DURATION: &str = "120s";
/// Parts of the rate that one server could serve.
const LOADS: [f64; 2] = [0.5, 0.8];
/// The most that the mean waiting may be off.
const BOUND: f64 = 0.05;

/// A queue, by the distribution of its service times.
struct Queue {
    name: &'static str,
    distribution: &'static str,
}

const QUEUES: [Queue; 2] =
    [Queue { name: "M/D/1", distribution: "fixed" }, Queue { name: "M/M/1", distribution: "exponential" }];

/// Measures what is not there yet, and holds it against the targets.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for queue in &QUEUES {
        for load in LOADS {
            let mut errors = Vec::new();
            for number in 1..=tries.count {
                let name = format!("{}-{load}-{number}", queue.distribution);
                let results = tries.results(&name, &arguments(queue, load, number))?.unwrap_or_default();
                for run in results.iter().filter(|result| result.trial.readers > 0) {
                    errors.push(error(run)?);
                }
            }
            lines.push(line(queue, load, errors));
        }
    }
    Ok(lines)
}

fn arguments(queue: &Queue, load: f64, number: u32) -> Vec<String> {
    let rate = (load * 1e9 / SERVICE_NS as f64).to_string();
    let options = [format!("synthetic.get_ns={SERVICE_NS}"), format!("synthetic.distribution={}", queue.distribution)];
    let seed = number.to_string();
    let words = ["synthetic", "--option", &options[0], "--option", &options[1], "--workload", "readrandom"];
    let work = ["--readers", "1", "--read-rate", &rate, "--arrival", "poisson", "--records", "1000"];
    // The engine's account knows no warm-up.
    let time = ["--duration", DURATION, "--warmup", "0s", "--repeat", "1", "--seed", &seed];
    [&words[..], &work, &time].concat().into_iter().map(str::to_owned).collect()
}

fn line(queue: &Queue, load: f64, errors: Vec<f64>) -> FidelityLine {
    let tries = errors.len();
    let middle = middle(errors);
    FidelityLine {
        target: format!("{} at {:.0} %: mean waiting", queue.name, 100.0 * load),
        tries,
        figure: middle.map_or("none".to_owned(), |error| format!("off by {:+.1} %", 100.0 * error)),
        bound: format!("{:.0} %", 100.0 * BOUND),
        is_met: middle.is_some_and(|error| error.abs() <= BOUND),
    }
}

/// By how much the mean waiting was more than what the engine accounts leads to, of 1. Pauses of the machine lengthen
/// single services: the account has them.
fn error(run: &TrialResult) -> io::Result<f64> {
    let operations = run.operations.first().ok_or_else(|| io::Error::other("a run without operations"))?;
    let pacing = operations.pacing.ok_or_else(|| io::Error::other("a run without a rate"))?;
    let queued_s = pacing.queued_s.ok_or_else(|| io::Error::other("a run that does not tell its queue"))?;
    let waited_s = (queued_s + pacing.overslept_s) / operations.operations as f64;
    let (mean_ns, deviation_ns) = (told(run, "gets", "mean_ns")?, told(run, "gets", "deviation_ns")?);
    let load = mean_ns / 1e9 * told(run, "gets", "operations")? / told(run, "served", "seconds")?;
    Ok(waited_s / mean_waiting(load, mean_ns / 1e9, (deviation_ns / mean_ns).powi(2)) - 1.0)
}

/// The mean time that an operation waits for one server, where `variation` is the squared coefficient of variation of
/// the service times: Pollaczek and Khinchine (Kleinrock, *Queueing systems*, volume
/// 1, 1975, section 5.6).
fn mean_waiting(load: f64, service_s: f64, variation: f64) -> f64 {
    service_s * load * (1.0 + variation) / (2.0 * (1.0 - load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_waits_for_those_before_it() {
        assert!((mean_waiting(0.5, 1.0, 0.0) - 0.5).abs() < 1e-12);
        assert!((mean_waiting(0.8, 2.0, 1.0) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn the_middle_of_the_tries_is_held_against_the_bound() {
        let [fixed, _] = QUEUES;
        assert!(line(&fixed, 0.5, vec![0.3, -0.04, 0.04]).is_met);
        assert!(!line(&fixed, 0.5, vec![0.06, 0.07, 0.01]).is_met && !line(&fixed, 0.5, Vec::new()).is_met);
    }
}
