//! Reading back what a trial had written.

pub use kvdyno_model::Audit;
use serde::{Deserialize, Serialize};

use crate::{Failure, FailureKind};

/// The audit of a trial that wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditFacts {
    /// The requested extent of the audit.
    pub extent: Audit,
    /// The engine keeps nothing, by its own declaration: there is nothing to read back.
    pub volatile: bool,
    /// The finding of fresh sessions at the trial's end, before the database was closed.
    pub session: Option<ReadBack>,
    /// The finding of a fresh process after the last trial on the database. Absent until then, and where the database
    /// was lost before.
    pub process: Option<ReadBack>,
}

impl AuditFacts {
    /// Records read back by session and process together.
    pub fn read(&self) -> u64 {
        self.finding().map(|finding| finding.read).sum()
    }

    /// The time that this took, seconds. It is in no other figure.
    pub fn seconds(&self) -> f64 {
        self.finding().map(|finding| finding.seconds).sum()
    }

    fn finding(&self) -> impl Iterator<Item = &ReadBack> {
        self.session.iter().chain(&self.process)
    }
}

/// Acknowledged records that were read again, and what they were then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadBack {
    /// Records asked for.
    pub read: u64,
    /// Records that were not there.
    pub missing: u64,
    /// Records older than acknowledged.
    pub stale: u64,
    /// Records with the value of another, with parts of several, or with bytes that nobody wrote.
    pub wrong: u64,
    /// Errors of the engine.
    pub errors: u64,
    /// The time that it took, seconds.
    pub seconds: f64,
    /// The first that was not as it should be.
    pub first: Option<String>,
}

impl ReadBack {
    /// Why the trial that wrote these records has failed; absent if all were as they should be. `by` is who read them.
    pub fn failure(&self, by: &str) -> Option<Failure> {
        let ReadBack { read, missing, stale, wrong, errors, .. } = self;
        let first = self.first.as_deref().unwrap_or_default();
        if missing + stale + wrong > 0 {
            let reason = format!(
                "of {read} records that {by} read back {missing} were missing, {stale} older than acknowledged, \
                 {wrong} wrong; the first: {first}"
            );
            return Some(Failure { kind: FailureKind::LostWrite, reason });
        }
        let reason = || format!("{errors} errors when {by} read back {read} records; the first: {first}");
        (*errors > 0).then(|| Failure { kind: FailureKind::EngineError, reason: reason() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_says_more_than_an_error() {
        let whole = ReadBack { read: 10, ..ReadBack::default() };
        assert_eq!(whole.failure("fresh sessions"), None);
        let errors = ReadBack { errors: 1, first: Some("reading record 3: no".into()), ..whole.clone() };
        assert_eq!(errors.failure("fresh sessions").map(|failure| failure.kind), Some(FailureKind::EngineError));
        let lost = ReadBack { missing: 1, ..errors };
        let failure = lost.failure("fresh sessions").unwrap();
        assert_eq!(failure.kind, FailureKind::LostWrite);
        assert!(failure.reason.starts_with("of 10 records that fresh sessions read back 1 were missing, 0 older"));
    }
}
