//! Sides of a diff that were not measured beside each other: of two results folders, or of the machines of one.

use std::collections::BTreeMap;
use std::ptr;

use kvdyno_analysis::verdicts::{
    Counterparts, Looks, Terms, UnpairedFigures, VerdictFigure, compare_unpaired, counterparts_of_folders, measured,
};
use kvdyno_analysis::{Cell, RepeatMachines, Series, cells_on_machines, is_driver};
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{CellKey, Phase, TrialResult};

use super::cells::{ComparedPair, DiffPair, DiffSource, diff_cells, work};
use super::{Diff, DiffError, SidesOf, comparable, looks, of_setup, series_of, setting};
use crate::document::command_word;
use crate::machines::Machines;
use crate::order::distinct;

/// Results that are compared with others.
struct ComparedSide<'m> {
    /// The folder's path, or the machine's name.
    name: String,
    /// The same in a sentence: `the first`.
    said: String,
    results: Vec<TrialResult>,
    series: Series,
    machines: &'m Machines,
    /// The machine of each repeat, if there are several.
    repeats: RepeatMachines,
}

/// The cells of two sides that did the same work.
struct ComparedSides<'c, 'r> {
    pairs: Vec<Counterparts<'c, 'r>>,
    /// The differences of what surrounded them, a clause each.
    surroundings: Vec<String>,
}

impl Diff {
    /// The setups that two results folders have in common, or the only one of either. With `across` the machine and its
    /// state may be others; work and settings never.
    ///
    /// # Errors
    /// If a folder cannot be read, or they are of different things.
    pub fn of_folders(
        before: &ResultsFolder,
        after: &ResultsFolder,
        (detect, figure): (f64, VerdictFigure),
        across: bool,
    ) -> Result<Diff, DiffError> {
        let machines_of = |folder: &ResultsFolder| Machines::read(folder, folder.plan()?.as_ref());
        let machines = [machines_of(before)?, machines_of(after)?];
        let side = |folder: &ResultsFolder, said: &str, index: usize| {
            let (results, machines) = (folder.results()?, &machines[index]);
            let (series, repeats) = (series_of(folder, &results)?, machines.of_repeats(&results));
            let name = folder.root().display().to_string();
            Ok::<_, ReadError>(ComparedSide { name, said: said.to_owned(), results, series, machines, repeats })
        };
        let sides = [side(before, "the first", 0)?, side(after, "the second", 1)?];
        // Of each the most that it may have had.
        let looks = match [looks(before)?, looks(after)?] {
            [one, other] if one == other => one,
            _ => Looks::AfterEach,
        };
        let again = format!("kvdyno diff {} {}", command_word(before.root()), command_word(after.root()));
        let terms = Terms { detect, looks };
        Ok(Diff { again, ..diff_of_sides(&sides, SidesOf::TwoRuns, (figure, terms), !across)? })
    }

    /// Each other machine of merged results over the first, where each did the whole plan.
    ///
    /// # Errors
    /// If the folder cannot be read, or is not of such machines.
    pub fn of_machines(folder: &ResultsFolder, (detect, figure): (f64, VerdictFigure)) -> Result<Diff, DiffError> {
        let machines = Machines::read(folder, folder.plan()?.as_ref())?;
        let results = folder.results()?;
        let of_repeats = machines.of_repeats(&results);
        let mut of_machines: BTreeMap<usize, Vec<TrialResult>> = BTreeMap::new();
        for result in results {
            let Some(machine) = of_repeats.get(&result.trial.repeat) else { continue };
            of_machines.entry(*machine).or_default().push(result);
        }
        let side = |(machine, results): (usize, Vec<TrialResult>)| {
            let (name, series) = (machines.name(machine), series_of(folder, &results)?);
            let (said, machines, repeats) = (name.clone(), &machines, RepeatMachines::new());
            Ok::<_, ReadError>(ComparedSide { name, said, results, series, machines, repeats })
        };
        let sides: Vec<ComparedSide<'_>> = of_machines.into_iter().map(side).collect::<Result<_, _>>()?;
        if sides.len() < 2 {
            return Err(DiffError::OneMachine(folder.root().display().to_string()));
        }
        let again = format!("kvdyno diff {} --by machine", command_word(folder.root()));
        let terms = Terms { detect, looks: looks(folder)? };
        Ok(Diff { again, ..diff_of_sides(&sides, SidesOf::TwoMachines, (figure, terms), false)? })
    }
}

/// Each other side over the first. If it is strict, what surrounds them must be the same. A machine that cannot be
/// compared is left out, with a note, if another can.
fn diff_of_sides(
    sides: &[ComparedSide<'_>],
    of: SidesOf,
    (figure, terms): (VerdictFigure, Terms),
    is_strict: bool,
) -> Result<Diff, DiffError> {
    let cells: Vec<Vec<Cell<'_>>> = sides.iter().map(|side| cells_on_machines(&side.results, &side.repeats)).collect();
    let sources: Vec<DiffSource<'_>> = sides
        .iter()
        .map(|side| DiffSource { name: &side.name, series: &side.series, machines: side.machines })
        .collect();
    let (mut pairs, mut surroundings, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for after in 1..sides.len() {
        let (both, of_both) = ([&sides[0], &sides[after]], [&cells[0][..], &cells[after][..]]);
        let same = match same_work(both, of_both, of, is_strict) {
            Err(DiffError::Incomparable { differences, .. }) if of == SidesOf::TwoMachines && sides.len() > 2 => {
                left.push(format!("{} is not compared: {}", sides[after].said, differences.join("; ")));
                continue;
            }
            same => same?,
        };
        left.extend(left_out(both, of_both, &same.pairs));
        surroundings.extend(same.surroundings);
        let sources = [&sources[0], &sources[after]];
        pairs.extend(same.pairs.into_iter().map(|counterparts| DiffPair { counterparts, sources }));
    }
    if pairs.is_empty() {
        let folders = [sides[0].name.clone(), "the other machines".to_owned()];
        return Err(DiffError::Incomparable { folders, differences: left, advice: "" });
    }
    let compare = |family: &[ComparedPair<'_, '_>]| {
        let figures = |((before, after), compared): &ComparedPair<'_, '_>| {
            measured(after, *compared).unpaired_over(&measured(before, *compared))
        };
        compare_unpaired(&family.iter().map(figures).collect::<Vec<UnpairedFigures>>(), &terms)
    };
    let is_compared = |cell: &&Cell<'_>| {
        pairs
            .iter()
            .any(|DiffPair { counterparts: (before, after), .. }| ptr::eq(*before, *cell) || ptr::eq(*after, *cell))
    };
    let compared = || cells.iter().flatten().filter(is_compared);
    let last = sides.last();
    Ok(Diff {
        cells: diff_cells(&pairs, figure, compare, &terms),
        figure,
        sides: of,
        terms,
        notes: distinct(surroundings.into_iter().chain(left)),
        setting: last.map(|side| setting(&side.results, side.machines.first.as_ref())).unwrap_or_default(),
        again: String::new(),
        anywhere: String::new(),
        longer: None,
        failed: compared().map(|cell| cell.failed.len()).sum(),
        ended: compared().map(|cell| cell.failed.len() + cell.finished.len()).sum(),
    })
}

/// The cells of two sides that did the same work.
///
/// # Errors
/// If there are none, or their work differs.
fn same_work<'c, 'r>(
    sides: [&ComparedSide<'_>; 2],
    cells: [&'c [Cell<'r>]; 2],
    of: SidesOf,
    is_strict: bool,
) -> Result<ComparedSides<'c, 'r>, DiffError> {
    let incomparable = |differences: Vec<String>, advice| {
        let folders = sides.map(|side| side.name.clone());
        Err(DiffError::Incomparable { folders, differences, advice })
    };
    let Some(setups) = common_setups(cells, of) else {
        let [first, second] = cells.map(|cells| listed(&setups(cells)));
        return incomparable(vec![format!("the first has {first}, the second {second}")], "");
    };
    let counterparts = |(before, after): &(&str, &str)| {
        counterparts_of_folders(&of_setup(cells[0], before), &of_setup(cells[1], after))
    };
    let pairs: Vec<Counterparts<'_, '_>> = setups.iter().flat_map(counterparts).collect();
    if pairs.is_empty() {
        let [first, second] = cells.map(|cells| listed(&works(cells)));
        return incomparable(vec![format!("the first did {first}, the second {second}")], "");
    }
    let differences = distinct(pairs.iter().flat_map(|(before, after)| comparable::of_work(before, after)));
    if !differences.is_empty() {
        return incomparable(differences, "");
    }
    let surroundings = comparable::surroundings(sides.map(|side| side.machines), &pairs);
    match surroundings.is_empty() || !is_strict {
        true => Ok(ComparedSides { pairs, surroundings }),
        false => incomparable(surroundings, ACROSS),
    }
}

const ACROSS: &str = "; where that does not matter: --across";

/// The names of setups. The null engine is in the running only by itself.
fn setups<'c>(cells: &'c [Cell<'_>]) -> Vec<&'c str> {
    distinct(cells.iter().filter(|cell| !is_driver(cell, cells)).map(|cell| cell.key.engine.as_str()))
}

/// Of two runs either may have one setup, of another name than the other's.
fn common_setups<'c>(cells: [&'c [Cell<'_>]; 2], of: SidesOf) -> Option<Vec<(&'c str, &'c str)>> {
    let [before, after] = cells.map(setups);
    let common: Vec<_> = before.iter().filter(|name| after.contains(name)).map(|name| (*name, *name)).collect();
    match (common.is_empty(), before.as_slice(), after.as_slice()) {
        (false, ..) => Some(common),
        (true, [one], [other]) if of == SidesOf::TwoRuns => Some(vec![(one, other)]),
        _ => None,
    }
}

/// The cells that one side has alone.
fn left_out(sides: [&ComparedSide<'_>; 2], cells: [&[Cell<'_>]; 2], pairs: &[Counterparts<'_, '_>]) -> Vec<String> {
    let is_compared = |key: &CellKey| pairs.iter().any(|(before, after)| [&before.key, &after.key].contains(&key));
    let of = |((side, other), cells): ((&ComparedSide<'_>, &ComparedSide<'_>), &[Cell<'_>])| {
        let runs = cells.iter().filter(|cell| cell.key.phase == Phase::Run && !is_compared(&cell.key));
        let names: Vec<String> = runs.map(|cell| format!("{} {}", cell.key.engine, work(&cell.key))).collect();
        (!names.is_empty()).then(|| format!("{} has {}, and {} has not", side.said, names.join("; "), other.said))
    };
    let [first, second] = sides;
    [(first, second), (second, first)].into_iter().zip(cells).filter_map(of).collect()
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
    }
}

fn works(cells: &[Cell<'_>]) -> Vec<String> {
    distinct(cells.iter().map(|cell| work(&cell.key)))
}
