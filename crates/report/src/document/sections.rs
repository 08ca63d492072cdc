//! The sections of a report.

use kvdyno_analysis::verdicts::VerdictFigure;
use kvdyno_model::text::threads;
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{ProfileFacts, Side, TrialResult};

use super::section::{Block, Links, Paragraph, Section};
use crate::charts::{ChartKind, ChartReference, ResourceFigure, TimeFigure};
use crate::grid::Grid;
use crate::study::{Study, StudyCell};
use crate::tables::{
    engine_settings, environment, latencies, load, load_amplification, load_storage, matrices, misses_rate,
    near_limits, open_loop, rate_searches, relative_grids, run, run_amplification, run_cpu, run_storage,
    workload_figures,
};
use crate::verdicts::{VerdictGroup, verdicts};

/// The sections of a report, in order.
pub(super) fn sections<'a>(study: &'a Study<'a>, groups: &[VerdictGroup<'_, '_>]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = verdicts(study, groups).into_iter().chain(load_section(study)).collect();
    sections.extend(
        workload_figures(study)
            .into_iter()
            .enumerate()
            .map(|(index, grid)| Section::new(format!("figures-{index}"), grid.title.clone(), vec![untitled(grid)])),
    );
    sections.extend(variants(study));
    let workloads = study.workloads().into_iter().enumerate();
    sections.extend(workloads.map(|(index, name)| workload(study, groups, format!("run-{index}"), name)));
    sections.extend(environment(study).map(|grid| Section {
        text: "The environment of the trials, read from the kernel while they ran: not as it was requested. Pages by \
               node, the share of memory that each NUMA node gave, and the cached part are of the runs.",
        ..Section::new("environment", grid.title.clone(), vec![untitled(grid)])
    }));
    let settings: Vec<Block<'a>> = engine_settings(study).into_iter().map(Block::Details).collect();
    sections.extend((!settings.is_empty()).then(|| Section {
        text: "The settings that each adapter made, under the engine's own names; a column has those for one setting \
               of the experiment.",
        ..Section::new("engines", "Settings of each engine", settings)
    }));
    sections
}

/// A table whose title is the section's heading.
fn untitled<'a>(grid: Grid) -> Block<'a> {
    Block::Table(Grid { title: String::new(), ..grid })
}

fn load_section<'a>(study: &'a Study<'a>) -> Option<Section<'a>> {
    let mut blocks = vec![Block::Charts(ChartReference::new(study, "", ChartKind::Load)), untitled(load(study)?)];
    blocks.extend(load_storage(study).map(Block::Table));
    blocks.extend(load_amplification(study).map(Block::MoreTable));
    Some(Section::new("load", "Load", blocks))
}

fn variants<'a>(study: &'a Study<'a>) -> Option<Section<'a>> {
    let blocks: Vec<Block<'a>> = relative_grids(study).into_iter().map(Block::Table).collect();
    let section = Section { names_tables: false, ..Section::new("relative", "Variants beside each other", blocks) };
    (!section.blocks.is_empty()).then_some(section)
}

fn workload<'a>(study: &'a Study<'a>, groups: &[VerdictGroup<'_, '_>], id: String, name: &'a str) -> Section<'a> {
    let charts = |kind| Block::Charts(ChartReference::new(study, name, kind));
    let mut blocks: Vec<Block<'a>> = vec![charts(ChartKind::LatencyAtRate)];
    blocks.extend(rate_searches(study, name).map(Block::Table));
    blocks.extend([charts(ChartKind::Rates), charts(ChartKind::Efficiency)]);
    blocks.extend(matrices(study, groups, name).into_iter().map(Block::Table));
    blocks.push(Block::Table(run(study, name)));
    blocks.push(charts(ChartKind::Cpu));
    let of_cpu = if study.experiment.lab.figure == VerdictFigure::CpuTime { Block::Table } else { Block::MoreTable };
    blocks.extend(run_cpu(study, name).map(of_cpu));
    blocks.extend(run_storage(study, name).map(Block::Table));
    let of_rates = if misses_rate(study, name) { Block::Table } else { Block::MoreTable };
    blocks.extend(open_loop(study, name).map(of_rates));
    blocks.extend(near_limits(study, name).map(Block::Table));
    blocks.push(charts(ChartKind::Storage));
    blocks.push(charts(ChartKind::Amplification));
    blocks.extend(run_amplification(study, name).map(Block::MoreTable));
    blocks.extend(Side::ALL.map(|side| charts(ChartKind::Latency(side))));
    blocks.extend(Side::ALL.map(|side| charts(ChartKind::LatencyCurve(side))));
    blocks.extend(latencies(study, name).map(Block::Details));
    for figure in [TimeFigure::Rate, TimeFigure::Latency] {
        blocks.extend(Side::ALL.map(|side| charts(ChartKind::OverTime(side, figure))));
    }
    blocks.extend(ResourceFigure::ALL.iter().map(|figure| charts(ChartKind::Resources(*figure))));
    blocks.push(Block::Links(flame_graphs(study, name)));
    blocks.extend(shares_device(study, name).then(|| Block::PageParagraph(Paragraph::note(SHARED_DEVICE.to_owned()))));
    Section::new(id, name, blocks)
}

/// The flame graph of the first trial of each cell that has one.
fn flame_graphs(study: &Study<'_>, workload: &str) -> Links {
    let folder = ResultsFolder::at(study.folder);
    let file = |cell: &&StudyCell<'_>| {
        let trial = cell.finished.iter().find(|result| result.profile.is_some())?;
        let clients = threads(cell.key.readers, cell.key.writers);
        let path = folder.trial_folder(&trial.trial).join(ProfileFacts::FILE);
        Some((format!("{}, {clients}", cell.label.engine), path))
    };
    Links { title: "Flame graphs", files: study.running(workload).iter().filter_map(file).collect() }
}

/// The reason why a workload has no charts of the device.
const SHARED_DEVICE: &str = "Reads and writes of the device over time are not told: its trials ran in slices, with all \
                             databases open, and the device counts for all of them together. --design turns has each \
                             trial by itself.";

/// Whether each trial of a workload shared the device with others.
fn shares_device(study: &Study<'_>, workload: &str) -> bool {
    let cells = study.running(workload);
    let mut trials = cells.iter().flat_map(|cell| &cell.finished).peekable();
    let is_beside = |result: &TrialResult| result.design.as_ref().is_some_and(|facts| !facts.design.is_one_by_one());
    trials.peek().is_some() && trials.all(|result| is_beside(result))
}
