//! Trials and threads in words.

use kvdyno_model::text::counted;
use kvdyno_results::{Phase, TrialKey};

/// A trial for people: `rocksdb readwhilewriting, 4 readers, repeat 2`.
pub(crate) fn title(trial: &TrialKey) -> String {
    let threads = match trial.phase {
        Phase::Load => String::new(),
        Phase::Run => format!(", {}", threads(trial.readers, trial.writers)),
    };
    let processes = if trial.processes() > 1 { " as processes" } else { "" };
    format!("{} {}{threads}{processes}, repeat {}", trial.engine, trial.workload, trial.repeat)
}

/// `4 readers, 1 writer`; where nobody only reads, `5 clients`: those of a mix read, too.
pub(crate) fn threads(readers: u32, writers: u32) -> String {
    match (readers, writers) {
        (0, clients) => counted(clients, "client"),
        (readers, 0) => counted(readers, "reader"),
        (readers, writers) => format!("{}, {}", counted(readers, "reader"), counted(writers, "writer")),
    }
}
