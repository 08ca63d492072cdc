//! Statistics that engines tell of themselves: a table for each engine, its trials beside each other.

use std::collections::BTreeMap;

use kvdyno_results::TrialResult;

use crate::order::distinct;

/// An engine's statistics of itself.
pub(crate) struct EngineStatistics<'a> {
    /// The engine as the experiment names it.
    pub(crate) engine: &'a str,
    /// Its trials that told any: the columns.
    pub(crate) trials: Vec<String>,
    /// The statistics, in the order in which they first came.
    pub(crate) rows: Vec<StatisticRow<'a>>,
}

/// One statistic.
pub(crate) struct StatisticRow<'a> {
    /// Its topic.
    pub(crate) topic: &'a str,
    /// Its name within the topic.
    pub(crate) name: &'a str,
    /// Its value in each trial; empty where that did not tell it.
    pub(crate) values: Vec<&'a str>,
}

/// The statistics of each engine that told any, in the order of the results.
pub(crate) fn statistics(results: &[TrialResult]) -> Vec<EngineStatistics<'_>> {
    let engines = distinct(results.iter().map(|result| result.trial.engine.as_str()));
    let of = |engine| {
        let own = results.iter().filter(|result| result.trial.engine == engine && !result.statistics.is_empty());
        of_engine(engine, &own.collect::<Vec<_>>())
    };
    engines.into_iter().map(of).filter(|engine| !engine.trials.is_empty()).collect()
}

fn of_engine<'a>(engine: &'a str, results: &[&'a TrialResult]) -> EngineStatistics<'a> {
    let mut rows: Vec<StatisticRow<'a>> = Vec::new();
    let mut at = BTreeMap::new();
    for (column, result) in results.iter().enumerate() {
        // Several statistics may have the same name. Their order tells them apart.
        let mut seen = BTreeMap::new();
        for entry in &result.statistics {
            let (topic, name) = (entry.topic.as_str(), entry.name.as_str());
            let nth: &mut usize = seen.entry((topic, name)).or_default();
            let row = *at.entry((topic, name, *nth)).or_insert_with(|| {
                rows.push(StatisticRow { topic, name, values: vec![""; results.len()] });
                rows.len() - 1
            });
            rows[row].values[column] = &entry.value;
            *nth += 1;
        }
    }
    let column = |result: &&TrialResult| {
        let title = result.trial.title();
        title.strip_prefix(engine).map_or(title.clone(), |rest| rest.trim_start().to_owned())
    };
    EngineStatistics { engine, trials: results.iter().map(column).collect(), rows }
}
