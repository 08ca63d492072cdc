//! The processes in which engines work, as conducting sees them: tests of conducting have others in their place.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use kvdyno_experiment::LabSection;
use kvdyno_plan::Setup;
use kvdyno_plan::design::StepDesign;

use crate::audit::{Audited, ProcessAudit};
use crate::databases::PartWritten;
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

    /// Reads back these parts of what was written into a database. `None` if the user interrupted.
    fn audit(&self, audit: &ProcessAudit<'_>, parts: &[PartWritten]) -> io::Result<Option<Audited>>;

    /// Makes an engine release what it keeps outside a database that will be removed. Returns why it could not.
    fn destroy(&self, setup: &Setup, lab: &LabSection, database: &Path) -> io::Result<Option<String>>;

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

impl Executor for LabProgram {
    fn run(
        &self,
        trials: &[TrialContext<'_>],
        design: &StepDesign,
        live: &mut dyn FnMut(&Live),
    ) -> io::Result<Vec<Ended>> {
        trial::run(&self.worker, trials, design, live)
    }

    fn audit(&self, audit: &ProcessAudit<'_>, parts: &[PartWritten]) -> io::Result<Option<Audited>> {
        audit.run(&self.worker, parts)
    }

    fn destroy(&self, setup: &Setup, lab: &LabSection, database: &Path) -> io::Result<Option<String>> {
        engine_cleanup::destroy(&self.worker, setup, lab.hang_timeout.0, database)
    }

    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
