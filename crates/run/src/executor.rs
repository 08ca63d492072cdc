//! The processes in which engines work, as conducting sees them: tests of conducting have others in their place.

use std::ffi::OsString;
use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use kvdyno_experiment::LabSection;
use kvdyno_plan::Setup;
use kvdyno_plan::design::StepDesign;

use crate::audit::{Audited, ProcessAudit};
use crate::engine_cleanup;
use crate::progress::Live;
use crate::trial::{self, Ended, TrialContext};

/// Starts the processes in which engines work, and waits for them.
pub(crate) trait Executor {
    /// Runs one or several trials together and keeps their files, except the results.
    fn run(
        &self,
        trials: &[TrialContext<'_>],
        design: &StepDesign,
        live: &mut dyn FnMut(&Live),
    ) -> io::Result<Vec<Ended>>;

    /// Reads back what was written into databases, all at once. `None` of one where the user interrupted.
    fn audit(&self, audits: &[ProcessAudit<'_>]) -> Vec<io::Result<Option<Audited>>>;

    /// Makes an engine release what it keeps outside a database that will be removed. Returns why it could not.
    fn destroy(&self, setup: &Setup, database: &Path) -> io::Result<Option<String>>;

    /// A sentence that the result of each trial must have.
    fn note(&self) -> Option<&str>;
}

/// The program that runs a plan.
#[derive(Clone, Debug)]
pub struct LabProgram {
    /// The command that runs a trial when given the path of its specification.
    pub worker: Vec<OsString>,
    /// A sentence that each result must have: that the run was begun by another program.
    pub note: Option<String>,
}

/// The executor of an experiment's trials, by its section `[lab]`: the one place that says where engines work.
pub(crate) fn of(program: &LabProgram, lab: &LabSection) -> Box<dyn Executor> {
    Box::new(OwnProcesses { program: program.clone(), patience: lab.hang_timeout.0 })
}

/// Starts processes of this machine by the command of the program.
struct OwnProcesses {
    program: LabProgram,
    /// How long an engine may take to release what it keeps outside a database.
    patience: Duration,
}

impl Executor for OwnProcesses {
    fn run(
        &self,
        trials: &[TrialContext<'_>],
        design: &StepDesign,
        live: &mut dyn FnMut(&Live),
    ) -> io::Result<Vec<Ended>> {
        trial::run(&self.program.worker, trials, design, live)
    }

    fn audit(&self, audits: &[ProcessAudit<'_>]) -> Vec<io::Result<Option<Audited>>> {
        let worker = &self.program.worker;
        thread::scope(|scope| {
            let running: Vec<_> = audits.iter().map(|one| scope.spawn(|| one.run(worker))).collect();
            running.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }

    fn destroy(&self, setup: &Setup, database: &Path) -> io::Result<Option<String>> {
        engine_cleanup::destroy(&self.program.worker, setup, self.patience, database)
    }

    fn note(&self) -> Option<&str> {
        self.program.note.as_deref()
    }
}
