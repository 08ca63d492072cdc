//! A check, and what an adapter must declare for it to apply.

use kvdyno_engine::{Choice, abi};

use crate::bench::Bench;
use crate::finding::Finding;

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
    pub run: fn(&Bench) -> Result<(), Finding>,
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
