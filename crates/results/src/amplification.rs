//! Amplification: what an engine reads, writes and stores, relative to what it was asked to.

use crate::{OpKind, Side, TrialResult};

/// The layer at which the bytes of a trial are counted, over the worker's whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Between the workload and the engine: keys and values.
    Workload,
    /// Between the engine and the kernel: the bytes of its calls. A mapped engine loads and stores instead; for it, the
    /// pages that came in or that it made dirty are counted, where they are more.
    Calls,
    /// Between the kernel and the storage: the database's own device. Without one, the bytes that the kernel charged to
    /// the worker: those that it made the kernel fetch, and those of pages that it made dirty.
    Storage,
}

impl OpKind {
    /// Whether it asks for records and gets their values.
    pub fn reads_records(self) -> bool {
        use OpKind::{
            AtomicUpdate, Batch, Contains, Delete, Expire, Get, Insert, InsertIfAbsent, Miss, MultiGet, Put, Range,
            ReadModifyWrite, Scan, Take, Transaction, TransactionalUpdate,
        };
        match self {
            Get | Scan | Range | MultiGet | ReadModifyWrite | Take | Expire | Transaction | AtomicUpdate
            | TransactionalUpdate => true,
            Put | Batch | Insert | InsertIfAbsent | Delete | Miss | Contains => false,
        }
    }
}

impl TrialResult {
    /// The bytes of a side that were counted in a layer; absent if it does not count them.
    pub fn bytes_of(&self, layer: Layer, side: Side) -> Option<u64> {
        let of = |read: Option<u64>, written: Option<u64>| match side {
            Side::Reads => read,
            Side::Writes => written,
        };
        match layer {
            Layer::Workload => of(self.user_bytes_read, Some(self.user_bytes_written)),
            Layer::Calls => {
                let calls = self.os.calls?;
                let by_calls = of(Some(calls.read), Some(calls.written))?;
                let by_map = of(self.os.read_bytes, self.os.write_bytes).filter(|_| self.engine.mapped);
                Some(by_calls.max(by_map.unwrap_or(0)))
            }
            Layer::Storage if self.has_own_device() => {
                let device = self.os.device.as_ref()?;
                of(Some(device.read_bytes), Some(device.write_bytes))
            }
            Layer::Storage if self.lies_in_memory() => None,
            Layer::Storage => of(self.os.read_bytes, self.os.write_bytes),
        }
    }

    /// The bytes of a side in a layer for each requested byte; absent if none was requested, or none is counted.
    pub fn amplification(&self, layer: Layer, side: Side) -> Option<f64> {
        let workload = self.bytes_of(Layer::Workload, side).filter(|bytes| *bytes > 0)?;
        Some(self.bytes_of(layer, side)? as f64 / workload as f64)
    }

    /// Allocated bytes of the database for each byte of the records that are in it.
    pub fn space_amplification(&self) -> Option<f64> {
        self.over_live(Some(1024 * self.space.db_kib))
    }

    /// The lengths of its files for each such byte. Holes count, the ends of blocks do not.
    pub fn apparent_space_amplification(&self) -> Option<f64> {
        self.over_live(self.space.apparent_bytes)
    }

    fn over_live(&self, bytes: Option<u64>) -> Option<f64> {
        let live = self.space.live_bytes.filter(|live| *live > 0)?;
        Some(bytes? as f64 / live as f64)
    }

    /// Whether its storage was made for it, so that its device has no other traffic.
    fn has_own_device(&self) -> bool {
        !matches!(self.environment.storage.as_str(), "" | "folder")
    }

    /// Whether its filesystem has no storage below it: the kernel then charges its pages to nobody.
    fn lies_in_memory(&self) -> bool {
        matches!(self.environment.filesystem.split(' ').next(), Some("tmpfs" | "ramfs"))
    }
}
