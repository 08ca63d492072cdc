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
    /// One record written that was not there.
    Insert = 6,
    /// One record read, and written anew.
    #[serde(rename = "read-modify-write")]
    ReadModifyWrite = 7,
    /// One record deleted.
    Delete = 8,
    /// The first record looked at, and an oldest one deleted.
    Take = 9,
    /// One key asked for that no record has.
    Miss = 10,
    /// Several records read and written as one step, tried again until it was committed.
    Transaction = 11,
    /// The first record looked at, and the oldest ones deleted together.
    Expire = 12,
    /// One key looked for, without its value.
    Contains = 13,
    /// One record written if it is not there.
    #[serde(rename = "insert-if-absent")]
    InsertIfAbsent = 14,
    /// One record read and written anew by one call, as one step.
    #[serde(rename = "atomic-update")]
    AtomicUpdate = 15,
    /// One record read and written anew in a transaction, tried again until it was committed.
    #[serde(rename = "transactional-update")]
    TransactionalUpdate = 16,
}

impl OpKind {
    /// Every kind, as results order them.
    pub const ALL: [OpKind; 17] = [
        OpKind::Get,
        OpKind::Scan,
        OpKind::Range,
        OpKind::MultiGet,
        OpKind::Put,
        OpKind::Batch,
        OpKind::Insert,
        OpKind::ReadModifyWrite,
        OpKind::Delete,
        OpKind::Take,
        OpKind::Miss,
        OpKind::Transaction,
        OpKind::Expire,
        OpKind::Contains,
        OpKind::InsertIfAbsent,
        OpKind::AtomicUpdate,
        OpKind::TransactionalUpdate,
    ];

    /// Whether it writes.
    pub fn writes(self) -> bool {
        use OpKind::{
            AtomicUpdate, Batch, Contains, Delete, Expire, Get, Insert, InsertIfAbsent, Miss, MultiGet, Put, Range,
            ReadModifyWrite, Scan, Take, Transaction, TransactionalUpdate,
        };
        match self {
            Put | Batch | Insert | ReadModifyWrite | Delete | Take | Expire | Transaction | InsertIfAbsent
            | AtomicUpdate | TransactionalUpdate => true,
            Get | Scan | Range | MultiGet | Miss | Contains => false,
        }
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
            OpKind::Insert => "insert",
            OpKind::ReadModifyWrite => "read-modify-write",
            OpKind::Delete => "delete",
            OpKind::Take => "take",
            OpKind::Miss => "miss",
            OpKind::Transaction => "transaction",
            OpKind::Expire => "expire",
            OpKind::Contains => "contains",
            OpKind::InsertIfAbsent => "insert-if-absent",
            OpKind::AtomicUpdate => "atomic-update",
            OpKind::TransactionalUpdate => "transactional-update",
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
