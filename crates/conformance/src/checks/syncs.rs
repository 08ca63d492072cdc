//! The flushes that durability levels need.

use std::thread;
use std::time::{Duration, Instant};

use kvdyno_engine::{Database, Durability, EngineSettings};

use super::durability::at;
use crate::bench::{Bench, DatabaseLocation, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};
use crate::flushed_device::FlushedDevice;
use crate::process::{TaskKind, start};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "commit-synced",
        what: "At durability commit, the device is flushed in each of 200 puts.",
        rule: "when it would survive a loss of power: synced first",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| in_process(bench, Durability::Commit)),
    },
    Check {
        name: "periodic-synced",
        what: "At durability periodic, the device is flushed after a put, though nothing more is written.",
        rule: "as PROCESS, and the log is synced in the background every sync_period_ms",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| in_process(bench, Durability::Periodic)),
    },
];

/// Between two looks at the device.
const TICK: Duration = Duration::from_millis(10);

fn in_process(bench: &Bench, level: Durability) -> Result<(), Finding> {
    at(bench, level)?;
    bench.step("another process writes to a device of its own");
    start(bench, "syncing", TaskKind::Sync(level))?.passes(bench.effort.patience * 3 / 4)
}

/// The side of the process whose database has a device of its own. `device` was mounted before the adapter was loaded,
/// so that every thread of its engine sees it.
pub(crate) fn sync(bench: &Bench, device: &FlushedDevice, level: Durability) -> Result<(), Finding> {
    let location =
        DatabaseLocation { folder: device.database.clone(), ..bench.location_with(&bench.choice, at(bench, level)?)? };
    let outcome = location.created(|database| match level {
        Durability::Commit => each_commit(bench, device, database),
        _ => background(bench, device, database, &location.lab),
    });
    // What the engine keeps outside of this filesystem is released while it can be seen.
    let given_back = match bench.adapter().table().destroy {
        Some(_) => bench.choice.destroy(&device.database).during("destroy"),
        None => Ok(()),
    };
    outcome.and(given_back)
}

fn each_commit(bench: &Bench, device: &FlushedDevice, database: &Database) -> Result<(), Finding> {
    const COMMITS: u64 = 200;
    let (records, mut session) = (bench.records(), session(database)?);
    for id in 0..COMMITS {
        let before = device.flushes()?;
        records.put_all(&mut session, [id], 1)?;
        ensure!(
            device.flushes()? > before,
            "put {} of {COMMITS} was acknowledged at durability commit, and the device was not flushed",
            id + 1
        );
    }
    Ok(())
}

fn background(bench: &Bench, device: &FlushedDevice, database: &Database, lab: &EngineSettings) -> Result<(), Finding> {
    let (records, mut session) = (bench.records(), session(database)?);
    let (patience, begun) = (bench.effort.patience / 2, Instant::now());
    for id in 0..5 {
        // Before the put: its sync may have come when it has returned, and without another put none follows.
        let before = device.flushes()?;
        records.put_all(&mut session, [id], 1)?;
        while device.flushes()? == before {
            ensure!(
                begun.elapsed() < patience,
                "nothing was synced {} s after a put, and the period is {} ms",
                begun.elapsed().as_secs(),
                lab.sync_period_ms
            );
            thread::sleep(TICK);
        }
    }
    Ok(())
}
