//! A part of a plan, for one of several machines or processes. Which it is depends on plan and numbers alone.

use std::collections::{BTreeMap, HashSet};

use kvdyno_dataset::subseed;
use kvdyno_experiment::{Experiment, FileError};
use kvdyno_model::{DatabaseOrigin, Deal, DealtPart};
use kvdyno_results::Phase;

use crate::check::{Checked, check_alone};
use crate::plan::{Plan, PlannedTrial};

/// The work of a trial, as far as it decides what the trial is compared with: the same of all setups and variants, in
/// every repeat. Without a workload for the loads of a variant that has no runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ComparedWork {
    workload: Option<String>,
    readers: u32,
    writers: u32,
}

impl ComparedWork {
    fn of(trial: &PlannedTrial) -> ComparedWork {
        let workload = (trial.key.phase == Phase::Run).then(|| trial.key.workload.clone());
        ComparedWork { workload, readers: trial.key.readers, writers: trial.key.writers }
    }
}

impl Checked {
    /// Leaves out of the plan what belongs to other parts, and gives the number of blocks back. Trials keep their
    /// numbers.
    ///
    /// A part has some blocks in a row, and the loads that these need: each part loads for itself. What is compared is
    /// in one block, with all its repeats, so that the results of a part decide how many these are. Where repeats are
    /// dealt, a part has all blocks.
    pub fn keep_part(&mut self, DealtPart { part, deal }: DealtPart) -> usize {
        let blocks = blocks(&self.plan, self.experiment.lab.database != DatabaseOrigin::Fresh);
        if deal == Deal::Repeats {
            // The same draws on each machine would be an effect that all of them have in common.
            for trial in self.plan.trials.iter_mut().filter(|_| part.number() > 1) {
                let seed = &mut trial.workload.parameters.seed;
                *seed = subseed(*seed, &[u64::from(part.number())]);
            }
        }
        if deal == Deal::Blocks {
            let own: HashSet<&ComparedWork> = blocks[part.share(blocks.len())].iter().flatten().collect();
            self.plan.keep(|trial| own.contains(&ComparedWork::of(trial)));
        }
        blocks.len()
    }
}

/// Number of the blocks of an experiment, if every engine is available and can do everything.
///
/// # Errors
/// As [`check_alone`].
pub fn count_blocks(experiment: &Experiment) -> Result<usize, FileError> {
    let (_, plan) = check_alone(experiment)?;
    let copies = matches!(experiment.lab.database, DatabaseOrigin::Snapshot | DatabaseOrigin::Shared);
    Ok(blocks(&plan, experiment.lab.database != DatabaseOrigin::Fresh && !copies).len())
}

/// The blocks of a plan, in its order: the work that stays together. Where a run goes on with the database that the run
/// before it left, the first work of a variant that writes and all that follows it are one block.
fn blocks(plan: &Plan, is_kept: bool) -> Vec<Vec<ComparedWork>> {
    let runs = plan.trials.iter().filter(|trial| trial.key.phase == Phase::Run);
    let with_runs: HashSet<usize> = runs.map(|trial| trial.variant).collect();
    let (mut seen, mut steps) = (HashSet::new(), Vec::new());
    for trial in &plan.trials {
        let is_compared = trial.key.phase == Phase::Run || !with_runs.contains(&trial.variant);
        let slot = (trial.variant, trial.section);
        if is_compared && seen.insert((slot, ComparedWork::of(trial))) {
            steps.push((slot, ComparedWork::of(trial), is_kept && !trial.copied && trial.key.writers > 0));
        }
    }
    // If engines come one after the other, the first may not do all sections. Numbers of readers stay in their order.
    steps.sort_by_key(|(slot, ..)| *slot);
    let mut blocks: Vec<Vec<ComparedWork>> = Vec::new();
    // The variant whose databases are no longer as they were loaded, and the work that wrote first.
    let mut written: Option<(usize, ComparedWork)> = None;
    for ((variant, _), work, writes) in steps {
        if !blocks.iter().flatten().any(|known| *known == work) {
            blocks.push(vec![work.clone()]);
        }
        written = written.filter(|(of, _)| *of == variant).or_else(|| writes.then(|| (variant, work.clone())));
        if let Some((_, first)) = &written {
            join(&mut blocks, first, &work);
        }
    }
    for (one, other) in compared_though_different(plan) {
        join(&mut blocks, &one, &other);
    }
    blocks
}

/// Pairs of the same workload with other numbers of clients that are compared: variants may have as many numbers of
/// readers, but others.
fn compared_though_different(plan: &Plan) -> Vec<(ComparedWork, ComparedWork)> {
    let mut of_variants: BTreeMap<(String, usize), Vec<ComparedWork>> = BTreeMap::new();
    for trial in plan.trials.iter().filter(|trial| trial.key.phase == Phase::Run) {
        let all = of_variants.entry((trial.key.workload.clone(), trial.variant)).or_default();
        let work = ComparedWork::of(trial);
        if !all.contains(&work) {
            all.push(work);
        }
    }
    for all in of_variants.values_mut() {
        all.sort_by_key(|work| (work.readers, work.writers));
    }
    let lists: Vec<(&(String, usize), &Vec<ComparedWork>)> = of_variants.iter().collect();
    let differ = lists.windows(2).filter(|pair| pair[0].0.0 == pair[1].0.0 && pair[0].1 != pair[1].1);
    let pairs = differ.flat_map(|pair| pair[0].1.iter().cloned().zip(pair[1].1.iter().cloned()));
    pairs.collect()
}

/// Makes one block of those of two works, where the first of the two is.
fn join(blocks: &mut Vec<Vec<ComparedWork>>, one: &ComparedWork, other: &ComparedWork) {
    let of = |work: &ComparedWork| blocks.iter().position(|block| block.contains(work));
    let (Some(one), Some(other)) = (of(one), of(other)) else { return };
    if one != other {
        let moved = blocks.remove(one.max(other));
        blocks[one.min(other)].extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kvdyno_experiment::Experiment;
    use kvdyno_model::Part;

    use super::*;

    const FOUR_STEPS: &str = "engines = [\"a\", \"b\"]\n[lab]\nrepeat = 2\n\
        [[run]]\nworkload = \"readrandom\"\nreaders = [4, 1]\n\
        [[run]]\nworkload = \"overwrite\"\nreaders = [1]\n\
        [[run]]\nworkload = \"readseq\"\nreaders = [1]\n\
        [[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n";

    fn plan_of(text: &str) -> Plan {
        Plan::of(&Experiment::parse(text).unwrap().variants().unwrap())
    }

    fn sizes(blocks: &[Vec<ComparedWork>]) -> Vec<usize> {
        blocks.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_step_is_a_block_unless_it_finds_what_another_wrote() {
        let plan = plan_of(FOUR_STEPS);
        // The third writes, and the fourth reads what it left. Variants are compared, so they are together.
        assert_eq!(sizes(&blocks(&plan, true)), [1, 1, 2]);
        assert_eq!(sizes(&blocks(&plan, false)), [1; 4]);
        let mut copied = plan_of(FOUR_STEPS);
        copied.trials.iter_mut().for_each(|trial| trial.copied = true);
        assert_eq!(sizes(&blocks(&copied, true)), [1; 4]);
        let readers: Vec<u32> = blocks(&plan, true).iter().take(2).map(|block| block[0].readers).collect();
        assert_eq!(readers, [4, 1], "they stay in the order of the file");
        let sequential = plan_of(&FOUR_STEPS.replace("[lab]", "[lab]\norder = \"sequential\""));
        assert_eq!(blocks(&sequential, true), blocks(&plan, true));
    }

    #[test]
    fn the_same_work_before_and_after_a_write_is_one_cell_and_so_in_one_block() {
        let same = "[[run]]\nworkload = \"readseq\"\nreaders = [1]\n";
        let text = FOUR_STEPS.replacen("[[run]]", &format!("{same}[[run]]"), 1);
        // Reads of four and of one, and the rest.
        assert_eq!(sizes(&blocks(&plan_of(&text), true)), [2, 1, 1]);
        assert_eq!(sizes(&blocks(&plan_of(&text), false)), [1; 4]);
    }

    #[test]
    fn variants_with_other_numbers_of_readers_are_compared_and_so_in_one_block() {
        let text = FOUR_STEPS.replace("name = \"y\"\n", "name = \"y\"\nrun.readers = [8, 2]\n");
        let plan = plan_of(&text.replace("overwrite", "readreverse"));
        let pairs: Vec<Vec<u32>> =
            blocks(&plan, true).iter().map(|block| block.iter().map(|work| work.readers).collect()).collect();
        assert!(pairs.contains(&vec![4, 8]) && pairs.contains(&vec![1, 2]), "{pairs:?}");
    }

    #[test]
    fn without_runs_the_loads_are_a_block() {
        let text = "engines = [\"a\", \"b\"]\nrun = []\n[[variant]]\nname = \"x\"\n[[variant]]\nname = \"y\"\n";
        let mut plan = plan_of(text);
        let all = blocks(&plan, true);
        assert_eq!(sizes(&all), [1]);
        plan.keep(|trial| ComparedWork::of(trial) == all[0][0]);
        assert_eq!(plan.trials.len(), 4);
    }

    #[test]
    fn parts_have_all_runs_once_and_the_loads_that_these_need() {
        let whole = plan_of(FOUR_STEPS);
        let all = blocks(&whole, true);
        for of in 1..=5 {
            let mut runs = Vec::new();
            for number in 1..=of {
                let part: Part = format!("{number}/{of}").parse().unwrap();
                let own: HashSet<&ComparedWork> = all[part.share(all.len())].iter().flatten().collect();
                let mut plan = whole.clone();
                plan.keep(|trial| own.contains(&ComparedWork::of(trial)));
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
