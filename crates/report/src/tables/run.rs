//! Work on loaded databases.

use kvdyno_analysis::Cell;

use super::fields::{
    COSTS, ENGINE, Field, HIGH_READ_LATENCY, HIGH_WRITE_LATENCY, ONLY_READERS, READ_LATENCY, READERS, READS, THREADS,
    WRITE_LATENCY, WRITERS, WRITES,
};
use super::{Grid, Row};
use crate::study::Study;

/// For terminals: for each workload a table of what the engines do and one of what that costs, engine after engine.
/// Together they would be wider than a screen.
pub(crate) fn run_by_workload(study: &Study<'_>) -> Vec<Grid> {
    study.workloads().into_iter().flat_map(|workload| workload_grids(study, workload)).collect()
}

fn workload_grids(study: &Study<'_>, workload: &str) -> [Grid; 2] {
    let cells = by_engine(study, workload);
    let mut names = vec![ENGINE];
    names.extend(thread_fields(&cells));
    let grid = |title: &str, fields: Vec<Field>| {
        let fields: Vec<Field> = names.iter().copied().chain(fields).collect();
        let mut grid = Grid::of_cells(format!("{workload}: {title}"), &cells, &fields, names.len());
        name_groups_once(&mut grid.rows);
        grid
    };
    [grid("rates and latencies", rate_fields(&cells)), grid("what it cost", COSTS.to_vec())]
}

/// As the reports print it: for each engine and workload a table with all columns.
pub(crate) fn run_by_engine(study: &Study<'_>, workload: &str) -> Vec<Grid> {
    let engine_grid = |engine: &str| {
        let mut cells = study.running(workload);
        cells.retain(|cell| cell.key.engine == engine);
        let names = thread_fields(&cells);
        let fields: Vec<Field> = names.iter().copied().chain(COSTS).chain(rate_fields(&cells)).collect();
        (!cells.is_empty()).then(|| Grid::of_cells(engine.to_owned(), &cells, &fields, names.len()))
    };
    study.engines().into_iter().filter_map(engine_grid).collect()
}

/// For the page: a table with the reports' columns for all engines, each a named group of rows.
pub(crate) fn run_grouped(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    let reads = does(&cells, |cell| cell.reads_per_s.is_some());
    let writes = does(&cells, |cell| cell.writes_per_s.is_some());
    let mut fields = vec![threads_in_words(&cells)];
    fields.extend(COSTS);
    fields.extend(writes.then_some(WRITES).into_iter().flatten());
    fields.extend(reads.then_some(READS).into_iter().flatten());
    fields.extend(reads.then_some(READ_LATENCY).into_iter().flatten());
    (!cells.is_empty()).then(|| grouped(&cells, &fields))
}

/// For the page: all percentiles of both sides, each engine a named group of rows.
pub(crate) fn latencies(study: &Study<'_>, workload: &str) -> Option<Grid> {
    let cells = by_engine(study, workload);
    let mut fields = vec![threads_in_words(&cells)];
    if does(&cells, |cell| cell.reads_per_s.is_some()) {
        fields.extend(READ_LATENCY.into_iter().chain(HIGH_READ_LATENCY));
    }
    if does(&cells, |cell| cell.writes_per_s.is_some()) {
        fields.extend(WRITE_LATENCY.into_iter().chain(HIGH_WRITE_LATENCY));
    }
    (fields.len() > 1).then(|| grouped(&cells, &fields))
}

/// The engine's name stands above its rows instead of in them.
fn grouped(cells: &[&Cell<'_>], fields: &[Field]) -> Grid {
    let fields: Vec<Field> = std::iter::once(ENGINE).chain(fields.iter().copied()).collect();
    let mut grid = Grid::of_cells(String::new(), cells, &fields, 2);
    name_groups_once(&mut grid.rows);
    grid.columns.remove(0);
    for row in &mut grid.rows {
        row.cells.remove(0);
    }
    grid
}

fn does(cells: &[&Cell<'_>], what: fn(&Cell<'_>) -> bool) -> bool {
    cells.iter().any(|cell| what(cell))
}

/// The cells of a workload, those of an engine together.
pub(super) fn by_engine<'a, 'b>(study: &'a Study<'b>, workload: &str) -> Vec<&'a Cell<'b>> {
    let engines = study.engines();
    let mut cells = study.running(workload);
    cells.sort_by_key(|cell| engines.iter().position(|engine| *engine == cell.key.engine));
    cells
}

fn threads_in_words(cells: &[&Cell<'_>]) -> Field {
    match thread_fields(cells).as_slice() {
        [only] if only.head == READERS.head => ONLY_READERS,
        _ => THREADS,
    }
}

/// Readers where anything reads; writers where their number varies, or where nothing reads.
pub(super) fn thread_fields(cells: &[&Cell<'_>]) -> Vec<Field> {
    let reads = cells.iter().any(|cell| cell.key.readers > 0);
    let writers_vary = cells.windows(2).any(|pair| pair[0].key.writers != pair[1].key.writers);
    let readers = reads.then_some(READERS);
    let writers = (writers_vary || !reads).then_some(WRITERS);
    readers.into_iter().chain(writers).collect()
}

/// Only what the workload does.
fn rate_fields(cells: &[&Cell<'_>]) -> Vec<Field> {
    let mut fields = Vec::new();
    let writes = does(cells, |cell| cell.writes_per_s.is_some());
    let reads = does(cells, |cell| cell.reads_per_s.is_some());
    if writes {
        fields.extend(WRITES);
    }
    if reads {
        fields.extend(READS);
        fields.extend(READ_LATENCY);
    }
    if writes {
        fields.extend(WRITE_LATENCY);
    }
    fields
}

/// Leaves the engine's name in the first row of its group only.
pub(super) fn name_groups_once(rows: &mut [Row]) {
    let mut last = String::new();
    for row in rows {
        let Some(name) = row.cells.first_mut() else { continue };
        if name.text == last {
            name.text.clear();
        } else {
            last.clone_from(&name.text);
            row.group = Some(last.clone());
        }
    }
}
