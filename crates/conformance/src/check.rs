//! A check, and what an adapter must declare for it to apply.

use kvdyno_engine::{Choice, Database, Session, abi};

use crate::bench::{Bench, session};
use crate::finding::Finding;
use crate::records::Records;

/// One promise of the ABI.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Lower-case words joined by `-`.
    pub name: &'static str,
    /// The rule, as one sentence.
    pub what: &'static str,
    /// The words of `kvdyno.h` that it rests on.
    pub rule: &'static str,
    /// Without these there is nothing to check.
    pub needs: Needs,
    /// Finds out.
    pub run: CheckBody,
}

/// A check's function, by what is made ready for it: records that fit the engine, and one of these.
#[derive(Clone, Copy, Debug)]
pub enum CheckBody {
    /// Not even records: it opens and closes databases itself.
    Whole(fn(&Bench) -> Result<(), Finding>),
    /// A new database, which is closed afterwards.
    OnDatabase(fn(&Bench, &Records, &Database) -> Result<(), Finding>),
    /// A session on a new database; both are closed afterwards.
    OnSession(fn(&Bench, &Records, &mut Session<'_>) -> Result<(), Finding>),
}

impl CheckBody {
    /// Finds out whether the engine of the bench keeps the promise.
    ///
    /// # Errors
    /// What it does instead.
    pub fn run(self, bench: &Bench) -> Result<(), Finding> {
        let on_new = |work: &dyn Fn(&Database) -> Result<(), Finding>| bench.location()?.created(work);
        match self {
            CheckBody::Whole(body) => body(bench),
            CheckBody::OnDatabase(body) => on_new(&|database| body(bench, &bench.records(), database)),
            CheckBody::OnSession(body) => on_new(&|database| body(bench, &bench.records(), &mut session(database)?)),
        }
    }
}

/// The capabilities that a check needs.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    store: bool,
    capabilities: u64,
}

impl Needs {
    /// Nothing: the check applies to every adapter.
    pub const NOTHING: Needs = Needs { store: false, capabilities: 0 };
    /// An engine that keeps its data.
    pub const STORE: Needs = Needs { store: true, capabilities: 0 };

    /// These capabilities too.
    pub const fn and(self, capabilities: u64) -> Needs {
        Needs { store: self.store, capabilities: self.capabilities | capabilities }
    }

    /// The part of this that the chosen engine does not declare, in words.
    pub fn missing(self, choice: &Choice) -> Option<String> {
        if self.store && choice.adapter().can(abi::IS_VOLATILE) {
            return Some("it keeps nothing".to_owned());
        }
        let lacking =
            abi::CAPABILITIES.iter().filter(|(bit, _)| self.capabilities & bit != 0 && !choice.adapter().can(*bit));
        let words: Vec<&str> = lacking.map(|(_, word)| *word).collect();
        (!words.is_empty()).then(|| format!("it does not declare: {}", words.join(", ")))
    }
}
