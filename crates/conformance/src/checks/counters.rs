//! Counters of engines.

use kvdyno_engine::{Counters, Database, EngineSettings, abi};

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::Records;

pub(super) const CHECKS: &[Check] = &[Check {
    name: "counters",
    what: "Counters never go back, and of 32 MB that a memory of 5 MiB cannot keep some are counted as flushed.",
    rule: "What is counted once is always counted, and never goes back while the database is open. `flushed_bytes` has \
           something of what was put as soon as that is more than memory may keep, and was flushed.",
    needs: Needs::STORE.and(abi::CAN_COUNT),
    run: CheckBody::Whole(counters),
}];

/// Records that are put in each round, and bytes of each value.
const RECORDS: u64 = 8_000;
const VALUE_SIZE: u64 = 4_000;

fn counters(bench: &Bench) -> Result<(), Finding> {
    let records = Records::fitting(bench.adapter().table(), VALUE_SIZE);
    let lab = EngineSettings { cache_bytes: 4 << 20, write_buffer_bytes: 1 << 20, ..bench.lab() };
    bench.location_with(&bench.choice, lab)?.created(|database| {
        let mut before = told(database)?;
        for version in 0..2 {
            records.put_all(&mut session(database)?, 0..RECORDS, version)?;
            bench.step("flush");
            database.flush().during("flush")?;
            let after = told(database)?;
            rose(&before, &after)?;
            ensure!(
                after.flushed_bytes.is_none() || after.flushed_bytes > before.flushed_bytes,
                "flushed_bytes is {:?} before {RECORDS} records were put and flushed, and {:?} after it",
                before.flushed_bytes,
                after.flushed_bytes
            );
            bench.step("compact");
            database.compact().during("compact")?;
            database.wait_idle().during("wait_idle")?;
            before = told(database)?;
            rose(&after, &before)?;
        }
        Ok(())
    })
}

fn told(database: &Database) -> Result<Counters, Finding> {
    let counted = database.counters().ok_or_else(|| wrong("counters did not answer OK"))?;
    ensure!(counted != Counters::default(), "it declares counters, and counts nothing");
    Ok(counted)
}

fn rose(before: &Counters, after: &Counters) -> Result<(), Finding> {
    let pairs = [
        ("flushed_bytes", before.flushed_bytes, after.flushed_bytes),
        ("compacted_bytes", before.compacted_bytes, after.compacted_bytes),
        ("stalled_ns", before.stalled_ns, after.stalled_ns),
    ];
    for (name, before, after) in pairs {
        ensure!(after.is_some() == before.is_some() && after >= before, "{name} went from {before:?} to {after:?}");
    }
    Ok(())
}
