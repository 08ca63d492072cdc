//! The kinds of operations.

kvdyno_model::words! {
    /// The kind of an operation: one timed call, or for ranges and emulated multi-gets the calls of one unit of work.
    /// Its number, which clients have in shared memory, is its index here.
    #[repr(u32)]
    pub enum OpKind: "a kind of operation", "KIND" {
        /// One record by its key.
        Get = "get",
        /// One step of a cursor.
        Scan = "scan",
        /// A seek and the steps that follow it.
        Range = "range",
        /// Several records by their keys.
        MultiGet = "multiget",
        /// One record written.
        Put = "put",
        /// Several records written by one call.
        Batch = "batch",
        /// One record written that was not there.
        Insert = "insert",
        /// One record read, and written anew.
        ReadModifyWrite = "read-modify-write",
        /// One record deleted.
        Delete = "delete",
        /// The first record looked at, and an oldest one deleted.
        Take = "take",
        /// One key asked for that no record has.
        Miss = "miss",
        /// Several records read and written as one step, tried again until it was committed.
        Transaction = "transaction",
        /// The first record looked at, and the oldest ones deleted together.
        Expire = "expire",
        /// One key looked for, without its value.
        Contains = "contains",
        /// One record written if it is not there.
        InsertIfAbsent = "insert-if-absent",
        /// One record read and written anew by one call, as one step.
        AtomicUpdate = "atomic-update",
        /// One record read and written anew in a transaction, tried again until it was committed.
        TransactionalUpdate = "transactional-update",
    }
}

impl OpKind {
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

    /// Whether each operation is one record, so that records need no counter of their own.
    pub fn is_one_record(self) -> bool {
        matches!(self, OpKind::Get | OpKind::Scan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_kind_is_its_index() {
        for kind in OpKind::ALL {
            assert_eq!(OpKind::ALL[*kind as usize], *kind);
        }
        assert_eq!(OpKind::TransactionalUpdate as u32, 16);
    }
}
