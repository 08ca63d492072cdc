//! Results that were measured, made to be those of another machine or moment: what others took of this one meanwhile
//! is not what a test is about.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_results::Interference;
use serde_json::{Value, json};

use super::Lab;

impl Lab {
    /// Sets the interference of those results of `folder` that `is_meant` selects. Returns whether a result changed.
    pub fn say_interference(
        &self,
        folder: &str,
        interference: &[Interference],
        is_meant: impl Fn(&Value) -> bool,
    ) -> bool {
        let (told, mut is_news) = (json!(interference), false);
        for trial in fs::read_dir(self.path(folder).join("trials")).unwrap().flatten() {
            let file = trial.path().join("result.json");
            if !file.is_file() {
                continue;
            }
            let mut result = read(&file);
            if result["environment"]["interference"] != told && is_meant(&result) {
                result["environment"]["interference"] = told.clone();
                fs::write(&file, result.to_string()).unwrap();
                is_news = true;
            }
        }
        is_news
    }

    /// Removes all interference from the results of `folder`. Returns whether there was any.
    pub fn without_interference(&self, folder: &str) -> bool {
        self.say_interference(folder, &[], |_| true)
    }

    /// Gives the runs of set-up `to` the figures that those of `from` have in the same repeat.
    pub fn gives_figures_of(&self, folder: &str, from: &str, to: &str) {
        let of = |setup: &str| {
            let mut runs = self.results_of(folder);
            runs.retain(|(_, result)| result["trial"]["engine"] == setup && result["trial"]["phase"] == "run");
            runs.sort_by_key(|(_, result)| result["trial"]["repeat"].as_u64());
            runs
        };
        let (given, taken) = (of(from), of(to));
        assert!(
            !given.is_empty() && given.len() == taken.len(),
            "{} runs of {from}, {} of {to}",
            given.len(),
            taken.len()
        );
        for ((_, given), (file, taken)) in given.iter().zip(taken) {
            write_with_figures_of(given, &file, taken);
        }
    }

    /// Gives all repeats of each run and of each load the figures of the repeat with the median rate: on a machine that
    /// does something else a single one may be ten times slower than the others.
    pub fn has_steady_figures(&self, folder: &str) {
        let rate = |result: &Value| result["operations"][0]["operations_per_s"].as_f64().unwrap();
        self.has_figures_of(folder, rate, |repeats| repeats / 2);
    }

    /// The same with the figures of the repeat that took the least time, from the measured part to the end of the
    /// closing.
    pub fn has_quickest_figures(&self, folder: &str) {
        let seconds = |result: &Value| {
            let of = |part: &str| result["window"].pointer(part).and_then(Value::as_f64).unwrap_or(0.0);
            of("/seconds") + of("/settling/seconds") + of("/closing/seconds")
        };
        self.has_figures_of(folder, seconds, |_| 0);
    }

    /// Gives all repeats of each run and of each load the figures of one of them, chosen in the order of `figure`.
    fn has_figures_of(&self, folder: &str, figure: impl Fn(&Value) -> f64, chosen: impl Fn(usize) -> usize) {
        let mut runs: BTreeMap<String, Vec<(PathBuf, Value)>> = BTreeMap::new();
        for (file, result) in self.results_of(folder) {
            let keys =
                ["phase", "engine", "workload", "readers", "writers"].map(|key| result["trial"][key].to_string());
            runs.entry(keys.join(" ")).or_default().push((file, result));
        }
        for mut repeats in runs.into_values() {
            repeats.sort_by(|(_, one), (_, other)| figure(one).total_cmp(&figure(other)));
            let of_all = repeats[chosen(repeats.len())].1.clone();
            repeats.into_iter().for_each(|(file, result)| write_with_figures_of(&of_all, &file, result));
        }
    }

    /// The results of a folder, with their files.
    fn results_of(&self, folder: &str) -> Vec<(PathBuf, Value)> {
        let trials = fs::read_dir(self.path(folder).join("trials")).unwrap().flatten();
        let files = trials.map(|trial| trial.path().join("result.json"));
        files.filter(|file| file.is_file()).map(|file| (file.clone(), read(&file))).collect()
    }

    /// Takes back all repeats after the first `count`, and that any was done again.
    pub fn has_only_repeats(&self, count: u64) {
        for trial in fs::read_dir(self.path("results/trials")).unwrap().flatten() {
            let file = trial.path().join("result.json");
            if !file.is_file() || read(&file)["trial"]["repeat"].as_u64().unwrap() > count {
                fs::remove_dir_all(trial.path()).unwrap();
            }
        }
        let file = self.folder().plan_file();
        let mut plan = read(&file);
        for key in ["repeated", "skipped"] {
            plan.as_object_mut().unwrap().remove(key);
        }
        fs::write(&file, plan.to_string()).unwrap();
    }
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Writes a result with the figures that another has.
fn write_with_figures_of(given: &Value, file: &Path, mut result: Value) {
    for key in ["window", "cpu", "operations", "os"] {
        result[key] = given[key].clone();
    }
    for key in ["slept", "duets", "duet_slices", "background_beside"] {
        if let Some(figure) = given["design"].get(key) {
            result["design"][key] = figure.clone();
        }
    }
    fs::write(file, result.to_string()).unwrap();
}
