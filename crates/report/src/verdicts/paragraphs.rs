//! The section of verdicts: for each group its order in one line, and its pairs in sentences.

use kvdyno_analysis::verdicts::{Pairing, Question, Terms, Unsure, VerdictFigure};

use super::groups::{RESERVATION, VerdictGroup, terms};
use super::sentences::per_cent;
use crate::document::{Block, Paragraph, Section};
use crate::order::distinct;
use crate::study::Study;

/// The most sentences that are shown. With more, a terminal shows only the order of each group; the page shows for each
/// group the sentences about its ends, and has the others folded.
const MOST_SENTENCES: usize = 40;

/// The section; none if no two setups did the same work.
pub(crate) fn verdicts<'a>(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>]) -> Option<Section<'a>> {
    let terms = terms(study);
    if groups.is_empty() {
        return None;
    }
    let once = groups.iter().all(is_of_one_repeat);
    let sentences: usize = groups.iter().map(|group| group.verdicts.neighbours().count()).sum();
    let mut blocks = match (once, sentences > MOST_SENTENCES) {
        (true, _) => vec![Block::Paragraph(Paragraph::of_lines(String::new(), vec![ONE_REPEAT.to_owned()]))],
        (_, false) => groups.iter().map(|group| Block::Paragraph(paragraph(group))).collect(),
        (_, true) => vec![Block::TextParagraph(orders(groups))],
    };
    if sentences > MOST_SENTENCES && !once {
        blocks.extend(groups.iter().map(|group| Block::PageParagraph(ends(group))));
        blocks.extend(groups.iter().map(|group| Block::FoldedParagraph(paragraph(group))));
    }
    if !once {
        let question = study.experiment.lab.question;
        let legend = legend(groups, (question, &terms), sentences > MOST_SENTENCES);
        blocks.extend((!legend.is_empty()).then(|| Block::Paragraph(Paragraph::note(legend))));
    }
    Some(Section { names_tables: false, ..Section::new("verdicts", "Verdicts", blocks) })
}

/// The meaning of a duet's figure.
const CPU_TIME: &str = "CPU time per operation is what two used that worked at once on the same processors, with the \
                        engine's own threads. It is not throughput, which is that of each by itself.";

const ONE_REPEAT: &str = "Cannot tell: one repeat says nothing of how far another would come out. Three repeats and \
                          more give verdicts.";

fn is_of_one_repeat(group: &VerdictGroup<'_, '_>) -> bool {
    let mut neighbours = group.verdicts.neighbours();
    let are_of_one = neighbours.all(|pairing| pairing.comparison.repeats <= 1);
    are_of_one && group.verdicts.left_out.is_empty() && group.rates().is_empty()
}

/// One sentence for two setups; for more, their order and a sentence for each pair of neighbours.
fn paragraph(group: &VerdictGroup<'_, '_>) -> Paragraph {
    let pairs: Vec<&Pairing> = group.verdicts.neighbours().collect();
    let lead = if pairs.len() > 1 { group.order_line() } else { String::new() };
    Paragraph { lead, ..sentences(group, &pairs) }
}

/// The distance of the highest from the next and from the last.
fn ends(group: &VerdictGroup<'_, '_>) -> Paragraph {
    let verdicts = &group.verdicts;
    let ends = verdicts.order.first().zip(verdicts.order.last());
    let of_ends = |pairing: &&Pairing| Some((&pairing.one, &pairing.other)) == ends;
    let far = verdicts.pairs.iter().find(of_ends).filter(|_| verdicts.order.len() > 2);
    let pairs: Vec<&Pairing> = verdicts.neighbours().take(1).chain(far).collect();
    sentences(group, &pairs)
}

/// A sentence for each pair, and what is left out. What speaks against a setup's figures is in the sentence of a single
/// pair; of several pairs it stands once, below them.
fn sentences(group: &VerdictGroup<'_, '_>, pairs: &[&Pairing]) -> Paragraph {
    let setups = match pairs {
        [] => group.verdicts.order.clone(),
        pairs => distinct(pairs.iter().flat_map(|pair| [pair.one, pair.other])),
    };
    let (said, reservations): (Vec<String>, Vec<String>) = match pairs {
        [pair] => (vec![group.sentence(pair)], Vec::new()),
        pairs => (pairs.iter().map(|pair| group.marked_sentence(pair)).collect(), group.reservations(&setups)),
    };
    let (decided, untold): (Vec<_>, Vec<_>) =
        said.into_iter().zip(pairs).partition(|(_, pair)| pair.comparison.verdict.is_decided());
    let words = |all: Vec<(String, &&Pairing)>| all.into_iter().map(|(sentence, _)| sentence).collect::<Vec<_>>();
    Paragraph {
        untold: words(untold),
        remarks: reservations.into_iter().chain(left_out(group)).collect(),
        ..Paragraph::of_lines(group.heading(), words(decided).into_iter().chain(group.rates()).collect())
    }
}

/// The setups of which nothing is said, a line for each reason.
fn left_out(group: &VerdictGroup<'_, '_>) -> Vec<String> {
    let all: Vec<_> = group.verdicts.left_out.iter().filter(|(index, _)| !group.is_kept_at_none(*index)).collect();
    let line = |why: Unsure| {
        let names = all.iter().filter(|(_, other)| *other == why).map(|(index, _)| group.name(*index));
        format!("nothing is said of {}: {why}", names.collect::<Vec<_>>().join(", "))
    };
    distinct(all.iter().map(|(_, why)| *why)).into_iter().map(line).collect()
}

/// The order of each group, a line each.
fn orders(groups: &[VerdictGroup<'_, '_>]) -> Paragraph {
    let line = |group: &VerdictGroup<'_, '_>| format!("{}: {}", group.heading(), group.line());
    let groups = groups.iter().filter(|group| group.has_answer());
    Paragraph::of_lines(String::new(), groups.map(line).collect())
}

fn legend(groups: &[VerdictGroup<'_, '_>], (question, terms): (Question, &Terms), has_ends: bool) -> String {
    let many_of = |group: &VerdictGroup<'_, '_>| group.verdicts.order.len() > 2;
    let many = groups.iter().any(many_of);
    let has_interval = |pairing: &Pairing| pairing.comparison.low.is_some();
    let has_brackets = groups.iter().any(|group| group.verdicts.pairs.iter().any(has_interval));
    let has_widths = groups.iter().any(VerdictGroup::has_width);
    let detect = per_cent(terms.detect);
    let family = match question {
        Question::Ranking => "neighbouring pairs",
        Question::Difference => "pairs",
    };
    let of_cpu_time = groups.iter().any(|group| group.figure() == VerdictFigure::CpuTime);
    let has_marks = groups.iter().any(|group| (many_of(group) || has_ends) && group.has_reservations());
    [
        of_cpu_time.then(|| CPU_TIME.to_owned()),
        many.then(|| {
            format!("> faster than the next, by the factor before it; ≈ the same within {detect} %; ? cannot tell.")
        }),
        has_brackets.then(|| {
            "In brackets the 95 % interval of the ratio, over repeats that were measured beside each other.".to_owned()
        }),
        has_widths.then(|| "± the upper half of the 95 % interval.".to_owned()),
        many.then(|| format!("It is adjusted for all {family} under one heading (Holm).")),
        (has_ends && question == Question::Ranking)
            .then(|| "The interval of the first and the last setup is adjusted for all pairs.".to_owned()),
        terms.looks.are_many().then(|| "It is valid although the run could end early.".to_owned()),
        has_marks.then(|| {
            let on_page = if has_ends { "on the page " } else { "" };
            format!("{RESERVATION} with reservations: {on_page}they stand below the sentences.")
        }),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}
