//! The trials of an experiment, in order.

use std::collections::HashSet;
use std::time::Duration;

use kvdyno_dataset::{Stream, subseed};
use kvdyno_experiment::{Experiment, Variant};
use kvdyno_model::{Loads, Order};
use kvdyno_results::{ClientKind, Phase, TrialKey};
use kvdyno_worker::workloads::{TrialEnd, WorkloadSpec};

use crate::design::PROBES;
use crate::work::{load_spec, run_spec};

/// Everything that will be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order in which they run.
    pub trials: Vec<PlannedTrial>,
}

/// One trial that will be done.
#[derive(Clone, Debug)]
pub struct PlannedTrial {
    /// Its name.
    pub key: TrialKey,
    /// Which of the experiment's variants.
    pub variant: usize,
    /// Which of its engines.
    pub engine: usize,
    /// Which `[[run]]`; absent for a load.
    pub section: Option<usize>,
    /// Its workload.
    pub workload: WorkloadSpec,
    /// The load that its database comes from; of a load, its own.
    pub origin: LoadId,
    /// Whether runs use copies of the load's database; true of the load and of those runs.
    pub copied: bool,
    /// Which of the copies a run is done on.
    pub copy: usize,
    /// It belongs to a repeat that is done only after interference with an earlier one.
    pub extra: bool,
    /// Whether it is done together with that of the other setups: runs are, where their design allows it.
    pub is_together: bool,
    /// No later trial needs its database.
    pub last_on_database: bool,
    /// No later trial needs the database that its own is a copy of.
    pub last_on_origin: bool,
}

/// A load, and so the database that it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadId {
    /// The variant's number.
    pub variant: usize,
    /// The number of the engine that loads.
    pub engine: usize,
    /// The repeat.
    pub repeat: u32,
}

impl PlannedTrial {
    /// Whether both are of the same step in the same repeat, on different setups, and may be done together.
    fn is_beside(&self, other: &PlannedTrial) -> bool {
        let step = |trial: &PlannedTrial| (trial.variant, trial.section, trial.key.repeat, trial.threads());
        self.is_together && step(self) == step(other)
    }

    fn threads(&self) -> (u32, u32) {
        (self.key.readers, self.key.writers)
    }

    /// The time that it works, about: of a search, at all rates that it tries. Absent if it is not known beforehand.
    pub fn expected_time(&self) -> Option<Duration> {
        let measured = self.measured_time()?;
        let times = if self.workload.parameters.run.searches() { PROBES } else { 1 };
        Some(self.workload.parameters.warmup + measured * times)
    }

    /// Duration of warm-up and measured part together; absent if it is not known beforehand.
    pub fn planned_time(&self) -> Option<Duration> {
        Some(self.workload.parameters.warmup + self.measured_time()?)
    }

    /// Duration of the measured part; absent if it is not known beforehand.
    fn measured_time(&self) -> Option<Duration> {
        match self.workload.parameters.end {
            TrialEnd::After(duration) if self.key.phase == Phase::Run => Some(duration),
            _ => None,
        }
    }
}

/// A step of the work on one database after another.
#[derive(Clone, Copy)]
enum Step {
    Load,
    Run { section: usize, readers: u32 },
}

impl Plan {
    /// The trials of an experiment's variants, which share what concerns the lab. The same experiment always gives the
    /// same plan. Variants come one after the other: only one has databases at a time.
    pub fn of(variants: &[Variant]) -> Plan {
        let mut trials = Vec::new();
        let repeat = variants.first().map(|variant| variant.experiment.lab.repeat);
        let (ordered, extra) = repeat.map_or((0, 0), |repeat| (repeat.most(), repeat.most_extra()));
        for repeat in 1..=ordered + extra {
            for (index, variant) in variants.iter().enumerate() {
                let experiment = &variant.experiment;
                let steps = steps(experiment);
                let engines = experiment.engines.len();
                let seed = subseed(experiment.lab.seed.get(), &[ORDER, u64::from(repeat), index as u64]);
                for (step, engine) in order(experiment.lab.order, steps.len(), engines, seed) {
                    let number = trials.len() as u32 + 1;
                    let origin = LoadId { variant: index, engine, repeat };
                    let mut trial = planned(experiment, steps[step], origin, number);
                    trial.key.variant.clone_from(&variant.name);
                    trial.extra = repeat > ordered;
                    trials.push(trial);
                }
            }
        }
        let mut plan = Plan { trials };
        plan.number();
        plan
    }

    /// The trials in order, those of one step, a setup each, together where they follow each other.
    pub fn steps(&self) -> impl Iterator<Item = &[PlannedTrial]> {
        self.trials.chunk_by(|one, next| one.is_beside(next))
    }

    /// The steps that are done if there is no interference.
    pub fn ordered_steps(&self) -> impl Iterator<Item = &[PlannedTrial]> {
        self.steps().filter(|step| !step[0].extra)
    }

    /// The trials of these steps.
    pub fn ordered(&self) -> impl Iterator<Item = &PlannedTrial> {
        self.ordered_steps().flatten()
    }

    /// Leaves out what an engine cannot do: `[[run]]` sections of a variant.
    pub fn leave_out(&mut self, variant: usize, engine: usize, sections: &[usize]) {
        let left_out = |trial: &PlannedTrial| {
            (trial.variant, trial.engine) == (variant, engine)
                && trial.section.is_some_and(|section| sections.contains(&section))
        };
        self.trials.retain(|trial| !left_out(trial));
        self.number();
    }

    /// Leaves out the trials that are neither `wanted` nor loads of those. Trials keep their numbers.
    pub(crate) fn keep(&mut self, wanted: impl Fn(&PlannedTrial) -> bool) {
        let needed: HashSet<LoadId> =
            self.trials.iter().filter(|trial| wanted(trial)).map(|trial| trial.origin).collect();
        let is_needed = |trial: &PlannedTrial| trial.key.phase == Phase::Load && needed.contains(&trial.origin);
        self.trials.retain(|trial| is_needed(trial) || wanted(trial));
        self.note_last();
    }

    /// Numbers the trials, and tells after which of them a database is not needed any more.
    pub(crate) fn number(&mut self) {
        self.note_last();
        for (trial, number) in self.trials.iter_mut().zip(1..) {
            trial.key.number = number;
        }
    }

    fn note_last(&mut self) {
        let (mut origins, mut copies) = (HashSet::new(), HashSet::new());
        for trial in self.trials.iter_mut().rev() {
            let is_last = origins.insert(trial.origin);
            let is_copy = trial.copied && trial.key.phase == Phase::Run;
            let is_last_on_copy = is_copy && copies.insert((trial.origin, trial.copy));
            trial.last_on_database = is_last_on_copy || (is_last && !trial.copied);
            trial.last_on_origin = trial.copied && is_last;
        }
    }

    /// The loaded databases of a variant that are kept beside their copies at a time.
    pub(crate) fn copied_at_once(&self, variant: usize) -> u64 {
        let first = self.trials.iter().filter(|trial| trial.variant == variant && trial.key.repeat == 1);
        first.filter(|trial| trial.copied).map(|trial| trial.origin).collect::<HashSet<_>>().len() as u64
    }

    /// Makes the readers and writers of a variant's engine processes, even if threads were requested.
    pub fn use_processes(&mut self, variant: usize, engine: usize) {
        let concerned = self.trials.iter_mut().filter(|trial| (trial.variant, trial.engine) == (variant, engine));
        concerned.for_each(|trial| trial.key.clients = ClientKind::Processes);
    }
}

fn steps(experiment: &Experiment) -> Vec<Step> {
    let runs = experiment.run.iter().enumerate().flat_map(|(section, run)| {
        run.readers.iter().map(move |readers| Step::Run { section, readers: readers.get_u32() })
    });
    std::iter::once(Step::Load).chain(runs).collect()
}

/// Keeps the order's random numbers apart from those of trials, whose seeds begin with a repeat.
const ORDER: u64 = u64::MAX;

/// Pairs of step and engine. Engines take turns, in a new random order at each step of each repeat: a block, in which
/// no engine always follows the same neighbour into the same state of the machine (Fisher, *The Design of Experiments*,
/// 1935). If each engine does all of its steps in a row, the engines are in random order.
fn order(order: Order, steps: usize, engines: usize, seed: u64) -> Vec<(usize, usize)> {
    let block = |number: usize| shuffled(engines, subseed(seed, &[number as u64]));
    match order {
        Order::Interleaved => {
            (0..steps).flat_map(|step| block(step).into_iter().map(move |engine| (step, engine))).collect()
        }
        Order::Sequential => {
            block(0).into_iter().flat_map(|engine| (0..steps).map(move |step| (step, engine))).collect()
        }
    }
}

/// The numbers below `count` in random order, each order equally likely (Durstenfeld, *Algorithm 235*, 1964).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let (mut numbers, mut stream): (Vec<usize>, _) = ((0..count).collect(), Stream::new(seed));
    for last in (1..count).rev() {
        numbers.swap(last, stream.below(last as u64 + 1) as usize);
    }
    numbers
}

fn planned(experiment: &Experiment, step: Step, origin: LoadId, number: u32) -> PlannedTrial {
    let LoadId { variant, engine, repeat } = origin;
    let seed = subseed(experiment.lab.seed.get(), &[u64::from(repeat), step_seed(step)]);
    let (phase, clients, workload) = match step {
        Step::Load => (Phase::Load, experiment.load.clients, load_spec(experiment, seed)),
        Step::Run { section, readers } => {
            let clients = experiment.run[section].clients;
            (Phase::Run, clients, run_spec(experiment, section, readers, seed))
        }
    };
    let key = TrialKey {
        number,
        engine: experiment.engines[engine].clone(),
        variant: String::new(),
        phase,
        workload: workload.name.to_string(),
        readers: workload.parameters.readers,
        writers: workload.parameters.writers,
        clients,
        repeat,
    };
    let section = match step {
        Step::Load => None,
        Step::Run { section, .. } => Some(section),
    };
    let is_together = phase == Phase::Run || experiment.lab.loads == Loads::AtOnce;
    PlannedTrial {
        key,
        variant,
        engine,
        section,
        workload,
        origin,
        copied: false,
        copy: 0,
        extra: false,
        is_together,
        last_on_database: false,
        last_on_origin: false,
    }
}

/// The engine is not in it: all engines get the same streams, so that they get the same keys.
fn step_seed(step: Step) -> u64 {
    match step {
        Step::Load => 0,
        Step::Run { section, readers } => 1 + ((section as u64) << 32) + u64::from(readers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvdyno_model::{Count, List, Repeat};

    fn plan_of(experiment: &Experiment) -> Plan {
        Plan::of(&experiment.variants().unwrap())
    }

    fn labels(plan: &Plan) -> Vec<String> {
        let label = |trial: &PlannedTrial| {
            let key = &trial.key;
            let what = if key.phase == Phase::Load { "load".into() } else { key.readers.to_string() };
            format!("{}{}{}", key.engine, what, if trial.last_on_database { "!" } else { "" })
        };
        plan.trials.iter().map(label).collect()
    }

    /// The same, without the order in which the engines have their turns.
    fn blocks(plan: &Plan) -> String {
        let labels = labels(plan);
        let trials: Vec<(&PlannedTrial, &String)> = plan.trials.iter().zip(&labels).collect();
        let step = |trial: &PlannedTrial| (trial.variant, trial.section, trial.threads(), trial.key.repeat);
        let sorted = trials.chunk_by(|(one, _), (next, _)| step(one) == step(next)).flat_map(|block| {
            let mut labels: Vec<&str> = block.iter().map(|(_, label)| label.as_str()).collect();
            labels.sort_unstable();
            labels
        });
        sorted.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn engines_take_turns_in_random_blocks() {
        let mut experiment = Experiment::on(&["a".into(), "b".into(), "c".into()]);
        experiment.run[0].readers = List(vec![Count(1), Count(2)]);
        experiment.lab.repeat = Repeat::times(100);
        let plan = plan_of(&experiment);
        let blocks: Vec<String> = plan
            .trials
            .chunks(3)
            .map(|block| {
                let first = (&block[0].key.phase, block[0].key.readers, block[0].key.repeat);
                assert!(block.iter().all(|trial| (&trial.key.phase, trial.key.readers, trial.key.repeat) == first));
                block.iter().map(|trial| trial.key.engine.as_str()).collect()
            })
            .collect();
        assert_eq!(blocks.len(), 450);
        // 75 of each are expected; five standard deviations are 40.
        for order in ["abc", "acb", "bac", "bca", "cab", "cba"] {
            let count = blocks.iter().filter(|block| *block == order).count();
            assert!((35..=115).contains(&count), "{order} {count}");
        }
        // The order at one step is independent of that at the next.
        let same = blocks.windows(2).filter(|two| two[0] == two[1]).count();
        assert!((35..=115).contains(&same), "{same}");
        experiment.lab.seed = Count(2);
        let others = plan_of(&experiment);
        assert!(others.trials.iter().zip(&plan.trials).any(|(one, other)| one.key.engine != other.key.engine));
    }

    #[test]
    fn loads_are_a_step_only_where_they_are_done_at_once() {
        let mut experiment = Experiment::on(&["a".into(), "b".into()]);
        experiment.run[0].readers = List(vec![Count(1)]);
        let mut steps = |loads: Loads, order: Order| {
            (experiment.lab.loads, experiment.lab.order) = (loads, order);
            plan_of(&experiment).steps().map(<[_]>::len).collect::<Vec<_>>()
        };
        assert_eq!(steps(Loads::InTurns, Order::Interleaved), [1, 1, 2]);
        assert_eq!(steps(Loads::AtOnce, Order::Interleaved), [2, 2]);
        assert_eq!(steps(Loads::AtOnce, Order::Sequential), [1, 1, 1, 1]);
    }

    #[test]
    fn an_engine_after_the_other_does_all_of_its_steps() {
        let mut experiment = Experiment::on(&["a".into(), "b".into()]);
        experiment.run[0].readers = List(vec![Count(1), Count(2)]);
        (experiment.lab.repeat, experiment.lab.order) = (Repeat::times(8), Order::Sequential);
        let labels = labels(&plan_of(&experiment));
        let repeats: Vec<String> = labels.chunks(6).map(|repeat| repeat.join(" ")).collect();
        let (one, other) = ("aload a1 a2! bload b1 b2!", "bload b1 b2! aload a1 a2!");
        assert!(repeats.iter().all(|repeat| [one, other].contains(&repeat.as_str())), "{repeats:?}");
        assert!(repeats.iter().any(|repeat| repeat == one) && repeats.iter().any(|repeat| repeat == other));
    }

    #[test]
    fn half_as_many_repeats_stand_by_for_interference() {
        let mut experiment = Experiment::on(&["a".into()]);
        for (repeats, extra) in [(1, 0), (2, 1), (5, 2)] {
            experiment.lab.repeat = Repeat::times(repeats);
            let plan = plan_of(&experiment);
            let ordered = plan.ordered().map(|trial| trial.key.repeat).max();
            let last = plan.trials.iter().map(|trial| trial.key.repeat).max();
            assert_eq!((ordered, last), (Some(repeats), Some(repeats + extra)));
        }
    }

    #[test]
    fn engines_get_the_same_streams_and_trials_different_ones() {
        let mut experiment = Experiment::on(&["a".into(), "b".into()]);
        experiment.lab.repeat = Repeat::times(2);
        let plan = plan_of(&experiment);
        let mut seeds: Vec<u64> = plan.trials.iter().map(|trial| trial.workload.parameters.seed).collect();
        assert_eq!(seeds[0], seeds[1]);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), plan.trials.len() / 2);
        let again: Vec<_> = plan_of(&experiment).trials.into_iter().map(|trial| trial.key).collect();
        assert_eq!(again, plan.trials.into_iter().map(|trial| trial.key).collect::<Vec<_>>());
    }

    #[test]
    fn what_an_engine_cannot_do_is_not_in_its_plan() {
        let text =
            "engines = [\"a\", \"b\"]\n[[run]]\nreaders = [1]\n[[run]]\nworkload = \"readreverse\"\nreaders = [2]\n";
        let mut plan = plan_of(&Experiment::parse(text).unwrap());
        plan.leave_out(0, 1, &[1]);
        assert_eq!(blocks(&plan), "aload bload a1 b1! a2!");
        assert_eq!(plan.trials.iter().map(|trial| trial.key.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_part_of_the_records_is_divided_over_the_threads() {
        let text = "engines = [\"a\"]\n[data]\nrecords = 1005\nkey_size = 20\nvalue_size = 400\n[[run]]\n\
                    workload = \"overwritesome\"\nreaders = [1, 4]\n[[run]]\nworkload = \"overwrite\"\n\
                    readers = [2]\nrecords_fraction = 0.5\nwrite_rate = \"2MiB/s\"\n";
        let plan = plan_of(&Experiment::parse(text).unwrap());
        let ends: Vec<TrialEnd> = plan.trials[1..].iter().map(|trial| trial.workload.parameters.end).collect();
        assert_eq!(ends, [101, 26, 252].map(TrialEnd::Operations));
        let rate = plan.trials[3].workload.parameters.write_rate.unwrap();
        assert!((rate - 2_097_152.0 / 420.0).abs() < 1e-9);
    }

    #[test]
    fn variants_come_one_after_the_other_and_engines_take_turns_in_each() {
        let text = "engines = [\"a\", \"b\"]\n[[run]]\nreaders = [1]\n[[variant]]\nname = \"x\"\n\
                    [[variant]]\nname = \"y\"\nrun.readers = [2]\n";
        let plan = plan_of(&Experiment::parse(text).unwrap());
        assert_eq!(blocks(&plan), "aload bload a1! b1! aload bload a2! b2!");
        let names: Vec<&str> = plan.trials.iter().map(|trial| trial.key.variant.as_str()).collect();
        assert_eq!(names.concat(), "xxxxyyyy");
    }
}
