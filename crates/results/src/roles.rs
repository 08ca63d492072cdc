//! The roles of a mix: clients that differ in what they do in one trial.

use std::time::Duration;

use kvdyno_model::{Arrival, Distribution, Durability, OperationMix, part_of_time};
use serde::{Deserialize, Serialize};

use crate::{Operations, TrialResult};

/// The requested work of the clients of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleFacts {
    /// Its name.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// Their operations with their weights in percent: `get 95, put 5`.
    pub mix: OperationMix,
    /// The distribution of the records that they draw.
    pub distribution: Distribution,
    /// Records in each of their puts and inserts; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// Records in each of their gets; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys_per_multiget: Option<u64>,
    /// Operations of all of them together that were to come each second; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The requested arrival of operations; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// When what they write is acknowledged, if their sessions say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// When they were to begin, seconds since the beginning of the measured part; absent: with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_s: Option<f64>,
    /// When they were to end, seconds since the beginning of the measured part; absent: with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

impl RoleFacts {
    /// Whether they worked in a part of the measured window only.
    pub fn is_partial(&self) -> bool {
        self.from_s.or(self.until_s).is_some()
    }

    /// That part in words: `from 5s until 10s`; empty where it is the whole window.
    pub fn part_in_words(&self) -> String {
        let time = |seconds: Option<f64>| Duration::try_from_secs_f64(seconds?).ok();
        part_of_time(time(self.from_s), time(self.until_s))
    }
}

/// The measured operations of the clients of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleOperations {
    /// Its name.
    pub name: String,
    /// One entry for each kind of operation, in the measured window.
    pub operations: Vec<Operations>,
    /// The time that its rates are over, seconds: from its beginning to its last operation. Absent where the clients of
    /// all roles work in the whole window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl TrialResult {
    /// The measured operations by kind, with the time that their rates are over, seconds. Where roles work in parts of
    /// the window they are those of each role, else those of all clients; the time is absent without a window.
    pub fn timed_operations(&self) -> impl Iterator<Item = (&Operations, Option<f64>)> {
        let window_s = self.window.as_ref().map(|window| window.seconds);
        let of_all = (!self.workload.has_partial_roles()).then_some((&self.operations, window_s));
        let of_roles = self.of_roles.iter().map(|role| (&role.operations, role.seconds));
        let of_roles = of_roles.filter(move |_| of_all.is_none());
        of_all.into_iter().chain(of_roles).flat_map(|(all, seconds)| all.iter().map(move |of| (of, seconds)))
    }
}
