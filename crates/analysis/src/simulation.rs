//! Simulated comparisons, whose truth is known: how often intervals hold it.
//!
//! Two setups are measured in turns, repeat by repeat, in random order, on a machine whose speed changes. Their ratio
//! contains only the change of speed from one trial to the next; the rest cancels.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use crate::random::{normal, uniform};
use crate::verdicts::trimmed::TrimmedMean;
use crate::verdicts::{
    Comparison, Looks, MOST_LOOKS, MeasuredCell, PairedRatios, Pairing, Question, Rivals, Terms, Unsure, Verdict,
    compare,
};

/// The way in which the speed of a simulated machine changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SimulatedNoise {
    /// The machine does not change: trials differ for themselves alone.
    Independent,
    /// A first-order autoregression: nine tenths of the deviation at one trial are left at the next.
    Autocorrelated,
    /// Its speed falls all the time.
    Drifting,
}

/// The end of a simulated comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SimulatedEnd {
    /// The repeats end after a number of them that was set beforehand.
    After(usize),
    /// The repeats end with the first verdict, or after as many looks as there can be.
    Decided,
    /// The repeats end when half of the interval is at most so wide.
    Precise(f64),
    /// The repeats end with the first interval that misses the truth: the worst rule with a look after each repeat.
    Missed,
}

/// A comparison to be simulated many times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SimulatedComparison {
    /// The way in which the machine changes.
    pub noise: SimulatedNoise,
    /// The part of trials whose start was not over, so that they are slower by ten times the spread on average.
    pub outliers: f64,
    /// The standard deviation of the log ratio, changes of the machine and outliers aside.
    pub spread: f64,
    /// The true logarithm of the ratio.
    pub truth: f64,
    /// When it ends.
    pub end: SimulatedEnd,
    /// The least difference that matters.
    pub detect: f64,
}

/// The outcome of many simulated comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SimulatedCoverage {
    /// The number of simulated comparisons.
    pub tries: usize,
    /// The comparisons whose interval at the end holds the truth.
    pub held: usize,
    /// Comparisons with a wrong verdict: a difference where there is none, a difference the wrong way round, or no
    /// difference where there is one that was to be detected.
    pub wrong: usize,
    /// The comparisons that have a verdict.
    pub decided: usize,
    /// Repeats on average.
    pub repeats: f64,
    /// Half of the interval of the logarithm of the ratio, its median.
    pub half_width: f64,
}

/// A setup that is the same, or one that is slower by this much.
const TRUTHS: [f64; 2] = [0.0, 0.03];

/// Simulates a comparison many times. The same seed gives the same outcome.
pub fn simulate(what: &SimulatedComparison, tries: usize, seed: u64) -> SimulatedCoverage {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut outcome = SimulatedCoverage { tries, ..SimulatedCoverage::default() };
    let mut halves = Vec::with_capacity(tries);
    for _ in 0..tries {
        let comparison = what.once(&mut random);
        let (low, high) = comparison.interval().unwrap_or((0.0, f64::INFINITY));
        outcome.held += usize::from(low.ln() <= what.truth && what.truth <= high.ln());
        outcome.wrong += usize::from(what.is_wrong(&comparison));
        outcome.decided += usize::from(comparison.verdict.is_decided());
        outcome.repeats += comparison.repeats as f64 / tries.max(1) as f64;
        halves.push((high / low).ln() / 2.0);
    }
    halves.sort_by(f64::total_cmp);
    outcome.half_width = halves.get(tries / 2).copied().unwrap_or(f64::INFINITY);
    outcome
}

/// The comparisons that a study of intervals simulates: each noise with outliers and without, few repeats and many, set
/// beforehand and stopped early, small spreads and large.
pub fn simulated_comparisons() -> Vec<SimulatedComparison> {
    let ends = [3, 5, 7, 10, 30].map(SimulatedEnd::After);
    let ends = ends.into_iter().chain([SimulatedEnd::Decided, SimulatedEnd::Precise(0.02), SimulatedEnd::Missed]);
    let noises = [SimulatedNoise::Independent, SimulatedNoise::Autocorrelated, SimulatedNoise::Drifting];
    let mut all = Vec::new();
    for end in ends {
        for (noise, outliers) in noises.into_iter().flat_map(|noise| [(noise, 0.0), (noise, 0.05)]) {
            // An interval of a number of repeats that was set beforehand has no scale.
            let spreads: &[f64] = if matches!(end, SimulatedEnd::After(_)) { &[0.01] } else { &[0.003, 0.02, 0.05] };
            let truths: &[f64] = if matches!(end, SimulatedEnd::Decided) { &TRUTHS } else { &TRUTHS[..1] };
            for (spread, truth) in spreads.iter().flat_map(|spread| truths.iter().map(|truth| (*spread, *truth))) {
                all.push(SimulatedComparison { noise, outliers, spread, truth, end, detect: 0.03 });
            }
        }
    }
    all
}

/// The share of series of independent normal values in which at least one interval, from the third value to the
/// `most`th, misses their mean, if each interval alone does so with the probability `at_one`. It does not depend on the
/// mean and the spread.
pub fn miss_over_looks(at_one: f64, most: usize, series: usize, seed: u64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut missed = 0usize;
    let mut values = Vec::with_capacity(most);
    let misses = |values: &[f64]| TrimmedMean::of(values).is_some_and(|middle| middle.chance(middle.value) < at_one);
    for _ in 0..series {
        values.clear();
        values.extend((0..most).map(|_| normal(&mut random)));
        missed += usize::from((Looks::AfterEach.fewest()..=most).any(|count| misses(&values[..count])));
    }
    missed as f64 / series.max(1) as f64
}

/// The shares of simulated columns with a wrong verdict, where all setups of a column are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SimulatedEquals {
    /// Some neighbours are said to differ.
    pub neighbours: f64,
    /// Some pair of all is said to differ.
    pub pairs: f64,
    /// One is said to be faster than every other.
    pub winner: f64,
}

/// Simulates columns of setups that are all the same, on a machine of independent noise.
pub fn simulate_equals(setups: usize, repeats: u32, looks: Looks, tries: usize, seed: u64) -> SimulatedEquals {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let terms = Terms { detect: 0.0, looks };
    let mut wrong = SimulatedEquals::default();
    let each = 1.0 / tries.max(1) as f64;
    for _ in 0..tries {
        let mut cell = || {
            let figures = (1..=repeats).map(|repeat| (repeat, (0.01 * normal(&mut random)).exp())).collect();
            MeasuredCell { figures, ..MeasuredCell::default() }
        };
        let verdicts = Rivals { cells: (0..setups).map(|_| cell()).collect() }.verdicts(Question::Ranking, &terms);
        let decided = |pair: &Pairing| pair.comparison.verdict.is_decided();
        wrong.neighbours += each * f64::from(u8::from(verdicts.neighbours().any(decided)));
        wrong.pairs += each * f64::from(u8::from(verdicts.pairs.iter().any(decided)));
        wrong.winner += each * f64::from(u8::from(verdicts.winner().is_some()));
    }
    wrong
}

impl SimulatedCoverage {
    /// The share of intervals that hold the truth.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.tries.max(1) as f64
    }

    /// The 95 % interval of that share for so many tries (Clopper and Pearson, *The Use of Confidence or Fiducial
    /// Limits Illustrated in the Case of the Binomial*, Biometrika 26, 1934).
    pub fn bounds(&self) -> (f64, f64) {
        let (held, missed) = (self.held as f64, (self.tries - self.held) as f64);
        let beta = |a: f64, b: f64, p: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(p));
        let low = if self.held == 0 { 0.0 } else { beta(held, missed + 1.0, 0.025).unwrap_or(0.0) };
        let high = if missed == 0.0 { 1.0 } else { beta(held + 1.0, missed, 0.975).unwrap_or(1.0) };
        (low, high)
    }
}

impl SimulatedComparison {
    fn once(&self, random: &mut Xoshiro256PlusPlus) -> Comparison {
        let mut machine = SimulatedMachine { noise: self.noise, spread: self.spread, state: None };
        let looks = if matches!(self.end, SimulatedEnd::After(_)) { Looks::Once } else { Looks::AfterEach };
        let terms = Terms { detect: self.detect, looks };
        let mut values = Vec::new();
        loop {
            values.push(self.log_ratio(&mut machine, random));
            let is_last = match self.end {
                SimulatedEnd::After(count) => values.len() >= count,
                _ => values.len() >= MOST_LOOKS,
            };
            if !is_last && (looks == Looks::Once || values.len() < looks.fewest()) {
                continue;
            }
            let comparison = compare(&PairedRatios::of(&values), &terms);
            if is_last || self.is_over(&comparison) {
                return comparison;
            }
        }
    }

    fn is_over(&self, comparison: &Comparison) -> bool {
        let Some((low, high)) = comparison.interval() else { return false };
        match self.end {
            SimulatedEnd::After(_) => false,
            SimulatedEnd::Decided => !comparison.unsure.is_some_and(Unsure::may_pass),
            SimulatedEnd::Precise(half) => (high / low).ln() / 2.0 <= half,
            SimulatedEnd::Missed => self.truth < low.ln() || high.ln() < self.truth,
        }
    }

    /// The logarithm of the ratio in one repeat: both trials run one after the other, in random order.
    fn log_ratio(&self, machine: &mut SimulatedMachine, random: &mut Xoshiro256PlusPlus) -> f64 {
        let first_comes_first = random.next_u64() & 1 == 0;
        let mut trial = || {
            let own = self.spread / 2f64.sqrt() * normal(random);
            let is_outlier = uniform(random) < self.outliers;
            let late = if is_outlier { 10.0 * self.spread * uniform(random).ln() } else { 0.0 };
            machine.next(random) + own + late
        };
        let (one, other) = (trial(), trial());
        self.truth + if first_comes_first { one - other } else { other - one }
    }

    fn is_wrong(&self, comparison: &Comparison) -> bool {
        match comparison.verdict {
            Verdict::Faster => self.truth <= 0.0,
            Verdict::Slower => self.truth >= 0.0,
            Verdict::Same => self.truth.abs() >= self.detect.ln_1p(),
            Verdict::CannotTell => false,
        }
    }
}

/// A machine whose speed changes.
struct SimulatedMachine {
    noise: SimulatedNoise,
    spread: f64,
    /// The logarithm of its speed; absent before the first trial.
    state: Option<f64>,
}

impl SimulatedMachine {
    /// The logarithm of its speed at the next trial.
    fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let state = match (self.noise, self.state) {
            (SimulatedNoise::Independent, _) => 0.0,
            (SimulatedNoise::Autocorrelated, None) => 3.0 * self.spread * normal(random),
            (SimulatedNoise::Autocorrelated, Some(state)) => {
                0.9 * state + 3.0 * self.spread * (1.0 - 0.81f64).sqrt() * normal(random)
            }
            (SimulatedNoise::Drifting, state) => state.unwrap_or(0.0) - 0.5 * self.spread,
        };
        self.state = Some(state);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::FEW_LOOKS;

    #[test]
    fn the_same_seed_gives_the_same_outcome() {
        let what = simulated_comparisons()[7];
        assert_eq!(simulate(&what, 50, 1), simulate(&what, 50, 1));
        assert_ne!(simulate(&what, 50, 1).half_width, simulate(&what, 50, 2).half_width);
    }

    /// The smaller version of the study: 400 tries each, of which a share of 94 % can come out as 91.
    #[test]
    fn intervals_hold_the_truth() {
        for (seed, what) in (0..).zip(simulated_comparisons()) {
            let outcome = simulate(&what, 400, seed);
            assert!(outcome.share() >= 0.91, "{what:?}: {outcome:?}");
            if matches!(what.end, SimulatedEnd::After(_)) {
                assert!(outcome.share() <= 0.99, "{what:?}: {outcome:?}");
            }
            assert!(outcome.wrong <= 36, "{what:?}: {outcome:?}");
        }
    }

    #[test]
    fn over_all_looks_intervals_miss_as_often_as_they_say() {
        for (looks, most) in [(Looks::AfterEach, MOST_LOOKS), (Looks::AfterEachOfTen, FEW_LOOKS)] {
            for (whole, tolerance) in [(0.05, 0.008), (0.01, 0.004)] {
                let missed = miss_over_looks(looks.at_one(whole), most, 6000, 7);
                assert!((missed - whole).abs() < tolerance, "{missed} of {whole}, {looks:?}");
            }
        }
    }

    /// 1000 tries each, of which a share of 5 % can come out as 7.
    #[test]
    fn equals_are_seldom_said_to_differ() {
        for (setups, repeats) in [(2, 4), (8, 3), (8, 5), (22, 7)] {
            let wrong = simulate_equals(setups, repeats, Looks::Once, 1000, 11);
            assert!(wrong.pairs <= 0.07 && wrong.neighbours <= 0.07 && wrong.winner <= 0.07, "{setups}: {wrong:?}");
        }
    }

    /// Printed tables: 8 of 10 have 0.444 to 0.975.
    #[test]
    fn bounds_are_those_of_the_binomial() {
        let (low, high) = SimulatedCoverage { tries: 10, held: 8, ..SimulatedCoverage::default() }.bounds();
        assert!((low - 0.4439).abs() < 1e-3 && (high - 0.9748).abs() < 1e-3, "{low} {high}");
    }
}
