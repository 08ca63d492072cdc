//! The header's structs, field for field. Their meaning is documented in `include/kvdyno.h`.
#![allow(missing_docs)]

use std::ffi::{c_char, c_void};

/// The ABI version that this crate speaks.
pub const ABI_VERSION: u32 = 2;
/// The function that an adapter exports.
pub const ENTRY: &str = "kvdyno_engine_v2";

pub type Status = i32;
pub const OK: Status = 0;
pub const MISS: Status = 1;
pub const CONFLICT: Status = 2;
pub const EXISTS: Status = 3;
pub const ERROR: Status = -1;
pub const UNSUPPORTED: Status = -2;
pub const NO_SPACE: Status = -3;
pub const NO_LIBRARY: Status = -4;

pub const DURABILITY_NONE: u32 = 0;
pub const DURABILITY_PROCESS: u32 = 1;
pub const DURABILITY_PERIODIC: u32 = 2;
pub const DURABILITY_COMMIT: u32 = 3;

pub const COMPRESSION_NONE: u32 = 0;
pub const COMPRESSION_SNAPPY: u32 = 1;
pub const COMPRESSION_LZ4: u32 = 2;
pub const COMPRESSION_ZSTD: u32 = 3;
pub const COMPRESSION_ZLIB: u32 = 4;

pub const OPTION_BOOL: u32 = 0;
pub const OPTION_INTEGER: u32 = 1;
pub const OPTION_SIZE: u32 = 2;
pub const OPTION_REAL: u32 = 3;
pub const OPTION_TEXT: u32 = 4;
pub const OPTION_CHOICE: u32 = 5;
pub const OPTION_SCALES: u32 = 1;

pub const CAN_SCAN: u64 = 1 << 0;
pub const CAN_SCAN_REVERSE: u64 = 1 << 1;
pub const CAN_DELETE: u64 = 1 << 2;
pub const CAN_BATCH: u64 = 1 << 3;
pub const CAN_MULTI_GET: u64 = 1 << 4;
pub const CAN_TRANSACT: u64 = 1 << 5;
pub const CAN_SNAPSHOT: u64 = 1 << 6;
pub const CAN_READ_MODIFY_WRITE: u64 = 1 << 7;
pub const CAN_WRITE_CONCURRENTLY: u64 = 1 << 8;
pub const CAN_SHARE_PROCESSES: u64 = 1 << 9;
pub const CAN_RAW_DEVICE: u64 = 1 << 10;
pub const CAN_COMPARE: u64 = 1 << 11;
pub const CAN_PARTITION: u64 = 1 << 12;
pub const CAN_PREFIX: u64 = 1 << 13;
pub const IS_MAPPED: u64 = 1 << 14;
pub const IS_VOLATILE: u64 = 1 << 15;
pub const IS_SINGLE: u64 = 1 << 16;
pub const IS_BOUND: u64 = 1 << 17;
pub const CAN_SET_DURABILITY: u64 = 1 << 18;
pub const CAN_SCAN_PREFIX: u64 = 1 << 19;
pub const CAN_COUNT: u64 = 1 << 24;
/// Repeatable reads in transactions that write: a record that was read keeps its value until the transaction ends. An
/// engine that declares neither this nor [`IS_SERIALIZABLE`] offers read committed.
pub const READS_REPEAT: u64 = 1 << 25;
/// Serializable isolation of transactions that write: the outcome is that of running them one after the other.
pub const IS_SERIALIZABLE: u64 = 1 << 26;
pub const CAN_DELETE_RANGE: u64 = 1 << 27;
pub const CAN_CONTAIN: u64 = 1 << 28;
pub const CAN_INSERT_IF_ABSENT: u64 = 1 << 29;
pub const CAN_BOUND: u64 = 1 << 30;
pub const CAN_SCAN_KEYS: u64 = 1 << 31;

/// Every capability with the words that people read.
pub const CAPABILITIES: [(u64, &str); 28] = [
    (CAN_SCAN, "scan"),
    (CAN_SCAN_REVERSE, "reverse scan"),
    (CAN_DELETE, "delete"),
    (CAN_BATCH, "atomic batch"),
    (CAN_MULTI_GET, "multi-get"),
    (CAN_TRANSACT, "transactions"),
    (CAN_SNAPSHOT, "snapshots"),
    (CAN_READ_MODIFY_WRITE, "read-modify-write"),
    (CAN_WRITE_CONCURRENTLY, "concurrent writers"),
    (CAN_SHARE_PROCESSES, "several processes"),
    (CAN_RAW_DEVICE, "raw device"),
    (CAN_COMPARE, "custom comparator"),
    (CAN_PARTITION, "partitions"),
    (CAN_PREFIX, "prefix extractor"),
    (IS_MAPPED, "memory-mapped"),
    (IS_VOLATILE, "keeps nothing"),
    (IS_SINGLE, "one session a process"),
    (IS_BOUND, "bound to its folder"),
    (CAN_SET_DURABILITY, "durability of each session"),
    (CAN_SCAN_PREFIX, "prefix scan"),
    (CAN_COUNT, "counters"),
    (READS_REPEAT, "repeatable reads"),
    (IS_SERIALIZABLE, "serializable"),
    (CAN_DELETE_RANGE, "range delete"),
    (CAN_CONTAIN, "contains"),
    (CAN_INSERT_IF_ABSENT, "insert-if-absent"),
    (CAN_BOUND, "bounded scan"),
    (CAN_SCAN_KEYS, "scan of keys alone"),
];

pub const PUT: u32 = 0;
pub const DELETE: u32 = 1;
pub const READ_WRITE: u32 = 0;
pub const READ_ONLY: u32 = 1;
pub const FORWARD: u32 = 0;
pub const BACKWARD: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    pub data: *const c_void,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    pub data: *mut c_char,
    pub capacity: usize,
}

pub type Emit =
    unsafe extern "C" fn(context: *mut c_void, topic: *const c_char, name: *const c_char, value: *const c_char);

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OptionDecl {
    pub name: *const c_char,
    pub kind: u32,
    pub flags: u32,
    pub default_value: *const c_char,
    pub choices: *const c_char,
    pub minimum: i64,
    pub maximum: i64,
    pub help: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union OptionValue {
    pub integer: i64,
    pub real: f64,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: *const c_char,
    pub options: *const c_char,
    pub help: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    pub size: u32,
    pub create: u32,
    pub path: *const c_char,
    pub library: *const c_char,
    pub durability: u32,
    pub sync_period_ms: u32,
    pub compression: u32,
    pub sessions: u32,
    pub cache_bytes: u64,
    pub write_buffer_bytes: u64,
    pub records: u64,
    pub key_size: u64,
    pub value_size: u64,
    pub options: *const OptionValue,
    pub option_count: usize,
    pub prefix_size: u64,
    pub processes: u32,
    pub session_durabilities: u32,
}

/// Opaque: an open database.
pub type Database = c_void;
/// Opaque: a thread's session.
pub type Session = c_void;
/// Opaque: a cursor of a session.
pub type Cursor = c_void;

pub type Recall =
    unsafe extern "C" fn(context: *mut c_void, key: *const c_void, key_size: usize, value: *mut Bytes) -> Status;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub recall: Option<Recall>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchEntry {
    pub kind: u32,
    pub reserved: u32,
    pub key: Bytes,
    pub value: Bytes,
}

pub type UpdateFn = unsafe extern "C" fn(context: *mut c_void, old: Bytes, value: *mut Bytes) -> Status;

pub type ProbeFn = unsafe extern "C" fn(library: *const c_char, version: *mut Text, error: *mut Text) -> Status;
pub type SettingsFn =
    unsafe extern "C" fn(config: *const Config, emit: Emit, context: *mut c_void, error: *mut Text) -> Status;
pub type OpenFn = unsafe extern "C" fn(config: *const Config, database: *mut *mut Database, error: *mut Text) -> Status;
pub type HousekeepingFn = unsafe extern "C" fn(database: *mut Database, error: *mut Text) -> Status;
pub type SessionOpenFn = unsafe extern "C" fn(
    database: *mut Database,
    host: *const Host,
    session: *mut *mut Session,
    error: *mut Text,
) -> Status;
pub type SessionCloseFn = unsafe extern "C" fn(session: *mut Session);
pub type SessionErrorFn = unsafe extern "C" fn(session: *mut Session, error: *mut Text);
pub type GetFn =
    unsafe extern "C" fn(session: *mut Session, key: *const c_void, key_size: usize, value: *mut Bytes) -> Status;
pub type PutFn = unsafe extern "C" fn(
    session: *mut Session,
    key: *const c_void,
    key_size: usize,
    value: *const c_void,
    value_size: usize,
) -> Status;
pub type RemoveFn = unsafe extern "C" fn(session: *mut Session, key: *const c_void, key_size: usize) -> Status;
pub type WriteFn = unsafe extern "C" fn(session: *mut Session, entries: *const BatchEntry, count: usize) -> Status;
pub type MultiGetFn = unsafe extern "C" fn(
    session: *mut Session,
    keys: *const Bytes,
    count: usize,
    values: *mut Bytes,
    statuses: *mut Status,
) -> Status;
pub type ReadModifyWriteFn = unsafe extern "C" fn(
    session: *mut Session,
    key: *const c_void,
    key_size: usize,
    update: UpdateFn,
    context: *mut c_void,
) -> Status;
pub type BeginFn = unsafe extern "C" fn(session: *mut Session, kind: u32) -> Status;
pub type EndFn = unsafe extern "C" fn(session: *mut Session) -> Status;
pub type CursorOpenFn = unsafe extern "C" fn(session: *mut Session, cursor: *mut *mut Cursor) -> Status;
pub type CursorCloseFn = unsafe extern "C" fn(cursor: *mut Cursor);
pub type CursorSeekFn = unsafe extern "C" fn(
    cursor: *mut Cursor,
    key: *const c_void,
    key_size: usize,
    direction: u32,
    found: *mut Bytes,
    value: *mut Bytes,
) -> Status;
pub type CursorStepFn = unsafe extern "C" fn(cursor: *mut Cursor, found: *mut Bytes, value: *mut Bytes) -> Status;
pub type StatisticsFn = unsafe extern "C" fn(database: *mut Database, emit: Emit, context: *mut c_void) -> Status;
pub type DestroyFn = unsafe extern "C" fn(config: *const Config, error: *mut Text) -> Status;
pub type EffectiveCapabilitiesFn = unsafe extern "C" fn(config: *const Config, declared: *mut Capabilities);
pub type CountersFn = unsafe extern "C" fn(database: *mut Database, counters: *mut Counters) -> Status;
pub type DeleteRangeFn = unsafe extern "C" fn(
    session: *mut Session,
    from: *const c_void,
    from_size: usize,
    to: *const c_void,
    to_size: usize,
) -> Status;
pub type ContainsFn = unsafe extern "C" fn(session: *mut Session, key: *const c_void, key_size: usize) -> Status;
pub type CursorOpenWithFn =
    unsafe extern "C" fn(session: *mut Session, options: *const CursorOptions, cursor: *mut *mut Cursor) -> Status;
pub type SetDurabilityFn = unsafe extern "C" fn(session: *mut Session, level: u32) -> Status;
/// The type of [`ENTRY`].
pub type EntryFn = unsafe extern "C" fn() -> *const Engine;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    pub size: u32,
    pub durabilities: u32,
    pub capabilities: u64,
    pub compressions: u32,
    pub reserved: u32,
}

pub const ABSENT: u64 = u64::MAX;

/// The part of the records that a cursor has to bring.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CursorOptions {
    pub size: u32,
    pub keys_only: u32,
    pub from: Bytes,
    pub to: Bytes,
    pub prefix: Bytes,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    pub size: u32,
    pub reserved: u32,
    pub flushed_bytes: u64,
    pub compacted_bytes: u64,
    pub stalled_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    pub size: u32,
    pub abi_version: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub origin: *const c_char,
    pub capabilities: u64,
    pub durabilities: u32,
    pub compressions: u32,
    pub min_key_size: u64,
    pub max_key_size: u64,
    pub max_value_size: u64,
    pub options: *const OptionDecl,
    pub option_count: usize,
    pub option_size: usize,
    pub presets: *const Preset,
    pub preset_count: usize,
    pub preset_size: usize,
    pub probe: Option<ProbeFn>,
    pub settings: Option<SettingsFn>,
    pub open: Option<OpenFn>,
    pub close: Option<HousekeepingFn>,
    pub session_open: Option<SessionOpenFn>,
    pub session_close: Option<SessionCloseFn>,
    pub session_error: Option<SessionErrorFn>,
    pub get: Option<GetFn>,
    pub put: Option<PutFn>,
    pub remove: Option<RemoveFn>,
    pub write: Option<WriteFn>,
    pub multi_get: Option<MultiGetFn>,
    pub read_modify_write: Option<ReadModifyWriteFn>,
    pub begin: Option<BeginFn>,
    pub commit: Option<EndFn>,
    pub abort: Option<EndFn>,
    pub cursor_open: Option<CursorOpenFn>,
    pub cursor_close: Option<CursorCloseFn>,
    pub cursor_seek: Option<CursorSeekFn>,
    pub cursor_next: Option<CursorStepFn>,
    pub cursor_previous: Option<CursorStepFn>,
    pub flush: Option<HousekeepingFn>,
    pub compact: Option<HousekeepingFn>,
    pub wait_idle: Option<HousekeepingFn>,
    pub statistics: Option<StatisticsFn>,
    pub destroy: Option<DestroyFn>,
    pub effective_capabilities: Option<EffectiveCapabilitiesFn>,
    pub counters: Option<CountersFn>,
    pub delete_range: Option<DeleteRangeFn>,
    pub contains: Option<ContainsFn>,
    pub insert_if_absent: Option<PutFn>,
    pub cursor_open_with: Option<CursorOpenWithFn>,
    pub set_durability: Option<SetDurabilityFn>,
}

// SAFETY: an engine's description is static and never changes (the header says so); the pointers in it are only read.
unsafe impl Sync for Engine {}
// SAFETY: as above.
unsafe impl Send for Engine {}
// SAFETY: the texts that a declaration points to are static.
unsafe impl Sync for OptionDecl {}
// SAFETY: the texts that a declaration points to are static.
unsafe impl Sync for Preset {}
