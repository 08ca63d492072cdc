//! The row `background`: work of an engine that is in no operation, by a thread or a forked process that is busy for a
//! known share of the time. The rates with it and without are held against each other, by themselves and over those of
//! the engine's own account; and its CPU time must be in that of the trial.

use std::convert::identity;
use std::io;

use kvdyno_model::Design;
use kvdyno_results::{Phase, Side, TrialKey, TrialResult};

use crate::accuracy::own_account;
use crate::interference::others;
use crate::pairs::middle;
use crate::table::FidelityLine;
use crate::tries::{DiffTry, Tries};

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
/// The bound of the ratio of two rates, and of the same over that of the engine's own account, of 1.
const RATE_OFF: f64 = 0.01;
/// The bound of CPU time per operation, of 1.
const CPU_OFF: f64 = 0.03;

/// Figures of a share of the time, one for each repeat of the tries that are there. One that its results do not have is
/// absent.
type OfShare = (u32, Vec<Option<f64>>);

/// The runs of a repeat; absent if they did not finish.
#[derive(Debug)]
struct BusyRepeat {
    without: Option<TrialResult>,
    with: Option<TrialResult>,
}

/// Does what is not there yet, and holds it against the targets. A try is a `diff` of the engine without such work and
/// with it.
pub fn measure(tries: &Tries) -> io::Result<Vec<FidelityLine>> {
    let mut lines = Vec::new();
    for design in DESIGNS {
        for (option, who) in BUSY {
            let mut shares = Vec::new();
            for share in SHARES {
                shares.push((share, repeats(tries, design, option, share)?));
            }
            lines.extend(lines_of(&format!("{design}, {who}"), &shares));
        }
    }
    Ok(lines)
}

fn repeats(tries: &Tries, design: Design, option: &str, share: u32) -> io::Result<Vec<BusyRepeat>> {
    let mut all = Vec::new();
    let (given, repeats) = (format!("B.{option}={share}"), REPEATS.to_string());
    for number in 1..=tries.count {
        let (seed, in_design) = (number.to_string(), design.to_string());
        let words = ["synthetic", "synthetic"].into_iter().chain(WORK);
        let words = words.chain(["--option", &given, "--design", &in_design, "--repeat", &repeats, "--seed", &seed]);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let one = tries.diff(None, &format!("{design}-{option}-{share}-{number}"), &words)?;
        all.extend(one.iter().flat_map(|one| (1..=REPEATS).map(|repeat| BusyRepeat::of(one, repeat))));
    }
    Ok(all)
}

/// The lines of a design and of one who is busy.
fn lines_of(name: &str, shares: &[(u32, Vec<BusyRepeat>)]) -> Vec<FidelityLine> {
    let figures = |off: fn(&BusyRepeat) -> Option<f64>| -> Vec<OfShare> {
        shares.iter().map(|(share, repeats)| (*share, repeats.iter().map(off).collect())).collect()
    };
    let text = |off: f64, share: u32| format!("{}, busy {share} %", percent(off));
    let to_account = format!("{name}: ratio of the rates over that of the engine's own account, the middle repeat");
    let cpu = format!("{name}: CPU time per operation, each trial");
    let mut lines = vec![
        line(to_account, &figures(BusyRepeat::off_account), the_middle, RATE_OFF, text),
        line(cpu, &figures(BusyRepeat::cpu_off), identity, CPU_OFF, text),
    ];
    for ((share, repeats), ratios) in shares.iter().zip(figures(BusyRepeat::rate_off)) {
        let with_cpu_time = |off: f64, _| {
            let middle = repeats.iter().find(|repeat| repeat.rate_off() == Some(off));
            percent(off) + &middle.map_or(String::new(), BusyRepeat::cpu_time)
        };
        let target = format!("{name}, busy {share} %: ratio of the rates, the middle repeat");
        lines.push(line(target, &[ratios], the_middle, RATE_OFF, with_cpu_time));
    }
    lines
}

impl BusyRepeat {
    fn of(one: &DiffTry, repeat: u32) -> BusyRepeat {
        let run = |setup: Option<&String>| {
            let is_it = |result: &&TrialResult| {
                let TrialKey { phase, engine, repeat: of, .. } = &result.trial;
                result.is_finished() && (*phase, Some(engine), *of) == (Phase::Run, setup, repeat)
            };
            one.results.iter().find(is_it).cloned()
        };
        BusyRepeat { without: run(one.setups.first()), with: run(one.setups.last()) }
    }

    /// The ratio of the two rates, less 1.
    fn rate_off(&self) -> Option<f64> {
        let rate = |run: &Option<TrialResult>| Some(run.as_ref()?.rate(Side::Reads));
        Some(rate(&self.with)? / rate(&self.without)? - 1.0)
    }

    /// The same ratio over that of the engine's own account, less 1.
    fn off_account(&self) -> Option<f64> {
        let mean_ns = |run: &Option<TrialResult>| own_account(run.as_ref()?, "gets", "mean_ns");
        let own = mean_ns(&self.without)? / mean_ns(&self.with)?;
        Some((self.rate_off()? + 1.0) / own - 1.0)
    }

    /// CPU time per operation of the measured parts, with such work, over that of the whole trial, which its control
    /// group tells after its end, less 1.
    fn cpu_off(&self) -> Option<f64> {
        let with = self.with.as_ref()?;
        let measured = with.cpu.alone.filter(|measured| measured.operations > 0)?;
        Some(measured.cpu_s / with.cpu.whole_s? - 1.0)
    }

    /// The CPU seconds of both runs as their results have them, and their notes of others.
    fn cpu_time(&self) -> String {
        let account = |run: &Option<TrialResult>| run.as_ref()?.cpu.alone;
        let client_s = |run| account(run).map(|account| account.client_cpu_s);
        let window_s = self.with.as_ref().and_then(|run| Some(run.window.as_ref()?.seconds));
        let background_s = account(&self.with).map(|account| account.background_cpu_s());
        let figures = [window_s, client_s(&self.with), client_s(&self.without), background_s];
        let [window, with, without, background] =
            figures.map(|seconds| seconds.map_or("?".to_owned(), |seconds| format!("{seconds:.2}")));
        let runs = [("with", &self.with), ("without", &self.without)].into_iter();
        let notes = runs.filter_map(|(name, run)| Some(format!("; {name} it, {}", others(run.as_ref()?)?)));
        format!("; window {window} s, CPU s: client {with}, without {without}; background work {background}")
            + &notes.collect::<String>()
    }
}

fn the_middle(figures: Vec<f64>) -> Vec<f64> {
    middle(figures).into_iter().collect()
}

fn percent(of_one: f64) -> String {
    format!("{:+.2} %", 100.0 * of_one)
}

/// The figure that is furthest off, of those that count of each share. A figure that is missing fails the line, and so
/// does a share without any.
fn line(
    target: String,
    shares: &[OfShare],
    counts: fn(Vec<f64>) -> Vec<f64>,
    bound: f64,
    text: impl Fn(f64, u32) -> String,
) -> FidelityLine {
    let there = |figures: &[Option<f64>]| figures.iter().copied().flatten().collect::<Vec<f64>>();
    let off = shares.iter().flat_map(|(share, figures)| counts(there(figures)).into_iter().map(|off| (off, *share)));
    let furthest = off.max_by(|one, other| one.0.abs().total_cmp(&other.0.abs()));
    let tries = shares.iter().map(|(_, figures)| there(figures).len()).sum();
    let lacking = lacking(shares);
    FidelityLine {
        target,
        tries,
        figure: furthest.map_or("none".to_owned(), |(off, share)| text(off, share)) + &lacking,
        bound: format!("{:.0} %", 100.0 * bound),
        is_met: lacking.is_empty() && furthest.is_some_and(|(off, _)| off.abs() <= bound),
    }
}

/// How many figures are missing, and the shares that have none; empty if all are there.
fn lacking(shares: &[OfShare]) -> String {
    let missing = shares.iter().flat_map(|(_, figures)| figures).filter(|figure| figure.is_none()).count();
    let missing = if missing > 0 { format!("; {missing} missing") } else { String::new() };
    let without = shares.iter().filter(|(_, figures)| figures.iter().all(Option::is_none));
    missing + &without.map(|(share, _)| format!("; none busy {share} %")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use kvdyno_analysis::verdicts::Looks;
    use kvdyno_results::{
        ClientKind, CpuAccount, CpuFacts, EngineFacts, Interference, Latency, OpKind, Operations, Setting,
        TrialOutcome, Window, WorkloadFacts,
    };

    use super::*;

    #[test]
    fn the_one_that_is_furthest_off_counts() {
        let of = |off: &[OfShare]| {
            let line = line(String::new(), off, identity, 0.01, |off, share| format!("{}, {share}", percent(off)));
            (line.figure, line.is_met)
        };
        let shares = |low: f64, high: f64| [(5, vec![Some(low)]), (80, vec![Some(high)])];
        assert_eq!(of(&shares(0.002, -0.0099)), ("-0.99 %, 80".to_owned(), true));
        assert_eq!(of(&shares(0.0101, -0.0099)), ("+1.01 %, 5".to_owned(), false));
        assert!(!of(&shares(f64::NAN, 0.0)).1 && !of(&[]).1);
    }

    /// A trial of 4 s with this rate and these CPU seconds of its client, and 3 of background work.
    fn run(engine: &str, repeat: u32, rate: f64, client_cpu_s: f64) -> TrialResult {
        let trial = TrialKey {
            number: repeat,
            engine: engine.to_owned(),
            variant: String::new(),
            phase: Phase::Run,
            workload: "readrandom".to_owned(),
            readers: 1,
            writers: 0,
            clients: ClientKind::Threads,
            repeat,
        };
        let gets = Operations {
            kind: OpKind::Get,
            threads: 1,
            operations: (4.0 * rate) as u64,
            records: (4.0 * rate) as u64,
            operations_per_s: rate,
            records_per_s: rate,
            latency: Latency::default(),
            pacing: None,
        };
        let account = CpuAccount { operations: gets.operations, cpu_s: client_cpu_s + 3.0, client_cpu_s };
        let (topic, name, value) = ("gets".to_owned(), "mean_ns".to_owned(), (1e9 / rate).to_string());
        TrialResult {
            window: Some(Window { seconds: 4.0, ..Window::default() }),
            cpu: CpuFacts { alone: Some(account), coarse: true, whole_s: Some(account.cpu_s) },
            operations: vec![gets],
            statistics: vec![Setting { topic, name, value }],
            ..TrialResult::without_figures(
                trial,
                EngineFacts::default(),
                WorkloadFacts::default(),
                TrialOutcome::Finished,
            )
        }
    }

    /// Shares whose repeats are all there, with a rate that is 2 % lower beside the work.
    fn shares() -> Vec<(u32, Vec<BusyRepeat>)> {
        let results: Vec<TrialResult> =
            (1..=REPEATS).flat_map(|repeat| [run("A", repeat, 1e6, 3.96), run("B", repeat, 0.98e6, 3.9)]).collect();
        let one =
            DiffTry { results, setups: ["A", "B"].map(str::to_owned).to_vec(), looks: Looks::AfterEach, wall_s: 20.0 };
        SHARES.map(|share| (share, (1..=REPEATS).map(|repeat| BusyRepeat::of(&one, repeat)).collect())).into()
    }

    /// The number of tries of the line, whether it is met, and its figure.
    fn of(shares: &[(u32, Vec<BusyRepeat>)], nth: usize) -> (usize, bool, String) {
        let line = lines_of("turns, a thread", shares).swap_remove(nth);
        (line.tries, line.is_met, line.figure)
    }

    /// The lines: of the rates over the account, of CPU time, of the rates of the first share.
    const OVER_ACCOUNT: usize = 0;
    const CPU: usize = 1;
    const RATES: usize = 2;

    #[test]
    fn a_rate_that_falls_with_that_of_the_account_is_off_by_itself_alone() {
        let all = shares();
        assert!(of(&all, OVER_ACCOUNT).1 && of(&all, CPU).1);
        let figure = "-2.00 %; window 4.00 s, CPU s: client 3.90, without 3.96; background work 3.00";
        assert_eq!(of(&all, RATES), (2, false, figure.to_owned()));
        assert_eq!(lines_of("", &all).len(), 2 + SHARES.len());
    }

    #[test]
    fn each_line_counts_its_own_tries() {
        let mut all = shares();
        let repeats = SHARES.len() * REPEATS as usize;
        assert_eq!([OVER_ACCOUNT, CPU, RATES].map(|nth| of(&all, nth).0), [repeats, repeats, REPEATS as usize]);
        all[0].1[1].with.as_mut().unwrap().cpu.whole_s = None;
        assert_eq!([OVER_ACCOUNT, CPU, RATES].map(|nth| of(&all, nth).0), [repeats, repeats - 1, REPEATS as usize]);
        all[0].1[0].without = None;
        assert_eq!([OVER_ACCOUNT, CPU, RATES].map(|nth| of(&all, nth).0), [repeats - 1, repeats - 1, 1]);
    }

    #[test]
    fn an_account_that_is_missing_fails_its_line() {
        let fails = |nth: usize, remove: fn(&mut TrialResult)| {
            let mut all = shares();
            remove(all[2].1[0].with.as_mut().unwrap());
            let (_, is_met, figure) = of(&all, nth);
            assert!(!is_met && figure.ends_with("; 1 missing"), "{figure}");
        };
        fails(OVER_ACCOUNT, |run| run.statistics.clear());
        fails(CPU, |run| run.cpu.whole_s = None);
        fails(CPU, |run| run.cpu.alone = None);
    }

    /// As it is where the time of the row was over.
    #[test]
    fn a_share_without_a_try_fails_each_line_of_it() {
        let mut all = shares();
        all[2].1.clear();
        for nth in [OVER_ACCOUNT, CPU] {
            let (tries, is_met, figure) = of(&all, nth);
            assert_eq!((tries, is_met), (2 * REPEATS as usize, false));
            assert!(figure.ends_with("; none busy 80 %"), "{figure}");
        }
        assert_eq!(of(&all, RATES + 2), (0, false, "none; none busy 80 %".to_owned()));
    }

    #[test]
    fn a_run_that_is_missing_has_no_ratio_and_others_are_told() {
        let mut all = shares();
        all[0].1[0].without = None;
        let others = Interference::ClientsProcessors { time_share: 0.04 };
        let tasks = Interference::WaitingTasks { tasks: 1.0 };
        let repeat = &mut all[0].1[1];
        repeat.without.as_mut().unwrap().environment.interference = vec![tasks, others];
        repeat.with.as_mut().unwrap().cpu = CpuFacts::default();
        let figure = "-2.00 %; window 4.00 s, CPU s: client ?, without 3.96; background work ?; without it, \
                      others had the clients' processors for 4.0 % of the time; 1 missing";
        assert_eq!(of(&all, RATES), (1, false, figure.to_owned()));
    }
}
