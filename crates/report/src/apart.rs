//! Tells cells apart that are alike in engine, workload and threads and differ in something else, such as the size of
//! values: what differs becomes part of the workload's or the engine's name.

use kvdyno_analysis::{Cell, CellKey};
use kvdyno_results::{ClientKind, TrialResult};

use crate::numbers::{bytes, grouped};
use crate::study::distinct;

/// What can differ, in words.
type Word = fn(&TrialResult) -> String;

const WORKLOAD: [Word; 13] = [
    |r| format!("{} records", grouped(r.workload.records as f64)),
    |r| format!("{} + {} bytes", r.workload.key_size, r.workload.value_size),
    |r| format!("keys in {}", r.workload.keys()),
    |r| format!("batches of {}", grouped(r.workload.batch as f64)),
    |r| format!("{} reads a transaction", r.workload.reads_per_transaction),
    |r| {
        r.workload
            .seek_nexts
            .map_or(String::new(), |seek_nexts| format!("{} steps a range", grouped(seek_nexts as f64)))
    },
    |r| {
        r.workload
            .seek_within
            .map_or(String::new(), |seek_within| format!("seek_within {}", grouped(seek_within as f64)))
    },
    |r| r.workload.keys_per_multiget.map_or(String::new(), |reads| format!("{} reads a batch", grouped(reads as f64))),
    |r| format!("durability {}", r.workload.durability),
    |r| format!("cache {}", bytes(r.workload.cache_bytes as f64)),
    |r| format!("write buffer {}", bytes(r.workload.write_buffer_bytes as f64)),
    |r| format!("compression {}", r.workload.compression),
    |r| r.workload.write_rate.map_or("writes not limited".to_owned(), |rate| format!("{} writes/s", grouped(rate))),
];

const ENGINE: Word = |r| r.engine.version.clone();

/// Gives every cell a key of its own.
pub(crate) fn tell_apart(cells: &mut [Cell<'_>]) {
    name_variants(cells);
    name_processes(cells);
    for word in WORKLOAD {
        name_more(cells, word, |key| &mut key.workload);
    }
    name_more(cells, ENGINE, |key| &mut key.engine);
    number(cells);
    name_tainted(cells);
}

/// A row whose settings promise less durability than they seem to is marked wherever it stands; the notes say why.
fn name_tainted(cells: &mut [Cell<'_>]) {
    let is_tainted = |cell: &Cell<'_>| first(cell).is_some_and(|result| result.taints().next().is_some());
    for cell in cells.iter_mut().filter(|cell| is_tainted(cell)) {
        cell.key.engine.push_str(" TAINTED");
    }
}

/// What a variant's trials do is told with its name.
fn name_variants(cells: &mut [Cell<'_>]) {
    for cell in cells.iter_mut().filter(|cell| !cell.key.variant.is_empty()) {
        cell.key.workload = format!("{}, {}", cell.key.workload, cell.key.variant);
    }
}

/// Where some readers and writers were threads and others processes, it is told with the engines of the latter.
fn name_processes(cells: &mut [Cell<'_>]) {
    let are = |cell: &Cell<'_>, clients| cell.key.clients == clients;
    if !cells.iter().any(|cell| are(cell, ClientKind::Threads)) {
        return;
    }
    for cell in cells.iter_mut().filter(|cell| are(cell, ClientKind::Processes)) {
        cell.key.engine.push_str(", processes");
    }
}

/// Where cells of one key differ in a word, it is told of all cells with the name that it belongs to.
fn name_more(cells: &mut [Cell<'_>], word: Word, name: fn(&mut CellKey) -> &mut String) {
    let words: Vec<String> = cells.iter().map(|cell| first(cell).map(word).unwrap_or_default()).collect();
    let mut keys: Vec<CellKey> = cells.iter().map(|cell| cell.key.clone()).collect();
    let differs = |place: usize| (0..place).any(|other| keys[other] == keys[place] && words[other] != words[place]);
    let places: Vec<usize> = (0..keys.len()).filter(|place| differs(*place)).collect();
    let names = distinct(places.into_iter().map(|place| (keys[place].phase, name(&mut keys[place]).clone())));
    for (cell, word) in cells.iter_mut().zip(words).filter(|(_, word)| !word.is_empty()) {
        let phase = cell.key.phase;
        let own = name(&mut cell.key);
        if names.iter().any(|(other, name)| *other == phase && name == own) {
            own.push_str(", ");
            own.push_str(&word);
        }
    }
}

/// The last resort: the engine was set up in another way that no word tells.
fn number(cells: &mut [Cell<'_>]) {
    let keys: Vec<CellKey> = cells.iter().map(|cell| cell.key.clone()).collect();
    for place in 0..keys.len() {
        let before = keys[..place].iter().filter(|key| **key == keys[place]).count();
        if before > 0 {
            cells[place].key.engine.push_str(&format!(" #{}", before + 1));
        }
    }
}

fn first<'a>(cell: &Cell<'a>) -> Option<&'a TrialResult> {
    cell.finished.first().or(cell.failed.first()).copied()
}
