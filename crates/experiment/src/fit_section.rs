//! `[fit]`: the machine that an experiment was made for.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// `[fit]`: the machine that the experiment was made for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitSection {
    /// Its memory; absent: the memory does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Its cores, where the experiment is about threads for each core; absent: numbers of threads stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// What may be left out where a budget has no room for all of it, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<LeaveOut>,
}

/// Something of which an experiment can have less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeaveOut {
    /// Numbers of readers: some between the least and the most.
    Readers,
    /// Variants: those first that take longest to load.
    Variants,
    /// Engines: the last ones first.
    Engines,
}
