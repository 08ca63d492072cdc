//! Clients are threads or processes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of a trial's clients: its readers and writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// Threads of one process.
    #[default]
    Threads,
    /// Processes of their own, which share the database.
    Processes,
}

impl ClientKind {
    /// Both.
    pub const ALL: [ClientKind; 2] = [ClientKind::Threads, ClientKind::Processes];

    /// How many processes so many readers and writers are.
    pub fn processes(self, roles: u32) -> u32 {
        match self {
            ClientKind::Threads => 1,
            ClientKind::Processes => roles,
        }
    }

    /// How many sessions on the database each of those processes has.
    pub fn sessions(self, roles: u32) -> u32 {
        match self {
            ClientKind::Threads => roles,
            ClientKind::Processes => 1,
        }
    }
}

impl fmt::Display for ClientKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ClientKind::Threads => "threads",
            ClientKind::Processes => "processes",
        })
    }
}

impl FromStr for ClientKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "threads" => Ok(ClientKind::Threads),
            "processes" => Ok(ClientKind::Processes),
            _ => Err("it can be threads or processes".to_owned()),
        }
    }
}
