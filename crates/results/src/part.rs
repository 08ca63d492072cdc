//! Parts of a plan, as their results folders and merged ones name them.

use kvdyno_model::{Deal, Part, fnv1a};
use serde::{Deserialize, Serialize};

use crate::TrialKey;

/// A part of a plan: what other parts must have in common with it, and what tells it from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFacts {
    /// Which part.
    pub part: Part,
    /// How the plan was dealt.
    #[serde(default, skip_serializing_if = "Deal::is_blocks")]
    pub deal: Deal,
    /// The run that measured it: 32 hexadecimal digits, the same when it was resumed.
    pub run: String,
    /// The digest of the whole plan: see [`plan_digest`].
    pub plan: String,
}

/// A machine, as far as it is to be told from others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Its name in its network, which others may have.
    pub name: String,
    /// The number that its system was given when it was installed (`machine-id`); empty if it has none.
    pub id: String,
    /// The kernel's name for the time since the system was started: containers of one machine have it in common.
    pub boot: String,
}

impl HostFacts {
    /// Whether both are one machine.
    pub fn is(&self, other: &HostFacts) -> bool {
        self.boot == other.boot || (!self.id.is_empty() && (&self.id, &self.name) == (&other.id, &other.name))
    }
}

/// A part of merged results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedPart {
    /// The part.
    #[serde(flatten)]
    pub facts: PartFacts,
    /// The machines that it was measured on.
    pub hosts: Vec<HostFacts>,
    /// The numbers of the trials whose results are from it.
    pub trials: Vec<u32>,
}

/// A number that differs where the trials of two plans do, 16 hexadecimal digits: the hash of the names of the trials,
/// as JSON, in order.
pub fn plan_digest<'a>(trials: impl IntoIterator<Item = &'a TrialKey>) -> String {
    // A name is made of words and numbers, which JSON can hold.
    let texts = trials.into_iter().map(|trial| serde_json::to_vec(trial).unwrap_or_default());
    format!("{:016x}", fnv1a(texts.flat_map(|text| text.into_iter().chain([0]))))
}
