//! What a call into an engine pays to cross a border between languages, where its adapter measured that.

use kvdyno_analysis::Cell;
use kvdyno_results::{Setting, TrialResult};

use crate::study::distinct;

/// The topic of the statistics that tell it.
const TOPIC: &str = "crossing";

/// What one engine pays, and at which border.
struct Crossing<'a> {
    engine: &'a str,
    border: String,
    ns: f64,
}

/// A sentence for each border that calls cross: `Each call crosses from C to Go and back, included in all figures: bbolt
/// 61 ns, pebble 60 ns.`
pub(super) fn crossings(cells: &[&Cell<'_>]) -> Vec<String> {
    let engines = distinct(cells.iter().map(|cell| cell.key.engine.as_str()));
    let paid: Vec<Crossing<'_>> = engines.into_iter().filter_map(|engine| of_engine(engine, cells)).collect();
    let borders = distinct(paid.iter().map(|crossing| crossing.border.as_str()));
    borders.into_iter().map(|border| sentence(border, &paid)).collect()
}

fn sentence(border: &str, paid: &[Crossing<'_>]) -> String {
    let here = paid.iter().filter(|crossing| crossing.border == border);
    let prices: Vec<String> = here.map(|crossing| format!("{} {:.0} ns", crossing.engine, crossing.ns)).collect();
    format!("Each call crosses {border} and back, included in all figures: {}.", prices.join(", "))
}

/// The median of the engine's trials: each measures anew.
fn of_engine<'a>(engine: &'a str, cells: &[&Cell<'_>]) -> Option<Crossing<'a>> {
    let results = cells.iter().filter(|cell| cell.key.engine == engine).flat_map(|cell| cell.finished.iter().copied());
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
