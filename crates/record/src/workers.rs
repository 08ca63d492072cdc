//! What readers and writers are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the readers and writers of a trial are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workers {
    /// Threads of one process.
    #[default]
    Threads,
    /// Processes of their own, which share the database.
    Processes,
}

impl Workers {
    /// Both.
    pub const ALL: [Workers; 2] = [Workers::Threads, Workers::Processes];

    /// How many processes so many readers and writers are.
    pub fn processes(self, roles: u32) -> u32 {
        match self {
            Workers::Threads => 1,
            Workers::Processes => roles,
        }
    }

    /// How many sessions on the database each of those processes has.
    pub fn sessions(self, roles: u32) -> u32 {
        match self {
            Workers::Threads => roles,
            Workers::Processes => 1,
        }
    }
}

impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Workers::Threads => "threads",
            Workers::Processes => "processes",
        })
    }
}

impl FromStr for Workers {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "threads" => Ok(Workers::Threads),
            "processes" => Ok(Workers::Processes),
            _ => Err("it can be threads or processes".to_owned()),
        }
    }
}
