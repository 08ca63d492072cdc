//! Tables that know nothing of the format they will have.

use std::fmt;

use kvdyno_analysis::Estimate;
use kvdyno_analysis::verdicts::RivalRank;
use kvdyno_model::text::{plus_minus, rate};

use crate::figures::Unit;

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// Its title.
    pub(crate) title: String,
    /// The columns, from the left.
    pub(crate) columns: Vec<GridColumn>,
    /// The rows, from the top.
    pub(crate) rows: Vec<GridRow>,
    /// Lines beneath.
    pub(crate) notes: Vec<TableNote>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct GridColumn {
    /// Its head.
    pub(crate) head: String,
    /// Numbers stand to the right, words to the left.
    pub(crate) is_number: bool,
    /// The columns that it belongs to.
    pub(crate) group: ColumnGroup,
    /// Whether its head says nothing without the columns before it: `±` of a rate, `p99` after `read p50`.
    pub(crate) continues: bool,
}

/// Columns that stand together where a table is too wide for one piece. The pieces come in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColumnGroup {
    /// They tell the rows apart, and stand in each piece.
    Names,
    /// Rates and latencies.
    Rates,
    /// Times, sizes and context switches.
    Costs,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct GridRow {
    /// One for each column; fewer in the row of a failure.
    pub(crate) cells: Vec<GridCell>,
    /// Stands in the place of the figures that are not there: `failed`, and why.
    pub(crate) failure: Option<String>,
    /// The name of the group of rows that it begins. It stands in the first column too.
    pub(crate) group: Option<String>,
    /// Trials behind its figures.
    pub(crate) trials: usize,
}

/// A field of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct GridCell {
    /// Its figure or words.
    pub(crate) content: Content,
    /// The emphasis of the field.
    pub(crate) emphasis: Emphasis,
}

/// The content of a field. It displays as people read it.
#[derive(Clone, Debug, Default)]
pub(crate) enum Content {
    /// Nothing to say.
    #[default]
    Empty,
    /// A figure that is not there.
    Absent,
    /// Words.
    Words(String),
    /// A figure.
    Number(f64, Unit),
    /// A rate, marked if there was interference with a trial that it was made from, or if it was not steady.
    Rate {
        /// Per second.
        per_s: f64,
        /// Whether there was.
        has_interference: bool,
        /// Whether it was not.
        is_unsteady: bool,
    },
    /// Half of a figure's interval over its value.
    Uncertainty(f64),
    /// A latency with its interval, nanoseconds.
    Latency(Estimate),
}

/// The emphasis of a field among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Emphasis {
    /// The field does not stand out.
    #[default]
    Plain,
    /// Faster than every other of its column.
    Best,
    /// The figure is the same as the highest.
    Near,
    /// The figure cannot be told from the highest, or as the highest.
    Untold,
    /// No figure, for a reason.
    Missing,
    /// A setting that is another than that of its neighbours.
    Differs,
}

impl Emphasis {
    /// The mark before a field, in text; empty for most.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Emphasis::Best => RivalRank::Highest.mark(),
            Emphasis::Near => RivalRank::Same.mark(),
            Emphasis::Untold => RivalRank::Untold.mark(),
            Emphasis::Differs => "≠",
            Emphasis::Plain | Emphasis::Missing => "",
        }
    }
}

/// A line beneath a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TableNote {
    /// The note as it stands.
    Words(String),
    /// The number of trials behind the figures, and the way from these to the figures.
    Repeats,
    /// Words about a column, for the pieces of a table that have it.
    OfColumn(&'static str, &'static str),
    /// The meaning of the mark beside a rate, for the pieces that have rates.
    Interference,
    /// The meaning of [`UNSTEADY`], for the pieces that have it.
    Unsteady,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Empty => Ok(()),
            Content::Absent => f.write_str("–"),
            Content::Words(words) => f.write_str(words),
            Content::Number(value, unit) => f.write_str(&unit.print(*value)),
            Content::Rate { per_s, has_interference, is_unsteady } => {
                let interference = if *has_interference { "! " } else { "" };
                let unsteady = if *is_unsteady { UNSTEADY } else { "" };
                write!(f, "{interference}{}{unsteady}", rate(*per_s))
            }
            Content::Uncertainty(relative) => f.write_str(&plus_minus(*relative)),
            Content::Latency(estimate) => {
                f.write_str(&Unit::Nanos.print(estimate.value))?;
                estimate.relative().map_or(Ok(()), |relative| write!(f, " {}", plus_minus(relative)))
            }
        }
    }
}

impl GridCell {
    /// Words in a field.
    pub(crate) fn words(words: impl Into<String>) -> GridCell {
        GridCell::from(Content::Words(words.into()))
    }

    /// Whether nothing stands in it.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Empty => true,
            Content::Words(words) => words.is_empty(),
            _ => false,
        }
    }
}

impl From<Content> for GridCell {
    fn from(content: Content) -> Self {
        GridCell { content, emphasis: Emphasis::Plain }
    }
}

impl GridColumn {
    /// A column of numbers.
    pub(crate) fn numbers(head: impl Into<String>) -> GridColumn {
        GridColumn { head: head.into(), is_number: true, group: ColumnGroup::Rates, continues: false }
    }

    /// A column of words.
    pub(crate) fn words(head: impl Into<String>) -> GridColumn {
        GridColumn { head: head.into(), is_number: false, group: ColumnGroup::Names, continues: false }
    }
}

impl Grid {
    /// Whether its rows stand in named groups.
    pub(crate) fn is_grouped(&self) -> bool {
        self.rows.iter().any(|row| row.group.is_some())
    }

    /// Whether it has groups of rows and of columns, and so is too wide for one piece on a page of text.
    pub(crate) fn is_wide(&self) -> bool {
        let has = |group| self.columns.iter().any(|column| column.group == group);
        self.is_grouped() && has(ColumnGroup::Rates) && has(ColumnGroup::Costs)
    }

    /// The lines beneath.
    pub(crate) fn note(&self) -> String {
        let lines = self.notes.iter().map(|note| self.line(note)).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The piece that has the columns of some groups.
    pub(crate) fn of_columns(&self, groups: &[ColumnGroup]) -> Grid {
        let mut piece = self.clone();
        for index in (0..self.columns.len()).rev().filter(|index| !groups.contains(&self.columns[*index].group)) {
            piece.remove_column(index);
        }
        piece
    }

    /// The same table with the name of its group in each row.
    pub(crate) fn ungrouped(&self) -> Grid {
        let mut grid = self.clone();
        let mut name: Option<String> = None;
        for row in &mut grid.rows {
            name = row.group.take().or(name);
            if let (Some(name), Some(first)) = (&name, row.cells.first_mut()) {
                first.content = Content::Words(name.clone());
            }
        }
        grid
    }

    /// The same table without the column that names the groups of rows.
    pub(crate) fn without_names_of_groups(&self) -> Grid {
        let mut grid = self.clone();
        grid.remove_column(0);
        grid
    }

    /// Columns without content go, such as those of intervals of short trials. The first columns are names, and stay.
    pub(crate) fn leave_out_empty_columns(&mut self) {
        for index in (0..self.columns.len()).rev() {
            if self.columns[index].group != ColumnGroup::Names && self.is_without_content(index) {
                self.remove_column(index);
            }
        }
    }

    /// Whether no row that has figures has any in a column.
    fn is_without_content(&self, index: usize) -> bool {
        let mut whole = self.rows.iter().filter(|row| row.failure.is_none()).peekable();
        whole.peek().is_some() && whole.all(|row| row.cells.get(index).is_none_or(GridCell::is_empty))
    }

    /// Rows that begin with the same words are a group; the words stay in the first of them.
    pub(crate) fn group_rows(&mut self) {
        let mut last = String::new();
        for row in &mut self.rows {
            let Some(name) = row.cells.first_mut() else { continue };
            let words = name.content.to_string();
            if words == last {
                name.content = Content::Empty;
            } else {
                row.group = Some(words.clone());
                last = words;
            }
        }
    }

    fn remove_column(&mut self, index: usize) {
        self.columns.remove(index);
        let rows = self.rows.iter_mut().filter(|row| index < row.cells.len());
        rows.for_each(|row| drop(row.cells.remove(index)));
    }

    fn line(&self, note: &TableNote) -> String {
        match note {
            TableNote::Words(words) => words.clone(),
            TableNote::OfColumn(head, words) if self.columns.iter().any(|column| column.head == *head) => {
                (*words).to_owned()
            }
            TableNote::Interference if self.has_rates() => INTERFERENCE.to_owned(),
            TableNote::Unsteady if self.is_unsteady() => format!("{UNSTEADY} not steady: the doubts say how."),
            TableNote::OfColumn(..) | TableNote::Interference | TableNote::Unsteady => String::new(),
            TableNote::Repeats => self.repeats(),
        }
    }

    fn is_unsteady(&self) -> bool {
        let is_it = |cell: &GridCell| matches!(cell.content, Content::Rate { is_unsteady: true, .. });
        self.rows.iter().flat_map(|row| &row.cells).any(is_it)
    }

    fn has_rates(&self) -> bool {
        let is_rate = |cell: &GridCell| matches!(cell.content, Content::Rate { .. });
        self.rows.iter().flat_map(|row| &row.cells).any(is_rate)
    }

    fn repeats(&self) -> String {
        let repeats = || self.rows.iter().map(|row| row.trials).filter(|trials| *trials > 0);
        let (fewest, most) = (repeats().min().unwrap_or(0), repeats().max().unwrap_or(0));
        let repeats = if fewest == most { format!("{most} repeats") } else { format!("{fewest} to {most} repeats") };
        let percentiles = match self.columns.iter().any(|column| column.head.contains(LATENCY)) {
            true => "\nPercentiles are those of all trials' operations together.",
            false => "",
        };
        match most {
            0 | 1 => String::new(),
            _ => format!(
                "{repeats}: rates are geometric means, ± the upper half of the 95 % interval; other figures are \
                 medians.{percentiles}"
            ),
        }
    }
}

/// The meaning of the mark beside a rate.
const INTERFERENCE: &str = "! interference with at least one of its trials: the notes say by what.";

/// The mark of a figure that was not steady.
pub(crate) const UNSTEADY: &str = "†";

/// The word in the head of a column of percentiles.
const LATENCY: &str = "p50";
