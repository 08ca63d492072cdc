//! A results folder, read and grouped into cells.

use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::path::Path;

use kvdyno_analysis::verdicts::Looks;
use kvdyno_analysis::{Cell, CellSteadiness, PutOff, Series, Weakness, cells, is_driver, steadiness};
use kvdyno_experiment::Experiment;
use kvdyno_results::folder::{ReadError, ResultsFolder};
use kvdyno_results::{LeftOut, Phase, ResourcePoint, SavedPlan, Side, TrialKey, TrialResult, side_by_side};

use crate::error::ReportError;
use crate::labels::{Label, labels};
use crate::machines::Machines;
use crate::order::{distinct, in_order_of_engines};
use crate::remarks::weaknesses;

/// The memory and the device of trials over time.
pub(crate) type Resources = BTreeMap<TrialKey, Vec<ResourcePoint>>;

/// The files of a results folder.
pub(crate) struct Contents {
    folder: ResultsFolder,
    experiment: Experiment,
    experiment_text: String,
    machines: Machines,
    results: Vec<TrialResult>,
    series: Series,
    left_out: Vec<LeftOut>,
    missing: Vec<TrialKey>,
    spent_s: Option<f64>,
    has_later_budget: bool,
    most_values: Option<u32>,
}

/// Everything that a report is made of.
pub(crate) struct Study<'a> {
    /// The experiment's name.
    pub(crate) name: &'a str,
    /// The experiment as it was run.
    pub(crate) experiment: &'a Experiment,
    /// Its file.
    pub(crate) experiment_text: &'a str,
    /// The machines that it ran on.
    pub(crate) machines: &'a Machines,
    /// Every trial that ended, in order.
    pub(crate) results: &'a [TrialResult],
    /// Their time series.
    pub(crate) series: &'a Series,
    /// Memory and device over time of the first finished trial of each cell that ran.
    pub(crate) resources: Resources,
    /// Engines that were not measured.
    pub(crate) left_out: &'a [LeftOut],
    /// Trials of the plan that have no result.
    pub(crate) missing: &'a [TrialKey],
    /// The results folder.
    pub(crate) folder: &'a Path,
    /// Seconds that the run took; absent in results that do not say.
    pub(crate) spent_s: Option<f64>,
    /// Whether a later command gave it another time limit.
    pub(crate) has_later_budget: bool,
    /// The most values of a comparison that count, where its budget had no time for more.
    pub(crate) most_values: Option<u32>,
    cells: Vec<StudyCell<'a>>,
}

/// A cell with its label beside it. Its key is its identity.
pub(crate) struct StudyCell<'a> {
    cell: Cell<'a>,
    /// Its names for people.
    pub(crate) label: Label,
    /// Whether its runs were steady; absent for loads, and where none finished.
    pub(crate) steadiness: Option<CellSteadiness>,
    /// Whatever speaks against its figures.
    pub(crate) weaknesses: Vec<Weakness>,
    /// Its work that was put off until after the last operation.
    pub(crate) put_off: Option<PutOff>,
}

impl<'a> Deref for StudyCell<'a> {
    type Target = Cell<'a>;

    fn deref(&self) -> &Cell<'a> {
        &self.cell
    }
}

impl StudyCell<'_> {
    /// Whether it is known that its runs were not steady.
    pub(crate) fn is_unsteady(&self) -> bool {
        self.steadiness.as_ref().is_some_and(CellSteadiness::is_unsteady)
    }
}

impl Contents {
    /// Reads all but the latencies, of which one log at a time is enough to have in memory.
    pub(crate) fn read(folder: &ResultsFolder) -> Result<Contents, ReportError> {
        let experiment = folder.experiment()?;
        let results = in_order_of_engines(folder.results()?, &experiment.engines);
        let series = all_series(folder, &results)?;
        let left_out = folder.left_out()?;
        let ended: HashSet<&TrialKey> = results.iter().map(|result| &result.trial).collect();
        let plan = folder.plan()?;
        let planned = plan.iter().flat_map(SavedPlan::expected).cloned();
        let missing = planned.filter(|trial| !ended.contains(trial)).collect();
        let machines = Machines::read(folder, plan.as_ref())?;
        // Merged results cannot be resumed.
        let spent = plan.as_ref().filter(|plan| plan.merged.is_empty());
        let spent_s = spent.map(|plan| plan.spent.seconds).filter(|seconds| *seconds > 0.0);
        let has_later_budget = plan.as_ref().is_some_and(|plan| plan.budget.is_some());
        let most_values = plan.as_ref().and_then(|plan| plan.most_values);
        let experiment_text = folder.experiment_text()?;
        let folder = folder.clone();
        Ok(Contents {
            folder,
            experiment,
            experiment_text,
            machines,
            results,
            series,
            left_out,
            missing,
            spent_s,
            has_later_budget,
            most_values,
        })
    }

    /// An experiment and its results, without a folder.
    #[cfg(test)]
    pub(crate) fn made_up(experiment: Experiment, results: Vec<TrialResult>) -> Contents {
        Contents {
            folder: ResultsFolder::at(std::path::Path::new("made-up")),
            results: in_order_of_engines(results, &experiment.engines),
            experiment,
            experiment_text: String::new(),
            machines: Machines::default(),
            series: Series::new(),
            left_out: Vec::new(),
            missing: Vec::new(),
            spent_s: None,
            has_later_budget: false,
            most_values: None,
        }
    }

    /// How often the interval of a rate is looked at: after each value where its width decides when repeats end.
    fn looks_at_rate(&self, first: &TrialResult, side: Side) -> Looks {
        let lab = &self.experiment.lab;
        let decides = lab.precision.is_some() || first.workload.is_searched(side);
        match decides && first.trial.phase == Phase::Run && lab.repeat.is_auto() {
            true => Looks::of_values(self.most_values),
            false => Looks::Once,
        }
    }
}

impl<'a> Study<'a> {
    /// Groups the trials into cells, and reads their latencies.
    pub(crate) fn of(contents: &'a Contents) -> Result<Study<'a>, ReportError> {
        let machines = contents.machines.of_repeats(&contents.results);
        let log = |trial: &TrialKey| contents.folder.latencies(trial);
        let looks = |first: &TrialResult, side| contents.looks_at_rate(first, side);
        let cells = cells(&contents.results, (&contents.series, &machines), looks, log)?;
        let mut resources = Resources::new();
        // Nothing is drawn of the other trials, and to read them takes a while.
        for cell in cells.iter().filter(|cell| cell.key.phase == Phase::Run) {
            let Some(first) = cell.finished.first() else { continue };
            resources.insert(first.trial.clone(), contents.folder.resources(&first.trial)?);
        }
        let labels = labels(&cells);
        let detect = contents.experiment.lab.detect.0;
        let cell = |(cell, label): (Cell<'a>, Label)| {
            let steadiness = steadiness(&cell.finished, &contents.series, detect);
            let weaknesses = weaknesses(&cell, steadiness.as_ref(), contents.machines.of_cell(&cell));
            StudyCell { put_off: PutOff::of(&cell), cell, label, steadiness, weaknesses }
        };
        Ok(Study {
            name: &contents.experiment.name,
            experiment: &contents.experiment,
            experiment_text: &contents.experiment_text,
            machines: &contents.machines,
            results: &contents.results,
            series: &contents.series,
            resources,
            left_out: &contents.left_out,
            missing: &contents.missing,
            folder: contents.folder.root(),
            spent_s: contents.spent_s,
            has_later_budget: contents.has_later_budget,
            most_values: contents.most_values,
            cells: cells.into_iter().zip(labels).map(cell).collect(),
        })
    }

    /// All cells, in order.
    pub(crate) fn all_cells(&self) -> &[StudyCell<'a>] {
        &self.cells
    }

    /// Cells of one phase, in order.
    pub(crate) fn cells(&self, phase: Phase) -> Vec<&StudyCell<'a>> {
        self.cells.iter().filter(|cell| cell.key.phase == phase).collect()
    }

    /// Cells that ran a workload, by its label, in order.
    pub(crate) fn running(&self, workload: &str) -> Vec<&StudyCell<'a>> {
        self.cells(Phase::Run).into_iter().filter(|cell| cell.label.workload == workload).collect()
    }

    /// Trials of one phase, in order.
    pub(crate) fn trials(&self, phase: Phase) -> impl Iterator<Item = &'a TrialResult> {
        self.results.iter().filter(move |result| result.trial.phase == phase)
    }

    /// The columns of figures that only some trials of a phase have.
    pub(crate) fn figure_columns(&self, phase: Phase) -> Vec<&str> {
        distinct(self.trials(phase).flat_map(TrialResult::named_figures).map(|figure| figure.column.as_str()))
    }

    /// Labels of engines, in order.
    pub(crate) fn engines(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.label.engine.as_str()))
    }

    /// Whether an engine is the null engine, and so its figures the driver's. Beside others it would set every scale.
    pub(crate) fn is_driver(&self, cell: &Cell<'_>) -> bool {
        is_driver(cell, self.cells.iter().map(Deref::deref))
    }

    /// Labels of the workloads that ran on loaded databases, in order.
    pub(crate) fn workloads(&self) -> Vec<&str> {
        distinct(self.cells(Phase::Run).into_iter().map(|cell| cell.label.workload.as_str()))
    }
}

/// The time series of all trials. There are many.
fn all_series(folder: &ResultsFolder, results: &[TrialResult]) -> Result<Series, ReportError> {
    let read = |result: &TrialResult| Ok::<_, ReadError>((result.trial.clone(), folder.series(&result.trial)?));
    Ok(side_by_side(results, read)?.into_iter().collect())
}
