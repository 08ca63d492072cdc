//! Pairs whose order is another than the printed one, and whether these repeats decide that.

use kvdyno_analysis::verdicts::{Comparison, PairedRatios, Terms, Unsure, Verdict, compare_family, paired_by};

use super::comparison::{ComparedFigure, PublishedEntry};
use crate::study::StudyCell;

/// A printed entry, and what was measured of it.
pub(super) struct MeasuredEntry<'a, 'c, 'r> {
    pub(super) entry: &'a PublishedEntry,
    pub(super) figure: f64,
    pub(super) cell: &'c StudyCell<'r>,
}

/// A pair that stands the other way round than in print.
pub(super) struct SwappedPair {
    /// `lmdb before bdb (decided)`.
    pub(super) text: String,
    /// Whether the repeats decide its order.
    pub(super) is_decided: bool,
}

/// Two entries, the first of them first here.
type SwappedEntries<'s, 'a, 'c, 'r> = (&'s MeasuredEntry<'a, 'c, 'r>, &'s MeasuredEntry<'a, 'c, 'r>);

/// Pairs that stand the other way round, the most distant in print first. Their verdicts hold together.
pub(super) fn swapped(
    entries: &[MeasuredEntry<'_, '_, '_>],
    figure: ComparedFigure,
    terms: &Terms,
) -> Vec<SwappedPair> {
    let mut pairs: Vec<SwappedEntries<'_, '_, '_, '_>> = Vec::new();
    for (index, a) in entries.iter().enumerate() {
        for b in &entries[index + 1..] {
            if (a.entry.published - b.entry.published) * (a.figure - b.figure) < 0.0 {
                let a_first = (a.figure > b.figure) == figure.more_is_better();
                pairs.push(if a_first { (a, b) } else { (b, a) });
            }
        }
    }
    let distance = |(a, b): &SwappedEntries<'_, '_, '_, '_>| (a.entry.published / b.entry.published).ln().abs();
    pairs.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    let ratios: Vec<PairedRatios> = pairs
        .iter()
        .map(|(a, b)| paired_by(a.cell, b.cell, |result| figure.of_trial(result).filter(|_| result.is_finished())))
        .collect();
    let pair = |((a, b), comparison): (&SwappedEntries<'_, '_, '_, '_>, Comparison)| {
        let is_decided = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
        SwappedPair { text: format!("{} before {} ({})", a.entry.label, b.entry.label, words(&comparison)), is_decided }
    };
    pairs.iter().zip(compare_family(&ratios, terms)).map(pair).collect()
}

/// The repeats' word on the order here.
fn words(comparison: &Comparison) -> String {
    match (comparison.verdict, comparison.unsure) {
        (Verdict::Faster | Verdict::Slower, _) => "decided".to_owned(),
        (Verdict::Same, _) => "the same here".to_owned(),
        (Verdict::CannotTell, Some(Unsure::TooWide | Unsure::TooManyPairs)) => "within noise".to_owned(),
        (Verdict::CannotTell, why) => why.map_or("within noise".to_owned(), |why| why.to_string()),
    }
}
