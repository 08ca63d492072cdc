//! The keys of the experiment file that are about comparisons.

use kvdyno_analysis::verdicts::{DETECT, Question};
use kvdyno_model::Fraction;

/// The least difference that matters, of 1.
pub(crate) fn detect(experiment: &str) -> f64 {
    let detect = of_lab(experiment, "detect").and_then(|value| value.try_into::<Fraction>().ok());
    detect.map_or(DETECT, |detect| detect.0)
}

/// The question that decides when repeats end.
pub(crate) fn question(experiment: &str) -> Question {
    let question = of_lab(experiment, "question").and_then(|value| value.try_into().ok());
    question.unwrap_or(Question::Ranking)
}

/// Whether an experiment repeats until its results are enough.
pub(crate) fn ends_by_its_results(experiment: &str) -> bool {
    of_lab(experiment, "repeat").as_ref().and_then(toml::Value::as_str) == Some("auto")
}

/// The origin of the database of each run, in the file's word; absent where the file does not say it.
pub(crate) fn database(experiment: &str) -> Option<String> {
    of_lab(experiment, "database")?.as_str().map(str::to_owned)
}

/// The engines of an experiment, as its file has them.
pub(crate) fn engines(experiment: &str) -> Vec<String> {
    let engines = experiment.parse::<toml::Table>().ok().and_then(|table| table.get("engines")?.as_array().cloned());
    engines.unwrap_or_default().iter().filter_map(|engine| engine.as_str().map(str::to_owned)).collect()
}

fn of_lab(experiment: &str, key: &str) -> Option<toml::Value> {
    let table: toml::Table = experiment.parse().ok()?;
    table.get("lab")?.get(key).cloned()
}
