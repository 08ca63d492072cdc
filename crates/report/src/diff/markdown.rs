//! A summary for a pull request: what changed, by how much, and where and how that was measured.

use kvdyno_model::text::{markdown, part_of_one, rate};

use super::Diff;
use super::cells::{DiffCell, DiffSide};
use super::text::{interval, outcome, said, sides};
use crate::format::markdown::{folded, shell};
use crate::order::distinct;

const HEADS: &str = "\
| engine | work | figure | before | after | change | 95 % interval | verdict |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |
";

pub(super) fn render(diff: &Diff) -> String {
    let mut text = format!("### {}\n\n", markdown(&outcome(diff)));
    let changed = distinct(diff.cells.iter().flat_map(DiffCell::changed_settings));
    text.extend(sides(diff).iter().chain(&changed).map(|line| format!("- {}\n", markdown(line))));
    text.push_str(&format!("- {}\n\n", markdown(&diff.setting.join(" · "))));
    text.push_str(HEADS);
    text.extend(diff.cells.iter().map(row));
    text.push('\n');
    text.extend(diff.notes.iter().map(|note| format!("- {}\n", markdown(note))));
    text.push_str(&format!("{}\n\n", markdown(&interval(diff))));
    let sentence =
        |cell: &DiffCell| format!("- {}, by {}: {}\n", markdown(&cell.work), cell.figure, markdown(&said(cell)));
    text.push_str(&folded("Sentences", &diff.cells.iter().map(sentence).collect::<String>()));
    text.push_str(&folded("The command that repeats it", &shell(&diff.anywhere)));
    text.trim_end().to_owned() + "\n"
}

fn row(cell: &DiffCell) -> String {
    let figure =
        |side: &DiffSide| side.figure.map_or("–".to_owned(), |figure| format!("{} {}", rate(figure), cell.unit));
    let ratio = |ratio: f64, is_small: bool| match is_small {
        true => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
        false => format!("× {}", part_of_one(ratio)),
    };
    let is_small = cell.comparison.ratio.is_some_and(|ratio| (0.5..1.5).contains(&ratio));
    let change = cell.comparison.ratio.map_or("–".to_owned(), |one| ratio(one, is_small));
    let ends = |(low, high): (f64, f64)| format!("{} to {}", ratio(low, is_small), ratio(high, is_small));
    let fields = [
        cell.after.name.clone(),
        cell.work.clone(),
        cell.figure.clone(),
        figure(&cell.before),
        figure(&cell.after),
        change,
        cell.comparison.interval().map_or("–".to_owned(), ends),
        cell.verdict().to_owned(),
    ];
    format!("| {} |\n", fields.map(|field| markdown(&field)).join(" | "))
}
