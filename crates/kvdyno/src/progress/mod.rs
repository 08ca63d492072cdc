//! The receivers of reports on a run: a person at the terminal, a program that reads events, one that reads metrics.

mod cells;
mod events;
mod metrics;
mod metrics_port;
mod terminal;
mod words;

use kvdyno_experiment::LabSection;
use kvdyno_results::{TrialKey, TrialResult};
use kvdyno_run::{Live, Progress};

use crate::cli::WatchArguments;
use crate::error::Error;
use crate::output::tell;
use events::Events;
use metrics::Metrics;
pub use metrics_port::MetricsTarget;
use terminal::Terminal;
pub use words::what;

/// All of them.
pub struct Watchers {
    terminal: Option<Terminal>,
    events: Option<Events>,
    metrics: Option<Metrics>,
}

impl Watchers {
    /// The watchers that the command line requests, for a run of an experiment with this section `[lab]`, which
    /// has these results so far.
    ///
    /// # Errors
    /// If the file of metrics cannot be written, or their port not be had.
    pub fn new(arguments: &WatchArguments, lab: &LabSection, results: &[TrialResult]) -> Result<Watchers, Error> {
        Ok(Watchers {
            terminal: arguments.tells().then(|| Terminal::new(lab, results)),
            events: arguments.json.then(Events::default),
            metrics: arguments.metrics.as_ref().map(Metrics::new).transpose()?,
        })
    }

    /// Takes away what is only of the moment.
    pub fn finish(&mut self) {
        self.terminal.iter().for_each(Terminal::finish);
        self.metrics.iter_mut().for_each(Metrics::finish);
    }

    fn each(&mut self, mut what: impl FnMut(&mut dyn Progress)) {
        let Watchers { terminal, events, metrics } = self;
        terminal.iter_mut().for_each(|terminal| what(terminal));
        events.iter_mut().for_each(|events| what(events));
        metrics.iter_mut().for_each(|metrics| what(metrics));
    }
}

impl Progress for Watchers {
    fn begin(&mut self, trial: &TrialKey, index: usize, count: usize) {
        self.each(|one| one.begin(trial, index, count));
    }

    fn live(&mut self, live: &Live) {
        self.each(|one| one.live(live));
    }

    fn end(&mut self, result: &TrialResult) {
        self.each(|one| one.end(result));
    }

    fn note(&mut self, text: &str) {
        self.each(|one| one.note(text));
    }
}

/// Tells once what is wrong with telling: the run goes on without.
fn complain(complained: &mut bool, what: &str, error: &dyn std::fmt::Display) {
    if !std::mem::replace(complained, true) {
        tell(format_args!("{what}: {error}; the run goes on without"));
    }
}
