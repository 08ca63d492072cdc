//! Verdicts for programs.

use kvdyno_analysis::verdicts::{Comparison, Pairing, Unsure, Verdict, figure_names};
use kvdyno_results::CellKey;
use schemars::JsonSchema;
use serde::Serialize;

use super::groups::VerdictGroup;

/// The setups of one work in order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RankingSummary {
    /// Workload and clients.
    work: String,
    /// Labels of setups, the highest first.
    order: Vec<String>,
    /// The figure by which.
    #[schemars(schema_with = "figure_names")]
    figure: &'static str,
    /// The side whose throughput it is: `reads` or `writes`; null for CPU time.
    side: Option<String>,
    /// The verdict of each on the next.
    verdicts: Vec<Verdict>,
    /// Sentences for searched rates that no verdict tells.
    rates: Vec<String>,
    /// Labels of those of which nothing is said, with the reason.
    #[schemars(with = "Vec<(String, String)>")]
    left_out: Vec<(String, Unsure)>,
    /// The one that is faster than every other; null if there is none.
    highest: Option<String>,
    /// The procedure that adjusts the intervals of neighbours for their number.
    adjustment: &'static str,
}

/// A pair.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PairSummary {
    /// Workload and clients.
    work: String,
    /// The first's label.
    one: String,
    /// The second's.
    other: String,
    /// The first's identity.
    one_cell: CellKey,
    /// The second's.
    other_cell: CellKey,
    /// The side whose throughput is compared; null for CPU time.
    side: Option<String>,
    /// Whether they stand next to each other in the order.
    neighbours: bool,
    #[serde(flatten)]
    comparison: Comparison,
    /// Labels of those of the two that were not steady.
    not_steady: Vec<String>,
    /// The verdict for people.
    sentence: String,
}

const HOLM: &str = "Holm";

/// A ranking for each work.
pub(crate) fn rankings(groups: &[VerdictGroup<'_, '_>]) -> Vec<RankingSummary> {
    let ranking = |group: &VerdictGroup<'_, '_>| RankingSummary {
        work: group.title(),
        figure: group.figure().name(),
        side: group.side().map(|side| side.to_string()),
        order: group.verdicts.order.iter().map(|index| group.name(*index).to_owned()).collect(),
        verdicts: group.verdicts.neighbours().map(|pairing| pairing.comparison.verdict).collect(),
        rates: group.rates(),
        left_out: group.verdicts.left_out.iter().map(|(index, why)| (group.name(*index).to_owned(), *why)).collect(),
        highest: group.verdicts.winner().map(|index| group.name(index).to_owned()),
        adjustment: HOLM,
    };
    groups.iter().map(ranking).collect()
}

/// Each pair.
pub(crate) fn pairs(groups: &[VerdictGroup<'_, '_>]) -> Vec<PairSummary> {
    groups.iter().flat_map(of_group).collect()
}

fn of_group(group: &VerdictGroup<'_, '_>) -> Vec<PairSummary> {
    let summary = |pairing: &Pairing| {
        let Pairing { one, other, comparison } = pairing;
        let (one_name, other_name) = (group.name(*one), group.name(*other));
        PairSummary {
            work: group.title(),
            sentence: group.sentence(pairing),
            not_steady: group.unsteady(pairing).into_iter().map(str::to_owned).collect(),
            one: one_name.to_owned(),
            other: other_name.to_owned(),
            one_cell: group.cells[*one].key.clone(),
            other_cell: group.cells[*other].key.clone(),
            side: group.side().map(|side| side.to_string()),
            neighbours: group.verdicts.are_neighbours(pairing),
            comparison: comparison.clone(),
        }
    };
    group.verdicts.pairs.iter().map(summary).collect()
}
