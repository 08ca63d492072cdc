//! Engines that do something to their process or to the lab, each with what must come of it, beside a sound one.

use kvdyno_results::{AnswerCounts, FailureKind, TrialOutcome};

use super::{HANG, Lab, Ran, RunningKvdyno};

/// A deed of an engine in a call, and what must come of it.
pub struct Case {
    pub hook: &'static str,
    pub does: &'static str,
    /// Calls before it.
    pub after: u32,
    /// The kinds of failure that are right; none: its trials finish.
    pub fails: &'static [FailureKind],
    /// Words of the reason, or of a note.
    pub words: &'static str,
}

use FailureKind::{Crashed, EngineError, Exited, Hung, Implausible, WrongAnswer};

/// Where the worker itself is misled, it ends too early, crashes or hangs.
pub const MISLED: &[FailureKind] = &[Implausible, Hung, Crashed, Exited, WrongAnswer, EngineError];

/// A crash, an exit, a hang and an error in a call.
pub fn four(hook: &'static str) -> [Case; 4] {
    let case = |does, fails, words| Case { hook, does, after: 0, fails, words };
    [
        case("crash", &[Crashed], "signal 6 (SIGABRT)"),
        case("exit", &[Exited], "the process exited with code 0"),
        case("hang", &[Hung], "nothing happened for"),
        case("error", &[EngineError], "injected by does=error"),
    ]
}

impl Case {
    fn label(&self) -> String {
        format!("{}-{}-{}", self.does, self.hook, self.after)
    }

    /// Whether nothing else can come of it.
    fn hangs(&self) -> bool {
        self.fails == [Hung]
    }
}

/// Engines with a deed each, and a sound one, in a lab of their own.
pub struct Together {
    pub sound: &'static str,
    /// More keys of the lab.
    pub keys: &'static str,
    pub workload: String,
    pub cases: Vec<Case>,
}

impl Together {
    /// Beside LMDB.
    pub fn of(cases: impl IntoIterator<Item = Case>, workload: &str) -> Together {
        Together { sound: "lmdb", keys: "", workload: workload.to_owned(), cases: cases.into_iter().collect() }
    }

    /// The same with a part of its cases.
    fn with(&self, cases: Vec<Case>) -> Together {
        Together { workload: self.workload.clone(), cases, ..*self }
    }

    /// All cases but those that are certain to hang, which [`Together::that_hang`] returns. Each case that may hang has
    /// a lab of its own, so that all labs wait for the limit at once. The limit is long because the sound engine has to
    /// meet it.
    pub fn that_return(mut self) -> Vec<Together> {
        let cases = std::mem::take(&mut self.cases).into_iter().filter(|case| !case.hangs());
        let (may_hang, others): (Vec<Case>, _) = cases.partition(|case| case.fails.contains(&Hung));
        let alone: Vec<Together> = may_hang.into_iter().map(|case| self.with(vec![case])).collect();
        alone.into_iter().chain((!others.is_empty()).then(|| self.with(others))).collect()
    }

    /// Those that are certain to hang, each in a lab of its own.
    pub fn that_hang(mut self) -> Vec<Together> {
        let cases = std::mem::take(&mut self.cases).into_iter().filter(Case::hangs);
        cases.map(|case| self.with(vec![case])).collect()
    }

    fn start(&self) -> RunningKvdyno {
        let Together { sound, keys, workload, cases } = self;
        let setups: String = cases
            .iter()
            .map(|case| {
                let Case { hook, does, after, .. } = case;
                let options = format!(
                    "hook = '{hook}', does = '{does}', after = {after}, fill_limit = '64MiB', transactions = true, \
                     concurrent = true"
                );
                format!("engine.{} = {{ engine = 'faulty', options = {{ {options} }} }}\n", case.label())
            })
            .collect();
        let names: Vec<String> = cases.iter().map(|case| format!("'{}'", case.label())).collect();
        let lab = Lab::new();
        lab.write(
            "experiment.toml",
            &format!(
                "engines = [{}, '{sound}']\ndata.records = 2000\n\
                 lab = {{ hang_timeout = '{HANG}', close_timeout = '{HANG}'{keys} }}\n{setups}\n{workload}",
                names.join(", ")
            ),
        );
        lab.start(["run", "experiment.toml", "--out", "results"])
    }
}

/// Runs all of them at the same time, and holds the trials of each case against what must come of it.
#[track_caller]
pub fn all_as_expected(all: Vec<Together>) -> Vec<Ran> {
    let running: Vec<RunningKvdyno> = all.iter().map(Together::start).collect();
    let ran: Vec<Ran> = running.into_iter().map(RunningKvdyno::ends).collect();
    all.iter().zip(&ran).for_each(|(together, ran)| as_expected(together, ran));
    ran
}

/// The engine has a load and a run that did all of its work, with right answers, and what was written is there.
#[track_caller]
fn is_as_alone(ran: &Ran, engine: &str) {
    let results = ran.results();
    let of_it: Vec<_> = results.iter().filter(|result| result.trial.engine == engine).collect();
    assert_eq!(of_it.len(), 2, "trials of {engine}");
    for result in of_it {
        let trial = result.trial.number;
        assert!(result.is_finished(), "trial {trial}: {:?}", result.outcome);
        let done: u64 = result.operations.iter().map(|one| one.operations).sum();
        let AnswerCounts { right, missing, errors, wrong, torn, stale, .. } = result.answers;
        assert!(done > 0 && right > 0, "trial {trial}: {done} operations, {right} right answers");
        assert_eq!([missing, errors, wrong, torn, stale], [0; 5], "trial {trial}");
        let writes = result.operations.iter().any(|one| one.writes());
        let audit = result.audit.as_ref();
        assert!(audit.is_some() || !writes, "trial {trial} wrote, and nothing was read back");
        for finding in audit.into_iter().flat_map(|audit| [&audit.session, &audit.process]) {
            let finding = finding.as_ref().unwrap_or_else(|| panic!("trial {trial} was not read back: {audit:?}"));
            assert!(finding.read > 0 && finding.failure("it").is_none(), "trial {trial}: {finding:?}");
        }
    }
}

#[track_caller]
fn as_expected(Together { sound, cases, .. }: &Together, ran: &Ran) {
    let fails = cases.iter().any(|case| !case.fails.is_empty());
    ran.exits(fails.into()).all_finished(sound).is_whole().lab.has_no_processes();
    is_as_alone(ran, sound);
    let results = ran.results();
    for case in cases {
        let of_it: Vec<_> = results.iter().filter(|result| result.trial.engine == case.label()).collect();
        let failed = of_it.iter().find_map(|result| match &result.outcome {
            TrialOutcome::Failed(failure) => Some(failure),
            TrialOutcome::Finished => None,
        });
        match failed {
            None => {
                assert!(case.fails.is_empty(), "{} did not fail", case.label());
                let notes: Vec<&String> = of_it.iter().flat_map(|result| &result.notes).collect();
                assert!(
                    case.words.is_empty() || notes.iter().any(|note| note.contains(case.words)),
                    "{}: {notes:?}",
                    case.label()
                );
            }
            Some(failure) => {
                assert!(case.fails.contains(&failure.kind), "{}: {:?}: {}", case.label(), failure.kind, failure.reason);
                assert!(failure.reason.contains(case.words), "{}: {}", case.label(), failure.reason);
            }
        }
    }
}

/// Only they suffer, of those that do not hang for certain.
#[track_caller]
pub fn only_they_suffer(all: Vec<Together>) {
    all_as_expected(all.into_iter().flat_map(Together::that_return).collect());
}
