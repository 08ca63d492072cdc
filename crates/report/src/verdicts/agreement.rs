//! A verdict never contradicts its table: marks, order, sentences and rates say the same.

use kvdyno_analysis::verdicts::{Aspect, Pairing, RivalRank, Verdict};
use proptest::prelude::*;

use super::groups::{VerdictGroup, groups};
use super::undecided::made_up;
use crate::grid::{Emphasis, GridCell};
use crate::study::{Contents, Study};
use crate::tables::matrices;

/// The verdict on two cells, the first over the second.
fn verdict(group: &VerdictGroup<'_, '_>, one: usize, other: usize) -> Option<Verdict> {
    let of_both = |pair: &Pairing| match (pair.one, pair.other) {
        both if both == (one, other) => Some(pair.comparison.verdict),
        both if both == (other, one) => Some(pair.comparison.verdict.reversed()),
        _ => None,
    };
    group.verdicts.pairs.iter().find_map(of_both)
}

fn emphases(cells: &[GridCell]) -> Vec<Emphasis> {
    cells.iter().map(|cell| cell.emphasis).collect()
}

/// The emphases of the tables of all workloads.
fn of_tables(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>]) -> Vec<Emphasis> {
    let tables = study.workloads().into_iter().flat_map(|workload| matrices(study, groups, workload));
    tables.flat_map(|table| table.rows.into_iter().flat_map(|row| emphases(&row.cells))).collect()
}

proptest! {
    #[test]
    fn verdicts_agree_with_each_other_and_with_their_table(made_up in made_up(), ends_by_results in any::<bool>()) {
        let experiment = if ends_by_results { made_up.experiment() } else { made_up.of_set_length() };
        let contents = Contents::made_up(experiment, made_up.results());
        let study = Study::of(&contents).unwrap();
        let groups = groups(&study);
        for group in &groups {
            let verdicts = &group.verdicts;
            let Aspect::Throughput(side) = group.compared else { continue };
            let rate = |index: usize| group.cells[index].rate(side).map(|rate| rate.value);
            for pair in &verdicts.pairs {
                let (one, other) = (rate(pair.one), rate(pair.other));
                match pair.comparison.verdict {
                    Verdict::Faster => prop_assert!(one > other, "{one:?} {other:?} {:?}", pair.comparison),
                    Verdict::Slower => prop_assert!(one < other, "{one:?} {other:?} {:?}", pair.comparison),
                    Verdict::Same => {
                        let ratio = one.zip(other).map(|(one, other): (f64, f64)| (one / other).max(other / one));
                        prop_assert!(ratio.unwrap() <= 1.0 + pair.comparison.detect + 1e-9, "{one:?} {other:?}");
                        // The one that is named as a little faster.
                        if let Some(named) = pair.comparison.ratio.filter(|_| pair.comparison.differs) {
                            prop_assert!(if named > 1.0 { one > other } else { one < other }, "{one:?} {other:?}");
                        }
                    }
                    Verdict::CannotTell => {}
                }
                // The interval that is printed is that of the verdict.
                let (low, high) = pair.comparison.interval().unwrap_or((0.0, f64::INFINITY));
                match pair.comparison.verdict {
                    Verdict::Faster => prop_assert!(low > 1.0),
                    Verdict::Slower => prop_assert!(high < 1.0),
                    Verdict::Same => prop_assert!(low > 0.5 && high < 2.0),
                    Verdict::CannotTell => {}
                }
            }
            for index in 0..group.cells.len() {
                let Some(first) = verdicts.order.first().copied() else { continue };
                let of_first = verdict(group, first, index);
                match verdicts.rank_of(index) {
                    Some(RivalRank::Highest) => {
                        prop_assert_eq!((index, verdicts.winner()), (first, Some(first)));
                        let others = verdicts.order.iter().filter(|other| **other != first);
                        for other in others {
                            prop_assert_eq!(verdict(group, first, *other), Some(Verdict::Faster));
                        }
                    }
                    Some(RivalRank::Lower) => prop_assert_eq!(of_first, Some(Verdict::Faster)),
                    Some(RivalRank::Same) if index != first => prop_assert_eq!(of_first, Some(Verdict::Same)),
                    Some(RivalRank::Untold) if index != first && verdicts.order.contains(&index) => {
                        prop_assert!(matches!(of_first, Some(Verdict::CannotTell | Verdict::Slower)));
                    }
                    Some(RivalRank::Same | RivalRank::Untold) => prop_assert_eq!(verdicts.winner(), None),
                    None => {}
                }
            }
        }
        let stars = of_tables(&study, &groups).iter().filter(|emphasis| **emphasis == Emphasis::Best).count();
        let winners = groups.iter().filter(|group| group.side().is_some() && group.verdicts.winner().is_some());
        prop_assert_eq!(stars, winners.count());
    }
}
