//! The cells of a diff.

use jiff::Timestamp;
use kvdyno_analysis::verdicts::{
    Aspect, Comparison, Counterparts, MeasuredCell, Terms, Unsure, Verdict, VerdictFigure, have_cpu_time, judged,
    measured,
};
use kvdyno_analysis::{Cell, PutOff, Series, Weakness, steadiness};
use kvdyno_model::text::threads;
use kvdyno_results::{CellKey, EngineFacts, Phase, Setting};

use super::text;
use crate::machines::Machines;
use crate::order::distinct;
use crate::remarks::weaknesses;
use crate::verdicts::Predicate;

/// A cell of one setup and its counterpart of the other, by one figure.
#[derive(Clone, Debug)]
pub(super) struct DiffCell {
    /// Workload and clients.
    pub(super) work: String,
    /// The aspect of the work that is compared.
    pub(super) compared: Aspect,
    /// Its name; it has the side if the work has both: `throughput of reads`.
    pub(super) figure: String,
    /// The sentence of the same cell by another aspect whose verdict is the opposite.
    pub(super) against: Option<String>,
    pub(super) before: DiffSide,
    pub(super) after: DiffSide,
    /// The work of both, for sentences.
    pub(super) predicate: Predicate,
    /// The unit of the figures.
    pub(super) unit: &'static str,
    /// The comparison of the second over the first.
    pub(super) comparison: Comparison,
}

/// One of the two.
#[derive(Clone, Debug)]
pub(super) struct DiffSide {
    pub(super) name: String,
    pub(super) engine: Option<EngineFacts>,
    pub(super) started: Option<Timestamp>,
    pub(super) figure: Option<f64>,
    pub(super) half_width: Option<f64>,
    /// Whatever speaks against its figure.
    pub(super) weaknesses: Vec<Weakness>,
    pub(super) put_off: Option<PutOff>,
}

/// A cell and its counterpart, and the aspect by which they are compared.
pub(super) type ComparedPair<'c, 'r> = (Counterparts<'c, 'r>, Aspect);

/// Where the cells of a side come from.
pub(super) struct DiffSource<'a> {
    /// The folder's path, or the machine's name; empty where both are of one run.
    pub(super) name: &'a str,
    pub(super) series: &'a Series,
    pub(super) machines: &'a Machines,
}

/// A cell and its counterpart, each with its source.
pub(super) struct DiffPair<'c, 'r> {
    pub(super) counterparts: Counterparts<'c, 'r>,
    pub(super) sources: [&'c DiffSource<'c>; 2],
}

/// The cells of a diff: by `figure`, and by the other one as far as it is known. The comparisons by one figure are a
/// family.
pub(super) fn diff_cells(
    pairs: &[DiffPair<'_, '_>],
    figure: VerdictFigure,
    compare: impl Fn(&[ComparedPair<'_, '_>]) -> Vec<Comparison>,
    terms: &Terms,
) -> Vec<DiffCell> {
    let by_throughput = |(before, after): Counterparts<'_, '_>| judged(&[before, after]);
    let by_cpu_time = |(before, after): Counterparts<'_, '_>| {
        let is_wanted = figure == VerdictFigure::CpuTime || have_cpu_time(&[before, after]);
        is_wanted.then_some(Aspect::CpuTime).into_iter().collect()
    };
    let family = |aspects: &dyn Fn(Counterparts<'_, '_>) -> Vec<Aspect>| {
        let of_pair = |index: usize| aspects(pairs[index].counterparts).into_iter().map(move |one| (index, one));
        let members: Vec<(usize, Aspect)> = (0..pairs.len()).flat_map(of_pair).collect();
        let compared: Vec<ComparedPair<'_, '_>> =
            members.iter().map(|(index, aspect)| (pairs[*index].counterparts, *aspect)).collect();
        members.into_iter().zip(compare(&compared)).collect::<Vec<_>>()
    };
    let (throughput, cpu_time) = (family(&by_throughput), family(&by_cpu_time));
    let all = match figure {
        VerdictFigure::Throughput => [throughput, cpu_time].concat(),
        VerdictFigure::CpuTime => [cpu_time, throughput].concat(),
    };
    // Each with the number of its pair.
    let cells: Vec<(usize, DiffCell)> = all
        .into_iter()
        .map(|((index, compared), comparison)| (index, diff_cell(&pairs[index], compared, comparison, terms)))
        .collect();
    let against = |(index, cell): &(usize, DiffCell)| {
        let mut others = cells.iter().filter(|(other, one)| other == index && one.compared != cell.compared);
        let other = others.find(|(_, other)| other.comparison.contradicts(&cell.comparison));
        other.map(|(_, other)| text::against(cell, other))
    };
    let figure = |(index, cell): &(usize, DiffCell)| {
        let of_other_side = |compared: Aspect| compared != cell.compared && compared.figure() == cell.compared.figure();
        let has_sides = cells.iter().any(|(other, one)| other == index && of_other_side(one.compared));
        match cell.compared {
            _ if matches!(cell.predicate, Predicate::Keep(_)) => "the highest rate".to_owned(),
            Aspect::Throughput(side) if has_sides => format!("{} of {side}", cell.compared.figure().name()),
            compared => compared.figure().name().to_owned(),
        }
    };
    let named: Vec<_> = cells.iter().map(|cell| (against(cell), figure(cell))).collect();
    let named = cells.into_iter().zip(named);
    named.map(|((_, cell), (against, figure))| DiffCell { against, figure, ..cell }).collect()
}

fn diff_cell(pair: &DiffPair<'_, '_>, compared: Aspect, comparison: Comparison, terms: &Terms) -> DiffCell {
    let (before, after) = pair.counterparts;
    let same_name = before.key.engine == after.key.engine;
    let side = |cell: &Cell<'_>, source: &DiffSource<'_>| {
        let (figures, steadiness) = (measured(cell, compared), steadiness(&cell.finished, source.series, terms.detect));
        DiffSide {
            name: match same_name {
                true => format!("{} ({})", cell.key.engine, last_part(source.name)),
                false => cell.key.engine.clone(),
            },
            engine: cell.first().map(|result| result.engine.clone()),
            started: cell.finished.first().map(|result| result.started),
            figure: figures.middle(),
            half_width: MeasuredCell::half_width(&figures, comparison.looks),
            weaknesses: weaknesses(cell, steadiness.as_ref(), source.machines.of_cell(cell)),
            put_off: PutOff::of(cell),
        }
    };
    DiffCell {
        work: work(&before.key),
        compared,
        figure: String::new(),
        against: None,
        before: side(before, pair.sources[0]),
        after: side(after, pair.sources[1]),
        predicate: Predicate::of(before.first().or(after.first()), compared),
        unit: match compared.figure() {
            VerdictFigure::Throughput => "records/s",
            VerdictFigure::CpuTime => "operations per CPU second",
        },
        comparison,
    }
}

fn last_part(folder: &str) -> &str {
    folder.trim_end_matches('/').rsplit('/').next().unwrap_or(folder)
}

impl DiffCell {
    /// The verdict on the change.
    pub(super) fn verdict(&self) -> &'static str {
        match (self.comparison.verdict, self.comparison.unsure) {
            (_, Some(Unsure::Failed)) => "failed",
            (Verdict::Faster, _) => "better",
            (Verdict::Slower, _) => "worse",
            (Verdict::Same, _) => "the same",
            (Verdict::CannotTell, _) => "cannot tell",
        }
    }

    /// The settings of their engines that differ: `block_size: 4096 before, 16384 after`.
    pub(super) fn changed_settings(&self) -> Vec<String> {
        let (Some(before), Some(after)) = (&self.before.engine, &self.after.engine) else { return Vec::new() };
        let name = |setting: &Setting| (setting.topic.clone(), setting.name.clone());
        // An engine may say a setting of one name several times.
        let values = |engine: &EngineFacts, wanted: &(String, String)| {
            let of_name = engine.settings.iter().filter(|setting| name(setting) == *wanted);
            of_name.map(|setting| setting.value.clone()).collect::<Vec<_>>().join(", ")
        };
        let change = |wanted: &(String, String)| {
            let [was, is] = [before, after].map(|engine| values(engine, wanted));
            let known = |values: String| if values.is_empty() { "absent".to_owned() } else { values };
            (was != is).then(|| format!("{}: {} before, {} after", wanted.1, known(was), known(is)))
        };
        distinct(before.settings.iter().chain(&after.settings).map(name)).iter().filter_map(change).collect()
    }
}

impl DiffSide {
    /// `lmdb@new: LMDB 0.9.24, /new/liblmdb.so`.
    pub(super) fn described(&self) -> String {
        let Some(engine) = &self.engine else { return self.name.clone() };
        let library = engine.library.as_ref().map(|path| format!(", {path}")).unwrap_or_default();
        let started = self.started.map(|time| format!(", {}", time.strftime("%Y-%m-%d %H:%M"))).unwrap_or_default();
        let version = if engine.version.is_empty() { String::new() } else { format!(" {}", engine.version) };
        format!("{}: {}{version}{library}{started}", self.name, engine.name)
    }
}

/// `readrandom, 1 reader`; `load by fillseq, 1 writer`.
pub(super) fn work(key: &CellKey) -> String {
    let variant = if key.variant.is_empty() { String::new() } else { format!(", {}", key.variant) };
    let load = if key.phase == Phase::Load { "load by " } else { "" };
    format!("{load}{}{variant}, {}", key.workload, threads(key.readers, key.writers))
}
