//! The roles of a mix: clients that differ in what they do in one trial.

use kvdyno_model::{Arrival, Distribution, Durability, OperationMix};
use serde::{Deserialize, Serialize};

use crate::Operations;

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
}

/// The measured operations of the clients of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleOperations {
    /// Its name.
    pub name: String,
    /// One entry for each kind of operation, in the measured window.
    pub operations: Vec<Operations>,
}
