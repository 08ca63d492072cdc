//! The highest rates that searches found, where no verdict tells them.

use kvdyno_analysis::Estimate;
use kvdyno_model::text::{counted, plus_minus};
use kvdyno_results::{Phase, RateSearch};

use super::groups::VerdictGroup;
use crate::figures::Unit;
use crate::study::{Study, StudyCell};
use crate::words::threads;

/// A sentence for each searched cell that nothing is compared with, or that kept its promise at no rate.
pub(crate) fn searched(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>]) -> Vec<String> {
    let sentence = |cell: &StudyCell<'_>| {
        let is_compared = groups.iter().any(|group| group.index_of(cell).is_some());
        kept_at_none(cell).or_else(|| if is_compared { None } else { kept(cell) })
    };
    study.cells(Phase::Run).into_iter().filter_map(sentence).collect()
}

/// `readrandom, 1 reader: lmdb keeps p99=1ms at no rate from 1,000 operations a second on, 3 repeats; a longer
/// --duration tries lower ones`; absent if some search of the cell found a rate, or there was none.
pub(crate) fn kept_at_none(cell: &StudyCell<'_>) -> Option<String> {
    let searches = searches(cell);
    let first = searches.first().filter(|_| searches.iter().all(|search| search.highest_per_s.is_none()))?;
    let least = Unit::PerSecond.print(first.least_per_s);
    Some(format!(
        "{} keeps {} at no rate from {least} operations a second on, {}; a longer --duration tries lower ones",
        of(cell),
        first.promise,
        counted(searches.len(), "repeat"),
    ))
}

/// `readrandom, 1 reader: lmdb keeps p99=1ms up to 868,736 operations a second, ±8.4%, 12 repeats`.
fn kept(cell: &StudyCell<'_>) -> Option<String> {
    let searches = searches(cell);
    let rates: Vec<f64> = searches.iter().filter_map(|search| search.highest_per_s).collect();
    let highest = Estimate::of_rates(&rates)?;
    let width = highest.relative().map(|relative| format!(", {}", plus_minus(relative))).unwrap_or_default();
    let repeats = match searches.len() - rates.len() {
        0 => counted(rates.len(), "repeat"),
        none => format!("{}, and at no rate in {none} others", counted(rates.len(), "repeat")),
    };
    let (promise, highest) = (searches.first()?.promise, Unit::PerSecond.print(highest.value));
    Some(format!("{} keeps {promise} up to {highest} operations a second{width}, {repeats}", of(cell)))
}

fn searches<'a>(cell: &StudyCell<'a>) -> Vec<&'a RateSearch> {
    cell.finished.iter().filter_map(|result| result.search.as_ref()).collect()
}

/// `readrandom, 1 reader: lmdb`.
fn of(cell: &StudyCell<'_>) -> String {
    let clients = threads(cell.key.readers, cell.key.writers);
    format!("{}, {clients}: {}", cell.label.workload, cell.label.engine)
}
