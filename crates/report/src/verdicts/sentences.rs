//! A comparison in a sentence.

use kvdyno_analysis::verdicts::{Aspect, Comparison, Verdict, VerdictFigure};
use kvdyno_analysis::{PutOff, Weakness, WithClosing};
use kvdyno_model::text::{counted, duration};
use kvdyno_results::Side;

use super::predicate::Predicate;

/// The ratio from which on sentences have a number of times, and below it per cent.
pub(super) const TIMES: f64 = 1.5;

/// `lmdb reads 4.21 times as fast as bdb (3.9 to 4.6), 5 repeats`. Where CPU time was compared the sentence is of that.
pub(crate) fn sentence(predicate: Predicate, (one, other): (&str, &str), comparison: &Comparison) -> String {
    if comparison.figure == VerdictFigure::CpuTime {
        return cost((one, other), comparison);
    }
    let repeats = repeats_of(comparison);
    match comparison.verdict {
        Verdict::Slower => sentence(predicate, (other, one), &comparison.reversed()),
        Verdict::Faster => {
            let ratio = comparison.ratio.unwrap_or(1.0);
            let (does, more) = (predicate.of_one(), predicate.more(ratio));
            format!("{one} {does} {more} {other}{}, {repeats}", bracket(comparison, ratio))
        }
        Verdict::Same => {
            let (alike, detect) = (predicate.alike(), per_cent(comparison.detect));
            let small = if comparison.differs { small(predicate, (one, other), comparison) } else { String::new() };
            format!("{one} and {other} {alike} within {detect} %{small}{}, {repeats}", bracket(comparison, 1.0))
        }
        Verdict::CannotTell => {
            let (distance, interval, why) = (distance(comparison), interval(comparison), because(comparison));
            format!("cannot tell: {one} and {other}{distance}{interval}, {repeats}{why}")
        }
    }
}

/// `lmdb uses 38 % less CPU time per operation than bdb (-40 % to -36 %), 5 repeats`. The ratio of a comparison is that
/// of operations for each CPU second: above 1 the first uses less.
fn cost((one, other): (&str, &str), comparison: &Comparison) -> String {
    let figure = VerdictFigure::CpuTime.name();
    let (repeats, of_cost) = (repeats_of(comparison), comparison.reversed());
    match comparison.verdict {
        Verdict::Slower => cost((other, one), &of_cost),
        Verdict::Faster => match comparison.ratio.unwrap_or(1.0) {
            ratio if ratio >= TIMES => format!("{}, {repeats}", dearer((other, one), comparison)),
            _ => format!("{}, {repeats}", more_or_less((one, other), &of_cost)),
        },
        Verdict::Same => {
            let detect = per_cent(comparison.detect);
            let small = match comparison.ratio.unwrap_or(1.0) {
                ratio if comparison.differs && ratio >= 1.0 => format!(": {one} uses {} % less", less(ratio.recip())),
                ratio if comparison.differs => format!(": {other} uses {} % less", less(ratio)),
                _ => String::new(),
            };
            let bracket = bracket(&of_cost, 1.0);
            format!("{one} and {other} use the same {figure} within {detect} %{small}{bracket}, {repeats}")
        }
        Verdict::CannotTell => {
            let (distance, interval, why) = (distance(comparison), interval(&of_cost), because(comparison));
            format!("cannot tell by {figure}: {one} and {other}{distance}{interval}, {repeats}{why}")
        }
    }
}

/// `bdb uses 4.21 times as much CPU time per operation as lmdb (3.9 to 4.6)`.
fn dearer((one, other): (&str, &str), of_cost: &Comparison) -> String {
    let ratio = of_cost.ratio.unwrap_or(1.0);
    let figure = VerdictFigure::CpuTime.name();
    format!("{one} uses {} times as much {figure} as {other}{}", times(ratio), bracket(of_cost, ratio))
}

/// `lmdb uses 38 % less CPU time per operation than bdb (-40 % to -36 %)`.
fn more_or_less((one, other): (&str, &str), of_cost: &Comparison) -> String {
    let ratio = of_cost.ratio.unwrap_or(1.0);
    let how = match ratio < 1.0 {
        true => format!("{} % less", less(ratio)),
        false => format!("{} % more", per_cent(ratio - 1.0)),
    };
    format!("{one} uses {how} {} than {other}{}", VerdictFigure::CpuTime.name(), bracket(of_cost, ratio))
}

/// The per cent by which a part of 1 is less than 1. A very small part is printed with enough digits to differ from 0.
pub(super) fn less(part: f64) -> String {
    match part {
        part if part < 0.001 => "over 99.9".to_owned(),
        part if part < 0.01 => format!("{:.1}", 100.0 * (1.0 - part)),
        part => per_cent(1.0 - part),
    }
}

/// The sentence of a comparison with the setup before a change: `lmdb@new reads 3.2 % slower than lmdb`.
pub(crate) fn sentence_of_change(
    predicate: Predicate,
    (after, before): (&str, &str),
    comparison: &Comparison,
) -> String {
    let ratio = comparison.ratio.unwrap_or(1.0);
    let (said, bracket) = match (comparison.figure, comparison.verdict) {
        (VerdictFigure::CpuTime, Verdict::Faster | Verdict::Slower) => {
            let of_cost = comparison.reversed();
            let said = match ratio.recip() >= TIMES {
                true => dearer((after, before), &of_cost),
                false => more_or_less((after, before), &of_cost),
            };
            (said, String::new())
        }
        (VerdictFigure::Throughput, Verdict::Slower) => {
            let said = format!("{after} {} {} {before}", predicate.of_one(), predicate.less(ratio));
            let bracket = match predicate.is_less_in_times(ratio) {
                true => bracket(&comparison.reversed(), ratio.recip()),
                false => bracket(comparison, ratio),
            };
            (said, bracket)
        }
        _ => return sentence(predicate, (after, before), comparison),
    };
    format!("{said}{bracket}, {}", repeats_of(comparison))
}

/// How far the first is from the second: `3.50x`.
pub(crate) fn far(comparison: &Comparison) -> String {
    format!("{}x", times(comparison.ratio.unwrap_or(1.0)))
}

/// The end of a sentence whose verdict another aspect of the same work contradicts; `other` is the sentence of that.
pub(crate) fn but(other: &str, aspects: (Aspect, Aspect)) -> String {
    let is_of_sides = matches!(aspects, (Aspect::Throughput(_), Aspect::Throughput(_)));
    format!("; but {other}{}", if is_of_sides { ": no winner" } else { "" })
}

/// The part of a sentence that says how the comparison came about; empty if by the measured rates alone. Waits are of
/// trials in turns, and a duet is of trials in slices.
pub(crate) fn procedure(comparison: &Comparison) -> String {
    match (comparison.bias, comparison.waited) {
        _ if comparison.by_slices => "; by slices, for the duet had another ratio".to_owned(),
        (Some(bias), _) => format!("; the interval has {} % of the duet's bias", per_cent(bias)),
        (None, Some(waited)) => {
            format!("; the interval allows for waits for processors, up to {} % of the time", per_cent(waited))
        }
        (None, None) => String::new(),
    }
}

/// The end of a sentence on writes whose verdict the work that the faster one put off would reverse or halve.
/// Each of the two has its name and what it put off.
pub(crate) fn closing(compared: Aspect, [one, other]: [(&str, Option<PutOff>); 2], comparison: &Comparison) -> String {
    let ratio = comparison.ratio.unwrap_or(1.0);
    let ((faster, put_off), (slower, of_slower), ratio) = match comparison.verdict {
        Verdict::Faster => (one, other, ratio),
        Verdict::Slower => (other, one, ratio.recip()),
        Verdict::Same | Verdict::CannotTell => return String::new(),
    };
    let (Some(put_off), Some(of_slower), Aspect::Throughput(Side::Writes)) = (put_off, of_slower, compared) else {
        return String::new();
    };
    let [work, after] = [put_off.work_s, put_off.after_s].map(|seconds| duration(1e9 * seconds));
    let counted_in = match put_off.against(of_slower, ratio) {
        None => return String::new(),
        Some(WithClosing::Reversed) => format!("{slower} would be faster"),
        Some(WithClosing::Halved(left)) if left >= TIMES => format!("it would be {} times as fast", times(left)),
        Some(WithClosing::Halved(left)) => format!("it would be {} % faster", per_cent(left - 1.0)),
    };
    format!("; {faster} took {after} to finish after {work} of work: counted in, {counted_in}")
}

/// The end of a sentence: what speaks against the figures of its two, each with its name. What speaks against both
/// stands once.
pub(crate) fn reservations(compared: Aspect, [(one, of_one), (other, of_other)]: [(&str, &[Weakness]); 2]) -> String {
    let counts = |weakness: &&Weakness| is_of(weakness, compared);
    let first = of_one.iter().filter(counts).filter_map(|weakness| match of_other.contains(weakness) {
        true => weakness.of_both.as_ref().map(|predicate| format!("; both {predicate}")),
        false => Some(format!("; {one} {}", weakness.of_one)),
    });
    let alone = of_other.iter().filter(counts).filter(|weakness| !of_one.contains(weakness));
    let second = alone.map(|weakness| format!("; {other} {}", weakness.of_one));
    first.chain(second).collect()
}

/// Whether it speaks against figures of an aspect.
pub(crate) fn is_of(weakness: &Weakness, compared: Aspect) -> bool {
    match compared {
        Aspect::Throughput(compared) => weakness.side.is_none_or(|side| side == compared),
        Aspect::CpuTime => weakness.side.is_none(),
    }
}

/// `: the interval is too wide`; nothing where the number of repeats says it.
fn because(comparison: &Comparison) -> String {
    let why = comparison.unsure.map_or(String::new(), |why| why.to_string());
    if comparison.repeats == 1 && why == repeats(1) { String::new() } else { format!(": {why}") }
}

/// The side to which a difference lies that does not matter.
fn small(predicate: Predicate, (one, other): (&str, &str), comparison: &Comparison) -> String {
    let ratio = comparison.ratio.unwrap_or(1.0);
    let (more, ratio) = if ratio >= 1.0 { (one, ratio) } else { (other, ratio.recip()) };
    format!(": {}", predicate.slightly(more, ratio))
}

/// `, 3.1 % apart`; of ratios that are no longer told in per cent `, a ratio of 2.41`.
fn distance(comparison: &Comparison) -> String {
    let ratio = comparison.ratio.map(|ratio| ratio.max(ratio.recip()));
    ratio.map_or(String::new(), |ratio| match ratio {
        ratio if ratio >= TIMES => format!(", a ratio of {}", times(ratio)),
        ratio => format!(", {} % apart", per_cent(ratio - 1.0)),
    })
}

fn interval(comparison: &Comparison) -> String {
    let words = |(low, high): (f64, f64)| format!(", interval {}", ends((low, high), comparison.ratio.unwrap_or(1.0)));
    comparison.interval().map_or(String::new(), words)
}

fn bracket(comparison: &Comparison, ratio: f64) -> String {
    comparison.interval().map_or(String::new(), |ends_of| format!(" ({})", ends(ends_of, ratio)))
}

/// `3.9 to 4.6`, or `-4 % to +11 %` where the ratio is told in per cent. Ends that no digit can show are told as such.
fn ends((low, high): (f64, f64), ratio: f64) -> String {
    match ratio >= TIMES || high >= 2.0 * TIMES {
        true => format!("{} to {}", times(low), times(high)),
        false => format!("{} % to {} %", signed(low - 1.0), signed(high - 1.0)),
    }
}

fn repeats_of(comparison: &Comparison) -> String {
    let repeats = repeats(comparison.repeats);
    match comparison.by_machine {
        true => format!("{repeats} on {}", counted(comparison.values, "machine")),
        false => repeats,
    }
}

fn repeats(count: usize) -> String {
    match count {
        0 => "no repeat".to_owned(),
        1 => "one repeat".to_owned(),
        count => format!("{count} repeats"),
    }
}

/// `4.21`, `12.3`, `250`; beyond any use `over 1,000`.
pub(super) fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio > 1000.0 => "over 1,000".to_owned(),
        ratio if ratio < 0.01 => "under 0.01".to_owned(),
        ratio => kvdyno_model::text::three_digits(ratio),
    }
}

/// `0.4`, `3.1`, `12`.
pub(crate) fn per_cent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    let text = text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    if text == "-0" { "0".to_owned() } else { text }
}

/// The share in per cent, with its sign.
fn signed(share: f64) -> String {
    let text = per_cent(share);
    if text.starts_with('-') || text == "0" { text } else { format!("+{text}") }
}

#[cfg(test)]
mod tests {
    use kvdyno_analysis::verdicts::{PairedRatios, Terms, compare};
    use kvdyno_results::Side;

    use super::*;

    const READ: Predicate = Predicate::Verb("read");

    fn said(log_ratios: &[f64]) -> String {
        sentence(READ, ("lmdb", "bdb"), &compare(&PairedRatios::of(log_ratios), &Terms::default()))
    }

    #[test]
    fn each_verdict_has_its_sentence() {
        let off = |middle: f64| [-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| middle + off);
        assert_eq!(said(&off(4.2f64.ln())), "lmdb reads 4.20 times as fast as bdb (4.16 to 4.24), 5 repeats");
        assert_eq!(said(&off(-1.2f64.ln())), "bdb reads 20 % faster than lmdb (+19 % to +21 %), 5 repeats");
        assert_eq!(said(&off(0.0)), "lmdb and bdb read the same within 3 % (-1 % to +1 %), 5 repeats");
        let differs = "lmdb and bdb read the same within 3 %: lmdb is 1.5 % faster (+0.5 % to +2.5 %), 5 repeats";
        assert_eq!(said(&off(0.015)), differs);
    }

    #[test]
    fn a_change_is_what_sentences_about_it_begin_with() {
        let said = |middle: f64| {
            let log_ratios = [-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| middle + off);
            let comparison = compare(&PairedRatios::of(&log_ratios), &Terms::default());
            sentence_of_change(READ, ("new", "old"), &comparison)
        };
        assert_eq!(said(0.9f64.ln()), "new reads 10 % slower than old (-11 % to -9.1 %), 5 repeats");
        assert_eq!(said(0.25f64.ln()), "new reads 4.00 times as slow as old (3.96 to 4.04), 5 repeats");
        assert!(said(1.2f64.ln()).starts_with("new reads 20 % faster than old"));
    }

    /// A comparison by operations for each CPU second, the first over the second, of a duet.
    fn by_cpu_time(log_ratios: &[f64]) -> Comparison {
        let ratios = PairedRatios { figure: VerdictFigure::CpuTime, ..PairedRatios::of(log_ratios) };
        compare(&ratios, &Terms::default())
    }

    #[test]
    fn a_duets_sentence_is_about_cpu_time_and_never_about_speed() {
        let off = |ratio: f64| [-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| ratio.ln() + off);
        let said = |log_ratios: &[f64]| sentence(READ, ("lmdb", "bdb"), &by_cpu_time(log_ratios));
        let less = "lmdb uses 20 % less CPU time per operation than bdb (-21 % to -19 %), 5 repeats";
        assert_eq!(said(&off(1.25)), less);
        let reversed = "bdb uses 20 % less CPU time per operation than lmdb (-21 % to -19 %), 5 repeats";
        assert_eq!(said(&off(0.8)), reversed);
        let times = "bdb uses 4.20 times as much CPU time per operation as lmdb (4.16 to 4.24), 5 repeats";
        assert_eq!(said(&off(4.2)), times);
        let same = "lmdb and bdb use the same CPU time per operation within 3 % (-1 % to +1 %), 5 repeats";
        assert_eq!(said(&off(1.0)), same);
        let small = "lmdb and bdb use the same CPU time per operation within 3 %: bdb uses 1.5 % less \
                     (+0.5 % to +2.5 %), 5 repeats";
        assert_eq!(said(&off(0.985)), small);
        let wide = "cannot tell by CPU time per operation: lmdb and bdb, 3.7 % apart, interval -13 % to +6.6 %, \
                    3 repeats: the interval is too wide";
        assert_eq!(said(&[0.0, 0.03, 0.08]), wide);
        assert_eq!(said(&[0.03]), "cannot tell by CPU time per operation: lmdb and bdb, 3 % apart, one repeat");
    }

    #[test]
    fn a_change_of_cpu_time_is_more_or_less_of_it() {
        let said = |ratio: f64| {
            let log_ratios = [-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| ratio.ln() + off);
            sentence_of_change(READ, ("new", "old"), &by_cpu_time(&log_ratios))
        };
        assert_eq!(said(0.9), "new uses 11 % more CPU time per operation than old (+10 % to +12 %), 5 repeats");
        assert_eq!(said(0.25), "new uses 4.00 times as much CPU time per operation as old (3.96 to 4.04), 5 repeats");
        assert_eq!(said(4.0), "new uses 75 % less CPU time per operation than old (-75 % to -75 %), 5 repeats");
        assert!(said(500.0).starts_with("new uses 99.8 % less CPU time per operation than old"));
        assert!(said(1.0).starts_with("new and old use the same CPU time per operation within 3 %"));
    }

    #[test]
    fn the_highest_rates_of_two_are_told_with_their_promise() {
        let keep = Predicate::Keep("p99=1ms".parse().unwrap());
        let of = |middle: f64| {
            let log_ratios = [-0.01, 0.01, 0.0, -0.005, 0.005].map(|off| middle + off);
            compare(&PairedRatios::of(&log_ratios), &Terms::default())
        };
        let said = |middle: f64| sentence(keep, ("lmdb", "bdb"), &of(middle));
        let far = "lmdb keeps p99=1ms up to 4.20 times the rate of bdb (4.16 to 4.24), 5 repeats";
        assert_eq!(said(4.2f64.ln()), far);
        let near = "bdb keeps p99=1ms up to a rate 20 % higher than lmdb (+19 % to +21 %), 5 repeats";
        assert_eq!(said(-1.2f64.ln()), near);
        let same = "lmdb and bdb keep p99=1ms up to the same rate within 3 % (-1 % to +1 %), 5 repeats";
        assert_eq!(said(0.0), same);
        let small = "lmdb and bdb keep p99=1ms up to the same rate within 3 %: that of lmdb is 1.5 % higher \
                     (+0.5 % to +2.5 %), 5 repeats";
        assert_eq!(said(0.015), small);
        let of_change = |middle: f64| sentence_of_change(keep, ("new", "old"), &of(middle));
        let lower = "new keeps p99=1ms up to a rate 75 % lower than old (-75 % to -75 %), 5 repeats";
        assert_eq!(of_change(0.25f64.ln()), lower);
        assert!(of_change(4.0f64.ln()).starts_with("new keeps p99=1ms up to 4.00 times the rate of old"));
    }

    #[test]
    fn how_a_comparison_came_about_is_told() {
        let comparison = compare(&PairedRatios::of(&[0.2, 0.21, 0.22]), &Terms::default());
        assert_eq!(procedure(&comparison), "");
        let biased = Comparison { bias: Some(0.012), ..comparison.clone() };
        assert_eq!(procedure(&biased), "; the interval has 1.2 % of the duet's bias");
        let beside_others = Comparison { waited: Some(0.5), ..comparison.clone() };
        let waits = "; the interval allows for waits for processors, up to 50 % of the time";
        assert_eq!(procedure(&beside_others), waits);
        let by_slices = Comparison { by_slices: true, ..comparison };
        assert_eq!(procedure(&by_slices), "; by slices, for the duet had another ratio");
    }

    #[test]
    fn a_closing_that_would_reverse_or_halve_a_verdict_on_writes_is_told() {
        let told = |ratio: f64, put_off: [f64; 2], side: Side| {
            let log_ratios = [-0.01, 0.01, 0.0].map(|off| ratio.ln() + off);
            let comparison = compare(&PairedRatios::of(&log_ratios), &Terms::default());
            let [lmdb, bdb] = put_off.map(|after_s| Some(PutOff { work_s: 2.0, after_s }));
            closing(Aspect::Throughput(side), [("lmdb", lmdb), ("bdb", bdb)], &comparison)
        };
        let reversed = "; lmdb took 3.00 s to finish after 2.00 s of work: counted in, bdb would be faster";
        assert_eq!(told(2.0, [3.0, 0.0], Side::Writes), reversed);
        let halved = "; bdb took 1.00 s to finish after 2.00 s of work: counted in, it would be 33 % faster";
        assert_eq!(told(0.5, [0.0, 1.0], Side::Writes), halved);
        let times = "; lmdb took 4.00 s to finish after 2.00 s of work: counted in, it would be 3.33 times as fast";
        assert_eq!(told(10.0, [4.0, 0.0], Side::Writes), times);
        for (ratio, put_off, side) in [
            (2.0, [3.0, 3.0], Side::Writes),
            (2.0, [0.2, 0.0], Side::Writes),
            (2.0, [3.0, 0.0], Side::Reads),
            (1.0, [3.0, 0.0], Side::Writes),
        ] {
            assert_eq!(told(ratio, put_off, side), "", "{ratio} {put_off:?} {side}");
        }
    }

    #[test]
    fn what_speaks_against_a_figure_is_told_and_once_if_against_both() {
        let said = |[lmdb, bdb]: [&[Weakness]; 2]| {
            reservations(Aspect::Throughput(Side::Reads), [("lmdb", lmdb), ("bdb", bdb)])
        };
        let unsteady = [Weakness::new("was not steady", "were not steady")];
        assert_eq!(said([&[], &[]]), "");
        assert_eq!(said([&[], &unsteady]), "; bdb was not steady");
        assert_eq!(said([&unsteady, &unsteady]), "; both were not steady");
    }

    #[test]
    fn what_concerns_the_other_side_is_not_told() {
        let late = [Weakness { side: Some(Side::Writes), ..Weakness::new("wrote late", "wrote late") }];
        let said = |compared| reservations(compared, [("lmdb", &late), ("bdb", &[])]);
        assert_eq!(said(Aspect::Throughput(Side::Writes)), "; lmdb wrote late");
        assert_eq!([Aspect::Throughput(Side::Reads), Aspect::CpuTime].map(said), ["", ""]);
    }

    #[test]
    fn one_that_cannot_tell_says_why() {
        assert_eq!(said(&[0.03]), "cannot tell: lmdb and bdb, 3 % apart, one repeat");
        assert_eq!(said(&[]), "cannot tell: lmdb and bdb, no repeat: no repeat in which both finished");
        let wide =
            "cannot tell: lmdb and bdb, 3.7 % apart, interval -6.2 % to +15 %, 3 repeats: the interval is too wide";
        assert_eq!(said(&[0.0, 0.03, 0.08]), wide);
        let far = said(&[1.0, -1.0, 0.3]);
        assert_eq!(
            far,
            "cannot tell: lmdb and bdb, 11 % apart, interval 0.09 to 13.8, 3 repeats: the interval is too wide"
        );
    }
}
