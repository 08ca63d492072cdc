//! The highest rates that searches found, where no pair tells them.

use kvdyno_model::LatencyPromise;
use kvdyno_model::text::{counted, plus_minus};
use kvdyno_results::{RateSearch, Side, broken_parts};

use super::groups::VerdictGroup;
use super::predicate::Predicate;
use crate::figures::Unit;
use crate::study::StudyCell;

impl VerdictGroup<'_, '_> {
    /// Whether it is by searched rates.
    pub(crate) fn is_searched(&self) -> bool {
        self.promise().is_some()
    }

    /// A sentence for the rate of a setup that has no other beside it, and for each that kept its promise at no rate.
    pub(crate) fn rates(&self) -> Vec<String> {
        let Some((promise, side)) = self.promise().zip(self.side()) else { return Vec::new() };
        let of_lone = self.lone().and_then(|alone| {
            kept(self.cells[alone], (promise, side)).map(|kept| format!("{} {kept}", self.marked_name(alone)))
        });
        let at_none = |index| Some(format!("{} {}", self.name(index), kept_at_none(self.cells[index])?));
        of_lone.into_iter().chain((0..self.cells.len()).filter_map(at_none)).collect()
    }

    /// Whether a sentence of its [rates](Self::rates) has an interval.
    pub(super) fn has_width(&self) -> bool {
        let rate = |alone: usize| self.cells[alone].rate(self.side().filter(|_| self.is_searched())?);
        self.lone().and_then(rate).is_some_and(|rate| rate.relative().is_some())
    }

    /// The only setup that has a figure; absent if there are more.
    fn lone(&self) -> Option<usize> {
        match self.verdicts.order[..] {
            [alone] => Some(alone),
            _ => None,
        }
    }

    /// Whether each search of a setup found its promise kept at no rate.
    pub(super) fn is_kept_at_none(&self, index: usize) -> bool {
        self.is_searched() && kept_at_none(self.cells[index]).is_some()
    }

    fn promise(&self) -> Option<LatencyPromise> {
        match self.predicate(self.compared) {
            Predicate::Keep(promise) => Some(promise),
            Predicate::Verb(_) => None,
        }
    }
}

/// `keeps p99=1ms up to 868,736 operations a second, ±8.4%, 12 repeats; it did not in 2 of 12 measured parts`; absent
/// if no search found a rate.
fn kept(cell: &StudyCell<'_>, (promise, side): (LatencyPromise, Side)) -> Option<String> {
    let highest = cell.rate(side)?;
    let width = highest.relative().map(|relative| format!(", {}", plus_minus(relative))).unwrap_or_default();
    let none = searches(cell).filter(|search| search.highest_per_s.is_none()).count();
    let at_none = if none == 0 { String::new() } else { format!(", and at no rate in {}", counted(none, "other")) };
    let (rate, repeats) = (Unit::PerSecond.print(highest.value), counted(highest.n, "repeat"));
    let again = match broken_parts(searches(cell)) {
        (0, _) => String::new(),
        (broken, all) => format!("; it did not in {broken} of {}", counted(all, "measured part")),
    };
    Some(format!("keeps {promise} up to {rate} operations a second{width}, {repeats}{at_none}{again}"))
}

/// `keeps p99=1ms at no rate from 1,000 operations a second on, 3 repeats; a longer duration tries lower ones`; absent
/// if some search of the cell found a rate, or there was none.
fn kept_at_none(cell: &StudyCell<'_>) -> Option<String> {
    let first = searches(cell).next()?;
    let least = Unit::PerSecond.print(first.least_per_s);
    searches(cell).all(|search| search.highest_per_s.is_none()).then(|| {
        format!(
            "keeps {} at no rate from {least} operations a second on, {}; a longer duration tries lower ones",
            first.promise,
            counted(searches(cell).count(), "repeat"),
        )
    })
}

fn searches<'a>(cell: &StudyCell<'a>) -> impl Iterator<Item = &'a RateSearch> {
    cell.finished.iter().filter_map(|result| result.search.as_ref())
}

#[cfg(test)]
mod tests {
    use kvdyno_experiment::Experiment;
    use kvdyno_results::{Latency, RateProbe, TrialKey, TrialResult};

    use super::super::groups::groups;
    use super::super::paragraphs::verdicts;
    use super::*;
    use crate::study::{Contents, Study};
    use crate::testing::{only_trial, result};

    /// A search for each of these rates; 0 is that the promise was kept at none.
    fn searches_of(engine: &str, rates: &[f64]) -> Vec<TrialResult> {
        let promise: LatencyPromise = "p99=1ms".parse().unwrap();
        let searched = |(repeat, rate): (u32, &f64)| {
            let key = TrialKey { number: repeat, repeat, ..only_trial(engine, "readrandom") };
            let mut result = result(key, if *rate > 0.0 { *rate } else { 1000.0 });
            result.workload.find_max_rate = Some(promise);
            let (capacity_per_s, least_per_s) = (1e6, 1000.0);
            let highest_per_s = Some(*rate).filter(|rate| *rate > 0.0);
            result.search = Some(RateSearch {
                promise,
                capacity_per_s,
                least_per_s,
                highest_per_s,
                probes: Vec::new(),
                measured: None,
            });
            result
        };
        (1..).zip(rates).map(searched).collect()
    }

    /// The rates that a report of these has, and the lines of its orders.
    fn said(repeat: &str, engines: &[(&str, &[f64])]) -> Vec<(Vec<String>, String)> {
        of_study(repeat, engines, |study| {
            groups(study).iter().map(|group| (group.rates(), group.order_line())).collect()
        })
    }

    fn of_study<T>(repeat: &str, engines: &[(&str, &[f64])], of: impl FnOnce(&Study<'_>) -> T) -> T {
        let names: Vec<&str> = engines.iter().map(|(engine, _)| *engine).collect();
        let experiment = Experiment::parse(&format!("engines = {names:?}\n[lab]\nrepeat = {repeat}\n")).unwrap();
        let results = engines.iter().flat_map(|(engine, rates)| searches_of(engine, rates)).collect();
        let contents = Contents::made_up(experiment, results);
        of(&Study::of(&contents).unwrap())
    }

    const NEAR: [f64; 3] = [900_000.0, 902_000.0, 898_000.0];

    #[test]
    fn a_lone_setup_has_its_rate_and_the_interval_by_which_its_repeats_ended() {
        let of = |repeat| said(repeat, &[("lmdb", &NEAR)]).remove(0);
        let (rates, order) = of("3");
        assert_eq!(rates, ["lmdb keeps p99=1ms up to 899,999 operations a second, ±0.6%, 3 repeats"]);
        assert_eq!(order, "");
        // Student's t of two degrees for 0.00597 on both sides is 12.9, for 0.05 it is 4.30.
        assert_eq!(of("\"auto\"").0, ["lmdb keeps p99=1ms up to 899,999 operations a second, ±1.7%, 3 repeats"]);
    }

    #[test]
    fn repeats_without_a_rate_are_told() {
        let (rates, _) = said("5", &[("lmdb", &[NEAR.as_slice(), &[0.0]].concat())]).remove(0);
        let expected =
            "lmdb keeps p99=1ms up to 899,999 operations a second, ±0.6%, 3 repeats, and at no rate in 1 other";
        assert_eq!(rates, [expected]);
        let (rates, order) = said("2", &[("lmdb", &[0.0, 0.0]), ("bdb", &NEAR)]).remove(0);
        let (none, tried) = rates[1].split_once("; ").unwrap();
        assert_eq!(none, "lmdb keeps p99=1ms at no rate from 1,000 operations a second on, 2 repeats");
        assert_eq!((rates.len(), tried), (2, "a longer duration tries lower ones"));
        assert!(rates[0].starts_with("bdb keeps p99=1ms up to ") && order.is_empty(), "{rates:?}");
    }

    /// The measured parts of LMDB, at rates that were kept, keep the promise again or do not.
    #[test]
    fn measured_parts_that_break_the_promise_are_told() {
        let sentences = |are_kept: [Option<bool>; 3]| {
            let mut results = [searches_of("lmdb", &NEAR), searches_of("bdb", &[100.0, 101.0, 99.0])].concat();
            for (result, is_kept) in results.iter_mut().zip(are_kept) {
                let search = result.search.as_mut().unwrap();
                let (seconds, latency) = (1.0, Latency::default());
                search.measured = is_kept.map(|kept| {
                    let per_s = search.highest_per_s.unwrap();
                    RateProbe { per_s, reached_per_s: per_s, seconds, latency, behind_s: 0.0, kept }
                });
            }
            let experiment = Experiment::parse("engines = [\"lmdb\", \"bdb\"]\n[lab]\nrepeat = 3\n").unwrap();
            let contents = Contents::made_up(experiment, results);
            let study = Study::of(&contents).unwrap();
            let section = verdicts(&study, &groups(&study)).unwrap();
            section.paragraphs().flat_map(|paragraph| paragraph.lines.clone()).collect::<Vec<_>>().join("\n")
        };
        let told = |are_kept| sentences(are_kept).contains("; lmdb did not keep p99=1ms in 2 of 3 measured parts");
        assert!(told([Some(true), Some(false), Some(false)]));
        assert!(!told([Some(true); 3]) && !told([None; 3]));
    }

    #[test]
    fn signs_are_explained_where_they_stand() {
        let explained = |engines: &[(&str, &[f64])]| {
            let section = of_study("3", engines, |study| verdicts(study, &groups(study)).unwrap());
            let notes = section.paragraphs().filter(|paragraph| paragraph.is_note);
            let notes: Vec<String> = notes.map(|note| note.lines.concat()).collect();
            assert!(notes.iter().all(|note| !note.is_empty()));
            let note = notes.concat();
            (note.contains('±'), note.contains("In brackets"))
        };
        let slow: [f64; 3] = [100.0, 101.0, 99.0];
        assert_eq!(explained(&[("lmdb", &NEAR)]), (true, false));
        assert_eq!(explained(&[("lmdb", &[0.0])]), (false, false));
        assert_eq!(explained(&[("lmdb", &NEAR), ("bdb", &slow)]), (false, true));
        assert_eq!(explained(&[("lmdb", &NEAR[..1]), ("bdb", &slow[..1])]), (false, false));
    }

    #[test]
    fn the_line_of_a_group_that_keeps_its_promise_at_no_rate_says_so() {
        let line = of_study("2", &[("lmdb", &[0.0, 0.0]), ("bdb", &[0.0, 0.0])], |study| groups(study)[0].line());
        assert!(line.starts_with("bdb keeps p99=1ms at no rate") && line.contains("; lmdb keeps"), "{line}");
    }

    #[test]
    fn a_pair_tells_the_rates_of_both() {
        let told = said("3", &[("lmdb", &NEAR), ("bdb", &[100.0, 101.0, 99.0])]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, [""; 0]);
        assert!(told[0].1.starts_with("lmdb ") && told[0].1.ends_with(" bdb"), "{told:?}");
    }
}
