//! Scans that are held against the records that they should show.

use std::collections::BTreeMap;

use kvdyno_engine::{Answer, Cursor, Record, abi};

use crate::finding::{During, Finding, ensure, wrong};
use crate::progress::answered;
use crate::records::show;

/// Takes a step in a direction.
pub(crate) fn step<'c>(cursor: &'c mut Cursor<'_, '_>, direction: u32) -> Result<Answer<Record<'c>>, Finding> {
    answered();
    if direction == abi::FORWARD { cursor.next() } else { cursor.previous() }.during("a step of a cursor")
}

/// The records that must be there.
pub(crate) type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// The records from `key` on in a direction.
pub(crate) fn from<'m>(model: &'m Model, key: Option<&[u8]>, direction: u32) -> Vec<(&'m Vec<u8>, &'m Vec<u8>)> {
    let is_forward = direction == abi::FORWARD;
    let is_ahead = |at: &[u8]| key.is_none_or(|key| if is_forward { at >= key } else { at <= key });
    let ahead = model.iter().filter(|(at, _)| is_ahead(at));
    if is_forward { ahead.collect() } else { ahead.rev().collect() }
}

/// Scans from `key` on in a direction: `expected` comes, and then nothing. After the first `most` records it ends.
pub(crate) fn shows<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    cursor: &mut Cursor<'_, '_>,
    key: Option<&[u8]>,
    direction: u32,
    expected: impl IntoIterator<Item = (K, V)>,
    most: usize,
) -> Result<(), Finding> {
    let (mut answer, mut count) = (cursor.seek(key, direction).during("a seek")?, 0);
    for (next, value) in expected.into_iter().take(most) {
        let (next, value) = (next.as_ref(), value.as_ref());
        let Answer::Hit((shown, full)) = answer else {
            return Err(wrong(format!("a scan ends before {}", show(next))));
        };
        ensure!(shown == next, "a scan shows {} instead of {}", show(shown), show(next));
        ensure!(full == value, "with key {} comes {} instead of {}", show(next), show(full), show(value));
        count += 1;
        answer = step(cursor, direction)?;
    }
    match answer {
        Answer::Hit((shown, _)) if count < most => Err(wrong(format!("a scan goes on to {}", show(shown)))),
        // After a seek that found nothing a cursor stands nowhere.
        Answer::Miss if count > 0 => {
            ensure!(matches!(step(cursor, direction)?, Answer::Miss), "after its end a scan goes on");
            Ok(())
        }
        _ => Ok(()),
    }
}
