use std::cell::RefCell;
use std::time::Duration;

use kvdyno_experiment::Experiment;
use kvdyno_model::{Count, List, Repeat};
use kvdyno_plan::Plan;
use kvdyno_results::{EngineFacts, OsFacts, TrialKey, TrialOutcome, WorkloadFacts};

use super::*;

/// Decides as it is told.
#[derive(Default)]
struct FixedRule {
    look: RefCell<Option<Look>>,
    interfered_with: RefCell<HashSet<u32>>,
}

impl StoppingRule for FixedRule {
    fn look(&self, _: &[&TrialResult]) -> Look {
        self.look.borrow().clone().unwrap()
    }

    fn interfered<'r>(&self, results: &[&'r TrialResult]) -> Vec<(&'r TrialKey, String)> {
        let runs = results.iter().map(|result| &result.trial).filter(|trial| trial.phase == Phase::Run);
        let interfered = runs.filter(|trial| self.interfered_with.borrow().contains(&trial.number));
        interfered.map(|trial| (trial, "others took it".to_owned())).collect()
    }

    fn outlook(&self, _: &[&TrialResult], growth: f64) -> Option<String> {
        Some(format!("{growth:.3} times as many"))
    }
}

/// Two engines, reads by one client and writes by two, in this order.
fn experiment(repeat: Repeat) -> Experiment {
    let text = "engines = [\"a\", \"b\"]\n[load]\nworkload = \"fillrandom\"\n[[run]]\nworkload = \"readrandom\"\n\
                readers = [1]\n[[run]]\nworkload = \"overwrite\"\nreaders = [2]\n[[run]]\n\
                workload = \"readseq\"\nreaders = [1]\n";
    let mut experiment = Experiment::parse(text).unwrap();
    experiment.lab.repeat = repeat;
    experiment
}

fn result(trial: &TrialKey, wall_s: f64) -> TrialResult {
    let engine = EngineFacts { name: trial.engine.clone(), ..EngineFacts::default() };
    let workload = WorkloadFacts::default();
    TrialResult {
        os: OsFacts { wall_s, ..OsFacts::default() },
        ..TrialResult::without_figures(trial.clone(), engine, workload, TrialOutcome::Finished)
    }
}

/// A run of an experiment, whose repeats are done as it is decided.
struct Run<'a> {
    plan: Plan,
    repeats: Repeats<'a>,
    results: HashMap<u32, TrialResult>,
}

impl<'a> Run<'a> {
    fn new(experiment: &'a Experiment, rule: &'a FixedRule, saved: SavedPlan) -> Run<'a> {
        let plan = Plan::of(&experiment.variants().unwrap());
        let repeats = Repeats::begin(&experiment.lab, rule, std::iter::empty(), saved);
        Run { plan, repeats, results: HashMap::new() }
    }

    /// The decision about a repeat; what is done of it takes a second a trial.
    fn goes_on(&mut self, repeat: u32) -> RepeatDecision {
        let trials: Vec<&PlannedTrial> = self.plan.trials.iter().filter(|trial| trial.key.repeat == repeat).collect();
        let decision = self.repeats.before(repeat, &trials, &self.results);
        if decision == RepeatDecision::Done {
            let done = trials.iter().filter(|trial| !self.repeats.is_skipped(trial.key.number));
            self.results.extend(done.map(|trial| (trial.key.number, result(&trial.key, 1.0))));
        }
        decision
    }

    fn is_done(&mut self, repeat: u32) -> bool {
        self.goes_on(repeat) == RepeatDecision::Done
    }

    /// Workloads that were done in a repeat, in the plan's order.
    fn workloads(&self, repeat: u32) -> Vec<&str> {
        let of_repeat = self.plan.trials.iter().filter(|trial| trial.key.repeat == repeat);
        let done = of_repeat.filter(|trial| self.results.contains_key(&trial.key.number));
        let mut workloads: Vec<&str> = done.map(|trial| trial.key.workload.as_str()).collect();
        workloads.dedup();
        workloads
    }

    fn number(&self, repeat: u32, workload: &str) -> u32 {
        let is_it = |trial: &&PlannedTrial| trial.key.repeat == repeat && trial.key.workload == workload;
        self.plan.trials.iter().find(is_it).unwrap().key.number
    }

    fn step(&self, workload: &str) -> WorkKey {
        WorkKey::from(&self.plan.trials.iter().find(|trial| trial.key.workload == workload).unwrap().key)
    }
}

fn blank(ordered: Option<u32>) -> SavedPlan {
    SavedPlan::new(serde_json::Value::Null, Vec::new(), ordered)
}

const ALL: [&str; 4] = ["fillrandom", "readrandom", "overwrite", "readseq"];

#[test]
fn a_repeat_with_interference_is_done_again_and_both_stay() {
    let (experiment, rule) = (experiment(Repeat::times(4)), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(Some(4)));
    assert!((1..=4).all(|repeat| run.is_done(repeat)));
    rule.interfered_with.borrow_mut().insert(run.number(2, "readrandom"));
    assert!(run.is_done(5));
    // Steps that follow it on the database are not repeated.
    assert_eq!(run.workloads(5), ["fillrandom", "readrandom"]);
    let repeated = Repeated { repeat: 2, by: 5, why: "others took it".to_owned() };
    assert_eq!(run.repeats.repeated(5), Some(&repeated));
    assert_eq!(run.workloads(2), ALL, "it stays");
    assert_eq!(run.goes_on(6), RepeatDecision::End(None), "one had interference");
    // A resumed run decides the same.
    let saved = run.repeats.saved(run.results.len()).clone();
    assert_eq!(saved.repeated, [repeated]);
    let mut again = Run { results: run.results.clone(), ..Run::new(&experiment, &rule, saved.clone()) };
    assert!((1..=5).all(|repeat| again.is_done(repeat)) && again.goes_on(6) == RepeatDecision::End(None));
    let resumed = again.repeats.saved(0);
    assert_eq!((&resumed.repeated, &resumed.skipped), (&saved.repeated, &saved.skipped));
}

/// It decided, kept that, and was killed before the first trial.
#[test]
fn a_decision_without_results_holds() {
    let (experiment, rule) = (experiment(Repeat::times(4)), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(Some(4)));
    assert!((1..=4).all(|repeat| run.is_done(repeat)));
    rule.interfered_with.borrow_mut().insert(run.number(2, "readrandom"));
    let before = run.results.clone();
    assert!(run.is_done(5));
    let saved = run.repeats.saved(before.len()).clone();
    let mut again = Run { results: before, ..Run::new(&experiment, &rule, saved.clone()) };
    assert!((1..=5).all(|repeat| again.is_done(repeat)));
    assert_eq!(again.workloads(5), ["fillrandom", "readrandom"]);
    assert_eq!(again.repeats.saved(0).skipped, saved.skipped);
    assert_eq!(again.goes_on(6), RepeatDecision::End(None));
}

#[test]
fn no_more_stand_by_than_half_of_what_was_ordered() {
    let (experiment, rule) = (experiment(Repeat::times(2)), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(Some(2)));
    rule.interfered_with.borrow_mut().extend([run.number(1, "readseq"), run.number(2, "readseq")]);
    assert!((1..=3).all(|repeat| run.is_done(repeat)));
    assert_eq!(run.plan.trials.last().unwrap().key.repeat, 3);
    // The database is kept: what wrote into it before is done too.
    assert_eq!(run.workloads(3), ["fillrandom", "overwrite", "readseq"]);
}

#[test]
fn nothing_is_repeated_without_interference() {
    let (experiment, rule) = (experiment(Repeat::times(2)), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(Some(2)));
    assert!(run.is_done(1) && run.is_done(2));
    assert_eq!(run.goes_on(3), RepeatDecision::End(None));
}

fn look(run: &Run<'_>, open: &[(&str, Option<f64>)]) -> Option<Look> {
    let of =
        |(workload, half_width): &(&str, Option<f64>)| OpenStep { step: run.step(workload), half_width: *half_width };
    let enough = open.is_empty().then(|| "decided".to_owned());
    Some(Look { enough, open: open.iter().map(of).collect() })
}

#[test]
fn what_is_decided_is_not_repeated() {
    let (experiment, rule) = (experiment(Repeat::Auto), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(None));
    *rule.look.borrow_mut() = look(&run, &[("readrandom", Some(0.1))]);
    assert!((1..=4).all(|repeat| run.is_done(repeat)));
    assert!((1..=3).all(|repeat| run.workloads(repeat) == ALL), "a round of all before");
    assert_eq!(run.workloads(4), ["fillrandom", "readrandom"]);
    let skipped = &run.repeats.saved(0).skipped;
    assert!(skipped.iter().all(|one| one.repeat == 4 && one.why == "its comparisons are decided"), "{skipped:?}");
    assert_eq!(skipped.iter().map(|one| one.trials.len()).sum::<usize>(), 4);
    *rule.look.borrow_mut() = look(&run, &[]);
    assert_eq!(run.goes_on(5), RepeatDecision::End(Some(Enough { repeat: 4, why: "decided".into() })));
    assert_eq!(run.goes_on(6), RepeatDecision::End(Some(Enough { repeat: 4, why: "decided".into() })));
}

#[test]
fn it_does_not_end_with_interference() {
    let (experiment, rule) = (experiment(Repeat::Auto), FixedRule::default());
    let mut run = Run::new(&experiment, &rule, blank(None));
    *rule.look.borrow_mut() = look(&run, &[]);
    rule.interfered_with.borrow_mut().insert(run.number(1, "overwrite"));
    assert!(run.is_done(1) && run.is_done(2));
    assert_eq!(run.repeats.repeated(2).map(|repeated| repeated.repeat), Some(1));
    assert!(matches!(run.goes_on(3), RepeatDecision::End(Some(_))));
    // If all are, it does end.
    rule.interfered_with.borrow_mut().extend(1..1000);
    let mut run = Run::new(&experiment, &rule, blank(None));
    let last = (1..).find(|repeat| !run.is_done(*repeat)).unwrap();
    assert!((3..10).contains(&last), "{last}");
}

/// A budget in which a number of seconds is left. The age of the process is not in it.
fn left(experiment: &mut Experiment, rule: &FixedRule, seconds: u64) -> (Vec<String>, Vec<Skipped>) {
    experiment.lab.database = DatabaseOrigin::Fresh;
    let mut run = Run::new(experiment, rule, blank(None));
    *rule.look.borrow_mut() =
        look(&run, &[("readrandom", Some(0.02)), ("overwrite", Some(0.3)), ("readseq", Some(0.1))]);
    run.repeats.clock = RunClock::fixed(Duration::ZERO);
    assert!((1..=3).all(|repeat| run.is_done(repeat)));
    // A load and three steps of two trials each, a second each.
    run.repeats.clock = RunClock::fixed(Duration::from_secs(24));
    let budget = format!("{}s", 24 + 1 + seconds);
    let lab = LabSection { budget: Some(budget.parse().unwrap()), ..experiment.lab.clone() };
    run.repeats.lab = &lab;
    let decision = run.goes_on(4);
    let workloads = run.workloads(4).into_iter().map(str::to_owned).collect();
    if let RepeatDecision::End(Some(enough)) = decision {
        assert!(enough.why.contains("has no time for another"), "{enough:?}");
    }
    (workloads, run.repeats.saved.skipped.clone())
}

#[test]
fn time_goes_where_the_interval_is_widest_for_its_cost() {
    let (mut experiment, rule) = (experiment(Repeat::Auto), FixedRule::default());
    assert_eq!(left(&mut experiment, &rule, 100).0, ALL);
    assert_eq!(left(&mut experiment, &rule, 6).0, ["fillrandom", "overwrite", "readseq"]);
    let (workloads, skipped) = left(&mut experiment, &rule, 4);
    assert_eq!(workloads, ["fillrandom", "overwrite"]);
    assert!(skipped.iter().all(|one| one.why.contains("has no time for it")), "{skipped:?}");
    assert_eq!(left(&mut experiment, &rule, 3).0, [""; 0]);
}

#[test]
fn what_the_budget_will_tell_is_told_once() {
    let (mut experiment, rule) = (experiment(Repeat::Auto), FixedRule::default());
    experiment.lab.budget = Some("1000s".parse().unwrap());
    let mut run = Run::new(&experiment, &rule, blank(None));
    *rule.look.borrow_mut() = look(&run, &[("readrandom", Some(0.02))]);
    run.repeats.clock = RunClock::fixed(Duration::from_secs(24));
    assert!(run.is_done(1) && run.repeats.take_outlook().is_none());
    assert!(run.is_done(2));
    // 976 s less 10 s for the report, at 24 s a repeat: 40 more.
    assert_eq!(run.repeats.take_outlook().as_deref(), Some("after 1 repeat 41.000 times as many"));
    assert!(run.is_done(3) && run.repeats.take_outlook().is_none());
}

#[test]
fn the_time_of_runs_that_ended_counts() {
    let (experiment, _) = (experiment(Repeat::times(1)), ());
    let plan = Plan::of(&experiment.variants().unwrap());
    let results: Vec<TrialResult> = plan.trials.iter().take(3).map(|trial| result(&trial.key, 2.0)).collect();
    let of = |trials| kvdyno_results::Spent { seconds: 50.0, trials };
    let so_far = |spent| RunClock::resumed(&spent, results.iter()).before;
    assert_eq!(so_far(of(3)), Duration::from_secs(50));
    assert_eq!(so_far(of(1)), Duration::from_secs(54), "a killed run did not save what the last two took");
    let clock = RunClock::resumed(&of(3), results.iter());
    // The kernel tells the age of a process in ticks; it may be 0 still.
    while clock.so_far() == clock.before {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn counts_of_readers_are_steps_of_their_own() {
    let mut experiment = experiment(Repeat::times(1));
    experiment.run[0].readers = List(vec![Count(1), Count(2)]);
    let plan = Plan::of(&experiment.variants().unwrap());
    let steps: HashSet<WorkKey> = plan.trials.iter().map(|trial| WorkKey::from(&trial.key)).collect();
    assert_eq!(steps.len(), 5);
}

/// Two loads of 4 s and six runs of a second. The first repeat took 20 s, with its audits and copies. Later ones load
/// nothing, and take a second more for each run.
#[test]
fn a_repeat_without_loads_costs_neither_loads_nor_copies() {
    let (experiment, _) = (experiment(Repeat::times(3)), ());
    let plan = Plan::of(&experiment.variants().unwrap());
    let at = |second: i64| jiff::Timestamp::from_second(second).unwrap();
    let of_repeat = |repeat: u32, begins: i64| -> Vec<TrialResult> {
        let trials = plan.trials.iter().filter(|trial| trial.key.repeat == repeat);
        let does = |trial: &&PlannedTrial| repeat == 1 || trial.key.phase == Phase::Run;
        let timed = |trial: &PlannedTrial| {
            let wall_s = if trial.key.phase == Phase::Load { 4.0 } else { 1.0 };
            TrialResult { started: at(begins), ..result(&trial.key, wall_s) }
        };
        trials.filter(does).map(timed).collect()
    };
    let cost = |results: &[TrialResult], loads_again: bool| {
        let results: Vec<&TrialResult> = results.iter().collect();
        let costs = StepCosts::of(&results, Duration::from_secs(20), loads_again);
        let runs = results.iter().filter(|result| result.trial.phase == Phase::Run);
        let steps: HashSet<WorkKey> = runs.map(|result| WorkKey::from(*result)).collect();
        costs.of_steps(&steps).as_secs_f64() / 6.0
    };
    let first = of_repeat(1, 0);
    assert!(cost(&first, true) > 2.0 * cost(&first, false));
    assert!((cost(&first, false) - 1.3).abs() < 1e-6, "what is usual");
    let later = [of_repeat(2, 20), of_repeat(3, 32)].concat();
    assert!((cost(&[first, later].concat(), false) - 2.0).abs() < 1e-6, "two seconds each");
}
