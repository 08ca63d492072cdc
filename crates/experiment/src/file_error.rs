//! An error in an experiment, and where it is.

use std::ops::Range;

use kvdyno_model::KeyPath;

use crate::document;

/// An error in an experiment, and where it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The mistake, and what would be right.
    pub message: String,
    /// The key that it is about, if it is about one.
    pub key: Option<KeyPath>,
    /// Position in the file, if that is known better than by the key.
    pub span: Option<Range<usize>>,
}

impl FileError {
    /// `message` about the whole.
    pub fn new(message: impl Into<String>) -> Self {
        FileError { message: message.into(), key: None, span: None }
    }

    /// `message` about `key`.
    pub fn at(key: impl Into<KeyPath>, message: impl Into<String>) -> Self {
        FileError { key: Some(key.into()), ..FileError::new(message) }
    }

    /// The same, of the `index`th `[[run]]`.
    #[must_use]
    pub fn in_run(self, index: usize) -> Self {
        FileError { key: self.key.map(|key| key.numbered(index)), ..self }
    }

    /// Position in the text of the file.
    pub fn span_in(&self, text: &str) -> Option<Range<usize>> {
        self.span.clone().or_else(|| document::span_of(text, self.key.as_ref()?))
    }
}
