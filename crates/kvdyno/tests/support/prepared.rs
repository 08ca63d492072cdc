//! Results that were measured, made to be those of another machine or moment: what others took of this one meanwhile
//! is not what a test is about.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Lab;

impl Lab {
    /// Says of the results of `folder` that `is_meant` picks that there was this interference with them. Whether that
    /// is news.
    pub fn say_interference(&self, folder: &str, clauses: &[&str], is_meant: impl Fn(&Value) -> bool) -> bool {
        let mut is_news = false;
        for trial in fs::read_dir(self.path(folder).join("trials")).unwrap().flatten() {
            let file = trial.path().join("result.json");
            if !file.is_file() {
                continue;
            }
            let mut result = read(&file);
            let had: Vec<&str> = texts(&result["environment"]["interference"]);
            if had != clauses && is_meant(&result) {
                result["environment"]["interference"] = json!(clauses);
                fs::write(&file, result.to_string()).unwrap();
                is_news = true;
            }
        }
        is_news
    }

    /// Nobody took anything of the machine while the results of `folder` were measured. Whether somebody had.
    pub fn undisturbed(&self, folder: &str) -> bool {
        self.say_interference(folder, &[], |_| true)
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

/// None where the key is absent.
fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}
