//! A summary for a pull request.

use kvdyno_model::text::{markdown, part_of_one, rate};

use super::text::{interval, outcome, said, sides};
use super::{Diff, DiffCell, DiffSide};

pub(super) fn render(diff: &Diff) -> String {
    let mut text = format!("### {}\n\n", markdown(&outcome(diff)));
    text.push_str("| cell | figure | before | after | change | verdict |\n| --- | --- | ---: | ---: | ---: | --- |\n");
    text.extend(diff.cells.iter().map(row));
    text.push('\n');
    text.extend(diff.cells.iter().map(|cell| format!("- {}: {}\n", markdown(&cell.work), markdown(&said(cell)))));
    text.push('\n');
    text.extend(sides(diff).iter().chain(&diff.notes).map(|line| format!("- {}\n", markdown(line))));
    text + &format!("\n{}\n", markdown(&interval(diff)))
}

fn row(cell: &DiffCell) -> String {
    let figure =
        |side: &DiffSide| side.figure.map_or("–".to_owned(), |figure| format!("{} {}", rate(figure), cell.unit));
    let change = cell.comparison.ratio.map_or("–".to_owned(), |ratio| match ratio {
        ratio if (0.5..1.5).contains(&ratio) => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
        ratio => format!("× {}", part_of_one(ratio)),
    });
    let name = cell.compared.figure().name().to_owned();
    let fields =
        [cell.work.clone(), name, figure(&cell.before), figure(&cell.after), change, cell.verdict().to_owned()];
    format!("| {} |\n", fields.map(|field| markdown(&field)).join(" | "))
}
