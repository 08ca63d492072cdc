//! Trials and audits that come out as a test says.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;

use kvdyno_model::Design;
use kvdyno_plan::Setup;
use kvdyno_plan::design::StepDesign;
use kvdyno_results::{
    AuditFacts, DesignFacts, Failure, FailureKind, OsFacts, Phase, ReadBack, TrialKey, TrialOutcome, TrialResult,
};
use kvdyno_worker::KnownContents;

use crate::audit::{Audited, ProcessAudit};
use crate::executor::Executor;
use crate::progress::Live;
use crate::trial::{Ended, TrialContext, not_run};

/// A scripted outcome.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// A trial fails so, or no part can be read back.
    Fails(FailureKind),
    /// The user interrupts it.
    Interrupted,
    /// The lab has no process for it.
    LabError,
    /// The series of a trial cannot be saved.
    Unsaved,
    /// A trial takes this long, seconds.
    Takes(f64),
    /// A fresh process misses a record of the part with this index.
    Loses(usize),
    /// A process of the audit is still there at its end.
    Survives,
    /// The engine cannot release what it keeps outside.
    Complains,
}

/// Says how everything comes out that an executor does: well, but for what a test says. Engines keep in a file who
/// wrote into it.
#[derive(Debug, Default)]
pub(super) struct Script {
    acts: RefCell<Vec<(&'static str, Act)>>,
    /// The program has this to say in each result.
    pub(super) note: Option<&'static str>,
    /// Everything that was done, in order.
    pub(super) calls: RefCell<Vec<String>>,
    /// The file of a database before each trial.
    pub(super) before: RefCell<Vec<(String, String)>>,
    /// The designs of trials that were open together, in order.
    pub(super) designs: RefCell<Vec<Design>>,
    /// Seconds, beside the one that each of them takes, of trials that are open together.
    pub(super) together_s: f64,
}

/// A trial's name in tests: `a load`, `b overwrite`; from the second repeat on with its number.
pub(super) fn named(trial: &TrialKey) -> String {
    let work = if trial.phase == Phase::Load { "load" } else { &trial.workload };
    format!("{} {work}{}", trial.engine, of_repeat(trial.repeat))
}

fn of_repeat(repeat: u32) -> String {
    if repeat == 1 { String::new() } else { format!(" {repeat}") }
}

impl Script {
    /// Lets something come out so, once.
    pub(super) fn say(&self, name: &'static str, act: Act) {
        self.acts.borrow_mut().push((name, act));
    }

    fn act(&self, name: &str) -> Option<Act> {
        let mut acts = self.acts.borrow_mut();
        let index = acts.iter().position(|(of, _)| *of == name)?;
        Some(acts.remove(index).1)
    }

    fn trial(&self, context: &TrialContext<'_>) -> io::Result<Ended> {
        let name = name_of(context);
        let act = self.act(&name);
        if let Some(Act::LabError) = act {
            return Err(io::Error::other("no process"));
        }
        fs::create_dir_all(context.folder)?;
        (context.at_work)()?;
        if let Some(Act::Unsaved) = act {
            fs::create_dir(context.folder.join("series.csv"))?;
        }
        let file = context.database.join("file");
        let text = if context.create { String::new() } else { fs::read_to_string(&file)? };
        self.before.borrow_mut().push((name, text.clone()));
        let writes = context.planned.key.writers > 0;
        let mut contents = context.contents;
        if writes {
            fs::write(&file, format!("{text}{};", named(&context.planned.key)))?;
            contents.last_version += u64::from(context.planned.key.phase == Phase::Run);
        }
        let outcome = match act {
            Some(Act::Interrupted) => None,
            Some(Act::Fails(kind)) => Some(TrialOutcome::Failed(Failure { kind, reason: "it was to fail".to_owned() })),
            _ => Some(TrialOutcome::Finished),
        };
        let mut result = outcome.map(|outcome| result(context, outcome));
        if let (Some(Act::Takes(seconds)), Some(result)) = (act, &mut result) {
            result.os.wall_s = seconds;
        }
        Ok(ended(result, contents))
    }

    fn audit_of(&self, audit: &ProcessAudit<'_>) -> io::Result<Option<Audited>> {
        let name = format!("audit {}{}", audit.setup.label, of_repeat(audit.load.key.repeat));
        let numbers: Vec<String> = audit.parts.iter().map(|part| part.trial.to_string()).collect();
        self.calls.borrow_mut().push(format!("{name} of {}", numbers.join("+")));
        let act = self.act(&name);
        if let Some(Act::LabError) = act {
            return Err(io::Error::other("no process"));
        }
        fs::create_dir_all(&audit.folder)?;
        let mut read = vec![ReadBack { read: 10, ..ReadBack::default() }; audit.parts.len()];
        let finding = match act {
            Some(Act::Interrupted) => return Ok(None),
            Some(Act::Fails(kind)) => Err(Failure { kind, reason: "it was to fail".to_owned() }),
            Some(Act::Loses(index)) => {
                read[index].missing = 1;
                Ok(read)
            }
            _ => Ok(read),
        };
        let survivors = matches!(act, Some(Act::Survives)).then(|| "one survived".to_owned());
        Ok(Some(Audited { finding, survivors }))
    }
}

fn name_of(context: &TrialContext<'_>) -> String {
    let name = named(&context.planned.key);
    if context.folder.ends_with("reloading") { name.replace("load", "reload") } else { name }
}

fn ended(result: Option<TrialResult>, contents: KnownContents) -> Ended {
    Ended { result, series: Vec::new(), resources: Vec::new(), contents }
}

/// A trial that took a second.
fn result(context: &TrialContext<'_>, outcome: TrialOutcome) -> TrialResult {
    let failure = Failure { kind: FailureKind::NotRun, reason: String::new() };
    let blank = not_run(context.planned, context.setup, context.request.clone(), failure);
    let audit = (context.planned.key.writers > 0).then(AuditFacts::default);
    let os = OsFacts { wall_s: 1.0, ..OsFacts::default() };
    TrialResult { outcome, audit, os, copied_from: context.copied_from, notes: context.notes.clone(), ..blank }
}

impl Executor for Script {
    fn run(
        &self,
        trials: &[TrialContext<'_>],
        step: &StepDesign,
        live: &mut dyn FnMut(&Live),
    ) -> io::Result<Vec<Ended>> {
        if trials.len() > 1 {
            self.designs.borrow_mut().push(step.design);
        }
        let names: Vec<String> = trials.iter().map(name_of).collect();
        self.calls.borrow_mut().push(names.join(" + "));
        for context in trials {
            live(&Live {
                trial: context.planned.key.clone(),
                elapsed: Default::default(),
                state: "",
                reads_per_s: 0.0,
                writes_per_s: 0.0,
                so_far: None,
                fraction: None,
                left: None,
            });
        }
        let mut ended: Vec<Ended> = trials.iter().map(|context| self.trial(context)).collect::<io::Result<_>>()?;
        let numbers: Vec<u32> = trials.iter().map(|context| context.planned.key.number).collect();
        for result in ended.iter_mut().filter_map(|ended| ended.result.as_mut()).filter(|_| trials.len() > 1) {
            let beside = numbers.iter().copied().filter(|number| *number != result.trial.number).collect();
            result.design = Some(DesignFacts { design: Design::Slices, beside, ..DesignFacts::default() });
            result.os.wall_s += (trials.len() - 1) as f64 + self.together_s;
        }
        Ok(ended)
    }

    fn audit(&self, audits: &[ProcessAudit<'_>]) -> Vec<io::Result<Option<Audited>>> {
        audits.iter().map(|audit| self.audit_of(audit)).collect()
    }

    fn destroy(&self, setup: &Setup, database: &Path) -> io::Result<Option<String>> {
        if !database.exists() {
            return Ok(None);
        }
        let name = format!("remove {}", which(setup, database));
        self.calls.borrow_mut().push(name.clone());
        match self.act(&name) {
            Some(Act::LabError) => Err(io::Error::other("no process")),
            Some(Act::Complains) => Ok(Some("it could not".to_owned())),
            _ => Ok(None),
        }
    }

    fn note(&self) -> Option<&str> {
        self.note
    }
}

/// A database's name in tests, by its path: `a`, `a 2` of the second repeat, `a copy0`.
fn which(setup: &Setup, database: &Path) -> String {
    let folder = database.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let mut words: Vec<&str> = folder.split('-').collect();
    words[0] = &setup.label;
    words.remove(1);
    words.into_iter().filter(|word| *word != "1").collect::<Vec<_>>().join(" ")
}
