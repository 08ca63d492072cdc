//! `kvdyno status`: how far runs have come, from their results folders alone.

use std::collections::BTreeMap;
use std::path::Path;

use kvdyno_environment::lock::FolderLock;
use kvdyno_environment::machine::host_name;
use kvdyno_model::text::counted;
use kvdyno_report::Format;
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{CellName, Phase, Standing, TrialCounts};
use serde_json::{Value, json};

use crate::cli::StatusArguments;
use crate::commands::merge::absent_parts;
use crate::error::Error;
use crate::output::{print, print_json};
use crate::progress::what;

/// Runs the command.
pub fn run(arguments: &StatusArguments) -> Result<(), Error> {
    let all: Vec<FolderStatus<'_>> =
        arguments.folders.iter().map(|folder| FolderStatus::read(folder)).collect::<Result<_, _>>()?;
    let mut cells = BTreeMap::<&CellName, TrialCounts>::new();
    for (name, counts) in all.iter().flat_map(|one| &one.standing.cells) {
        *cells.entry(name).or_default() += *counts;
    }
    if arguments.list.format == Format::Json {
        let folders: Vec<_> = all.iter().map(FolderStatus::json).collect();
        return print_json(&json!({ "folders": folders, "missing_parts": missing_parts(&all), "cells": listed(&cells) }));
    }
    let lines: String = all.iter().map(|one| one.line() + "\n").collect();
    let missing = absent_parts(&missing_parts(&all)).map(|words| words + "\n").unwrap_or_default();
    print(&format!("{lines}{missing}\n{}", table(&cells)))
}

/// A results folder and whoever works in it.
struct FolderStatus<'a> {
    path: &'a Path,
    standing: Standing,
    /// The process that works there, if it is of this machine.
    process: Option<u32>,
}

impl<'a> FolderStatus<'a> {
    fn read(path: &'a Path) -> Result<FolderStatus<'a>, Error> {
        let process = FolderLock::holder(path).map_err(Error::io(format!("cannot read the lock of {}", path.display())))?;
        Ok(FolderStatus { path, standing: Standing::read(&ResultsFolder::at(path))?, process })
    }

    /// Its state in words: whether a run of another machine is at work cannot be seen.
    fn state(&self) -> String {
        let of_other = self.standing.part.as_ref().map(|part| &part.host).filter(|host| Some(*host) != host_name().as_ref());
        match (self.process, of_other) {
            (Some(pid), _) => format!("running (process {pid})"),
            (None, _) if self.standing.is_complete() => "complete".to_owned(),
            (None, Some(host)) => format!("running on {host}, or ended early"),
            (None, None) => "ended early".to_owned(),
        }
    }

    /// `results/part-3: part 3/8, running (process 123), 12 of 40 trials, 1 failed; now lmdb readseq, 2 readers`.
    fn line(&self) -> String {
        let part = self.standing.part.as_ref().map(|facts| format!("part {}, ", facts.part)).unwrap_or_default();
        let total = self.standing.total();
        let all = total.ended() + total.left();
        let of_all = if self.standing.is_open { " trials so far".to_owned() } else { format!(" of {}", counted(all, "trial")) };
        let failed = if total.failed > 0 { format!(", {} failed", total.failed) } else { String::new() };
        let now: Vec<String> =
            self.standing.begun.iter().map(|trial| format!("{} {}", trial.engine, what(trial))).collect();
        let verb = if self.process.is_some() { "now" } else { "begun" };
        let now = if now.is_empty() { String::new() } else { format!("; {verb} {}", now.join("; ")) };
        format!("{}: {part}{}, {}{of_all}{failed}{now}", self.path.display(), self.state(), total.ended())
    }

    fn json(&self) -> Value {
        let Standing { part, begun, is_open, .. } = &self.standing;
        json!({
            "folder": self.path, "part": part, "complete": self.standing.is_complete(), "process": self.process,
            "open": is_open, "begun": begun, "trials": self.standing.total(),
        })
    }
}

/// The parts that neither these folders nor merged ones among them have.
fn missing_parts(all: &[FolderStatus<'_>]) -> Vec<u32> {
    let parts = || all.iter().filter_map(|one| one.standing.part.as_ref()).map(|facts| facts.part);
    let of = parts().map(|part| part.of()).max().unwrap_or(0);
    let absent = (1..=of).filter(|number| !parts().any(|part| part.number() == *number));
    absent.chain(all.iter().flat_map(|one| one.standing.absent.iter().copied())).collect()
}

/// The same for programs.
fn listed(cells: &BTreeMap<&CellName, TrialCounts>) -> Vec<Value> {
    cells.iter().map(|(name, trials)| json!({ "cell": name, "trials": trials })).collect()
}

fn table(cells: &BTreeMap<&CellName, TrialCounts>) -> String {
    let title = |name: &CellName| {
        let variant = if name.variant.is_empty() { String::new() } else { format!("{}: ", name.variant) };
        let clients = match (name.phase, name.readers, name.writers) {
            (Phase::Load, ..) => String::new(),
            (_, 0, clients) => format!(", {}", counted(clients, "client")),
            (_, readers, _) => format!(", {}", counted(readers, "reader")),
        };
        format!("{variant}{} {}{clients}", name.engine, name.workload)
    };
    let titles: Vec<String> = cells.keys().map(|name| title(name)).collect();
    let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    let head = format!("{:<width$} {:>8} {:>8} {:>8} {:>8}\n", "cell", "finished", "failed", "begun", "waiting");
    let line = |(title, counts): (&String, &TrialCounts)| {
        let TrialCounts { finished, failed, begun, waiting } = counts;
        format!("{title:<width$} {finished:>8} {failed:>8} {begun:>8} {waiting:>8}\n")
    };
    head + &titles.iter().zip(cells.values()).map(line).collect::<String>()
}
