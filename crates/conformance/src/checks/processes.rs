//! Several processes on one database. This one opens it before the others do, and closes it after them.

use std::time::Duration;

use kvdyno_engine::{Session, abi};

use crate::bench::{Bench, DatabaseLocation, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::process::{Running, TaskKind, start, start_writer};
use crate::reader::{ReadUntil, ReaderTask};
use crate::writer::{Until, WriterTask};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "processes-share",
        what: "Another process writes to the open database, and what it wrote is seen here.",
        rule: "what one was answered with OK, the next call of any other sees",
        needs: Needs::STORE.and(abi::CAN_SHARE_PROCESSES),
        run: CheckBody::Whole(processes_share),
    },
    Check {
        name: "processes-read",
        what: "One and three other processes see what this one writes as soon as it was acknowledged.",
        rule: "what one was answered with OK, the next call of any other sees",
        needs: Needs::STORE.and(abi::CAN_SHARE_PROCESSES),
        run: CheckBody::Whole(|bench| [2, 4].into_iter().try_for_each(|processes| processes_read(bench, processes))),
    },
    Check {
        name: "processes-write",
        what: "Four processes write at once, each records of its own, and all of it is there afterwards.",
        rule: "several processes may open one database at once",
        needs: Needs::STORE.and(abi::CAN_SHARE_PROCESSES),
        run: CheckBody::Whole(processes_write),
    },
    Check {
        name: "process-killed",
        what: "A reader process that is killed between two calls stops neither the others nor one that comes after it.",
        rule: "one that dies between two calls stops nobody",
        needs: Needs::STORE.and(abi::CAN_SHARE_PROCESSES),
        run: CheckBody::Whole(process_killed),
    },
    Check {
        name: "destroy",
        what: "What a killed process left outside the folder is given back, and where nothing is left nothing is \
               wrong.",
        rule: "No process has the database open; one may have died with it, and there may be nothing to give back.",
        needs: Needs::STORE,
        run: CheckBody::Whole(destroy),
    },
];

/// Records that are written again and again.
const GROUPS: u64 = 100;
/// The time that a process may take for its part: less than the check's, so that the report says which process hangs.
fn part(bench: &Bench) -> Duration {
    bench.effort.patience * 2 / 3
}

/// A location for a database that this number of processes share.
fn shared_location(bench: &Bench, processes: u32) -> Result<DatabaseLocation<'_>, Finding> {
    let mut location = bench.location()?;
    location.hints.processes = processes;
    Ok(location)
}

/// Puts into `location`, as far as `last`.
fn writing(bench: &Bench, location: &DatabaseLocation<'_>, last: u64) -> WriterTask {
    WriterTask {
        database: location.folder.clone(),
        create: false,
        lab: location.lab.clone(),
        hints: location.hints,
        from: 1,
        groups: GROUPS,
        first: 0,
        group: 1,
        deletes: false,
        level: None,
        acknowledged: bench.folder.join("acknowledged"),
        until: Until::Closed(last),
    }
}

fn start_reader(bench: &Bench, name: &str, writing: &WriterTask, until: ReadUntil) -> Result<Running, Finding> {
    let ready = bench.folder.join(format!("{name}-is-ready"));
    let reading = ReaderTask { writing: writing.clone(), ready: ready.clone(), until };
    start(bench, name, TaskKind::Read(reading))?.has_made(&ready, part(bench))
}

/// All records are as the last of these writers left them.
fn expect_written(bench: &Bench, session: &mut Session<'_>, writing: &WriterTask, last: u64) -> Result<(), Finding> {
    let records = bench.records();
    for group in 0..GROUPS {
        let number = writing.newest(group, last).ok_or_else(|| wrong("the check itself failed: too few writes"))?;
        records.expect(session, writing.first + group, number)?;
    }
    Ok(())
}

fn processes_share(bench: &Bench) -> Result<(), Finding> {
    const WRITES: u64 = 500;
    let records = bench.records();
    let location = shared_location(bench, 2)?;
    location.created(|database| {
        let mut session = session(database)?;
        records.put_all(&mut session, 1_000..1_100, 1)?;
        bench.step("another process writes to the database that this one has open");
        let writing = writing(bench, &location, WRITES);
        start_writer(bench, "writer", writing.clone())?.passes(part(bench))?;
        expect_written(bench, &mut session, &writing, WRITES).during("what the other process wrote")?;
        records.expect_all(&mut session, 1_000..1_100, 1)?;
        records.put(&mut session, 1, 10_000)?;
        records.expect(&mut session, 1, 10_000)
    })
}

fn processes_read(bench: &Bench, processes: u32) -> Result<(), Finding> {
    const WRITES: u64 = 5_000;
    let location = shared_location(bench, processes)?;
    let writing = WriterTask {
        acknowledged: bench.folder.join(format!("acknowledged-of-{processes}")),
        ..writing(bench, &location, WRITES)
    };
    location.created(|database| {
        let mut session = session(database)?;
        writing.write_all(bench, &mut session, 1..=GROUPS)?;
        bench.step("other processes open the database that this one has open");
        let start =
            |number| start_reader(bench, &format!("reader-{number}-of-{processes}"), &writing, ReadUntil::Seen(WRITES));
        let readers = (2..=processes).map(start).collect::<Result<Vec<_>, _>>()?;
        bench.step("other processes read what this one writes");
        writing.write_all(bench, &mut session, GROUPS + 1..=WRITES)?;
        readers.into_iter().try_for_each(|reader| reader.passes(part(bench)))
    })?;
    location.opened(|database| expect_written(bench, &mut session(database)?, &writing, WRITES))
}

fn processes_write(bench: &Bench) -> Result<(), Finding> {
    const WRITES: u64 = 2_000;
    let location = shared_location(bench, 4)?;
    let of = |number: u64| WriterTask {
        first: number * GROUPS,
        acknowledged: bench.folder.join(format!("acknowledged-{number}")),
        ..writing(bench, &location, WRITES)
    };
    location.created(|database| {
        let mut session = session(database)?;
        let writers = (1..4).map(|number| start_writer(bench, &format!("writer-{number}"), of(number)));
        let writers = writers.collect::<Result<Vec<_>, _>>()?;
        bench.step("four processes write at once");
        of(0).write_all(bench, &mut session, 1..=WRITES)?;
        writers.into_iter().try_for_each(|writer| writer.passes(part(bench)))?;
        (0..4).try_for_each(|number| expect_written(bench, &mut session, &of(number), WRITES))
    })?;
    location.opened(|database| {
        let mut session = session(database)?;
        (0..4).try_for_each(|number| expect_written(bench, &mut session, &of(number), WRITES))
    })
}

fn process_killed(bench: &Bench) -> Result<(), Finding> {
    const WRITES: u64 = 5_000;
    let location = shared_location(bench, 3)?;
    let writing = writing(bench, &location, WRITES);
    location.created(|database| {
        let mut session = session(database)?;
        writing.write_all(bench, &mut session, 1..=GROUPS)?;
        let follower = start_reader(bench, "follower", &writing, ReadUntil::Seen(WRITES))?;
        let killed = start_reader(bench, "killed", &writing, ReadUntil::Killed)?;
        killed.kill()?;
        bench.step("writing after a reader's process was killed");
        writing.write_all(bench, &mut session, GROUPS + 1..=WRITES).during("after a reader's process was killed")?;
        bench.step("reading in another process after a reader's process was killed");
        follower.passes(part(bench))?;
        bench.step("opening the database in another process after a reader's process was killed");
        start_reader(bench, "late", &writing, ReadUntil::Seen(WRITES))?.passes(part(bench))
    })?;
    location.opened(|database| expect_written(bench, &mut session(database)?, &writing, WRITES))
}

fn destroy(bench: &Bench) -> Result<(), Finding> {
    if bench.adapter().table().destroy.is_none() {
        return Err(Finding::NotApplicable("it keeps nothing outside the folder".to_owned()));
    }
    let location = bench.location()?;
    let destroy = |name: &str| start(bench, name, TaskKind::Destroy(location.folder.clone()))?.passes(part(bench));
    bench.step("destroy where there is no database");
    destroy("nothing-there")?;
    let writing = WriterTask { create: true, until: Until::Killed, ..writing(bench, &location, 0) };
    let writer = start_writer(bench, "writer", writing.clone())?.has_made(&writing.acknowledged, part(bench))?;
    let pid = writer.pid();
    writer.kill()?;
    bench.step("destroy after a process was killed");
    destroy("after-a-kill")?;
    let left = left_by(pid)?;
    ensure!(left.is_empty(), "of the process that was killed there is left, after destroy: {}", left.join(", "));
    destroy("again")?;
    std::fs::remove_dir_all(&location.folder)?;
    std::fs::create_dir(&location.folder)?;
    bench.step("a new database where one was destroyed");
    location.created(|database| bench.records().put(&mut session(database)?, 1, 1))
}

/// The System V memory that a process made and that is there still.
fn left_by(pid: u32) -> Result<Vec<String>, Finding> {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let mut lines = table.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let column = |head: &str| heads.iter().position(|other| *other == head);
    let (Some(id), Some(creator)) = (column("shmid"), column("cpid")) else { return Ok(Vec::new()) };
    let of = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields.get(creator)? == &pid.to_string()).then(|| format!("shared memory {}", fields.get(id).unwrap_or(&"")))
    };
    Ok(lines.filter_map(of).collect())
}
