//! `kvdyno status`: how far runs have come, from their results folders alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kvdyno_environment::lock::FolderLock;
use kvdyno_environment::machine::host;
use kvdyno_model::text::counted;
use kvdyno_report::Format;
use kvdyno_results::folder::ReadError;
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{CellKey, HostFacts, Phase, RunStatus, StatusCounts, side_by_side};
use serde_json::{Value, json};

use crate::cli::StatusArguments;
use crate::commands::merge::absent_parts;
use crate::error::Error;
use crate::output::{print, print_json};
use crate::progress::what;

/// Runs the command.
pub fn run(arguments: &StatusArguments) -> Result<(), Error> {
    let all = side_by_side(&arguments.folders, |folder| FolderStatus::read(folder))?;
    let mut cells = BTreeMap::<&CellKey, StatusCounts>::new();
    for (name, counts) in all.iter().filter_map(|one| one.status.as_ref()).flat_map(|status| &status.cells) {
        *cells.entry(name).or_default() += *counts;
    }
    let mut cells: Vec<(&CellKey, StatusCounts)> = cells.into_iter().collect();
    cells.sort_by(|(one, _), (other, _)| by_work(one).cmp(&by_work(other)));
    if arguments.list.format == Format::Json {
        let folders: Vec<_> = all.iter().map(FolderStatus::json).collect();
        return print_json(
            &json!({ "folders": folders, "missing_parts": missing_parts(&all), "cells": listed(&cells) }),
        );
    }
    let lines: String = all.iter().map(|one| one.line() + "\n").collect();
    let missing = absent_parts(&missing_parts(&all)).map(|words| words + "\n").unwrap_or_default();
    print(&format!("{lines}{missing}\n{}", table(&cells)))
}

/// A results folder and whoever works in it.
struct FolderStatus<'a> {
    path: &'a Path,
    /// Absent before its experiment is there.
    status: Option<RunStatus>,
    /// The process that works there, if it is of this machine.
    process: Option<u32>,
}

impl<'a> FolderStatus<'a> {
    fn read(path: &'a Path) -> Result<FolderStatus<'a>, Error> {
        let status = match RunStatus::read(&ResultsFolder::at(path)) {
            Err(ReadError::NotResults(_)) if FolderLock::is_known(path) => None,
            status => Some(status?),
        };
        let unread = || Error::io(format!("cannot read the lock of {}", path.display()));
        Ok(FolderStatus { path, status, process: FolderLock::holder(path).map_err(unread())? })
    }

    /// Its state in words. Whether a run is at work on another machine cannot be seen.
    fn state(&self) -> String {
        let (status, here) = (self.status.as_ref(), host());
        let is_other = |last: &&HostFacts| here.as_ref().is_some_and(|here| !here.is(last));
        let last_host = status.and_then(|status| status.hosts.last()).filter(is_other);
        let is_merged = status.is_some_and(|status| !status.merged.0.is_empty());
        match (self.process, last_host) {
            (Some(pid), _) if status.is_none() => format!("starting (process {pid})"),
            (Some(pid), _) => format!("running (process {pid})"),
            (None, _) if status.is_some_and(RunStatus::is_complete) => "complete".to_owned(),
            (None, _) if status.is_none() => "starting on another machine, or ended before its first trial".to_owned(),
            (None, _) if is_merged => "merged, not complete".to_owned(),
            (None, Some(host)) => format!("running on {}, or ended early", host.name),
            (None, None) => "ended early".to_owned(),
        }
    }

    /// `results/part-3: part 3/8, running (process 123), 12 of 40 trials, 1 failed; now lmdb readseq, 2 readers`.
    fn line(&self) -> String {
        let (path, state) = (self.path.display(), self.state());
        let Some(status) = &self.status else { return format!("{path}: {state}") };
        let part = status.part.as_ref().map(|facts| format!("part {}, ", facts.part)).unwrap_or_default();
        let total = status.total();
        let all = counted(total.ended() + total.left(), "trial");
        let of_all = if status.is_open { " trials so far".to_owned() } else { format!(" of {all}") };
        let failed = if total.failed > 0 { format!(", {} failed", total.failed) } else { String::new() };
        let now: Vec<String> = status.begun.iter().map(|trial| format!("{} {}", trial.engine, what(trial))).collect();
        let verb = if self.process.is_some() { "now" } else { "begun" };
        let now = if now.is_empty() { String::new() } else { format!("; {verb} {}", now.join("; ")) };
        format!("{path}: {part}{state}, {}{of_all}{failed}{now}", total.ended())
    }

    fn json(&self) -> Value {
        let status = self.status.as_ref();
        json!({
            "folder": self.path.display().to_string(),
            "part": status.and_then(|status| status.part.as_ref()),
            "state": self.state(),
            "complete": status.is_some_and(RunStatus::is_complete),
            "process": self.process,
            "open": status.is_some_and(|status| status.is_open),
            "begun": status.map(|status| &status.begun),
            "trials": status.map(RunStatus::total),
        })
    }
}

/// The parts that none of these folders has.
fn missing_parts(all: &[FolderStatus<'_>]) -> Vec<u32> {
    let (mut there, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for status in all.iter().filter_map(|one| one.status.as_ref()) {
        if let Some(facts) = &status.part {
            there.insert(facts.part.number());
            wanted.extend(1..=facts.part.of());
        }
        there.extend(&status.merged.0);
        wanted.extend(&status.merged.1);
    }
    wanted.difference(&there).copied().collect()
}

/// The order that puts engines with the same work beside each other.
fn by_work(cell: &CellKey) -> impl Ord + '_ {
    (&cell.variant, cell.phase, &cell.workload, cell.readers, cell.writers, cell.clients, &cell.engine)
}

/// The same for programs.
fn listed(cells: &[(&CellKey, StatusCounts)]) -> Vec<Value> {
    cells.iter().map(|(name, trials)| json!({ "cell": name, "trials": trials })).collect()
}

fn table(cells: &[(&CellKey, StatusCounts)]) -> String {
    let title = |name: &CellKey| {
        let variant = if name.variant.is_empty() { String::new() } else { format!("{}: ", name.variant) };
        let clients = match (name.phase, name.readers, name.writers) {
            (Phase::Load, ..) => String::new(),
            (_, 0, clients) => format!(", {}", counted(clients, "client")),
            (_, readers, _) => format!(", {}", counted(readers, "reader")),
        };
        format!("{variant}{} {}{clients}", name.engine, name.workload)
    };
    let titles: Vec<String> = cells.iter().map(|(name, _)| title(name)).collect();
    let width = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    let head = format!("{:<width$} {:>8} {:>8} {:>8} {:>8}\n", "cell", "finished", "failed", "begun", "waiting");
    let line = |(title, (_, counts)): (&String, &(&CellKey, StatusCounts))| {
        let StatusCounts { finished, failed, begun, waiting } = counts;
        format!("{title:<width$} {finished:>8} {failed:>8} {begun:>8} {waiting:>8}\n")
    };
    head + &titles.iter().zip(cells).map(line).collect::<String>()
}
