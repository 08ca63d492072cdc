//! The changes that make an experiment fit.

use std::fmt;

use kvdyno_model::{ByteSize, KeyPath, LeaveOut, TimeSpan};

/// A change, for people by its `Display`.
#[derive(Clone, Debug, PartialEq)]
pub enum FitChange {
    /// A key has another value.
    Value {
        /// The name of the variant; empty for the experiment itself.
        variant: String,
        /// Which key.
        key: KeyPath,
        /// Before.
        old: String,
        /// Now.
        new: String,
    },
    /// A size of an engine's own cannot shrink as far as the data.
    AtLeast {
        /// The name of the variant; empty for the experiment itself.
        variant: String,
        /// Which option.
        key: KeyPath,
        /// Its value now.
        bytes: ByteSize,
        /// Factor by which its ratio to the database has grown.
        times: f64,
    },
    /// A variant has two threads for each core in place of hyperthreads.
    StandInForSmt {
        /// Its name.
        variant: String,
    },
    /// Engines or variants are left out.
    LeftOut {
        /// Which of both.
        what: LeaveOut,
        /// Their names.
        names: Vec<String>,
    },
    /// Numbers of readers are left out, in all variants together.
    FewerReaders {
        /// The lists before.
        old: Vec<String>,
        /// The lists now.
        new: Vec<String>,
    },
    /// A trial is ended after this.
    TrialTimeout(TimeSpan<1>),
}

impl fmt::Display for FitChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitChange::Value { variant, key, old, new } if variant.is_empty() => {
                write!(f, "{key}: {new} instead of {old}")
            }
            FitChange::Value { variant, key, old, new } => {
                write!(f, "variant {variant}: {key}: {new} instead of {old}")
            }
            FitChange::AtLeast { variant, key, bytes, times } => {
                let variant = if variant.is_empty() { String::new() } else { format!("variant {variant}: ") };
                let times = if *times < 9.95 { format!("{times:.1}") } else { format!("{times:.0}") };
                write!(f, "{variant}{key}: {bytes} is the least: {times} times as much beside the database as it was")
            }
            FitChange::StandInForSmt { variant } => write!(
                f,
                "variant {variant}: twice the readers, two threads for each core, because this machine has no \
                 hyperthreads"
            ),
            FitChange::LeftOut { what, names } => {
                let all = what.word();
                let what = if names.len() == 1 { all.trim_end_matches('s') } else { all };
                write!(f, "without {what} {}: the budget has no room", names.join(", "))
            }
            FitChange::FewerReaders { old, new } => {
                let (old, new) = (old.join(" and "), new.join(" and "));
                write!(f, "readers: {new} instead of {old}: the budget has no room for all")
            }
            FitChange::TrialTimeout(time) => {
                write!(f, "lab.trial_timeout: a trial that is not done after {time} is ended")
            }
        }
    }
}
