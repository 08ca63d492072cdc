//! A part of a plan, for one of several machines or processes. Which it is depends on plan and numbers alone.

use std::collections::HashSet;

use kvdyno_model::{DatabaseOrigin, Part};
use kvdyno_results::Phase;

use crate::check::Checked;
use crate::plan::{Plan, PlannedTrial};

/// What all setups do, and is compared: one sort of runs, or the loads of a variant that has no runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StepId {
    variant: usize,
    section: Option<usize>,
    readers: u32,
    writers: u32,
}

impl StepId {
    fn of(trial: &PlannedTrial) -> StepId {
        let (readers, writers) = (trial.key.readers, trial.key.writers);
        StepId { variant: trial.variant, section: trial.section, readers, writers }
    }
}

impl Checked {
    /// Leaves out of the plan what belongs to other parts, and gives the number of blocks back. Trials keep their
    /// numbers.
    ///
    /// A part has some blocks in a row, and the loads that these need: two parts of one variant load its databases each
    /// for itself. What is compared is in one block, with all its repeats, so that the results of a part decide how
    /// many these are.
    pub fn keep_part(&mut self, part: Part) -> usize {
        let blocks = blocks(&self.plan, self.experiment.lab.database != DatabaseOrigin::Fresh);
        let own: HashSet<StepId> = blocks[part.share(blocks.len())].iter().flatten().copied().collect();
        self.plan.keep(|trial| own.contains(&StepId::of(trial)));
        blocks.len()
    }
}

/// The blocks of a plan, in its order: the steps that stay together. Where a run goes on with the database that the
/// run before it left, the first step that writes and all that follow it are one block.
fn blocks(plan: &Plan, is_kept: bool) -> Vec<Vec<StepId>> {
    let runs = plan.trials.iter().filter(|trial| trial.key.phase == Phase::Run);
    let with_runs: HashSet<usize> = runs.map(|trial| trial.variant).collect();
    let (mut seen, mut steps) = (HashSet::new(), Vec::new());
    for trial in &plan.trials {
        let is_compared = trial.key.phase == Phase::Run || !with_runs.contains(&trial.variant);
        if is_compared && seen.insert(StepId::of(trial)) {
            let writes = is_kept && !trial.copied && trial.key.writers > 0;
            steps.push((StepId::of(trial), writes));
        }
    }
    // If engines come one after the other, the first may not do all sections. Numbers of readers stay in their order.
    steps.sort_by_key(|(step, _)| (step.variant, step.section));
    let mut blocks: Vec<Vec<StepId>> = Vec::new();
    // The variant whose databases are no longer as they were loaded.
    let mut written = None;
    for (step, writes) in steps {
        match blocks.last_mut().filter(|_| written == Some(step.variant)) {
            Some(block) => block.push(step),
            None => blocks.push(vec![step]),
        }
        if writes {
            written = Some(step.variant);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kvdyno_experiment::Experiment;

    use super::*;

    const FOUR_STEPS: &str = "engines = [\"a\", \"b\"]\n[lab]\nrepeat = 2\n[[run]]\nreaders = [4, 1]\n[[run]]\n\
                              workload = \"overwrite\"\nreaders = [1]\n[[run]]\nworkload = \"readseq\"\n\
                              readers = [1]\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n";

    fn plan_of(text: &str) -> Plan {
        Plan::of(&Experiment::parse(text).unwrap().variants().unwrap())
    }

    fn sizes(blocks: &[Vec<StepId>]) -> Vec<usize> {
        blocks.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_step_is_a_block_unless_it_finds_what_another_wrote() {
        let plan = plan_of(FOUR_STEPS);
        // The third step writes, and the fourth reads what it left.
        assert_eq!(sizes(&blocks(&plan, true)), [1, 1, 2, 1, 1, 2]);
        assert_eq!(sizes(&blocks(&plan, false)), [1; 8]);
        let mut copied = plan_of(FOUR_STEPS);
        copied.trials.iter_mut().for_each(|trial| trial.copied = true);
        assert_eq!(sizes(&blocks(&copied, true)), [1; 8]);
        let readers: Vec<u32> = blocks(&plan, true).iter().take(2).map(|block| block[0].readers).collect();
        assert_eq!(readers, [4, 1], "they stay in the order of the file");
        let sequential = plan_of(&FOUR_STEPS.replace("[lab]", "[lab]\norder = \"sequential\""));
        assert_eq!(blocks(&sequential, true), blocks(&plan, true));
    }

    #[test]
    fn without_runs_the_loads_of_a_variant_are_a_block() {
        let mut plan = plan_of("engines = [\"a\", \"b\"]\nrun = []\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n");
        let all = blocks(&plan, true);
        assert_eq!(sizes(&all), [1, 1]);
        plan.keep(|trial| StepId::of(trial) == all[1][0]);
        assert!(plan.trials.len() == 2 && plan.trials.iter().all(|trial| trial.variant == 1));
    }

    #[test]
    fn parts_have_all_runs_once_and_the_loads_that_these_need() {
        let whole = plan_of(FOUR_STEPS);
        let all = blocks(&whole, true);
        for of in 1..=8 {
            let mut runs = Vec::new();
            for number in 1..=of {
                let part: Part = format!("{number}/{of}").parse().unwrap();
                let own: HashSet<StepId> = all[part.share(all.len())].iter().flatten().copied().collect();
                let mut plan = whole.clone();
                plan.keep(|trial| own.contains(&StepId::of(trial)));
                let of_phase = |phase| plan.trials.iter().filter(move |trial| trial.key.phase == phase);
                runs.extend(of_phase(Phase::Run).map(|trial| trial.key.clone()));
                let origins = |phase| {
                    let all = of_phase(phase).map(|trial| trial.origin);
                    all.map(|id| (id.variant, id.engine, id.repeat)).collect::<BTreeSet<_>>()
                };
                assert_eq!(origins(Phase::Run), origins(Phase::Load), "{part}");
                assert_eq!(of_phase(Phase::Load).count(), origins(Phase::Load).len(), "{part}");
                let ends = plan.trials.iter().filter(|trial| trial.last_on_database).count();
                assert_eq!(ends, origins(Phase::Load).len(), "{part}: each database is removed");
            }
            runs.sort_by_key(|key| key.number);
            let planned = whole.trials.iter().filter(|trial| trial.key.phase == Phase::Run);
            assert_eq!(runs, planned.map(|trial| trial.key.clone()).collect::<Vec<_>>(), "{of}");
        }
    }
}
