//! One process's part of a trial.

use kvdyno_dataset::{KeyError, Keys};
use kvdyno_engine::EngineError;
use kvdyno_results::{EngineCounters, Failure, FailureKind, Waits};

use crate::shared::{ClientStats, Control, LedgerMemory, SharedMemory};
use crate::spec::TrialSpec;
use crate::usage::Usage;

/// One process's part of a trial.
pub(crate) struct Trial<'a, C> {
    pub(crate) clock: C,
    pub(crate) spec: &'a TrialSpec,
    pub(crate) shared: &'a SharedMemory,
    pub(crate) ledger: &'a LedgerMemory,
    /// Which of several this is; absent if all readers and writers are threads of this one.
    pub(crate) process: Option<usize>,
}

impl<C> Trial<'_, C> {
    pub(crate) fn control(&self) -> &Control {
        self.shared.control()
    }

    /// Whether this process opens the database before the others and closes it after them.
    pub(crate) fn leads(&self) -> bool {
        self.process.is_none_or(|number| number == 0)
    }

    /// The client_stats of this process.
    pub(crate) fn client_stats(&self) -> &[ClientStats] {
        let all = self.shared.client_stats();
        self.process.map_or(all, |number| &all[number..=number])
    }

    /// The spelling of its keys.
    pub(crate) fn keys(&self) -> Result<Keys, Failure> {
        let unspelled = |error: KeyError| Failure { kind: FailureKind::EngineError, reason: error.to_string() };
        self.spec.workload.keys().map_err(unspelled)
    }

    /// Releases everyone who waits for this process.
    pub(crate) fn abort(&self) {
        self.control().request_stop(self.shared.client_stats());
        self.control().barriers.abort();
    }
}

/// Why a process did not do its part.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// It could not.
    Failed(Failure),
    /// Another one could not.
    Aborted,
}

impl From<Failure> for NotRun {
    fn from(failure: Failure) -> Self {
        NotRun::Failed(failure)
    }
}

/// A process's own figures of the measured part, beside its clients' statistics.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) warmup_seconds: f64,
    pub(crate) used: Usage,
    /// CPU seconds of everything in the trial's control group; absent in slices, where the parent reads its account,
    /// and where there is none.
    pub(crate) group_cpu_s: Option<f64>,
    /// The waits of its threads for processors; absent as in [`Window::waits`](kvdyno_results::Window::waits).
    pub(crate) waits: Option<Waits>,
    /// The counters of the engine; absent in slices.
    pub(crate) counters: Option<EngineCounters>,
}

/// The failure that an error of the engine's is.
pub(crate) fn failed(what: &str, error: &EngineError) -> Failure {
    let kind = if error.is_no_space() { FailureKind::NoSpace } else { FailureKind::EngineError };
    Failure { kind, reason: format!("{what}: {}", error.reason) }
}
