//! Keys and values of every size and of every byte.

use kvdyno_engine::{Answer, Session, abi};

use crate::bench::{Bench, has_text};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure};
use crate::records::{Records, expect, expect_missing};
use crate::scanning::shows;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "value-sizes",
        what: "Values of 0 bytes to 1 MiB, or to the declared limit, are read back whole, also over one another.",
        rule: "Keys and values may have any bytes, and any size within these limits",
        needs: Needs::STORE,
        run: CheckBody::Whole(value_sizes),
    },
    Check {
        name: "value-too-large",
        what: "A value above the declared limit is refused with an error, and leaves the one that was there.",
        rule: "beyond them they are refused with an error and a text, and nothing is changed.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(value_too_large),
    },
    Check {
        name: "key-sizes",
        what: "Keys from the least to the greatest declared size, or from 1 to 1024 bytes, are distinct.",
        rule: "Keys and values may have any bytes, and any size within these limits",
        needs: Needs::STORE,
        run: CheckBody::Whole(key_sizes),
    },
    Check {
        name: "key-too-long",
        what: "A key above the declared limit is refused with an error, and the session goes on.",
        rule: "beyond them they are refused with an error and a text, and nothing is changed.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(key_too_long),
    },
    Check {
        name: "key-too-short",
        what: "A key below the declared least size is refused with an error, and the session goes on.",
        rule: "beyond them they are refused with an error and a text, and nothing is changed.",
        needs: Needs::STORE,
        run: CheckBody::OnSession(key_too_short),
    },
    Check {
        name: "binary-keys",
        what: "Keys of any bytes, some the beginnings of others, are distinct; scans order them as memcmp does.",
        rule: "Keys and values may have any bytes, and any size within these limits",
        needs: Needs::STORE,
        run: CheckBody::OnSession(binary_keys),
    },
    Check {
        name: "binary-values",
        what: "Values may have any bytes, zeros among them.",
        rule: "Keys and values may have any bytes, and any size within these limits",
        needs: Needs::STORE,
        run: CheckBody::OnSession(binary_values),
    },
];

/// The largest value or key that a check tries where an engine declares no limit.
const LARGEST_VALUE: u64 = 1 << 20;
const LONGEST_KEY: u64 = 1024;
/// A limit above this is not tried: it would take the memory of a small machine.
const LARGEST_TRIED: u64 = 64 << 20;

fn bytes(size: u64, seed: u64) -> Vec<u8> {
    let mut stream = kvdyno_dataset::Stream::new(seed);
    (0..size).map(|_| stream.bits() as u8).collect()
}

fn up_to(sizes: &[u64], least: u64, declared: u64, otherwise: u64) -> Vec<u64> {
    let most = if declared == 0 { otherwise } else { declared.min(otherwise) };
    let mut sizes: Vec<u64> = sizes.iter().copied().filter(|size| (least..most).contains(size)).collect();
    sizes.push(most);
    sizes
}

fn value_sizes(bench: &Bench) -> Result<(), Finding> {
    let sizes = [0, 1, 2, 7, 8, 100, 255, 256, 511, 1000, 4000, 4095, 4096, 4097, 16384, 65535, 65536, 65537, 300_000];
    let sizes = up_to(&sizes, 0, bench.adapter().table().max_value_size, LARGEST_VALUE);
    let records = bench.records();
    let location = bench.location()?;
    location.created(|database| {
        let mut session = crate::bench::session(database)?;
        for (id, &size) in sizes.iter().enumerate() {
            session.put(&records.key(id as u64), &bytes(size, size)).during(&format!("put of {size} bytes"))?;
        }
        for (id, &size) in sizes.iter().enumerate() {
            expect(&mut session, &records.key(id as u64), &bytes(size, size))?;
        }
        // The same key goes from small to large and back.
        let key = records.key(1_000);
        for size in sizes.iter().chain(sizes.iter().rev()) {
            session.put(&key, &bytes(*size, 1)).during(&format!("put of {size} bytes"))?;
            expect(&mut session, &key, &bytes(*size, 1))?;
        }
        Ok(())
    })?;
    location.opened(|database| {
        let mut session = crate::bench::session(database)?;
        for (id, &size) in sizes.iter().enumerate() {
            expect(&mut session, &records.key(id as u64), &bytes(size, size)).during("after it was opened again")?;
        }
        Ok(())
    })
}

/// The put is refused with a text, and the session and the record beside it are unchanged.
fn refused(session: &mut Session<'_>, beside: &[u8], key: &[u8], value: &[u8], what: &str) -> Result<(), Finding> {
    session.put(beside, b"beside").during("put")?;
    match session.put(key, value) {
        Ok(()) => ensure!(false, "{what} was accepted"),
        Err(error) => ensure!(has_text(&error), "{what} was refused without a text"),
    }
    expect(session, beside, b"beside")?;
    session.put(beside, b"after").during("put after the refusal")?;
    expect(session, beside, b"after")
}

fn value_too_large(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let most = bench.adapter().table().max_value_size;
    if most == 0 || most > LARGEST_TRIED {
        return Err(Finding::NotApplicable("it declares no limit that could be tried".to_owned()));
    }
    let key = records.key(1);
    session.put(&key, b"small").during("put")?;
    refused(session, &records.key(2), &key, &bytes(most + 1, 1), &format!("a value of {} bytes", most + 1))?;
    expect(session, &key, b"small")
}

fn key_sizes(bench: &Bench) -> Result<(), Finding> {
    let table = bench.adapter().table();
    let tried = [0, 1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 100, 127, 128, 200, 255, 256, 500, 511, 512];
    let sizes = up_to(&tried, table.min_key_size, table.max_key_size, LONGEST_KEY);
    let key = |size: u64| vec![b'k'; size as usize];
    let location = bench.location()?;
    let all_there =
        |session: &mut Session<'_>| sizes.iter().try_for_each(|size| expect(session, &key(*size), &size.to_le_bytes()));
    location.created(|database| {
        let mut session = crate::bench::session(database)?;
        for size in &sizes {
            session.put(&key(*size), &size.to_le_bytes()).during(&format!("put of a key of {size} bytes"))?;
        }
        all_there(&mut session)
    })?;
    location.opened(|database| all_there(&mut crate::bench::session(database)?))
}

fn key_too_long(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let most = bench.adapter().table().max_key_size;
    if most == 0 || most > LARGEST_TRIED {
        return Err(Finding::NotApplicable("it declares no limit that could be tried".to_owned()));
    }
    let long = vec![b'k'; most as usize + 1];
    refused(session, &records.key(1), &long, b"value", &format!("a key of {} bytes", long.len()))?;
    // An error is right here, and so is a miss; a hit would be the value of the key's beginning.
    session.put(&long[1..], b"value").during("put of the longest key")?;
    ensure!(!matches!(session.get(&long), Ok(Answer::Hit(_))), "a get of {} bytes found a value", long.len());
    by_other_calls(bench, session, &long)?;
    expect(session, &long[1..], b"value")
}

/// No call finds anything under a key that is too long, or changes anything.
fn by_other_calls(bench: &Bench, session: &mut Session<'_>, long: &[u8]) -> Result<(), Finding> {
    let size = long.len();
    if bench.can(abi::CAN_CONTAIN) {
        ensure!(!matches!(session.contains(long), Ok(true)), "contains says that a key of {size} bytes is there");
    }
    if bench.can(abi::CAN_INSERT_IF_ABSENT) {
        let inserted = session.insert_if_absent(long, b"value");
        ensure!(inserted.is_err(), "insert_if_absent with a key of {size} bytes was answered with {inserted:?}");
    }
    if bench.can(abi::CAN_DELETE) {
        let deleted = session.delete(long);
        ensure!(!matches!(deleted, Ok(Answer::Hit(()))), "the deletion of a key of {size} bytes was answered with OK");
    }
    Ok(())
}

fn key_too_short(bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let least = bench.adapter().table().min_key_size;
    if least == 0 {
        return Err(Finding::NotApplicable("it declares no least size".to_owned()));
    }
    let short = vec![b'k'; least as usize - 1];
    refused(session, &records.key(1), &short, b"value", &format!("a key of {} bytes", short.len()))?;
    ensure!(!matches!(session.get(&short), Ok(Answer::Hit(_))), "a get of {} bytes found a value", short.len());
    expect(session, &records.key(1), b"after")
}

/// Keys that a comparison of signed bytes, of texts or of machine words would order or equate wrongly.
fn awkward_keys(bench: &Bench) -> Vec<Vec<u8>> {
    let table = bench.adapter().table();
    let mut keys: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte; 4]).collect();
    keys.extend((0..=255u8).map(|byte| vec![b'a', byte, b'z']));
    keys.extend((1..12).map(|size| vec![0; size]));
    keys.extend((1..12).map(|size| vec![0xff; size]));
    keys.extend((1..12).map(|size| vec![b'p'; size]));
    keys.extend(
        [&b"p\0"[..], b"p\0\0", b"p\0q", b"\0p", b"\xff\0", b"\0\xff", b"\x7f\x80", b"\x80\x7f"].map(<[u8]>::to_vec),
    );
    keys.extend([1u64, 255, 256, 1 << 31, 1 << 32, u64::MAX - 1].map(|word| word.to_le_bytes().to_vec()));
    keys.sort();
    keys.dedup();
    let most = if table.max_key_size == 0 { u64::MAX } else { table.max_key_size };
    keys.retain(|key| (table.min_key_size..=most).contains(&(key.len() as u64)));
    keys
}

fn binary_keys(bench: &Bench, _records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let keys = awkward_keys(bench);
    ensure!(!keys.is_empty(), "it declares sizes of keys that leave none of 1 to 11 bytes");
    for key in keys.iter().rev() {
        expect_missing(session, key)?;
        session.put(key, key).during("put")?;
    }
    keys.iter().try_for_each(|key| expect(session, key, key))?;
    if bench.can(abi::CAN_SCAN) {
        let mut cursor = session.cursor().during("opening a cursor")?;
        shows(&mut cursor, None, abi::FORWARD, keys.iter().map(|key| (key, key)), usize::MAX)?;
    }
    Ok(())
}

fn binary_values(_bench: &Bench, records: &Records, session: &mut Session<'_>) -> Result<(), Finding> {
    let values: Vec<Vec<u8>> = (0..=255u8)
        .map(|byte| vec![byte; 3])
        .chain([&b"\0"[..], b"a\0b", b"\0\0\0\0", b"end\0", b"\xff", b"NULL"].map(<[u8]>::to_vec))
        .collect();
    for (id, value) in values.iter().enumerate() {
        session.put(&records.key(id as u64), value).during("put")?;
    }
    values.iter().enumerate().try_for_each(|(id, value)| expect(session, &records.key(id as u64), value))
}
