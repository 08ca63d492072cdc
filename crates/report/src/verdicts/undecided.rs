//! The pairs for which a run goes on are those that its report calls undecided.

use std::collections::BTreeSet;

use kvdyno_analysis::verdicts::{FigureOf, Goal, Question, UndecidedFigure, Verdict, decide};
use kvdyno_analysis::{Cell, cells_of_results, same_work};
use kvdyno_experiment::Experiment;
use kvdyno_results::{
    Audit, AuditFacts, CellKey, ClientKind, DatabaseCopy, Failure, FailureKind, Interference, Phase, ReadBack,
    TrialKey, TrialOutcome, TrialResult,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use super::groups::groups;
use crate::study::{Contents, Study};
use crate::testing::result;

/// The part of a figure that others leave.
const LEFT_BY_OTHERS: f64 = 0.4;

/// Two cells, each by its key and by the size of its batches, which keys of cells do not have.
type NamedPair = BTreeSet<(CellKey, u64)>;

/// A made-up experiment that ends by its results.
#[derive(Clone, Debug)]
pub(super) struct MadeUp {
    engines: Vec<MadeUpSetup>,
    variants: Vec<&'static str>,
    /// Workloads, each with the size of its batches.
    runs: Vec<(&'static str, u64)>,
    readers: Vec<u32>,
    /// `threads` or `processes`, as the experiment asks for clients.
    clients: &'static str,
    repeats: u32,
    /// The largest deviation of a figure, of 1.
    noise: f64,
    /// Whether figures deviate by all of that or not at all, so that many are the same.
    ties: bool,
    /// The part by which figures of all change from repeat to repeat, of 1.
    drift: f64,
    /// Whether setups change copies of one database from repeat to repeat.
    cross_over: bool,
    /// One for each trial, and then from the first one again.
    trials: Vec<MadeUpTrial>,
    /// The value of `detect` in the experiment file.
    detect: String,
    question: Question,
}

#[derive(Clone, Debug)]
struct MadeUpSetup {
    name: &'static str,
    reads_per_s: f64,
    keeps_nothing: bool,
}

#[derive(Clone, Debug)]
struct MadeUpTrial {
    /// The deviation of its figure, from -1 to 1; an outlier's is up to ten times that.
    deviation: f64,
    /// Its place among the trials of its step.
    turn: u8,
    outcome: MadeUpOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum MadeUpOutcome {
    Finished,
    Interfered,
    Failed,
    /// The trial was not done.
    Skipped,
}

pub(super) fn made_up() -> impl Strategy<Value = MadeUp> {
    let setup = |name| {
        let keeps_nothing = prop::bool::weighted(0.1);
        (Just(name), select(vec![100.0, 100.0, 101.0, 104.0, 110.0, 200.0]), keeps_nothing)
            .prop_map(|(name, reads_per_s, keeps_nothing)| MadeUpSetup { name, reads_per_s, keeps_nothing })
    };
    let engines = subsequence(vec!["null", "lmdb", "bdb", "rocksdb", "gtm"], 2..=4).prop_shuffle();
    let outcome = prop_oneof![
        60 => Just(MadeUpOutcome::Finished),
        2 => Just(MadeUpOutcome::Interfered),
        1 => Just(MadeUpOutcome::Failed),
        1 => Just(MadeUpOutcome::Skipped),
    ];
    let deviation = prop_oneof![20 => -1.0..1.0, 1 => -10.0..10.0];
    let trial = (deviation, any::<u8>(), outcome).prop_map(|(deviation, turn, outcome)| MadeUpTrial {
        deviation,
        turn,
        outcome,
    });
    let matrix = (
        engines.prop_flat_map(move |names| names.into_iter().map(setup).collect::<Vec<_>>()),
        select(vec![vec![""], vec!["cold", "warm"]]),
        subsequence(vec![("readrandom", 1), ("readrandom", 100), ("readseq", 1)], 1..=2),
        subsequence(vec![1_u32, 4], 1..=2),
        select(vec!["threads", "processes"]),
    );
    let detect = prop_oneof![
        Just("0".to_owned()),
        (0.0..0.2).prop_map(|detect| format!("{detect:?}")),
        (0.0..0.2).prop_map(|detect| format!("\"{detect}\"")),
        (0.0..20.0).prop_map(|detect| format!("\"{detect:.1} %\"")),
    ];
    // More than are looked at, too.
    let repeats = prop_oneof![3 => 1_u32..=4, 1 => 5_u32..=35];
    let drift = prop_oneof![2 => Just(0.0), 1 => -0.03..0.03];
    // A prime number, so that no setup has the same ones in each repeat.
    let trials = prop::collection::vec(trial, 127);
    let figures = (repeats, 0.0..0.03, any::<bool>(), drift, prop::bool::weighted(0.3), trials);
    let question = select(vec![Question::Ranking, Question::Difference]);
    (matrix, figures, detect, question).prop_map(|(matrix, figures, detect, question)| {
        let (engines, variants, runs, readers, clients) = matrix;
        let (repeats, noise, ties, drift, cross_over, trials) = figures;
        MadeUp {
            engines,
            variants,
            runs,
            readers,
            clients,
            repeats,
            noise,
            ties,
            drift,
            cross_over,
            trials,
            detect,
            question,
        }
    })
}

impl MadeUp {
    /// One that ends by its results.
    pub(super) fn experiment(&self) -> Experiment {
        self.with_repeats("\"auto\"")
    }

    /// One whose number of repeats was set beforehand.
    pub(super) fn of_set_length(&self) -> Experiment {
        self.with_repeats(&self.repeats.to_string())
    }

    fn with_repeats(&self, repeat: &str) -> Experiment {
        let engines: Vec<_> = self.engines.iter().map(|setup| setup.name).collect();
        let (detect, question) = (&self.detect, self.question);
        let question = if repeat == "\"auto\"" { format!("question = \"{question}\"\n") } else { String::new() };
        let lab = format!("[lab]\nrepeat = {repeat}\ndetect = {detect}\n{question}");
        Experiment::parse(&format!("engines = {engines:?}\n{lab}")).unwrap()
    }

    /// The results in the order in which trials ran.
    pub(super) fn results(&self) -> Vec<TrialResult> {
        let mut made = self.trials.iter().cycle();
        let mut results = Vec::new();
        for repeat in 1..=self.repeats {
            let steps = self.variants.iter().flat_map(|variant| self.runs.iter().map(move |run| (variant, run)));
            for ((variant, (workload, batch)), readers) in
                steps.flat_map(|step| self.readers.iter().map(move |readers| (step, *readers)))
            {
                let mut turns: Vec<(u32, (&MadeUpSetup, &MadeUpTrial))> =
                    (0..).zip(self.engines.iter().zip(made.by_ref())).collect();
                turns.sort_by_key(|(_, (_, trial))| trial.turn);
                turns.retain(|(_, (_, trial))| trial.outcome != MadeUpOutcome::Skipped);
                for (nth, (setup, trial)) in turns {
                    let clients = match self.clients {
                        "threads" if setup.name != "gtm" => ClientKind::Threads,
                        _ => ClientKind::Processes,
                    };
                    let key = TrialKey {
                        number: results.len() as u32 + 1,
                        engine: setup.name.into(),
                        variant: (*variant).into(),
                        phase: Phase::Run,
                        workload: (*workload).into(),
                        readers,
                        writers: 0,
                        clients,
                        repeat,
                    };
                    let drifted = setup.reads_per_s * (1.0 + self.drift).powi(repeat as i32);
                    let made_up = self.result(setup, trial, result(key, drifted), *batch);
                    let copy = DatabaseCopy { load: 1, number: (nth + repeat) % self.engines.len() as u32 };
                    results.push(TrialResult { copied_from: self.cross_over.then_some(copy), ..made_up });
                }
            }
        }
        results
    }

    fn result(&self, setup: &MadeUpSetup, trial: &MadeUpTrial, result: TrialResult, batch: u64) -> TrialResult {
        let mut result = result;
        let readers = &self.readers;
        let run =
            json!({ "workload": result.trial.workload, "batch": batch, "readers": readers, "clients": self.clients });
        result.experiment = json!({ "run": [run] });
        result.workload.batch = batch;
        result.workload.seed = result.trial.number.into();
        let deviation = if self.ties { trial.deviation.round() } else { trial.deviation };
        result.operations[0].records_per_s *= 1.0 + self.noise * deviation;
        let passed = AuditFacts { extent: Audit::Off, process: Some(ReadBack::default()), ..AuditFacts::default() };
        result.audit = Some(AuditFacts { volatile: setup.keeps_nothing, ..passed });
        match trial.outcome {
            MadeUpOutcome::Finished | MadeUpOutcome::Skipped => {}
            MadeUpOutcome::Interfered => {
                result.operations[0].records_per_s *= LEFT_BY_OTHERS;
                result.environment.interference = vec![Interference::StolenCpuTime { cpu_time_share: 0.31 }];
            }
            MadeUpOutcome::Failed => {
                let failure = Failure { kind: FailureKind::Crashed, reason: String::new() };
                (result.outcome, result.operations) = (TrialOutcome::Failed(failure), Vec::new());
            }
        }
        result
    }
}

fn named(cell: &Cell<'_>) -> (CellKey, u64) {
    (cell.key.clone(), cell.first().unwrap().workload.batch)
}

/// The pairs that the run would go on for.
fn open(results: &[TrialResult], goal: &Goal) -> BTreeSet<NamedPair> {
    let cells = cells_of_results(results);
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let runs: Vec<_> = same_work(&cells).into_iter().filter(|same| same.phase == Phase::Run).collect();
    let name = |rivals: usize, index: usize| named(cells[runs[rivals].cells[index]]);
    let open = decide(results, goal).decision.open;
    let pair = |open: &UndecidedFigure| match open.of {
        FigureOf::Pair(one, other) => Some([one, other].map(|index| name(open.rivals, index)).into()),
        FigureOf::Cell(_) => None,
    };
    open.iter().filter_map(pair).collect()
}

/// The pairs of the question of which the report cannot tell, and more repeats might.
fn undecided(study: &Study<'_>, question: Question) -> BTreeSet<NamedPair> {
    let mut undecided = BTreeSet::new();
    for group in groups(study) {
        for pairing in &group.verdicts.pairs {
            let are_neighbours = group.verdicts.are_neighbours(pairing);
            let is_open = pairing.comparison.verdict == Verdict::CannotTell && pairing.comparison.is_open();
            if is_open && (are_neighbours || question == Question::Difference) {
                undecided.insert([pairing.one, pairing.other].map(|index| named(group.cells[index])).into());
            }
        }
    }
    undecided
}

proptest! {
    #[test]
    fn a_run_goes_on_for_the_pairs_of_which_its_report_cannot_tell(made_up in made_up()) {
        let results = made_up.results();
        let experiment = made_up.experiment();
        let (question, detect) = (experiment.lab.question, experiment.lab.detect.0);
        let open = open(&results, &Goal { question, detect, ..Goal::default() });
        let contents = Contents::made_up(experiment, results);
        let study = Study::of(&contents).unwrap();
        prop_assert_eq!(open, undecided(&study, question));
    }
}
