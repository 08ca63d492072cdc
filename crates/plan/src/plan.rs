//! Which trials an experiment comes to, in which order.

use std::collections::HashSet;
use std::time::Duration;

use kvdyno_dataset::subseed;
use kvdyno_experiment::{DURATION, Experiment, RunSection, Variant};
use kvdyno_model::Order;
use kvdyno_results::{ClientKind, Phase, TrialKey};
use kvdyno_worker::Distribution;
use kvdyno_worker::workloads::{Reads, TrialEnd, WorkloadParameters, WorkloadSpec};

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
    /// Nothing needs its database after it.
    pub last_on_database: bool,
}

impl PlannedTrial {
    /// Whether another does the same, in the same repeat, on another setup. Loads are done one by one.
    fn is_beside(&self, other: &PlannedTrial) -> bool {
        let step = |trial: &PlannedTrial| (trial.variant, trial.section, trial.key.repeat, trial.threads());
        self.key.phase == Phase::Run && step(self) == step(other)
    }

    fn threads(&self) -> (u32, u32) {
        (self.key.readers, self.key.writers)
    }

    /// How long it measures and warms up; absent if that is not known beforehand.
    pub fn planned_time(&self) -> Option<Duration> {
        match self.workload.parameters.end {
            TrialEnd::After(duration) if self.key.phase == Phase::Run => {
                Some(self.workload.parameters.warmup + duration)
            }
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
        let repeats = variants.first().map_or(0, |variant| variant.experiment.lab.repeat.most());
        for repeat in 1..=repeats {
            for (index, variant) in variants.iter().enumerate() {
                let experiment = &variant.experiment;
                let steps = steps(experiment);
                let engines = experiment.engines.len();
                for (step, engine) in order(experiment.lab.order, steps.len(), engines, repeat as usize - 1) {
                    let number = trials.len() as u32 + 1;
                    let mut trial = planned(experiment, steps[step], engine, repeat, number);
                    trial.variant = index;
                    trial.key.variant.clone_from(&variant.name);
                    trial.last_on_database = step + 1 == steps.len();
                    trials.push(trial);
                }
            }
        }
        Plan { trials }
    }

    /// The trials in order, those of one step, a setup each, together where they follow each other.
    pub fn steps(&self) -> impl Iterator<Item = &[PlannedTrial]> {
        self.trials.chunk_by(|one, next| one.is_beside(next))
    }

    /// Leaves out what an engine cannot do: `[[run]]` sections of a variant.
    pub fn leave_out(&mut self, variant: usize, engine: usize, sections: &[usize]) {
        let left_out = |trial: &PlannedTrial| {
            (trial.variant, trial.engine) == (variant, engine)
                && trial.section.is_some_and(|section| sections.contains(&section))
        };
        self.trials.retain(|trial| !left_out(trial));
        let mut used = HashSet::new();
        for trial in self.trials.iter_mut().rev() {
            trial.last_on_database = used.insert((trial.variant, trial.engine, trial.key.repeat));
        }
        for (trial, number) in self.trials.iter_mut().zip(1..) {
            trial.key.number = number;
        }
    }

    /// Makes the readers and writers of a variant's engine processes, whatever was requested.
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

/// Pairs of step and engine. Engines take turns, and each repeat begins with another one, so that no engine always
/// follows the same neighbour into the same state of the machine.
fn order(order: Order, steps: usize, engines: usize, rotation: usize) -> Vec<(usize, usize)> {
    let rotated = |index: usize| (index + rotation) % engines;
    let turns = |outer: usize, inner: usize| (0..outer).flat_map(move |a| (0..inner).map(move |b| (a, b)));
    match order {
        Order::Interleaved => turns(steps, engines).map(|(step, engine)| (step, rotated(engine))).collect(),
        Order::Sequential => turns(engines, steps).map(|(engine, step)| (step, rotated(engine))).collect(),
    }
}

fn planned(experiment: &Experiment, step: Step, engine: usize, repeat: u32, number: u32) -> PlannedTrial {
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
    PlannedTrial { key, variant: 0, engine, section, workload, last_on_database: false }
}

/// The engine is not in it: all engines get the same streams, so that they get the same keys.
fn step_seed(step: Step) -> u64 {
    match step {
        Step::Load => 0,
        Step::Run { section, readers } => 1 + ((section as u64) << 32) + u64::from(readers),
    }
}

/// The workload of the load.
pub(crate) fn load_spec(experiment: &Experiment, seed: u64) -> WorkloadSpec {
    let load = &experiment.load;
    WorkloadSpec {
        name: load.workload,
        parameters: WorkloadParameters {
            data: experiment.data(),
            readers: 0,
            writers: load.writers.get_u32(),
            batch: experiment.load_batch(),
            reads_per_transaction: 1,
            reads: Reads::default(),
            distribution: Distribution::default(),
            write_rate: None,
            warmup: Duration::ZERO,
            end: TrialEnd::Operations(u64::MAX),
            verify: experiment.settings.verify,
            seed,
        },
    }
}

/// The workload of a run with a number of threads.
pub(crate) fn run_spec(experiment: &Experiment, section: usize, threads: u32, seed: u64) -> WorkloadSpec {
    let (run, data) = (&experiment.run[section], experiment.data());
    let name = run.workload;
    let (readers, writers) = name.threads(threads);
    let (records, record_bytes) = (data.records, data.key_size + data.value_size);
    WorkloadSpec {
        name,
        parameters: WorkloadParameters {
            data,
            readers,
            writers,
            batch: run.batch.get(),
            reads_per_transaction: run.reads_per_transaction.get(),
            reads: reads(run),
            distribution: run.distribution,
            write_rate: run.write_rate.map(|rate| rate.records_per_s(record_bytes)),
            warmup: run.warmup.0,
            end: end(run, records, threads),
            verify: experiment.settings.verify,
            seed,
        },
    }
}

fn reads(run: &RunSection) -> Reads {
    let usual = Reads::default();
    Reads {
        seek_nexts: run.seek_nexts.map_or(usual.seek_nexts, |count| count.get()),
        per_batch: run.keys_per_multiget.map_or(usual.per_batch, |count| count.get()),
        seek_within: run.seek_within.map(|count| count.get()),
    }
}

fn end(run: &RunSection, records: u64, threads: u32) -> TrialEnd {
    match (run.operations, run.ends_after_fraction()) {
        (Some(operations), _) => TrialEnd::Operations(operations.get()),
        (None, Some(fraction)) => {
            TrialEnd::Operations((fraction * records as f64 / f64::from(threads.max(1))).ceil() as u64)
        }
        (None, None) => TrialEnd::After(run.duration.map_or(DURATION, |time| time.get())),
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

    #[test]
    fn engines_take_turns_and_each_repeat_begins_with_another() {
        let mut experiment = Experiment::on(&["a".into(), "b".into()]);
        experiment.run[0].readers = List(vec![Count(1), Count(2)]);
        experiment.lab.repeat = Repeat::times(2);
        let expected = "aload bload a1 b1 a2! b2! bload aload b1 a1 b2! a2!";
        assert_eq!(labels(&plan_of(&experiment)).join(" "), expected);
        experiment.lab.order = Order::Sequential;
        let expected = "aload a1 a2! bload b1 b2! bload b1 b2! aload a1 a2!";
        assert_eq!(labels(&plan_of(&experiment)).join(" "), expected);
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
        assert_eq!(labels(&plan).join(" "), "aload bload a1 b1! a2!");
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
        assert_eq!(labels(&plan).join(" "), "aload bload a1! b1! aload bload a2! b2!");
        let names: Vec<&str> = plan.trials.iter().map(|trial| trial.key.variant.as_str()).collect();
        assert_eq!(names.concat(), "xxxxyyyy");
    }
}
