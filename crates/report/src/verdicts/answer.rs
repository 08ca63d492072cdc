//! The verdicts in short: what the last screen of a terminal has space for.

use kvdyno_analysis::verdicts::{Comparison, Looks, Terms, Unsure, Verdict, VerdictFigure};
use kvdyno_results::Side;

use super::groups::{RESERVATION, VerdictGroup, terms};
use super::sentences::per_cent;
use crate::order::distinct;
use crate::study::Study;

/// The verdicts of a study in short.
#[derive(Debug, Default)]
pub(crate) struct StudyAnswer {
    /// Each group, the one with the largest share of decided pairs first.
    pub(crate) groups: Vec<GroupAnswer>,
    /// Pairs of neighbours.
    pub(crate) pairs: usize,
    /// Those of which nothing can be told, by their reason, the most frequent first.
    pub(crate) untold: Vec<(Unsure, usize)>,
    /// The thing that may decide them; empty if nothing is known to.
    pub(crate) help: String,
    /// The meaning of the marks in it; empty if it has none.
    pub(crate) legend: String,
}

/// The verdicts of a group in short.
#[derive(Debug)]
pub(crate) struct GroupAnswer {
    /// `readwhilewriting, 4 readers, 1 writer, reads`.
    pub(crate) title: String,
    /// `lmdb 3.50x > leveldb‡ 1.27x > bdb ? rocksdb`, or the sentences where it has no order.
    pub(crate) line: String,
    /// Whether it has an order.
    pub(crate) has_order: bool,
    /// A sentence for each decided pair of neighbours, and for each rate that no pair tells.
    pub(crate) sentences: Vec<String>,
    /// The pairs of neighbours that are not decided.
    undecided: usize,
}

impl StudyAnswer {
    /// `Cannot tell 4 of 14 pairs: the interval is too wide (3), a trial failed (1); --repeat 12 may help`; absent if
    /// all can be told.
    pub(crate) fn cannot_tell(&self) -> Option<String> {
        let reasons: Vec<String> = self.untold.iter().map(|(why, count)| format!("{why} ({count})")).collect();
        let count: usize = self.untold.iter().map(|(_, count)| count).sum();
        let help = if self.help.is_empty() { String::new() } else { format!("; {}", self.help) };
        let pairs =
            if self.pairs == 1 { "the one pair".to_owned() } else { format!("{count} of {} pairs", self.pairs) };
        (count > 0).then(|| format!("Cannot tell {pairs}: {}{help}", reasons.join(", ")))
    }
}

/// The answer of a study's groups. `longer`: see [`Longer`]; absent if the run cannot be lengthened.
pub(crate) fn answer(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>], longer: Option<&Longer>) -> StudyAnswer {
    let terms = &terms(study);
    let neighbours = || groups.iter().flat_map(|group| group.verdicts.neighbours().map(|pair| &pair.comparison));
    let reasons: Vec<Unsure> = neighbours().filter_map(|one| one.unsure).collect();
    let kinds = distinct(reasons.iter().map(std::mem::discriminant));
    let of_kind = |kind| {
        let mut same = reasons.iter().filter(|one| std::mem::discriminant(*one) == kind);
        Some((*same.next()?, same.count() + 1))
    };
    let mut untold: Vec<(Unsure, usize)> = kinds.into_iter().filter_map(of_kind).collect();
    untold.sort_by_key(|(_, count)| usize::MAX - count);
    let with_answer: Vec<&VerdictGroup<'_, '_>> = groups.iter().filter(|group| group.has_answer()).collect();
    let mut answers: Vec<GroupAnswer> = with_answer.iter().map(|group| of_group(group)).collect();
    answers.sort_by_key(|one| one.undecided);
    let is_reserved = with_answer.iter().any(|group| group.has_reservations());
    let is_any = |verdict: Verdict| neighbours().any(|one| one.verdict == verdict);
    let legend = [
        is_any(Verdict::Same).then(|| format!("≈ the same within {} %", per_cent(terms.detect))),
        is_any(Verdict::CannotTell).then(|| "? cannot tell".to_owned()),
        is_reserved.then(|| format!("{RESERVATION} with reservations, which stand with the verdicts")),
    ];
    StudyAnswer {
        help: help(neighbours(), (terms, study.experiment.lab.figure), longer),
        pairs: neighbours().count(),
        untold,
        groups: answers,
        legend: legend.into_iter().flatten().collect::<Vec<_>>().join("; "),
    }
}

fn of_group(group: &VerdictGroup<'_, '_>) -> GroupAnswer {
    let (decided, undecided): (Vec<_>, Vec<_>) =
        group.verdicts.neighbours().partition(|pair| pair.comparison.verdict.is_decided());
    let sentences = decided.into_iter().map(|pair| group.marked_sentence(pair));
    let by = match (group.figure(), group.side().filter(|_| group.has_sides())) {
        (VerdictFigure::CpuTime, _) => format!(", {}", VerdictFigure::CpuTime.name()),
        (_, Some(Side::Reads)) => ", reads".to_owned(),
        (_, Some(Side::Writes)) => ", writes".to_owned(),
        _ => String::new(),
    };
    GroupAnswer {
        title: group.title() + &by,
        line: group.line(),
        has_order: !group.order_line().is_empty(),
        sentences: sentences.chain(group.rates()).collect(),
        undecided: undecided.len(),
    }
}

/// The flag that may decide the open ones of some comparisons; empty if none is open. A run that ends by its results
/// has no repeats for the sake of another figure than the experiment's.
fn help<'c>(
    comparisons: impl Iterator<Item = &'c Comparison>,
    (terms, figure): (&Terms, VerdictFigure),
    longer: Option<&Longer>,
) -> String {
    let may_decide = |one: &&Comparison| one.is_open() && (one.figure == figure || !terms.looks.are_many());
    let open: Vec<&Comparison> = comparisons.filter(may_decide).collect();
    let has = |unsure: Unsure| open.iter().any(|one| one.unsure == Some(unsure));
    let repeats = open.iter().map(|one| one.repeats).max();
    match (repeats, terms.looks) {
        (None, _) => String::new(),
        _ if has(Unsure::Interference) => "a quieter machine may help".to_owned(),
        (Some(_), Looks::AfterEach | Looks::AfterEachOfTen) => longer_budget(&open, longer),
        (Some(repeats), Looks::Once) => format!("--repeat {} may help", (2 * repeats).max(5)),
    }
}

/// The command that lengthens a run, and the time that it took so far.
#[derive(Clone, Debug)]
pub(crate) struct Longer {
    /// Seconds.
    pub(crate) spent_s: f64,
    /// `kvdyno run --resume FOLDER`.
    pub(crate) command: String,
}

/// The time that open comparisons need, as far as that can be told, and the command for it.
pub(crate) fn longer_budget(open: &[&Comparison], longer: Option<&Longer>) -> String {
    let growth = |one: &&Comparison| Some(one.values_needed()? as f64 / one.values as f64);
    let growths: Vec<f64> = open.iter().filter_map(growth).collect();
    let Some(longer) = longer else { return "a longer --budget may help".to_owned() };
    let Some(most) = growths.iter().copied().reduce(f64::max) else {
        return format!("a longer time may help: {} --budget TIME", longer.command);
    };
    let of_all = if growths.len() < open.len() { format!(" for {} of them", growths.len()) } else { String::new() };
    let (more, total) = (rounded_up((most - 1.0) * longer.spent_s), rounded_up(most * longer.spent_s));
    format!("about {more} more may help{of_all}: {} --budget {total}", longer.command)
}

/// A time for people, no shorter: `50s`, `7m`.
fn rounded_up(seconds: f64) -> String {
    match seconds {
        seconds if seconds <= 90.0 => format!("{:.0}s", 10.0 * (seconds / 10.0).ceil()),
        seconds => format!("{:.0}m", (seconds / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use kvdyno_experiment::Experiment;
    use kvdyno_results::TrialKey;

    use super::super::groups::groups;
    use super::*;
    use crate::study::Contents;
    use crate::testing::{only_trial, result};

    /// The help of a run that ends by this figure: repeats of two setups that lie across each other, without their CPU
    /// time.
    fn help_by(figure: &str) -> String {
        let lab = format!("repeat = \"auto\"\nfigure = \"{figure}\"\n");
        let experiment = Experiment::parse(&format!("engines = [\"lmdb\", \"bdb\"]\n[lab]\n{lab}")).unwrap();
        let of = |engine: &str, rates: [f64; 3]| {
            let engine = engine.to_owned();
            (1..).zip(rates).map(move |(repeat, rate)| {
                result(TrialKey { number: repeat, repeat, ..only_trial(&engine, "readrandom") }, rate)
            })
        };
        let results = of("lmdb", [100.0, 120.0, 90.0]).chain(of("bdb", [110.0, 90.0, 100.0])).collect();
        let contents = Contents::made_up(experiment, results);
        let study = Study::of(&contents).unwrap();
        answer(&study, &groups(&study), None).help
    }

    #[test]
    fn more_time_is_advised_for_the_figure_by_which_the_run_ends() {
        assert_eq!(help_by("throughput"), "a longer --budget may help");
        assert_eq!(help_by("cpu"), "");
    }
}
