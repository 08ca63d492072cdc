//! The section of verdicts: for each group its order in one line, and its pairs in sentences.

use kvdyno_analysis::verdicts::{Looks, Pairing, Terms, Unsure, Verdict};

use super::groups::{VerdictGroup, groups, terms};
use super::sentences::{per_cent, sentence};
use crate::document::{Block, Paragraph, Section};
use crate::order::distinct;
use crate::study::Study;

/// More sentences than this are not read on a terminal: then lines of the order alone stand there, and sentences are on
/// the page.
const MOST_SENTENCES: usize = 24;

/// The section; none if no two setups did the same work.
pub(crate) fn verdicts<'a>(study: &Study<'_>) -> Option<Section<'a>> {
    let (groups, terms) = (groups(study), terms(study));
    if groups.is_empty() {
        return None;
    }
    let once = groups.iter().all(is_of_one_repeat);
    let sentences: usize = groups.iter().map(|group| group.verdicts.neighbours.len()).sum();
    let mut blocks = match (once, sentences > MOST_SENTENCES) {
        (true, _) => vec![Block::Paragraph(Paragraph::of_lines(String::new(), vec![ONE_REPEAT.to_owned()]))],
        (_, false) => groups.iter().map(|group| Block::Paragraph(paragraph(group))).collect(),
        (_, true) => vec![Block::Paragraph(orders(&groups))],
    };
    if sentences > MOST_SENTENCES && !once {
        blocks.extend(groups.iter().map(|group| Block::FoldedParagraph(paragraph(group))));
    }
    if !once {
        blocks.push(Block::Paragraph(Paragraph::note(legend(&groups, &terms))));
    }
    Some(Section { names_tables: false, ..Section::new("verdicts", "Verdicts", blocks) })
}

const ONE_REPEAT: &str = "Cannot tell: one repeat says nothing of how far another would come out. Three repeats and \
                          more give verdicts.";

fn is_of_one_repeat(group: &VerdictGroup<'_, '_>) -> bool {
    let neighbours = &group.verdicts.neighbours;
    neighbours.iter().all(|pairing| pairing.comparison.repeats <= 1) && group.verdicts.left_out.is_empty()
}

/// Of two setups one sentence; of more their order and a sentence for each neighbours.
fn paragraph(group: &VerdictGroup<'_, '_>) -> Paragraph {
    let pairs = &group.verdicts.neighbours;
    let sentences = pairs.iter().map(|pairing| said(group, pairing));
    let lead = if pairs.len() > 1 { order(group) } else { String::new() };
    Paragraph { lead, ..Paragraph::of_lines(group.title(), sentences.chain(left_out(group)).collect()) }
}

/// The setups of which nothing is said, a line for each reason.
fn left_out(group: &VerdictGroup<'_, '_>) -> Vec<String> {
    let all = &group.verdicts.left_out;
    let line = |why: Unsure| {
        let names = all.iter().filter(|(_, other)| *other == why).map(|(index, _)| group.name(*index));
        format!("nothing is said of {}: {why}", names.collect::<Vec<_>>().join(", "))
    };
    distinct(all.iter().map(|(_, why)| *why)).into_iter().map(line).collect()
}

/// The order of each group, a line each.
fn orders(groups: &[VerdictGroup<'_, '_>]) -> Paragraph {
    let line = |group: &VerdictGroup<'_, '_>| format!("{}: {}", group.title(), order(group));
    let groups = groups.iter().filter(|group| !group.verdicts.order.is_empty());
    Paragraph::of_lines(String::new(), groups.map(line).collect())
}

fn said(group: &VerdictGroup<'_, '_>, pairing: &Pairing) -> String {
    let names = (group.name(pairing.one), group.name(pairing.other));
    sentence(group.verb(), names, &pairing.comparison)
}

/// `lmdb > bdb ≈ rocksdb ? leveldb`.
fn order(group: &VerdictGroup<'_, '_>) -> String {
    let mut line = group.verdicts.order.first().map_or("", |first| group.name(*first)).to_owned();
    for pairing in &group.verdicts.neighbours {
        line += &format!(" {} {}", sign(pairing.comparison.verdict), group.name(pairing.other));
    }
    line
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => ">",
        Verdict::Slower => "<",
        Verdict::Same => "≈",
        Verdict::CannotTell => "?",
    }
}

fn legend(groups: &[VerdictGroup<'_, '_>], terms: &Terms) -> String {
    let many = groups.iter().any(|group| group.verdicts.neighbours.len() > 1);
    let detect = per_cent(terms.detect);
    [
        many.then(|| format!("> faster; ≈ the same within {detect} %; ? cannot tell.")),
        Some(
            "In brackets the 95 % interval of the ratio, over repeats that were measured beside each other.".to_owned(),
        ),
        many.then(|| "It is adjusted so that verdicts of all neighbours of one work hold together (Holm).".to_owned()),
        (terms.looks == Looks::AfterEach).then(|| "It holds however often one looked.".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}
