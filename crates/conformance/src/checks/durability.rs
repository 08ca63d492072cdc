//! The records that are there after a close, and after a kill.

use std::thread;
use std::time::{Duration, Instant};

use kvdyno_engine::{Answer, Database, Durability, EngineSettings, abi};
use kvdyno_environment::storage::{CopyWay, copy_tree};

use crate::bench::{Bench, DatabaseLocation, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{CheckVerdict, During, Finding, ensure, wrong};
use crate::process::start_writer;
use crate::writer::acknowledged;
use crate::writer::{Until, WriterTask};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "reopen-none",
        what: "At durability none, whatever was acknowledged is there after a close and an open.",
        rule: "whatever the durability level, what was acknowledged is on the storage when it returns OK",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| reopen(bench, Durability::None)),
    },
    Check {
        name: "reopen-process",
        what: "At durability process, whatever was acknowledged is there after a close and an open.",
        rule: "whatever the durability level, what was acknowledged is on the storage when it returns OK",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| reopen(bench, Durability::Process)),
    },
    Check {
        name: "reopen-periodic",
        what: "At durability periodic, whatever was acknowledged is there after a close and an open.",
        rule: "whatever the durability level, what was acknowledged is on the storage when it returns OK",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| reopen(bench, Durability::Periodic)),
    },
    Check {
        name: "reopen-commit",
        what: "At durability commit, whatever was acknowledged is there after a close and an open.",
        rule: "whatever the durability level, what was acknowledged is on the storage when it returns OK",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| reopen(bench, Durability::Commit)),
    },
    Check {
        name: "copied",
        what: "What was acknowledged is there in a copy of a closed database's folder.",
        rule: "Without: a copy of a closed database is a database, too",
        needs: Needs::STORE,
        run: CheckBody::Whole(copied),
    },
    Check {
        name: "kill-process",
        what: "At durability process, what was acknowledged is there after the process was killed while it wrote.",
        rule: "when it would survive the death of the process: written to the OS",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| kill(bench, Durability::Process, 1)),
    },
    Check {
        name: "kill-periodic",
        what: "At durability periodic, what was acknowledged is there after the process was killed while it wrote.",
        rule: "as PROCESS, and the log is synced in the background every sync_period_ms",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| kill(bench, Durability::Periodic, 1)),
    },
    Check {
        name: "kill-commit",
        what: "At durability commit, what was acknowledged is there after the process was killed while it wrote.",
        rule: "when it would survive a loss of power: synced first",
        needs: Needs::STORE,
        run: CheckBody::Whole(|bench| kill(bench, Durability::Commit, 1)),
    },
    Check {
        name: "kill-batches",
        what: "After the process was killed while it wrote batches, each batch is there whole or not at all.",
        rule: "`write` is all or nothing, also after a crash where there is a log",
        needs: Needs::STORE.and(abi::CAN_BATCH),
        run: CheckBody::Whole(kill_batches),
    },
    Check {
        name: "kill-after-flush",
        what: "Whatever the durability, what was written before a flush is there after the process was killed.",
        rule: "all that was written is on storage",
        needs: Needs::STORE,
        run: CheckBody::Whole(kill_after_flush),
    },
];

pub(super) fn at(bench: &Bench, level: Durability) -> Result<EngineSettings, Finding> {
    match bench.meets(level) {
        true => Ok(EngineSettings { durability: level, ..bench.lab() }),
        false => Err(Finding::NotApplicable(format!("it does not declare durability {level}"))),
    }
}

/// Three rounds of changes, each through a database opened anew.
fn reopen(bench: &Bench, level: Durability) -> Result<(), Finding> {
    const COUNT: u64 = 1_000;
    let records = bench.records();
    let location = bench.location_with(&bench.choice, at(bench, level)?)?;
    let change = |database: &Database, round: u64| {
        let mut session = session(database)?;
        records.put_all(&mut session, (0..COUNT).filter(|id| id % round == 0), round)?;
        match bench.can(abi::CAN_DELETE) {
            true => session.delete(&records.key(COUNT + round)).map(|_| ()).during("delete"),
            false => Ok(()),
        }
    };
    let verify = |database: &Database, rounds: u64| -> Result<(), Finding> {
        let mut session = session(database)?;
        for id in 0..COUNT {
            let newest = (1..=rounds).rev().find(|round| id % round == 0).unwrap_or(1);
            records.expect(&mut session, id, newest)?;
        }
        for round in 1..=5 {
            match round <= rounds && bench.can(abi::CAN_DELETE) {
                true => records.expect_missing(&mut session, COUNT + round).during("a deleted record")?,
                false => records.expect(&mut session, COUNT + round, 9)?,
            }
        }
        Ok(())
    };
    location.created(|database| {
        records.put_all(&mut session(database)?, COUNT + 1..=COUNT + 5, 9)?;
        change(database, 1)
    })?;
    for round in 2..=4 {
        bench.step(&format!("opening the database for the {round}. time"));
        location.opened(|database| {
            verify(database, round - 1).during(&format!("after {} closes", round - 1))?;
            change(database, round)
        })?;
    }
    location.opened(|database| verify(database, 4).during("after 4 closes"))
}

/// The original is gone, so that nothing can be found there.
fn copied(bench: &Bench) -> Result<(), Finding> {
    const COUNT: u64 = 1_000;
    if bench.can(abi::IS_BOUND) {
        return Err(Finding::NotApplicable("its databases are bound to their folders".to_owned()));
    }
    let (records, loaded, copy) = (bench.records(), bench.location()?, bench.location()?);
    loaded.created(|database| records.put_all(&mut session(database)?, 0..COUNT, 1))?;
    bench.step("copying the database's folder and removing the original");
    copy_tree(&loaded.folder, &copy.folder, CopyWay::Bytes, &|| true).during("copying the folder")?;
    std::fs::remove_dir_all(&loaded.folder).during("removing the original")?;
    copy.opened(|database| {
        let mut session = session(database)?;
        (0..COUNT).try_for_each(|id| records.expect(&mut session, id, 1))?;
        records.put_all(&mut session, (0..COUNT).step_by(2), 2)
    })?;
    copy.opened(|database| {
        let mut session = session(database)?;
        (0..COUNT).try_for_each(|id| records.expect(&mut session, id, 2 - id % 2))
    })
}

/// A writer in `location` that starts where the last one ended.
pub(super) fn writing(
    bench: &Bench,
    location: &DatabaseLocation<'_>,
    from: u64,
    group: u64,
    until: Until,
) -> WriterTask {
    WriterTask {
        database: location.folder.clone(),
        create: from == 1,
        lab: location.lab.clone(),
        hints: location.hints,
        from,
        groups: 150,
        first: 0,
        group,
        deletes: false,
        level: None,
        acknowledged: bench.folder.join("acknowledged"),
        until,
    }
}

/// Starts a writer, waits for `enough` acknowledged writes, kills it after `pause` more, and returns the number of the
/// last acknowledged write.
pub(super) fn killed(bench: &Bench, writing: &WriterTask, enough: u64, pause: Duration) -> Result<u64, Finding> {
    bench.step("another process opens the database and writes to it");
    let mut writer = start_writer(bench, "writer", writing.clone())?;
    let patience = bench.effort.patience / 2;
    let until = Instant::now() + patience;
    while acknowledged(&writing.acknowledged)? < enough {
        if !writer.is_running()? {
            return Err(match writer.verdict(Duration::ZERO)? {
                CheckVerdict::Failed(how) => wrong(how),
                _ => wrong("the writer ended before it was killed"),
            });
        }
        ensure!(
            Instant::now() < until,
            "in {} s a writer came only to write {} of {enough}",
            patience.as_secs(),
            acknowledged(&writing.acknowledged)?
        );
        thread::sleep(Duration::from_millis(1));
    }
    bench.step(&format!("killing it {} µs after it was seen to have done write {enough}", pause.as_micros()));
    thread::sleep(pause);
    writer.kill()?;
    acknowledged(&writing.acknowledged)
}

/// The write that a record is of, for people.
fn told(version: Option<u64>) -> String {
    version.map_or("nothing".to_owned(), |version| format!("write {version}"))
}

/// Checks that every write up to `last` is there. The write after it was under way, so it may be there or not, but not
/// in part.
fn verify(bench: &Bench, location: &DatabaseLocation<'_>, writing: &WriterTask, last: u64) -> Result<(), Finding> {
    bench.step("opening the database whose process was killed");
    let records = bench.records();
    location.opened(|database| {
        let mut session = session(database)?;
        for group in 0..writing.groups {
            let oldest = writing.newest(group, last);
            let ids = group * writing.group..(group + 1) * writing.group;
            let mut seen = Vec::new();
            for id in ids {
                let version = match session.get(&records.key(id)).during("get after the kill")? {
                    Answer::Hit(value) => Some(records.version_of(id, value)?),
                    Answer::Miss => None,
                };
                ensure!(
                    version >= oldest,
                    "write {last} was acknowledged, but of record {id}, stored by write {}, there is {}",
                    oldest.unwrap_or_default(),
                    told(version)
                );
                ensure!(version <= Some(last + 1), "record {id} is of {}, which never began", told(version));
                seen.push(version);
            }
            let other = seen.iter().find(|version| **version != seen[0]);
            ensure!(
                other.is_none(),
                "a batch is there in part: of its first record there is {}, of another {}",
                told(seen[0]),
                told(other.copied().flatten())
            );
        }
        Ok(())
    })
}

fn kill(bench: &Bench, level: Durability, group: u64) -> Result<(), Finding> {
    kill_in(bench, &bench.location_with(&bench.choice, at(bench, level)?)?, None, group)
}

/// Kills writers of the database at `location`, and verifies it after each kill. `level` is the durability of the
/// writer's session, if it sets one of its own.
pub(super) fn kill_in(
    bench: &Bench,
    location: &DatabaseLocation<'_>,
    level: Option<Durability>,
    group: u64,
) -> Result<(), Finding> {
    let mut moments = bench.moments();
    let mut from = 1;
    many_times(bench, || {
        let writing = WriterTask { level, ..writing(bench, location, from, group, Until::Killed) };
        // Enough to store every group again: the write under way when the last one died may or may not have been done.
        let pause = Duration::from_micros(moments.below(30_000));
        let last = killed(bench, &writing, from + 200 + moments.below(200), pause)?;
        verify(bench, location, &writing, last)?;
        // The write under way may have been done.
        from = last + 2;
        Ok(())
    })
}

/// Kills that are done even if the check's time has ended, unless fewer were requested.
const LEAST_KILLS: u32 = 3;

/// Kills a writer as often as was asked for, unless the check's time ends first.
pub(super) fn many_times(bench: &Bench, mut kill: impl FnMut() -> Result<(), Finding>) -> Result<(), Finding> {
    let started = Instant::now();
    for number in 0..bench.effort.kills {
        if number >= LEAST_KILLS && started.elapsed() > bench.spell() {
            bench.remark(&format!("killed {number} times in {} s", started.elapsed().as_secs()));
            break;
        }
        let which = format!("kill {} of {}", number + 1, bench.effort.kills);
        bench.step(&which);
        kill().during(&which)?;
        bench.killed(number + 1);
        std::fs::remove_dir_all(bench.folder.join("writer"))?;
    }
    Ok(())
}

fn kill_batches(bench: &Bench) -> Result<(), Finding> {
    kill(bench, surviving(bench)?, 20)
}

/// The weakest durability that survives a process.
pub(super) fn surviving(bench: &Bench) -> Result<Durability, Finding> {
    let levels = [Durability::Process, Durability::Periodic, Durability::Commit];
    let level = levels.into_iter().find(|level| bench.meets(*level));
    level.ok_or_else(|| Finding::NotApplicable("it declares no durability that survives its process".to_owned()))
}

fn kill_after_flush(bench: &Bench) -> Result<(), Finding> {
    if bench.adapter().table().flush.is_none() {
        return Err(Finding::NotApplicable("it has no flush".to_owned()));
    }
    let weakest = Durability::ALL.iter().copied().find(|level| bench.meets(*level)).unwrap_or(Durability::None);
    let location = bench.location_with(&bench.choice, at(bench, weakest)?)?;
    let mut from = 1;
    many_times(bench, || {
        let writing = writing(bench, &location, from, 1, Until::Flushed(400));
        let last = killed(bench, &writing, from + 399, Duration::ZERO)?;
        verify(bench, &location, &writing, last).during(&format!("at durability {weakest}"))?;
        from = last + 1;
        Ok(())
    })
}
