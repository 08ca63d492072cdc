//! When the results of a run are enough.

use kvdyno_analysis::verdicts::{Goal, decide};
use kvdyno_experiment::LabSection;
use kvdyno_results::TrialResult;
use kvdyno_run::StoppingRule;

/// They are enough when the comparisons of its runs are decided, as far as the experiment asks for that.
pub struct ComparisonsDecide<'a> {
    /// What it asks for.
    pub lab: &'a LabSection,
}

impl StoppingRule for ComparisonsDecide<'_> {
    fn enough(&self, results: &[&TrialResult]) -> Option<String> {
        let LabSection { question, detect, precision, .. } = self.lab;
        let goal = Goal { question: *question, detect: detect.0, precision: precision.map(|precision| precision.0) };
        let results: Vec<TrialResult> = results.iter().copied().cloned().collect();
        let decision = decide(&results, &goal);
        let open = decision.pairs - decision.decided;
        decision.stop.then(|| match (decision.pairs, open) {
            (0, _) => "nothing is left to compare".to_owned(),
            (_, 0) => "every comparison that matters is decided".to_owned(),
            (pairs, open) if decision.open.is_empty() => {
                format!("{open} of {pairs} comparisons cannot be decided by more of it")
            }
            _ => "each cell is as precise as was asked for".to_owned(),
        })
    }
}
