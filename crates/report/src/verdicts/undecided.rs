//! The pairs for which a run goes on are those that its report calls undecided.

use std::collections::BTreeSet;
use std::convert::Infallible;

use kvdyno_analysis::verdicts::{Goal, Question, Unsure, Verdict, decide};
use kvdyno_analysis::{Cell, CellKey, Series, cells, same_work};
use kvdyno_experiment::Experiment;
use kvdyno_results::latency_log::LatencyLog;
use kvdyno_results::{
    Audit, AuditFacts, ClientKind, Failure, FailureKind, Interference, Phase, ReadBack, TrialKey, TrialOutcome,
    TrialResult,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use super::groups::groups;
use crate::study::{Contents, Study};
use crate::testing::result;

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
    /// One for each trial.
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
    /// The deviation of its figure, from -1 to 1.
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
    let trial = (-1.0..1.0, any::<u8>(), outcome).prop_map(|(deviation, turn, outcome)| MadeUpTrial {
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
    let figures = (1_u32..=4, 0.0..0.03, any::<bool>(), prop::collection::vec(trial, 128));
    let question = select(vec![Question::Ranking, Question::Difference]);
    (matrix, figures, detect, question).prop_map(|(matrix, figures, detect, question)| {
        let ((engines, variants, runs, readers, clients), (repeats, noise, ties, trials)) = (matrix, figures);
        MadeUp { engines, variants, runs, readers, clients, repeats, noise, ties, trials, detect, question }
    })
}

impl MadeUp {
    pub(super) fn experiment(&self) -> Experiment {
        let engines: Vec<_> = self.engines.iter().map(|setup| setup.name).collect();
        let (detect, question) = (&self.detect, self.question);
        let lab = format!("[lab]\nrepeat = \"auto\"\ndetect = {detect}\nquestion = \"{question}\"\n");
        Experiment::parse(&format!("engines = {engines:?}\n{lab}")).unwrap()
    }

    /// The results in the order in which trials ran.
    pub(super) fn results(&self) -> Vec<TrialResult> {
        let mut made = self.trials.iter();
        let mut results = Vec::new();
        for repeat in 1..=self.repeats {
            let steps = self.variants.iter().flat_map(|variant| self.runs.iter().map(move |run| (variant, run)));
            for ((variant, (workload, batch)), readers) in
                steps.flat_map(|step| self.readers.iter().map(move |readers| (step, *readers)))
            {
                let mut turns: Vec<(&MadeUpSetup, &MadeUpTrial)> = self.engines.iter().zip(made.by_ref()).collect();
                turns.sort_by_key(|(_, trial)| trial.turn);
                for (setup, trial) in turns.into_iter().filter(|(_, trial)| trial.outcome != MadeUpOutcome::Skipped) {
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
                    results.push(self.result(setup, trial, result(key, setup.reads_per_s), *batch));
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
    let Ok(cells) = cells(results, &Series::new(), |_| Ok::<_, Infallible>(LatencyLog::new()));
    let cells: Vec<&Cell<'_>> = cells.iter().collect();
    let runs: Vec<_> = same_work(&cells).into_iter().filter(|same| same.phase == Phase::Run).collect();
    let name = |rivals: usize, index: usize| named(cells[runs[rivals].cells[index]]);
    let open = decide(results, goal).decision.open;
    open.iter().map(|pair| [pair.one, pair.other].map(|index| name(pair.rivals, index)).into()).collect()
}

/// The pairs of the question of which the report cannot tell, and more repeats might.
fn undecided(study: &Study<'_>, question: Question) -> BTreeSet<NamedPair> {
    let mut undecided = BTreeSet::new();
    for group in groups(study) {
        for pairing in &group.verdicts.pairs {
            let are_neighbours = group.verdicts.are_neighbours(pairing);
            let is_open = pairing.comparison.verdict == Verdict::CannotTell
                && pairing.comparison.unsure.is_some_and(Unsure::may_pass);
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
