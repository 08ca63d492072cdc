//! Verdicts of a study: of setups that did the same work, in sentences and for programs.

#[cfg(test)]
mod agreement;
mod answer;
mod groups;
mod paragraphs;
mod predicate;
mod searched;
mod sentences;
mod summary;
#[cfg(test)]
mod undecided;

pub(crate) use answer::{GroupAnswer, Longer, StudyAnswer, answer, longer_budget};
pub(crate) use groups::{VerdictGroup, groups, terms};
pub(crate) use paragraphs::verdicts;
pub(crate) use predicate::Predicate;
pub(crate) use sentences::{but, closing, per_cent, procedure, reservations, sentence_of_change};
pub(crate) use summary::{PairSummary, RankingSummary, pairs, rankings};
