//! Results that were measured, made to be those of another machine or moment: what others took of this one meanwhile
//! is not what a test is about.

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
            let trials = fs::read_dir(self.path(folder).join("trials")).unwrap().flatten();
            let mut results: Vec<(PathBuf, Value)> =
                trials.map(|trial| trial.path().join("result.json")).map(|file| (file.clone(), read(&file))).collect();
            results.retain(|(_, result)| result["trial"]["engine"] == setup && result["trial"]["phase"] == "run");
            results.sort_by_key(|(_, result)| result["trial"]["repeat"].as_u64());
            results
        };
        let (given, taken) = (of(from), of(to));
        assert!(
            !given.is_empty() && given.len() == taken.len(),
            "{} runs of {from}, {} of {to}",
            given.len(),
            taken.len()
        );
        for ((_, given), (file, mut result)) in given.into_iter().zip(taken) {
            for key in ["window", "cpu", "operations", "os"] {
                result[key] = given[key].clone();
            }
            for key in ["slept", "duets", "duet_slices", "background_beside"] {
                if let Some(figure) = given["design"].get(key) {
                    result["design"][key] = figure.clone();
                }
            }
            fs::write(&file, result.to_string()).unwrap();
        }
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
