//! Opening, closing, and what that must not leave behind.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use kvdyno_engine::{Database, Probe, abi};
use procfs::process::Process;

use crate::bench::{Bench, DatabaseLocation, has_text, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::records::Records;
use crate::resources::{Belongings, Growth, SPARE_KIB, unreadable};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "probe",
        what: "The engine's library is found and says its version.",
        rule: "Loads the engine's library, or finds that it is linked in, and writes the version it says it has",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(probe),
    },
    Check {
        name: "probe-missing-library",
        what: "A library that is not there is reported with a reason, and open does not succeed with it.",
        rule: "A `library` that is not there, or is not the engine's, is refused with a text by `probe` and by `open`",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(probe_missing_library),
    },
    Check {
        name: "probe-wrong-library",
        what: "A file that is no library, and a library of something else, are reported with a reason.",
        rule: "A `library` that is not there, or is not the engine's, is refused with a text by `probe` and by `open`",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(probe_wrong_library),
    },
    Check {
        name: "create",
        what: "A database can be made in an empty folder, takes a record and is closed.",
        rule: "Opens or creates the database.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(create),
    },
    Check {
        name: "open-nothing",
        what: "Opening a database that does not exist is an error with a text, and one can still be made elsewhere.",
        rule: "Where there is none, opening one is an error.",
        needs: Needs::STORE,
        run: CheckBody::Whole(open_nothing),
    },
    Check {
        name: "create-unwritable",
        what: "Making a database where nothing can be written is an error with a text, time and again.",
        rule: "On failure nothing stays open, and `error` says what failed; another may still be opened elsewhere.",
        needs: Needs::STORE,
        run: CheckBody::Whole(create_unwritable),
    },
    Check {
        name: "close-unused",
        what: "A database that was made and closed without a session opens again and is empty.",
        rule: "Opens or creates the database.",
        needs: Needs::STORE,
        run: CheckBody::Whole(close_unused),
    },
    Check {
        name: "two-databases",
        what: "Two databases that are open at once do not mix their records.",
        rule: "Several can be open at once, but for KVDYNO_IS_SINGLE.",
        needs: Needs::STORE,
        run: CheckBody::Whole(two_databases),
    },
    Check {
        name: "housekeeping",
        what: "Flush, compact and wait_idle, where they are there, are OK with and without records.",
        rule: "Optional housekeeping: OK at any time, time and again, beside sessions that do nothing too.",
        needs: Needs::NOTHING,
        run: CheckBody::OnDatabase(housekeeping),
    },
    Check {
        name: "statistics",
        what: "The engine's statistics can be had at any time, and each has a name and a value.",
        rule: "Statistics of the engine's own, at any time: topic is a group, name and value as the engine says \
               them; no name is empty.",
        needs: Needs::NOTHING,
        run: CheckBody::OnDatabase(statistics),
    },
    Check {
        name: "open-and-close",
        what: "1,000 openings and closings, or as many as half of the time allows, leave no file, thread or memory \
               over.",
        rule: "What a call took it gives back: `close` what `open` took",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(open_and_close),
    },
    Check {
        name: "sessions-come-and-go",
        what: "68,000 sessions and cursors, or as many as half of the time allows, leave no file, thread or memory \
               over.",
        rule: "`session_close` what `session_open` took, `cursor_close` what `cursor_open` took, be it memory, a \
               thread or a file descriptor.",
        needs: Needs::NOTHING,
        run: CheckBody::OnDatabase(sessions_come_and_go),
    },
    Check {
        name: "reads-leave-nothing",
        what: "100,000 reads of the same records take no more and more memory.",
        rule: "Reads take no more and more memory.",
        needs: Needs::STORE,
        run: CheckBody::OnDatabase(reads_leave_nothing),
    },
];

fn probe(bench: &Bench) -> Result<(), Finding> {
    match bench.adapter().probe(bench.choice.library()) {
        Probe::Available { version } => {
            ensure!(version != "unknown", "the probe does not say which version it found");
            Ok(())
        }
        Probe::Missing { reason } => Err(wrong(reason)),
    }
}

/// The probe refuses `library` with a reason, and nothing opens with it.
fn refuses(bench: &Bench, library: PathBuf) -> Result<(), Finding> {
    let what = library.display().to_string();
    bench.step(&format!("probing with {what} as its library"));
    match bench.adapter().probe(Some(&library)) {
        Probe::Available { .. } => return Err(wrong(format!("{what} is taken for the engine's library"))),
        Probe::Missing { reason } => {
            ensure!(!reason.ends_with("gives no reason"), "{what} is refused without a reason")
        }
    }
    let mut subject = bench.subject.clone();
    subject.library = Some(library);
    let choice = subject.choose()?;
    match bench.location_with(&choice, bench.lab())?.create() {
        Ok(_) => Err(wrong(format!("a database opens with {what} as its library, which the probe refuses"))),
        Err(error) => {
            ensure!(has_text(&error), "open with {what} as its library fails without a text");
            Ok(())
        }
    }
}

fn probe_missing_library(bench: &Bench) -> Result<(), Finding> {
    refuses(bench, PathBuf::from("/nonexistent/libnothing.so"))?;
    probe(bench).during("afterwards")
}

fn probe_wrong_library(bench: &Bench) -> Result<(), Finding> {
    let text = bench.folder.join("libtext.so");
    fs::write(&text, "This is not a library.\n")?;
    refuses(bench, text)?;
    let maps = Process::myself().and_then(|process| process.maps()).map_err(unreadable)?;
    let paths = maps.into_iter().filter_map(|map| match map.pathname {
        procfs::process::MMapPath::Path(path) => Some(path),
        _ => None,
    });
    let mut libc =
        paths.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libc.so")));
    if let Some(libc) = libc.next() {
        refuses(bench, libc)?;
    }
    probe(bench).during("afterwards")
}

fn create(bench: &Bench) -> Result<(), Finding> {
    bench.step("making a database and putting a record into it");
    bench.with_session(|session| bench.records().put(session, 1, 1))
}

fn open_nothing(bench: &Bench) -> Result<(), Finding> {
    let location = bench.location()?;
    for _ in 0..3 {
        match location.open() {
            Ok(_) => return Err(wrong("an empty folder was opened as a database")),
            Err(error) => ensure!(has_text(&error), "the error has no text"),
        }
    }
    holds_a_record(bench, &bench.location()?).during("afterwards, elsewhere")
}

fn holds_a_record(bench: &Bench, location: &DatabaseLocation<'_>) -> Result<(), Finding> {
    let records = bench.records();
    location.created(|database| {
        let mut session = session(database)?;
        records.put(&mut session, 1, 1)?;
        records.expect(&mut session, 1, 1)
    })
}

fn create_unwritable(bench: &Bench) -> Result<(), Finding> {
    // Permissions do not stop root; the kernel's own folders stop every user.
    let unwritable = DatabaseLocation { folder: PathBuf::from("/proc/self/task"), ..bench.location()? };
    for _ in 0..3 {
        match unwritable.create() {
            Ok(_) => return Err(wrong("a database was made in /proc/self/task, where nothing can be")),
            Err(error) => ensure!(has_text(&error), "the error has no text"),
        }
    }
    holds_a_record(bench, &bench.location()?).during("afterwards, elsewhere")
}

fn close_unused(bench: &Bench) -> Result<(), Finding> {
    let location = bench.location()?;
    location.created(|_| Ok(()))?;
    for _ in 0..2 {
        location.opened(|database| bench.records().expect_missing(&mut session(database)?, 1))?;
    }
    Ok(())
}

fn two_databases(bench: &Bench) -> Result<(), Finding> {
    if bench.can(abi::IS_SINGLE) {
        return Err(Finding::NotApplicable("it has no threads: one session a process".to_owned()));
    }
    let records = bench.records();
    bench.with_database(|one| {
        bench.with_database(|two| {
            let (mut first, mut second) = (session(one)?, session(two)?);
            records.put_all(&mut first, 0..100, 1)?;
            records.put_all(&mut second, 50..150, 2)?;
            records.expect_all(&mut first, 0..100, 1)?;
            records.expect_all(&mut second, 50..150, 2)?;
            (100..150).try_for_each(|id| records.expect_missing(&mut first, id))?;
            (0..50).try_for_each(|id| records.expect_missing(&mut second, id))
        })
    })
}

fn housekeeping(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    for records_put in [false, true] {
        if records_put {
            bench.step("putting 5,000 records");
            records.put_all(&mut session(database)?, 0..5_000, 1)?;
        }
        for _ in 0..2 {
            bench.step("flush");
            database.flush().during("flush")?;
            bench.step("compact");
            database.compact().during("compact")?;
            bench.step("wait_idle");
            database.wait_idle().during("wait_idle")?;
        }
    }
    Ok(())
}

fn statistics(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    if bench.adapter().table().statistics.is_none() {
        return Err(Finding::NotApplicable("it has no statistics".to_owned()));
    }
    for version in 0..3 {
        for (topic, name, value) in database.statistics() {
            ensure!(!name.is_empty(), "one of {topic} has no name, with the value `{value}`");
        }
        records.put_all(&mut session(database)?, 0..1_000, version)?;
    }
    Ok(())
}

/// Number of openings that an engine reaches that opens in 30 ms.
const OPENINGS: u64 = 1_000;
/// After this number the process's own caches are full.
const OPENINGS_SETTLE: u64 = 20;

fn open_and_close(bench: &Bench) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location()?;
    location.created(|_| Ok(()))?;
    let (mut before, started, mut done) = (Belongings::now()?, Instant::now(), 0);
    while done < OPENINGS && (done <= OPENINGS_SETTLE || started.elapsed() < bench.spell()) {
        bench.step(&format!("opening and closing for the {}. time", done + 1));
        location.opened(|database| records.put(&mut session(database)?, done % 10, done))?;
        done += 1;
        if done == OPENINGS_SETTLE {
            before = Belongings::now()?;
        }
    }
    if done < OPENINGS {
        bench.remark(&format!("{done} openings and closings in {} s", started.elapsed().as_secs()));
    }
    Belongings::settled(before, SPARE_KIB)
}

/// Rounds of sessions, and sessions in a round: enough that 290 bytes left by each are noticeable, and that garbage is
/// collected several times.
const SESSION_ROUNDS: u64 = 68;
const SESSIONS: u64 = 1_000;

fn sessions_come_and_go(bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    records.put_all(&mut session(database)?, 0..100, 1)?;
    let (mut before, started, mut growth) = (Belongings::now()?, Instant::now(), Growth::default());
    for round in 0..SESSION_ROUNDS {
        (0..SESSIONS).try_for_each(|number| session_comes_and_goes(bench, database, number))?;
        growth.note()?;
        // A collector lets memory grow until there is enough to collect: by now it has.
        if round == 1 {
            before = Belongings::now()?;
        }
        if started.elapsed() > bench.spell() {
            bench.remark(&format!("{} sessions in {} s", (round + 1) * SESSIONS, started.elapsed().as_secs()));
            break;
        }
    }
    growth.expect_none(SESSIONS, "session")?;
    Belongings::settled(before, SPARE_KIB)
}

fn session_comes_and_goes(bench: &Bench, database: &Database, number: u64) -> Result<(), Finding> {
    let mut session = session(database)?;
    session.get(&bench.records().key(number % 100)).during("get")?;
    if bench.can(abi::CAN_SCAN) {
        let mut cursor = session.cursor().during("opening a cursor")?;
        cursor.seek(None, abi::FORWARD).during("seek")?;
    }
    Ok(())
}

fn reads_leave_nothing(_bench: &Bench, records: &Records, database: &Database) -> Result<(), Finding> {
    let mut session = session(database)?;
    records.put_all(&mut session, 0..2_000, 1)?;
    let mut before = Belongings::now()?;
    for round in 0..50 {
        records.expect_all(&mut session, 0..2_000, 1)?;
        records.expect_missing(&mut session, 1 << 30)?;
        if round == 25 {
            before = Belongings::now()?;
        }
    }
    Belongings::settled(before, SPARE_KIB)
}
