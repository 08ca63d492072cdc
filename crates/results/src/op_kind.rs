//! The kinds of operations.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of an operation: one timed call, or for ranges and emulated multi-gets the calls of one unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum OpKind {
    /// One record by its key.
    Get = 0,
    /// One step of a cursor.
    Scan = 1,
    /// A seek and the steps that follow it.
    Range = 2,
    /// Several records by their keys.
    MultiGet = 3,
    /// One record written.
    Put = 4,
    /// Several records written by one call.
    Batch = 5,
}

impl OpKind {
    /// Every kind, as results order them.
    pub const ALL: [OpKind; 6] =
        [OpKind::Get, OpKind::Scan, OpKind::Range, OpKind::MultiGet, OpKind::Put, OpKind::Batch];

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, OpKind::Put | OpKind::Batch)
    }

    /// Whether each operation is one record, so that records need no counter beside the operations.
    pub fn is_one_record(self) -> bool {
        matches!(self, OpKind::Get | OpKind::Scan)
    }

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Get => "get",
            OpKind::Scan => "scan",
            OpKind::Range => "range",
            OpKind::MultiGet => "multiget",
            OpKind::Put => "put",
            OpKind::Batch => "batch",
        }
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_as_it_is_named() {
        for kind in OpKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(OpKind::ALL[kind as usize], kind);
        }
    }
}
