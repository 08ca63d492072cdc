//! Declarations of what engines read, write and take beyond what they were asked to, and of what they count themselves.

use kvdyno_results::{EngineCounters, Layer, Side, TrialResult};

use super::{Figure, Unit};

/// The bytes that amplification is made of, and that no other figure has.
pub(super) const TRAFFIC: [Figure; 6] = [
    Figure::measured("user_read_bytes", "", "bytes of the records that were read", Unit::Bytes, |r| {
        bytes(r, Layer::Workload, Side::Reads)
    }),
    Figure::measured("user_write_bytes", "", "bytes of the records that were written", Unit::Bytes, |r| {
        bytes(r, Layer::Workload, Side::Writes)
    }),
    Figure::measured("call_read_bytes", "", "bytes that calls gave to the engine, or page-ins", Unit::Bytes, |r| {
        bytes(r, Layer::Calls, Side::Reads)
    }),
    Figure::measured("call_write_bytes", "", "bytes that calls took from it, or dirty pages", Unit::Bytes, |r| {
        bytes(r, Layer::Calls, Side::Writes)
    }),
    Figure::measured("apparent_bytes", "", "bytes that the database's files are long", Unit::Bytes, |r| {
        r.space.apparent_bytes.map(|bytes| bytes as f64)
    }),
    Figure::measured("live_bytes", "", "bytes of the records that are in it", Unit::Bytes, |r| {
        r.space.live_bytes.map(|bytes| bytes as f64)
    }),
];

/// The engine's calls that read.
pub(crate) const CALL_READ_AMPLIFICATION: Figure = Figure::measured(
    "call_read_amplification",
    "calls read",
    "bytes that calls gave to the engine, or page-ins, for each byte of the records read",
    Unit::Factor,
    |r| r.amplification(Layer::Calls, Side::Reads),
);

/// Those that write.
pub(crate) const CALL_WRITE_AMPLIFICATION: Figure = Figure::measured(
    "call_write_amplification",
    "calls written",
    "bytes that calls took from it, or dirty pages, for each byte of the records written",
    Unit::Factor,
    |r| r.amplification(Layer::Calls, Side::Writes),
);

/// Reads of the storage.
pub(crate) const READ_AMPLIFICATION: Figure = Figure::measured(
    "read_amplification",
    "read amp.",
    "bytes read from the storage for each byte of the records read",
    Unit::Factor,
    |r| r.amplification(Layer::Storage, Side::Reads),
);

/// Writes to it.
pub(crate) const WRITE_AMPLIFICATION: Figure = Figure::measured(
    "write_amplification",
    "write amp.",
    "bytes written to the storage for each byte of the records written",
    Unit::Factor,
    |r| r.amplification(Layer::Storage, Side::Writes),
);

/// The space of the database.
pub(crate) const SPACE_AMPLIFICATION: Figure = Figure::measured(
    "space_amplification",
    "space amp.",
    "allocated bytes of the database for each byte of the records in it",
    Unit::Factor,
    TrialResult::space_amplification,
);

/// The columns of the table of amplification, from the engine's calls down to the storage.
pub(crate) const AMPLIFICATION: [Figure; 6] = [
    CALL_READ_AMPLIFICATION,
    READ_AMPLIFICATION,
    CALL_WRITE_AMPLIFICATION,
    WRITE_AMPLIFICATION,
    SPACE_AMPLIFICATION,
    Figure::measured(
        "apparent_space_amplification",
        "apparent",
        "the lengths of its files for each such byte",
        Unit::Factor,
        TrialResult::apparent_space_amplification,
    ),
];

/// The engine's own counts of the measured part, beside those that the lab makes.
pub(crate) const COUNTERS: [Figure; 3] = [
    Figure::measured(
        "flushed_bytes",
        "flushed MB",
        "new data that the engine says it wrote to its files in the measured part",
        Unit::Megabytes,
        |r| counters(r)?.flushed_bytes.map(|bytes| bytes as f64),
    ),
    Figure::measured(
        "compacted_bytes",
        "compacted MB",
        "data that it says it wrote anew in it",
        Unit::Megabytes,
        |r| counters(r)?.compacted_bytes.map(|bytes| bytes as f64),
    ),
    Figure::measured("stalled_s", "stalled", "time that it says it held writers back in it", Unit::Seconds, |r| {
        counters(r)?.stalled_s
    }),
];

fn counters(result: &TrialResult) -> Option<EngineCounters> {
    result.window.as_ref()?.counters
}

fn bytes(result: &TrialResult, layer: Layer, side: Side) -> Option<f64> {
    result.bytes_of(layer, side).map(|bytes| bytes as f64)
}
