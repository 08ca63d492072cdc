//! The verdict of a comparison of two setups.

use std::fmt;

use kvdyno_model::VerdictFigure;
use kvdyno_results::Side;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::crossing::Round;
use super::forecast::half_width_of_values;
use super::level::{Looks, MOST_LOOKS};
use super::trimmed::TrimmedMean;
use super::without_others::WithoutOthers;
use crate::machines::FEWEST_MACHINES;

/// Over all looks, and over all pairs of a family, a verdict of one kind is wrong at most this often.
pub const MISS: f64 = 0.05;

/// Two setups are the same if they differ by no more than this, where nobody asked for less.
pub const DETECT: f64 = 0.03;

kvdyno_model::words! {
    /// The verdict of a comparison: of the first setup over the second.
    pub enum Verdict {
        /// Its figure is higher: the interval of the ratio lies above 1.
        Faster = "faster",
        /// Its figure is lower: the interval lies below 1.
        Slower = "slower",
        /// The whole interval lies within ± detect. It may exclude 1: then the setups differ, but by less than the
        /// least difference that matters ([`Comparison::differs`] is true).
        Same = "same",
        /// Neither, and [`Comparison::unsure`] says why.
        CannotTell = "cannot tell",
    }
}

/// The shortest time of loads that is judged, seconds, all repeats together: the scheduler's and the storage's own
/// periods are a good part of a shorter one.
pub const SHORTEST_LOAD_S: f64 = 0.2;

/// The aspect of one work by which cells are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// By the records that one side reads or writes a second.
    Throughput(Side),
    /// By the CPU time of an operation.
    CpuTime,
}

impl Aspect {
    /// The figure.
    pub fn figure(self) -> VerdictFigure {
        match self {
            Aspect::Throughput(_) => VerdictFigure::Throughput,
            Aspect::CpuTime => VerdictFigure::CpuTime,
        }
    }
}

/// Repeats without CPU time after which none is expected any more. By chance a client sleeps in the measured part of
/// one.
const WITHOUT_CPU_TIME: usize = 3;

/// The reason why a comparison cannot tell. Its `Display` is a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// No repeat in which both finished.
    NothingMeasured,
    /// One repeat: nothing says how far another would come out.
    OneRepeat,
    /// Too few repeats for an interval that is looked at after each.
    TooFew {
        /// Repeats in which both finished.
        repeats: usize,
        /// The fewest for an interval.
        needed: usize,
    },
    /// Too few rounds of setups that cross over between copies of one database.
    TooFewRounds {
        /// Rounds in which both finished.
        rounds: usize,
        /// The fewest for an interval.
        needed: usize,
    },
    /// The repeats are of several machines, and of too few to say anything about others.
    FewMachines {
        /// Machines on which both finished.
        machines: usize,
    },
    /// The interval holds both 1 and differences that were to be detected.
    TooWide,
    /// The pair alone would be decided, but not after adjustment for the number of pairs.
    TooManyPairs,
    /// Trials of one of the two failed.
    Failed,
    /// Something that one of the two wrote was not read back, so that it may not have been stored.
    NotAudited,
    /// One of the two keeps nothing, by its own declaration, and the other does.
    KeepsNothing,
    /// In half of the repeats others took so much of the machine that the figures are about them.
    Interference,
    /// The rates of the two, each of all its repeats, say otherwise than their repeats beside each other.
    RatesDisagree,
    /// No repeat has accounts of the CPU time of both that can be compared.
    NoCpuTime {
        /// Repeats that were measured.
        repeats: usize,
    },
    /// The loads of one of the two are too short to be judged, all repeats together.
    ShortLoad,
    /// Loads of one of the two ran while others did, so that their rates are about them, too.
    LoadedAtOnce,
    /// In half of its repeats or more, one of the two kept its promise at no rate that was tried.
    KeptAtNoRate,
}

/// The log of the ratio of two setups in one repeat, in which they were measured beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedRatio {
    /// The number of the repeat.
    pub repeat: u32,
    /// Natural logarithm of the first one's figure over the second one's.
    pub log_ratio: f64,
    /// The logarithm of the same ratio when each ran alone, where the figure is a duet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_slices: Option<f64>,
    /// The ratio that there may have been without others, where they took too much of the processors to be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_others: Option<WithoutOthers>,
    /// The round that it is of, where setups cross over between copies of one database.
    #[serde(skip)]
    pub round: Option<Round>,
    /// The machine that it is of, where there are several.
    #[serde(skip)]
    pub machine: Option<usize>,
}

/// The ratios from which a comparison of two setups is made, and a reason against it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedRatios {
    /// Repeats in which both finished, in order.
    pub ratios: Vec<PairedRatio>,
    /// The number of repeats that were dropped because others took too much of the machine.
    pub dropped: usize,
    /// A reason why nothing may be said, whatever the ratios are.
    pub unsure: Option<Unsure>,
    /// The figure that all of them are of.
    pub figure: VerdictFigure,
    /// The logarithm of the ratio of the two rates that tables have; absent where the figure is no rate.
    pub rates: Option<f64>,
}

/// The terms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// The least difference that matters: 0.03 is 3 %.
    pub detect: f64,
    /// How often the interval is looked at.
    pub looks: Looks,
}

/// A verdict with its ratio, its interval and its terms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The verdict on the first over the second.
    pub verdict: Verdict,
    /// Why it cannot tell; absent where it can.
    #[serde(rename = "why")]
    #[schemars(with = "Option<String>")]
    pub unsure: Option<Unsure>,
    /// The figure that both were compared by.
    #[serde(serialize_with = "by_name")]
    #[schemars(schema_with = "figure_names")]
    pub figure: VerdictFigure,
    /// The first setup's rate over the second's; for CPU time, the ratio of its reciprocals, operations for each CPU
    /// second. Absent if nothing was measured.
    pub ratio: Option<f64>,
    /// The lower end of the ratio's interval; absent if there is none.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether the interval excludes 1. A comparison that cannot tell differs only if something else is against it.
    pub differs: bool,
    /// Repeats in which both finished.
    pub repeats: usize,
    /// Values that it is made of: repeats, rounds of setups that cross over, or machines.
    pub values: usize,
    /// Whether each value is the mean of a machine's repeats.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_machine: bool,
    /// The least difference that matters.
    pub detect: f64,
    /// How often the interval is looked at.
    pub looks: Looks,
    /// The duet's bias that the interval was made wider by, of 1, either side; absent where none was seen.
    pub bias: Option<f64>,
    /// Whether slices decided, because the duet said otherwise.
    pub by_slices: bool,
    /// The greatest share of a trial's time in which its threads waited for processors that others may have had, of 1.
    /// The interval holds the ratio without these waits. Absent where others took so little that it was left out.
    pub waited: Option<f64>,
    /// The part of half the interval, of the ratio's logarithm, that more repeats leave: bias and waits.
    #[serde(skip)]
    pub systematic: f64,
    /// Pairs that the interval is adjusted for: it misses so seldom that verdicts of all of them hold together.
    pub pairs: usize,
}

pub(super) fn by_name<S: Serializer>(figure: &VerdictFigure, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(figure.name())
}

/// The JSON Schema of a figure's name.
pub fn figure_names(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = VerdictFigure::ALL.iter().map(|figure| figure.name()).collect();
    json_schema!({ "type": "string", "enum": names })
}

impl Default for Terms {
    fn default() -> Self {
        Terms { detect: DETECT, looks: Looks::Once }
    }
}

impl Terms {
    /// The logarithm of the ratio at which a difference begins to matter, either side.
    pub(crate) fn bound(&self) -> f64 {
        self.detect.max(0.0).ln_1p()
    }
}

impl Verdict {
    /// The verdict on the second over the first.
    pub fn reversed(self) -> Verdict {
        match self {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        }
    }

    /// Whether rates say otherwise; `rates` is the logarithm of their ratio. Where a *same* has an interval that
    /// excludes 1, and so names the faster one, `difference` is the logarithm of its ratio.
    pub(super) fn contradicts_rates(self, rates: f64, difference: Option<f64>, terms: &Terms) -> bool {
        let named = difference.is_some_and(|difference| rates == 0.0 || (rates > 0.0) != (difference > 0.0));
        match self {
            Verdict::Faster => rates <= 0.0,
            Verdict::Slower => rates >= 0.0,
            Verdict::Same => rates.abs() > terms.bound() || named,
            Verdict::CannotTell => false,
        }
    }

    /// Whether it says anything.
    pub fn is_decided(self) -> bool {
        self != Verdict::CannotTell
    }
}

impl Unsure {
    /// Whether more repeats can help.
    pub fn may_pass(self) -> bool {
        use Unsure::{Failed, FewMachines, KeepsNothing, KeptAtNoRate, LoadedAtOnce, NoCpuTime, NotAudited};
        match self {
            Failed | FewMachines { .. } | NotAudited | KeepsNothing | KeptAtNoRate | LoadedAtOnce => false,
            NoCpuTime { repeats } => repeats < WITHOUT_CPU_TIME,
            _ => true,
        }
    }
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::NothingMeasured => f.write_str("no repeat in which both finished"),
            Unsure::OneRepeat => f.write_str("one repeat"),
            Unsure::TooFew { repeats, needed } => write!(f, "{repeats} repeats, and {needed} are needed"),
            Unsure::TooFewRounds { rounds: 1, needed } => {
                write!(f, "one round in which both were on each copy, and {needed} are needed")
            }
            Unsure::TooFewRounds { rounds, needed } => {
                write!(f, "{rounds} rounds in which both were on each copy, and {needed} are needed")
            }
            Unsure::FewMachines { machines: 1 } => write!(f, "one machine, beside several"),
            Unsure::FewMachines { .. } => write!(f, "too few machines: {FEWEST_MACHINES} are needed to pool them"),
            Unsure::TooWide => f.write_str("the interval is too wide"),
            Unsure::TooManyPairs => f.write_str("undecided after adjustment for the number of pairs"),
            Unsure::Failed => f.write_str("a trial failed"),
            Unsure::NotAudited => f.write_str("what was written was not read back"),
            Unsure::KeepsNothing => f.write_str("one of the two keeps nothing"),
            Unsure::Interference => f.write_str("others took too much of the machine"),
            Unsure::RatesDisagree => f.write_str("their rates contradict their ratios in the repeats"),
            Unsure::NoCpuTime { .. } => {
                f.write_str("the CPU time of one of the two is not known, or cannot be compared")
            }
            Unsure::KeptAtNoRate => f.write_str("the promise was kept at no rate that was tried"),
            Unsure::LoadedAtOnce => f.write_str("their loads ran at once"),
            Unsure::ShortLoad => write!(f, "the loads of one took less than {SHORTEST_LOAD_S} s together"),
        }
    }
}

kvdyno_model::written_as_text!(Unsure);

impl PairedRatios {
    /// Ratios in the order of repeats, with nothing else against them.
    pub fn of(log_ratios: &[f64]) -> PairedRatios {
        let ratios = (1..).zip(log_ratios).map(|(repeat, log_ratio)| PairedRatio {
            repeat,
            log_ratio: *log_ratio,
            by_slices: None,
            without_others: None,
            round: None,
            machine: None,
        });
        PairedRatios { ratios: ratios.collect(), ..PairedRatios::default() }
    }

    /// Their middle; absent where there are too few for an interval. Where one looks after each repeat, those after the
    /// last look count nothing.
    pub(crate) fn middle(&self, looks: Looks) -> Option<TrimmedMean> {
        self.middle_of(looks, |ratio| Some(ratio.log_ratio))
    }

    pub(super) fn middle_of(&self, looks: Looks, value: impl Fn(&PairedRatio) -> Option<f64>) -> Option<TrimmedMean> {
        let count = looks.most().map_or(self.ratios.len(), |most| self.ratios.len().min(most));
        let values: Option<Vec<f64>> = self.ratios.iter().take(count).map(value).collect();
        TrimmedMean::of(&values?).filter(|_| count >= looks.fewest())
    }

    /// The reason why there is no interval, or why it may not decide.
    pub(crate) fn hindrance(&self, looks: Looks) -> Option<Unsure> {
        let few = match self.ratios.len() {
            0 => Some(Unsure::NothingMeasured),
            1 => Some(Unsure::OneRepeat),
            repeats if repeats < looks.fewest() => Some(Unsure::TooFew { repeats, needed: looks.fewest() }),
            _ => None,
        };
        // With those that were dropped there would have been enough.
        let of_interference = self.dropped > 0 && self.ratios.len() + self.dropped >= looks.fewest();
        self.unsure.or(if of_interference { few.and(Some(Unsure::Interference)) } else { few })
    }
}

impl Comparison {
    /// The ratio's interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Half the width of the interval of the ratio's logarithm.
    pub(crate) fn half_width(&self) -> Option<f64> {
        self.interval().map(|(low, high)| (high / low).ln() / 2.0)
    }

    /// Whether it cannot tell, and another repeat may, with a longer budget where this one has few looks: more than
    /// [`MOST_LOOKS`] values count nothing. Further repeats add no machine.
    pub fn is_open(&self) -> bool {
        self.unsure.is_some_and(Unsure::may_pass) && self.values < MOST_LOOKS && !self.by_machine
    }

    /// The number of values, of repeats or of rounds, that would decide it if ratio and spread stay as they are. Absent
    /// if it is not open, has no interval, or would need more than [`MOST_LOOKS`].
    pub fn values_needed(&self) -> Option<usize> {
        let (low, high) = self.interval().filter(|_| self.is_open() && self.values > 0)?;
        let (half, middle) = (self.half_width()?, (high * low).ln().abs() / 2.0);
        // Either 1 leaves the interval, or the interval keeps within the least difference that matters.
        let wanted = middle.max(self.detect.max(0.0).ln_1p() - middle);
        let (random, now) = (half - self.systematic, half_width_of_values(self.values, self.looks)?);
        let is_enough = |values: &usize| {
            let then = half_width_of_values(*values, self.looks);
            then.is_some_and(|then| random * then / now + self.systematic <= wanted)
        };
        (self.values + 1..=MOST_LOOKS).find(is_enough)
    }

    /// Whether one says that the first is faster, and the other that the second is.
    pub fn contradicts(&self, other: &Comparison) -> bool {
        let both = [self.verdict, other.verdict];
        both.contains(&Verdict::Faster) && both.contains(&Verdict::Slower)
    }

    /// The comparison of the second over the first.
    pub fn reversed(&self) -> Comparison {
        let inverse = |value: Option<f64>| value.map(f64::recip);
        Comparison {
            verdict: self.verdict.reversed(),
            ratio: inverse(self.ratio),
            low: inverse(self.high),
            high: inverse(self.low),
            ..self.clone()
        }
    }
}
