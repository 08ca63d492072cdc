//! What is wrong with an experiment file, and where.

use std::ops::Range;

use kvdyno_engine::closest;

/// What is wrong with an experiment, and where.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What, and what would be right.
    pub message: String,
    /// Where in the file; absent if it came from elsewhere.
    pub place: Option<Range<usize>>,
}

impl FileError {
    /// `message` about the span `place` of the file; an empty span stands nowhere in it.
    pub fn new(message: impl Into<String>, place: Range<usize>) -> Self {
        FileError { message: message.into(), place: (!place.is_empty()).then_some(place) }
    }
}

/// Adds what was probably meant to serde's "unknown field `x`, expected one of `a`, `b`".
pub(crate) fn with_suggestion(message: String) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let Some(word) = words.next().filter(|_| message.starts_with("unknown")) else { return message };
    match closest(word, words) {
        Some(meant) => {
            let meant = meant.to_owned();
            format!("{message}; did you mean `{meant}`?")
        }
        None => message,
    }
}
