//! The price of crossing a border between languages in a call to an engine, where its adapter measured that.

use kvdyno_results::{Setting, TrialResult};

use crate::grid::TableNote;
use crate::order::distinct;
use crate::study::StudyCell;

/// The topic of the statistics that tell it.
const TOPIC: &str = "crossing";

/// The price that one engine pays, and the border.
struct Crossing<'a> {
    engine: &'a str,
    border: String,
    ns: f64,
}

/// A note for each border that calls cross: `Each call crosses from C to Go and back, included in all figures: bbolt
/// 61 ns, pebble 60 ns.`
pub(super) fn crossings(cells: &[&StudyCell<'_>]) -> Vec<TableNote> {
    let engines = distinct(cells.iter().map(|cell| cell.label.engine.as_str()));
    let paid: Vec<Crossing<'_>> = engines.into_iter().filter_map(|engine| of_engine(engine, cells)).collect();
    let note = |border: &str| {
        let here = paid.iter().filter(|crossing| crossing.border == border);
        let prices: Vec<String> = here.map(|crossing| format!("{} {:.0} ns", crossing.engine, crossing.ns)).collect();
        let words = format!("Each call crosses {border} and back, included in all figures: {}.", prices.join(", "));
        TableNote::Words(words)
    };
    distinct(paid.iter().map(|crossing| crossing.border.as_str())).into_iter().map(note).collect()
}

/// The median of the engine's trials: each measures anew.
fn of_engine<'a>(engine: &'a str, cells: &[&StudyCell<'_>]) -> Option<Crossing<'a>> {
    let results =
        cells.iter().filter(|cell| cell.label.engine == engine).flat_map(|cell| cell.finished.iter().copied());
    let (mut all, mut borders) = (Vec::new(), Vec::new());
    for result in results {
        all.extend(said(result, "ns_per_call").and_then(|ns| ns.parse().ok()).filter(|ns: &f64| *ns >= 0.0));
        borders.extend(said(result, "border"));
    }
    all.sort_unstable_by(f64::total_cmp);
    let ns = *all.get(all.len() / 2)?;
    let border = borders.first().map_or("a border between languages", |border| *border);
    let printable = border.chars().filter(|c| !c.is_control()).collect();
    Some(Crossing { engine, border: printable, ns })
}

fn said<'a>(result: &'a TrialResult, name: &str) -> Option<&'a str> {
    let is_it = |entry: &&Setting| entry.topic == TOPIC && entry.name == name;
    result.statistics.iter().find(is_it).map(|entry| entry.value.as_str())
}
