//! When the results of a run are enough.

use kvdyno_analysis::interfered_runs;
use kvdyno_analysis::verdicts::{
    Decision, FEW_LOOKS, Goal, Looks, Question, RunDecision, decide, decide_difference, expected_half_width,
};
use kvdyno_experiment::Experiment;
use kvdyno_model::text::counted;
use kvdyno_plan::AffordableRepeats;
use kvdyno_results::{TrialKey, TrialResult};
use kvdyno_run::{Look, OpenStep, StoppingRule};

/// Results are enough when the comparisons of the experiment's runs are decided, as far as the experiment asks for
/// that, and the searched rates are known. With two setups and the question whether they differ, all comparisons are
/// decided as one.
pub struct ComparisonsDecide<'a> {
    /// The experiment that asks for that.
    pub experiment: &'a Experiment,
    /// How often intervals are looked at.
    pub looks: Looks,
}

/// A budget that probably has time for no more values than this has few looks.
const FEW_VALUES: usize = 7;

/// The most values of a comparison that are to count, if the budget has no time for as many as there can be.
pub fn most_values(affordable: Option<AffordableRepeats>) -> Option<u32> {
    affordable.filter(|affordable| affordable.values() <= FEW_VALUES).map(|_| FEW_LOOKS as u32)
}

impl StoppingRule for ComparisonsDecide<'_> {
    fn look(&self, results: &[&TrialResult]) -> Look {
        let decided = self.decide(results);
        let open = decided.open_steps().into_iter().map(|(step, half_width)| OpenStep { step, half_width });
        Look { enough: enough(&decided.decision), open: open.collect() }
    }

    fn interfered<'r>(&self, results: &[&'r TrialResult]) -> Vec<(&'r TrialKey, String)> {
        interfered_runs(results)
    }

    fn outlook(&self, results: &[&TrialResult], growth: f64) -> Option<String> {
        let (figure, now, then) = self.decide(results).widest_open(growth)?;
        let (now, then, budget) = (percent(now), percent(then), self.experiment.lab.budget?);
        let figure = figure.name();
        Some(format!("the least certain {figure} is known to {now}; at the end of {budget} it will be to about {then}"))
    }
}

/// Half of an interval of a logarithm, as a part of the figure.
fn percent(half: f64) -> String {
    match 100.0 * half.exp_m1() {
        percent if percent < 10.0 => format!("± {percent:.1} %"),
        percent => format!("± {percent:.0} %"),
    }
}

impl ComparisonsDecide<'_> {
    /// The width of intervals to be expected at the end of the budget, in words for people, before anything is
    /// measured. Absent without a budget, or where nothing can be said of it.
    pub fn forecast(&self, affordable: AffordableRepeats) -> Option<String> {
        let lab = &self.experiment.lab;
        let (budget, setups) = (lab.budget?, affordable.setups);
        let pairs = if lab.question == Question::Difference { setups * (setups - 1) / 2 } else { setups - 1 };
        let about = format!("in {budget} about {}", counted(affordable.repeats, "repeat"));
        let work = (affordable.design, affordable.writes);
        Some(match expected_half_width(work, lab.figure, pairs, (affordable.values(), self.looks)) {
            Some(half) => format!("{about}, which usually tell ratios of {} to {}", lab.figure.name(), percent(half)),
            None if affordable.values() < self.looks.fewest() => format!("{about}: too few for an interval"),
            None => about,
        })
    }

    fn decide(&self, results: &[&TrialResult]) -> RunDecision {
        let lab = &self.experiment.lab;
        let precision = lab.precision.map(|precision| precision.0);
        let goal =
            Goal { question: lab.question, figure: lab.figure, detect: lab.detect.0, precision, looks: self.looks };
        let results: Vec<TrialResult> = results.iter().copied().cloned().collect();
        match (lab.question, &self.experiment.engines[..]) {
            (Question::Difference, [before, after]) => {
                decide_difference(&results, (before.as_str(), after.as_str()), &goal)
            }
            _ => decide(&results, &goal),
        }
    }
}

/// Why a decision is the last.
fn enough(decision: &Decision) -> Option<String> {
    let open = decision.pairs - decision.decided;
    decision.stop.then(|| match (decision.pairs, open) {
        (0, _) if decision.known_rates > 0 => "each highest rate is known".to_owned(),
        (0, _) => "nothing is left to compare".to_owned(),
        (_, 0) => "every comparison that matters is decided".to_owned(),
        (pairs, open) if !decision.has_open_pairs() => {
            format!("more repeats cannot decide {open} of {pairs} comparisons")
        }
        _ => "each cell has the requested precision".to_owned(),
    })
}
