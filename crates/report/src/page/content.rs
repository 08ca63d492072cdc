//! What stands on the page, in the order of the template.

use askama::Template;
use jiff::tz::TimeZone;
use kvdyno_results::{Setting, TrialResult};

use crate::ReportError;
use crate::charts::{Figure, Side, latencies, load_charts, over_time, rates, storage};
use crate::study::{Remark, Study, distinct, title};
use crate::tables::{
    self, Grid, Mark, Room, engine_settings, environment, key_facts, load, load_storage, machine_facts, matrices,
    processors, relative_grids, run_cpu, run_grouped, run_storage, versions, workload_figures,
};

type Fact = (String, String);

/// The page.
#[derive(Template)]
#[template(path = "page.html")]
pub(super) struct Page<'a> {
    name: &'a str,
    ran: String,
    versions: Vec<String>,
    settings: Vec<Fact>,
    machine: Vec<Fact>,
    failures: Vec<Remark>,
    failed: usize,
    doubts: Vec<Remark>,
    notes: Vec<Remark>,
    load: Option<Grid>,
    load_storage: Option<Grid>,
    workload_figures: Vec<Grid>,
    load_charts: Vec<Figure>,
    relative: Vec<Grid>,
    workloads: Vec<Workload<'a>>,
    environment: Option<Grid>,
    engine_settings: Option<Grid>,
    statistics: Vec<Statistics<'a>>,
    experiment: &'a str,
    kvdyno: &'a str,
}

/// A workload on loaded databases.
struct Workload<'a> {
    name: &'a str,
    /// For links within the page.
    anchor: String,
    rates: Vec<Figure>,
    matrices: Vec<Grid>,
    table: Option<Grid>,
    cpu_table: Option<Grid>,
    storage: Vec<Figure>,
    storage_table: Option<Grid>,
    latency_table: Option<Grid>,
    latencies: Vec<Figures>,
    over_time: Vec<Figures>,
}

/// Charts that belong together.
struct Figures {
    title: &'static str,
    figures: Vec<Figure>,
}

/// What an engine said of itself.
struct Statistics<'a> {
    name: &'a str,
    trials: Vec<TrialStatistics<'a>>,
}

/// What it said in one trial.
struct TrialStatistics<'a> {
    name: String,
    entries: &'a [Setting],
}

impl<'a> Page<'a> {
    pub(super) fn of(study: &'a Study<'a>) -> Result<Page<'a>, ReportError> {
        let workload = |(place, name)| Workload::of(study, place, name);
        Ok(Page {
            name: study.name,
            ran: ran(study),
            versions: versions(study),
            settings: key_facts(study),
            machine: study.machine.map(machine_facts).unwrap_or_default(),
            failures: study.failures_told(),
            failed: study.failures().len(),
            doubts: study.doubts_told(),
            notes: study.notes(),
            load: load(study, Room::Page),
            load_storage: load_storage(study),
            workload_figures: workload_figures(study),
            load_charts: load_charts(study)?,
            relative: relative_grids(study),
            workloads: study.workloads().into_iter().enumerate().map(workload).collect::<Result<_, _>>()?,
            environment: environment(study),
            engine_settings: engine_settings(study),
            statistics: statistics(study),
            experiment: study.experiment,
            kvdyno: env!("CARGO_PKG_VERSION"),
        })
    }
}

impl<'a> Workload<'a> {
    fn of(study: &Study<'_>, place: usize, name: &'a str) -> Result<Workload<'a>, ReportError> {
        let both = |chart: fn(&Study<'_>, &str, Side) -> Result<Vec<Figure>, ReportError>| {
            Side::ALL
                .into_iter()
                .map(|side| figures(side, chart(study, name, side)?))
                .collect::<Result<Vec<_>, ReportError>>()
        };
        let rates = Side::ALL.into_iter().map(|side| rates(study, name, side)).collect::<Result<Vec<_>, _>>()?;
        Ok(Workload {
            name,
            anchor: format!("run-{place}"),
            rates: rates.into_iter().flatten().collect(),
            matrices: matrices(study, name),
            table: run_grouped(study, name),
            cpu_table: run_cpu(study, name),
            storage: storage(study, name)?,
            storage_table: run_storage(study, name),
            latency_table: tables::latencies(study, name),
            latencies: both(latencies)?.into_iter().flatten().collect(),
            over_time: both(over_time)?.into_iter().flatten().collect(),
        })
    }
}

fn figures(side: Side, figures: Vec<Figure>) -> Result<Option<Figures>, ReportError> {
    Ok((!figures.is_empty()).then_some(Figures { title: side.title(), figures }))
}

/// When, where and how much.
fn ran(study: &Study<'_>) -> String {
    let finished = study.results.iter().filter(|result| result.is_finished()).count();
    let trials = format!("{finished} of {} trials finished", study.results.len());
    let day = |result: &TrialResult| result.started.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string();
    let when = study.results.iter().min_by_key(|result| result.started).map(day);
    let place = study.machine.map(|m| format!("{}, {}", m.cpu.model, processors(m)));
    let parts = [when.map(|when| format!("Started {when}")), place.map(|place| format!("on {place}"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { format!("{trials}.") } else { format!("{}; {trials}.", parts.join(" ")) }
}

fn statistics<'a>(study: &Study<'a>) -> Vec<Statistics<'a>> {
    let trials = |engine: &str| {
        let told = study.results.iter().filter(|r| r.trial.engine == engine && !r.statistics.is_empty());
        told.map(|r| TrialStatistics { name: title(r), entries: &r.statistics }).collect::<Vec<_>>()
    };
    let engines = distinct(study.results.iter().map(|result| result.trial.engine.as_str()));
    let statistics = engines.into_iter().map(|name| Statistics { name, trials: trials(name) });
    statistics.filter(|engine| !engine.trials.is_empty()).collect()
}
