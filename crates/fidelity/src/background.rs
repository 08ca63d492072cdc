//! The row `background`: work of an engine that is in no operation, by a thread or a forked process that is busy for a
//! known share of the time. The rate falls by what it takes from the client, which the engine's own account of its gets
//! knows, and by nothing more; and it is in the CPU time.

use std::io;

use kvdyno_model::Design;
use kvdyno_results::{CpuAccount, Phase, Side, TrialKey, TrialResult};

use crate::accuracy::told;
use crate::pairs::middle;
use crate::table::FidelityLine;
use crate::tries::Tries;

/// Options of the synthetic engine: who is busy.
const BUSY: [(&str, &str); 2] = [("background_share", "a thread"), ("child_share", "a forked process")];
/// Per cent of the time.
const SHARES: [u32; 3] = [5, 20, 80];
const DESIGNS: [Design; 2] = [Design::Slices, Design::Turns];
/// Without a warm-up, so that all of the work is in the accounts.
const WORK: [&str; 14] = [
    "--option",
    "A.get_ns=2000",
    "--option",
    "B.get_ns=2000",
    "--workload",
    "readrandom",
    "--records",
    "2000",
    "--readers",
    "1",
    "--duration",
    "4s",
    "--warmup",
    "0s",
];
const REPEATS: u32 = 2;
/// The bound of the ratio of two rates over that of the engine's own account, of 1.
const RATE_OFF: f64 = 0.01;
/// The bound of CPU time per operation, of 1.
const CPU_OFF: f64 = 0.03;

/// Does what is not there yet, and holds it against the targets. A try is a `diff` of the engine without such work and
/// with it.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for design in DESIGNS {
        for (option, who) in BUSY {
            let (mut rates, mut cpu, mut tried) = (Vec::new(), Vec::new(), 0);
            for share in SHARES {
                let (of_rates, of_cpu) = busy(tries, design, option, share)?;
                tried += of_rates.len();
                rates.extend(middle(of_rates).map(|off| (off, share)));
                cpu.extend(of_cpu.into_iter().map(|off| (off, share)));
            }
            lines.push(line(
                format!("{design}, {who}: ratio of the rates, the middle repeat"),
                (tried, &rates),
                RATE_OFF,
            ));
            lines.push(line(format!("{design}, {who}: CPU time per operation, each trial"), (tried, &cpu), CPU_OFF));
        }
    }
    Ok(lines)
}

/// How far off, of 1, the ratio of the rates of each repeat is, and the CPU time per operation of each trial with such
/// work.
fn busy(tries: &Tries, design: Design, option: &str, share: u32) -> io::Result<(Vec<f64>, Vec<f64>)> {
    let (mut rates, mut cpu) = (Vec::new(), Vec::new());
    let (given, repeats) = (format!("B.{option}={share}"), REPEATS.to_string());
    for number in 1..=tries.count {
        let (seed, in_design) = (number.to_string(), design.to_string());
        let words = ["synthetic", "synthetic"].into_iter().chain(WORK);
        let words = words.chain(["--option", &given, "--design", &in_design, "--repeat", &repeats, "--seed", &seed]);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let Some(one) = tries.diff(&format!("{design}-{option}-{share}-{number}"), &words)? else { continue };
        for repeat in 1..=REPEATS {
            let run = |setup: Option<&String>| one.results.iter().find(|result| is_run(result, setup, repeat));
            let (Some(without), Some(with)) = (run(one.setups.first()), run(one.setups.last())) else { continue };
            rates.push(rate_off(without, with)?);
            cpu.extend(cpu_off(with));
        }
    }
    Ok((rates, cpu))
}

fn is_run(result: &TrialResult, setup: Option<&String>, repeat: u32) -> bool {
    let TrialKey { phase, engine, repeat: of, .. } = &result.trial;
    (*phase, Some(engine), *of) == (Phase::Run, setup, repeat)
}

/// The ratio of two rates over that of the engine's own account, less 1.
fn rate_off(without: &TrialResult, with: &TrialResult) -> io::Result<f64> {
    let rates = with.rate(Side::Reads) / without.rate(Side::Reads);
    let own = told(without, "gets", "mean_ns")? / told(with, "gets", "mean_ns")?;
    Ok(rates / own - 1.0)
}

/// CPU time per operation of the measured parts over that of the whole trial, which its control group tells after its
/// end, less 1; absent where either is not known.
fn cpu_off(result: &TrialResult) -> Option<f64> {
    let alone = result.cpu.alone?;
    let duets = result.design.as_ref().and_then(|design| design.duet);
    let measured: CpuAccount = duets.map_or(alone, |duets| alone.plus(duets));
    Some(measured.cpu_s / result.cpu.whole_s? - 1.0).filter(|_| measured.operations > 0)
}

/// The figure that is furthest off, with the share of the time at which it is.
fn line(target: String, (tried, off): (usize, &[(f64, u32)]), bound: f64) -> FidelityLine {
    let furthest = off.iter().max_by(|one, other| one.0.abs().total_cmp(&other.0.abs()));
    FidelityLine {
        target,
        tries: tried,
        figure: furthest.map_or("none".to_owned(), |(off, share)| format!("{:+.2} %, busy {share} %", 100.0 * off)),
        bound: format!("{:.0} %", 100.0 * bound),
        is_met: furthest.is_some_and(|(off, _)| off.abs() <= bound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_furthest_off_counts() {
        let of = |off: &[(f64, u32)]| {
            let line = line(String::new(), (off.len(), off), 0.01);
            (line.figure, line.is_met)
        };
        assert_eq!(of(&[(0.002, 5), (-0.0099, 80)]), ("-0.99 %, busy 80 %".to_owned(), true));
        assert_eq!(of(&[(0.0101, 5), (-0.0099, 80)]), ("+1.01 %, busy 5 %".to_owned(), false));
        assert_eq!(of(&[]), ("none".to_owned(), false));
    }
}
