//! Trials and threads in words, and words of others made harmless.

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

/// `4 readers, 1 writer`.
pub(crate) fn threads(readers: u32, writers: u32) -> String {
    let count = |n: u32, what: &str| (n > 0).then(|| counted(n, what));
    let parts: Vec<String> = [count(readers, "reader"), count(writers, "writer")].into_iter().flatten().collect();
    parts.join(", ")
}

/// `1 thread`, `2 threads`.
pub(crate) fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An engine's words, or another user's, must not move the cursor, colour what follows or end the line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
