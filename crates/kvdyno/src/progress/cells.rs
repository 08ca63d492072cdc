//! The cells of a run so far, as a table for a terminal that is drawn anew: rates, marked with their verdict so far,
//! their intervals as they narrow, p99.

use kvdyno_analysis::Estimate;
use kvdyno_analysis::verdicts::{Question, RivalRank, ranks_so_far};
use kvdyno_experiment::LabSection;
use kvdyno_model::text::{duration, marked, short_rate};
use kvdyno_results::{CellKey, ClientKind, Percentile, Phase, Side, TrialKey, TrialResult};
use kvdyno_run::{Live, SoFar};

/// The cells, in the order in which they were begun.
#[derive(Default)]
pub struct LiveCells {
    /// The question of the comparisons, and the least difference that matters, of 1.
    question: Question,
    detect: f64,
    cells: Vec<LiveCell>,
    results: Vec<TrialResult>,
    ranks: Vec<(CellKey, Side, RivalRank)>,
    /// Counts what happens to any of them.
    clock: u64,
}

/// A cell.
struct LiveCell {
    key: CellKey,
    /// Figures of the trials that finished.
    finished: Vec<SoFar>,
    failed: u32,
    /// The trial under way.
    now: Option<(u32, Option<SoFar>)>,
    /// When something last happened to it.
    changed: u64,
}

impl LiveCells {
    /// Those of a run of an experiment with this section, which has these results so far.
    pub fn new(lab: &LabSection, results: &[TrialResult]) -> LiveCells {
        let mut cells = LiveCells { question: lab.question, detect: lab.detect.0, ..LiveCells::default() };
        results.iter().for_each(|result| cells.count(result));
        cells.rank();
        cells
    }

    /// A trial begins.
    pub fn begin(&mut self, trial: &TrialKey) {
        self.of(trial).now = Some((trial.number, None));
    }

    /// Some time passed in it.
    pub fn live(&mut self, live: &Live) {
        let at_work = |cell: &&mut LiveCell| cell.now.is_some_and(|(number, _)| number == live.trial.number);
        if let (Some(cell), Some(so_far)) = (self.cells.iter_mut().find(at_work), live.so_far) {
            cell.now = Some((live.trial.number, Some(so_far)));
        }
    }

    /// It ended.
    pub fn end(&mut self, result: &TrialResult) {
        self.count(result);
        self.rank();
    }

    fn count(&mut self, result: &TrialResult) {
        let cell = self.of(&result.trial);
        cell.now = None;
        match result.is_finished() {
            true => cell.finished.push(figures(result)),
            false => cell.failed += 1,
        }
        self.results.push(result.clone());
    }

    fn rank(&mut self) {
        self.ranks = ranks_so_far(&self.results, self.question, self.detect);
    }

    /// The mark of a cell's verdict by the rate of a side, as in a report's tables. Empty if the cell has no rival, or
    /// does two works by one name.
    fn mark(&self, key: &CellKey, side: Side) -> &'static str {
        let mut ranks = self.ranks.iter().filter(|(of, by, _)| of == key && *by == side).map(|(_, _, rank)| *rank);
        match (ranks.next(), ranks.next()) {
            (Some(rank), None) => rank.mark(),
            _ => "",
        }
    }

    fn of(&mut self, trial: &TrialKey) -> &mut LiveCell {
        let key = CellKey::from(trial);
        self.clock += 1;
        let known = self.cells.iter().position(|cell| cell.key == key);
        let index = known.unwrap_or_else(|| {
            self.cells.push(LiveCell { key, finished: Vec::new(), failed: 0, now: None, changed: 0 });
            self.cells.len() - 1
        });
        let cell = &mut self.cells[index];
        cell.changed = self.clock;
        cell
    }

    /// The table: a head, of the cells those to which something happened last, as many as fit, and the meaning of the
    /// marks. No line is wider than `width`: columns that do not fit are left out, the least important first, and names
    /// lose their ends.
    pub fn lines(&self, width: usize, height: usize) -> Vec<String> {
        let shown = height.saturating_sub(1 + usize::from(!self.ranks.is_empty()));
        if self.cells.is_empty() || shown == 0 {
            return Vec::new();
        }
        let mut changes: Vec<u64> = self.cells.iter().map(|cell| cell.changed).collect();
        changes.sort_unstable();
        let oldest = changes[changes.len().saturating_sub(shown)];
        let row = |cell: &LiveCell| cell.row([Side::Reads, Side::Writes].map(|side| self.mark(&cell.key, side)));
        let rows: Vec<Row> = self.cells.iter().filter(|cell| cell.changed >= oldest).map(row).collect();
        let legend = (!self.ranks.is_empty()).then(|| cut(&format!("so far: {}", RivalRank::LEGEND), width));
        laid_out(&rows, width).into_iter().chain(legend).collect()
    }
}

/// The figures of a trial that ended, as they are of one under way.
fn figures(result: &TrialResult) -> SoFar {
    let p99 = |side| result.main_kind(side).map(|kind| kind.latency.at(Percentile::P99));
    SoFar {
        reads_per_s: result.reads_per_s(),
        writes_per_s: result.writes_per_s(),
        read_p99_ns: p99(Side::Reads),
        write_p99_ns: p99(Side::Writes),
    }
}

/// A field for each of [`COLUMNS`].
type Row = [String; COLUMNS.len()];

/// The heads, each with how important it is: those of the highest numbers are left out first. Names come first, and are
/// never left out. `n` counts trials.
const COLUMNS: [(&str, u32); 10] = [
    ("engine", 0),
    ("work", 0),
    ("clients", 0),
    ("n", 5),
    ("reads/s", 0),
    ("±", 1),
    ("p99", 3),
    ("writes/s", 0),
    ("±", 2),
    ("p99", 4),
];
const NAMES: usize = 2;
/// No name becomes shorter, characters.
const SHORTEST_NAME: usize = 8;

impl LiveCell {
    /// `4r 1w`; processes say so.
    fn clients(&self) -> String {
        let of = |count: u32, letter: &str| (count > 0).then(|| format!("{count}{letter}"));
        let processes = (self.key.clients == ClientKind::Processes).then(|| "procs".to_owned());
        let all = [of(self.key.readers, "r"), of(self.key.writers, "w"), processes];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Its row, with marks for the rates of its reads and writes.
    fn row(&self, [of_reads, of_writes]: [&str; 2]) -> Row {
        // Before its first trial has ended a cell has the figures of that as it goes on.
        let so_far: Vec<SoFar> = match (self.finished.as_slice(), self.now) {
            ([], Some((_, Some(so_far)))) => vec![so_far],
            (finished, _) => finished.to_vec(),
        };
        // Failures are shown even if the column that counts them is left out.
        let mark = match (self.failed, self.now) {
            (1.., _) => "!",
            (0, Some(_)) => "▸",
            (0, None) => " ",
        };
        let load = if self.key.phase == Phase::Load { "load: " } else { "" };
        let variant = if self.key.variant.is_empty() { String::new() } else { format!("{}: ", self.key.variant) };
        let work = format!("{variant}{load}{}", self.key.workload);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let of = |mark: &str, rate_of: fn(&SoFar) -> f64, p99_of: fn(&SoFar) -> Option<u64>| {
            let rates: Vec<f64> = so_far.iter().map(rate_of).filter(|rate| *rate > 0.0).collect();
            let p99 = median(so_far.iter().filter_map(p99_of).collect());
            let estimate = Estimate::from_repeats(&rates);
            let half = estimate.as_ref().and_then(|it| Some((it.high? - it.low?) / 2.0 / it.value));
            [
                estimate.map(|it| marked(mark, &short_rate(it.value))).unwrap_or_default(),
                half.map(percent).unwrap_or_default(),
                p99.map(|ns| duration(ns as f64)).unwrap_or_default(),
            ]
        };
        let [reads, reads_half, reads_p99] = of(of_reads, |it| it.reads_per_s, |it| it.read_p99_ns);
        let [writes, writes_half, writes_p99] = of(of_writes, |it| it.writes_per_s, |it| it.write_p99_ns);
        let trials = format!("{}{failed}", self.finished.len());
        let name = format!("{mark} {}", self.key.engine);
        [name, work, self.clients(), trials, reads, reads_half, reads_p99, writes, writes_half, writes_p99]
    }
}

/// `±2.5 %`, `±33 %`.
fn percent(part: f64) -> String {
    let decimals = if part < 0.1 { 1 } else { 0 };
    format!("±{:.decimals$} %", 100.0 * part)
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn laid_out(rows: &[Row], width: usize) -> Vec<String> {
    let head = COLUMNS.map(|(head, _)| head.to_owned());
    let of_column = |column: usize| rows.iter().map(move |row| row[column].chars().count());
    // A column in which nothing stands is none.
    let mut columns: Vec<usize> = (0..COLUMNS.len()).filter(|column| of_column(*column).max() > Some(0)).collect();
    let wide = |column: usize| of_column(column).chain([COLUMNS[column].0.chars().count()]).max().unwrap_or(0);
    let figures = |columns: &[usize]| columns.iter().filter(|one| **one >= NAMES).map(|one| wide(*one) + 2).sum();
    let names = |columns: &[usize]| columns.iter().filter(|one| **one < NAMES).count() * (SHORTEST_NAME + 2);
    loop {
        let needed: usize = figures(&columns) + names(&columns);
        let least = columns.iter().map(|one| COLUMNS[*one].1).max().unwrap_or(0);
        if needed <= width || least == 0 {
            break;
        }
        columns.retain(|one| COLUMNS[*one].1 < least);
    }
    let for_names = width.saturating_sub(figures(&columns)).max(names(&columns));
    // Each of the two names gets half, or what the other leaves.
    let half = (for_names.saturating_sub(2) / 2).max(SHORTEST_NAME);
    let engine = wide(0).min(for_names.saturating_sub(2 + wide(1)).max(half));
    let of_work = wide(1).min(for_names.saturating_sub(engine + 2).max(SHORTEST_NAME));
    let line = |row: &Row| {
        let fields = columns.iter().map(|column| match column {
            0 => format!("{:<engine$}", cut(&row[0], engine)),
            1 => format!("  {:<of_work$}", cut(&row[1], of_work)),
            // Clients are words.
            2 => format!("  {:<1$}", row[2], wide(2)),
            figure => format!("  {:>1$}", row[*figure], wide(*figure)),
        });
        fields.collect::<String>().trim_end().to_owned()
    };
    std::iter::once(&head).chain(rows).map(line).collect()
}

/// A name cut to `most` characters, the last of which marks the cut.
pub fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words::testing::{live, trial};
    use super::*;

    fn cells(rates: &[(&str, &[f64])]) -> LiveCells {
        let mut cells = LiveCells::default();
        for (engine, rates) in rates {
            for rate in *rates {
                cells.of(&trial(engine, 1, 1)).finished.push(SoFar {
                    reads_per_s: *rate,
                    writes_per_s: rate / 100.0,
                    read_p99_ns: Some(12_345),
                    write_p99_ns: Some(1_234_567),
                });
            }
        }
        cells
    }

    #[test]
    fn an_interval_narrows_and_one_trial_has_none() {
        let half = |rates: &[f64]| {
            let lines = cells(&[("lmdb", rates)]).lines(200, 10);
            let words: Vec<String> = lines[1].split_whitespace().map(str::to_owned).collect();
            words.iter().find_map(|word| word.strip_prefix('±'))?.parse::<f64>().ok()
        };
        assert_eq!(half(&[1e6]), None);
        assert!(half(&[1e6, 1.1e6]) > half(&[1e6, 1.1e6, 1e6, 1.1e6, 1e6]));
    }

    #[test]
    fn no_number_is_broken_and_no_line_too_wide() {
        let long = "wiredtiger:a-preset-with-a-long-name";
        let cells = cells(&[(long, &[1.234e6, 1.3e6]), ("lmdb", &[2e6])]);
        for width in [50, 60, 80, 120, 200] {
            let lines = cells.lines(width, 10);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
            assert!(lines[1].contains("1.27 M") && lines[1].contains("12.7 k"), "{width}: {lines:#?}");
            assert_eq!(lines[1].contains(long), width >= 120, "{width}: {lines:#?}");
            assert_eq!(lines[1].contains("12.3 µs"), width >= 80, "{width}: {lines:#?}");
        }
    }

    #[test]
    fn rates_have_the_marks_of_their_verdicts_and_the_last_line_their_meaning() {
        let mut cells = cells(&[("lmdb", &[2e6]), ("bdb", &[1e6]), ("rocksdb", &[1e6])]);
        let rank = |engine: &str, rank| (CellKey::from(&trial(engine, 1, 1)), Side::Reads, rank);
        cells.ranks = vec![rank("lmdb", RivalRank::Highest), rank("bdb", RivalRank::Untold)];
        for width in [50, 80, 200] {
            let lines = cells.lines(width, 10);
            assert!(lines[1].contains("* 2.00 M") && lines[2].contains("? 1.00 M"), "{lines:#?}");
            assert!(lines[3].contains("  1.00 M") && lines[4].starts_with("so far: *"), "{lines:#?}");
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
        }
        assert_eq!(cells.lines(80, 4).len(), 4);
        // Two works by one name, with a rank each.
        cells.ranks.push(rank("lmdb", RivalRank::Same));
        assert!(!cells.lines(80, 10)[1].contains('*'));
    }

    #[test]
    fn a_failure_shows_at_any_width() {
        let mut cells = cells(&[("lmdb", &[1e6, 2e6]), ("faulty", &[1e6, 2e6])]);
        cells.of(&trial("faulty", 1, 1)).failed = 2;
        for width in [50, 80, 120] {
            let lines = cells.lines(width, 10);
            assert!(lines[1].starts_with("  lmdb") && lines[2].starts_with("! faulty"), "{lines:#?}");
        }
        assert!(cells.lines(120, 10)[2].contains("2, 2 failed"));
    }

    #[test]
    fn the_last_cells_stay_where_there_is_no_height_for_all() {
        let mut cells = cells(&[("a", &[1.0]), ("b", &[1.0]), ("c", &[1.0])]);
        cells.begin(&trial("a", 9, 2));
        let engines =
            |lines: Vec<String>| lines.iter().skip(1).map(|line| line[..5].trim().to_owned()).collect::<Vec<_>>();
        assert_eq!(engines(cells.lines(100, 3)), ["▸ a", "c"]);
        assert_eq!(cells.lines(100, 0), Vec::<String>::new());
        // One that has nothing yet has the figures of the trial under way.
        cells.begin(&trial("new", 10, 1));
        let so_far = Some(SoFar { reads_per_s: 5e6, ..SoFar::default() });
        cells.live(&Live { trial: trial("new", 10, 1), so_far, ..live() });
        assert!(cells.lines(100, 2)[1].contains("5.00 M"), "{:?}", cells.lines(100, 2));
    }
}
