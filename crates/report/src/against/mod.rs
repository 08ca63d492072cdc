//! An experiment held against the report that it repeats: [`published`] has the printed tables, [`contests`] finds for
//! each of their figures the one that was measured, and this lays the two side by side.

mod contests;
mod published;

use std::fmt;
use std::str::FromStr;

use kvdyno_analysis::{Agreement, agreement};
use kvdyno_results::folder::ResultsFolder;

use crate::study::{Contents, Study};
use crate::tables::{Column, Grid, Row, Text};
use crate::{Format, ReportError, format};
use contests::{Contest, Entry};

/// Swapped pairs that are told; how many more there are is said.
const SWAPS_TOLD: usize = 6;

/// A published report whose tables are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Symas 2014, in memory, with NUMA.
    InmemNuma,
    /// Anderson 2011, 3n+1 on Berkeley DB.
    ThreeNPlusOne,
    /// Callaghan 2023, db_bench with and without hyperthreads.
    DbbenchSmt,
    /// Symas 2018, LMDB and RocksDB on flash and Optane.
    Storage,
}

/// A report that cannot be held against anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a report whose tables are known; use inmem-numa, 3n1, dbbench-smt or storage{hint}",
    hint = if .0 == "ondisk" { " (ondisk printed charts only)" } else { "" })]
pub struct UnknownPaper(String);

impl Paper {
    /// All of them.
    pub const ALL: [Paper; 4] = [Paper::InmemNuma, Paper::ThreeNPlusOne, Paper::DbbenchSmt, Paper::Storage];

    /// As its experiment is called.
    pub fn name(self) -> &'static str {
        match self {
            Paper::InmemNuma => "inmem-numa",
            Paper::ThreeNPlusOne => "3n1",
            Paper::DbbenchSmt => "dbbench-smt",
            Paper::Storage => "storage",
        }
    }

    /// As people cite it.
    fn title(self) -> &'static str {
        match self {
            Paper::InmemNuma => "Symas, In-Memory Microbenchmark (Scaling/NUMA), 2014",
            Paper::ThreeNPlusOne => "D. Anderson, 3n+1 on Berkeley DB, 2011",
            Paper::DbbenchSmt => "M. Callaghan, hyperthreading and db_bench, 2023",
            Paper::Storage => "Symas, LMDB and RocksDB on Optane, 2018",
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Paper {
    type Err = UnknownPaper;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name).ok_or_else(|| UnknownPaper(name.to_owned()))
    }
}

/// Measured and published figures side by side, and where the published ones do not fit themselves.
///
/// # Errors
/// If the results folder cannot be read.
pub fn against(results: &ResultsFolder, paper: Paper, as_markdown: bool) -> Result<String, ReportError> {
    let contents = Contents::read(results)?;
    let study = Study::of(&contents);
    let contests = published::contests(paper)?;
    let compared: Vec<Compared> = contests.iter().map(|contest| Compared::of(contest, &study)).collect();
    let mut grids = vec![summary(paper, &compared)];
    grids.extend(compared.iter().filter(|compared| !compared.pairs.is_empty()).map(side_by_side));
    let mut parts: Vec<String> = grids
        .iter()
        .map(|grid| if as_markdown { format::markdown::grid(grid) } else { format::table::grid(grid) })
        .collect();
    parts.push(slips(paper)?);
    Ok(parts.join("\n\n") + "\n")
}

/// [`against`]'s formats: no other can hold it.
pub fn can_hold(format: Format) -> bool {
    matches!(format, Format::Table | Format::Markdown)
}

/// A contest with what was measured.
struct Compared<'a> {
    contest: &'a Contest,
    /// Contestants of both, with the measured figure.
    pairs: Vec<(&'a Entry, f64)>,
    agreement: Option<Agreement>,
}

impl<'a> Compared<'a> {
    fn of(contest: &'a Contest, study: &Study<'_>) -> Self {
        let measured = |entry: &'a Entry| contest.measured(entry, study).map(|figure| (entry, figure));
        let pairs: Vec<_> = contest.entries.iter().filter_map(measured).collect();
        let figures: Vec<(f64, f64)> = pairs.iter().map(|(entry, figure)| (entry.published, *figure)).collect();
        Compared { contest, agreement: agreement(&figures), pairs }
    }

    fn best(&self, figures: impl Iterator<Item = f64>) -> f64 {
        match self.contest.figure.more_is_better() {
            true => figures.fold(f64::MIN, f64::max),
            false => figures.fold(f64::MAX, f64::min),
        }
    }

    /// 1 for the best.
    fn rank(&self, figure: f64, all: &[f64]) -> usize {
        let better =
            |other: &&f64| if self.contest.figure.more_is_better() { **other > figure } else { **other < figure };
        1 + all.iter().filter(better).count()
    }

    /// Pairs that stand the other way round, the widest apart in print first.
    fn swapped(&self) -> Vec<String> {
        let mut swaps = Vec::new();
        for (place, (a, a_here)) in self.pairs.iter().enumerate() {
            for (b, b_here) in &self.pairs[place + 1..] {
                if (a.published - b.published) * (a_here - b_here) < 0.0 {
                    let here_first = (a_here > b_here) == self.contest.figure.more_is_better();
                    let (first, second) = if here_first { (a, b) } else { (b, a) };
                    let apart = (a.published / b.published).ln().abs();
                    swaps.push((apart, format!("{} before {}", first.label, second.label)));
                }
            }
        }
        swaps.sort_by(|a, b| b.0.total_cmp(&a.0));
        swaps.into_iter().map(|(_, text)| text).collect()
    }
}

fn words(head: &str) -> Column {
    Column { head: head.to_owned(), number: false }
}

fn number(head: &str) -> Column {
    Column { head: head.to_owned(), number: true }
}

fn row(cells: Vec<String>) -> Row {
    Row { cells: cells.into_iter().map(Text::from).collect(), ..Row::default() }
}

fn summary(paper: Paper, compared: &[Compared<'_>]) -> Grid {
    let line = |compared: &Compared<'_>| {
        let tau = compared.agreement.map_or("–".to_owned(), |found| format!("{:+.2}", found.tau));
        let interval = compared.agreement.and_then(|found| found.interval);
        let interval = interval.map_or("–".to_owned(), |(low, high)| format!("{low:+.2} to {high:+.2}"));
        let entries = compared.contest.entries.len();
        row(vec![compared.contest.title.clone(), format!("{} of {entries}", compared.pairs.len()), tau, interval])
    };
    Grid {
        title: format!("Against: {}", paper.title()),
        columns: vec![words("table"), number("in both"), number("tau"), number("95 % interval")],
        rows: compared.iter().filter(|compared| !compared.pairs.is_empty()).map(line).collect(),
        note: nothing_of(compared)
            + "tau: Kendall's rank correlation; +1: the same order, 0: none in common, -1: the reverse. No interval for \
               fewer than 5.",
    }
}

/// What of the paper's tables has no counterpart.
fn nothing_of(compared: &[Compared<'_>]) -> String {
    match compared.iter().filter(|compared| compared.pairs.is_empty()).count() {
        0 => String::new(),
        count => format!("{count} of the report's {} columns have nothing measured beside them. ", compared.len()),
    }
}

fn side_by_side(compared: &Compared<'_>) -> Grid {
    let figure = compared.contest.figure;
    let here: Vec<f64> = compared.pairs.iter().map(|(_, measured)| *measured).collect();
    let there: Vec<f64> = compared.pairs.iter().map(|(entry, _)| entry.published).collect();
    let (best_here, best_there) = (compared.best(here.iter().copied()), compared.best(there.iter().copied()));
    let line = |(entry, measured): &(&Entry, f64)| {
        row(vec![
            entry.label.clone(),
            figure.text(*measured),
            format!("{:.3}", measured / best_here),
            compared.rank(*measured, &here).to_string(),
            figure.text(entry.published),
            format!("{:.3}", entry.published / best_there),
            compared.rank(entry.published, &there).to_string(),
        ])
    };
    let heads = ["measured", "of best", "rank", "published", "of best", "rank"];
    Grid {
        title: format!("{}: {}", compared.contest.title, figure.unit()),
        columns: std::iter::once(words(compared.contest.contestant)).chain(heads.map(number)).collect(),
        rows: compared.pairs.iter().map(line).collect(),
        note: note(compared),
    }
}

fn note(compared: &Compared<'_>) -> String {
    let swaps = compared.swapped();
    let more = match swaps.len().saturating_sub(SWAPS_TOLD) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    match swaps.as_slice() {
        [] => "The order is the published one.".to_owned(),
        swaps => format!("Other than published: {}{more}.", swaps[..swaps.len().min(SWAPS_TOLD)].join(", ")),
    }
}

fn slips(paper: Paper) -> Result<String, ReportError> {
    let slips = published::slips(paper)?;
    Ok(match slips.as_slice() {
        [] => "The published tables agree with themselves as far as they can be checked.".to_owned(),
        slips => format!("The published tables do not agree with themselves:\n- {}", slips.join("\n- ")),
    })
}
