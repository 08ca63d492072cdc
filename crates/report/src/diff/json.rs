//! The form that actions take which track benchmarks: entries of which a greater value is better.

use std::collections::HashSet;

use serde::Serialize;

use super::Diff;
use super::cells::{DiffCell, DiffSide};
use super::text::said;

/// An entry.
#[derive(Serialize)]
struct BenchmarkEntry {
    name: String,
    unit: &'static str,
    /// Null if nothing was measured.
    value: Option<f64>,
    /// Half of the interval, or its ends; empty if there is none.
    range: String,
    extra: String,
}

/// The figure before, the figure after and their ratio, of each cell. Ratios can be compared between machines.
pub(super) fn render(diff: &Diff) -> String {
    let mut entries: Vec<BenchmarkEntry> = diff.cells.iter().flat_map(entries).collect();
    // The first of several machines is in each pair.
    let mut named = HashSet::new();
    entries.retain(|entry| named.insert(entry.name.clone()));
    // Texts and numbers can always be written; what is not finite is null.
    serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n"
}

fn entries(cell: &DiffCell) -> [BenchmarkEntry; 3] {
    let figure = |side: &DiffSide| BenchmarkEntry {
        name: format!("{}, {}: {}", cell.work, cell.figure, side.name),
        unit: cell.unit,
        value: side.figure,
        range: side.half_width.map_or(String::new(), |half| format!("± {:.1} %", 100.0 * half)),
        extra: side.described(),
    };
    let ratio = BenchmarkEntry {
        name: format!("{}, {}: {} over {}", cell.work, cell.figure, cell.after.name, cell.before.name),
        unit: "ratio",
        value: cell.comparison.ratio,
        range: cell.comparison.interval().map_or(String::new(), |(low, high)| format!("{low:.4} to {high:.4}")),
        extra: format!("{}: {}", cell.verdict(), said(cell)),
    };
    [figure(&cell.before), figure(&cell.after), ratio]
}
