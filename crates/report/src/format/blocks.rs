//! A table that is wider than the terminal becomes several blocks: the columns that fit, then the next, each with the
//! names of the rows before them. No figure is ever broken; names that leave no room for one lose their middle.

use kvdyno_model::text::{self, plain};

use crate::grid::{ColumnGroup, Content, Grid, GridCell};

/// Columns of the terminal between two of a table.
const BETWEEN: usize = 2;

/// A name keeps at least this much of itself.
const SHORTEST_NAME: usize = 8;

/// The words of a field, with its mark.
pub(super) fn marked(cell: &GridCell) -> String {
    text::marked(cell.emphasis.mark(), &plain(&cell.content.to_string()))
}

/// The blocks of a table. The reason of a failure stands in the first; in the others there is its first word.
pub(super) fn blocks(grid: &Grid, width: usize) -> Vec<Grid> {
    let names = grid.columns.iter().take_while(|column| column.group == ColumnGroup::Names).count();
    if width_of(&widths(grid)) <= width || names == grid.columns.len() {
        return vec![grid.clone()];
    }
    let grid = with_names_cut(grid, names, width);
    let widths = widths(&grid);
    let space = width.saturating_sub(width_of(&widths[..names]));
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    for unit in units(&grid, names, space, &widths) {
        let wanted = |block: &[usize]| block.iter().chain(&unit).map(|index| widths[*index] + BETWEEN).sum::<usize>();
        match blocks.last_mut() {
            Some(block) if block.is_empty() || wanted(block) <= space => block.extend(unit),
            _ => blocks.push(unit),
        }
    }
    blocks.iter().enumerate().map(|(index, columns)| block(&grid, names, columns, index > 0)).collect()
}

fn block(grid: &Grid, names: usize, columns: &[usize], is_further: bool) -> Grid {
    let kept = || (0..names).chain(columns.iter().copied());
    let mut block = Grid { columns: kept().map(|index| grid.columns[index].clone()).collect(), ..grid.clone() };
    for row in &mut block.rows {
        row.cells = kept().filter_map(|index| row.cells.get(index).cloned()).collect();
        row.failure = row.failure.take().map(|reason| match is_further {
            true => reason.split([' ', ',']).next().unwrap_or_default().to_owned(),
            false => reason,
        });
    }
    block
}

/// Columns that stay together: one whose head says nothing alone, such as `±`, with those before it. Where even one
/// such group does not fit, each column is for itself.
fn units(grid: &Grid, names: usize, space: usize, widths: &[usize]) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    for index in names..grid.columns.len() {
        match units.last_mut().filter(|_| grid.columns[index].continues) {
            Some(unit) if unit.iter().chain([&index]).map(|i| widths[*i] + BETWEEN).sum::<usize>() <= space => {
                unit.push(index);
            }
            _ => units.push(vec![index]),
        }
    }
    units
}

/// The width of each column: the longest of its fields and its head.
fn widths(grid: &Grid) -> Vec<usize> {
    let of = |index: usize| {
        let fields = grid.rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| marked(cell).chars().count());
        fields.chain([plain(&grid.columns[index].head).chars().count()]).max().unwrap_or(0)
    };
    (0..grid.columns.len()).map(of).collect()
}

fn width_of(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + BETWEEN * widths.len().saturating_sub(1)
}

/// The same table with names short enough for the widest figure to stand beside them.
fn with_names_cut(grid: &Grid, names: usize, width: usize) -> Grid {
    let widths = widths(grid);
    let figure = widths[names..].iter().max().copied().unwrap_or(0);
    let needed = width_of(&widths[..names]) + BETWEEN + figure;
    let longest = (0..names).max_by_key(|index| widths[*index]);
    let mut grid = grid.clone();
    let (Some(column), Some(over)) = (longest, needed.checked_sub(width).filter(|over| *over > 0)) else { return grid };
    let most = widths[column].saturating_sub(over).max(SHORTEST_NAME);
    for cell in grid.rows.iter_mut().filter_map(|row| row.cells.get_mut(column)) {
        let words = plain(&cell.content.to_string());
        if words.chars().count() > most {
            cell.content = Content::Words(without_middle(&words, most));
        }
    }
    grid.columns[column].head = without_middle(&grid.columns[column].head, most);
    grid
}

/// `./target/rel…/libmine.so`.
fn without_middle(words: &str, most: usize) -> String {
    let count = words.chars().count();
    if count <= most {
        return words.to_owned();
    }
    let head = (most - 1) / 2;
    let tail = most - 1 - head;
    let (begin, end) = (words.chars().take(head), words.chars().skip(count - tail));
    begin.chain(['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{GridColumn, GridRow};

    fn grid(name: &str, figures: &[(&str, bool)]) -> Grid {
        let column =
            |(head, continues): &(&str, bool)| GridColumn { continues: *continues, ..GridColumn::numbers(*head) };
        let cells = std::iter::once(name).chain(figures.iter().map(|_| "1,234,567")).map(GridCell::words).collect();
        Grid {
            columns: std::iter::once(GridColumn::words("engine")).chain(figures.iter().map(column)).collect(),
            rows: vec![
                GridRow { cells, ..GridRow::default() },
                GridRow {
                    cells: vec![GridCell::words("b")],
                    failure: Some("failed, crashed".into()),
                    ..GridRow::default()
                },
            ],
            ..Grid::default()
        }
    }

    fn heads(blocks: &[Grid]) -> Vec<Vec<&str>> {
        blocks.iter().map(|block| block.columns.iter().map(|column| column.head.as_str()).collect()).collect()
    }

    #[test]
    fn columns_that_do_not_fit_go_to_a_further_block_with_the_names() {
        let grid = grid("lmdb", &[("a", false), ("b", false), ("±", true), ("c", false)]);
        assert_eq!(heads(&blocks(&grid, 60)), [["engine", "a", "b", "±", "c"]]);
        let split = blocks(&grid, 40);
        assert_eq!(heads(&split), [vec!["engine", "a", "b", "±"], vec!["engine", "c"]]);
        assert_eq!(split[0].rows[1].failure.as_deref(), Some("failed, crashed"));
        assert_eq!(split[1].rows[1].failure.as_deref(), Some("failed"));
        assert_eq!(heads(&blocks(&grid, 30)), [vec!["engine", "a"], vec!["engine", "b", "±"], vec!["engine", "c"]]);
    }

    #[test]
    fn names_give_way_to_figures() {
        let grid = grid("./target/release/a-long-name/libmine.so", &[("a", false)]);
        let cut = blocks(&grid, 40);
        assert_eq!(cut[0].rows[0].cells[0].content.to_string(), "./target/relea…ame/libmine.so");
        assert_eq!(cut[0].rows[0].cells[1].content.to_string(), "1,234,567");
    }
}
