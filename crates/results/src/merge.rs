//! Puts the results of a plan's parts into one results folder.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use kvdyno_model::text::of_the_rest;
use kvdyno_model::{Deal, Part};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::files;
use crate::folder::{self, ReadError, ResultsFolder};
use crate::{Machine, MergedPart, PartFacts, Phase, SavedPlan, Spent, TrialKey, TrialResult, side_by_side};

/// Parts that belong together, before anything is written.
#[derive(Debug)]
pub struct Merge {
    out: ResultsFolder,
    /// In order of their numbers.
    parts: Vec<PartSource>,
    plan: SavedPlan,
}

/// Why results are not merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// They do not belong together, or not into this folder; nothing was touched.
    #[error("{0}")]
    Refused(String),
    /// Results could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be copied or written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// The results of one part.
#[derive(Debug)]
struct PartSource {
    folder: ResultsFolder,
    facts: PartFacts,
    plan: SavedPlan,
    machine: Option<Machine>,
    /// Where its trials are among those of all parts.
    numbering: Numbering,
    /// The trials that have ended, by their numbers in the part.
    ended: HashMap<u32, TrialKey>,
    /// The engines, as the user named them, with the versions that they had in these.
    versions: BTreeSet<(String, String)>,
}

/// The place of a part's trials among those of all parts. Where each part does the whole plan, its trials and repeats
/// have numbers after those of the parts before it; else they have theirs.
#[derive(Clone, Copy, Debug, Default)]
struct Numbering {
    trials_before: u32,
    repeats_before: u32,
}

/// More changes than this are not read.
const MOST_CHANGES: usize = 5;

/// The file of a trial that is written last.
const RESULT: &str = "result.json";

/// Its name until the trial's other files last.
const COPIED_RESULT: &str = "result.copying";

impl Merge {
    /// Reads parts and checks that they belong together, and that `out` is empty or has some of them already.
    ///
    /// If several parts loaded a variant, each for itself, the loads of one of them stand: see [`loaded_by`]. Where
    /// each part does the whole plan, all of them do.
    ///
    /// # Errors
    /// If a part is none, is there twice, or is of another experiment, plan or kvdyno than the first.
    pub fn of(parts: &[ResultsFolder], out: &ResultsFolder) -> Result<Merge, MergeError> {
        let mut parts: Vec<PartSource> = parts.iter().map(PartSource::read).collect::<Result<_, _>>()?;
        parts.sort_by_key(|source| source.facts.part);
        let Some((first, others)) = parts.split_first() else {
            return refused("there is nothing to merge".to_owned());
        };
        others.iter().try_for_each(|other| first.refuse_stranger(other))?;
        for pair in parts.windows(2) {
            if pair[0].facts.part == pair[1].facts.part {
                let (one, other) = (pair[0].shown(), pair[1].shown());
                return refused(format!("{one} and {other} are both part {}; name one of them", pair[0].facts.part));
            }
        }
        refuse_other_engines(&parts)?;
        refuse_other_contents(out, &parts)?;
        let plan = merged_plan(&parts);
        Ok(Merge { out: out.clone(), parts, plan })
    }

    /// Copies what is not there yet. It may be killed at any moment, and done again.
    ///
    /// # Errors
    /// If a file cannot be read or written, or the folder has got other contents since.
    pub fn write(&self) -> Result<(), MergeError> {
        refuse_other_contents(&self.out, &self.parts)?;
        // First: it tells a later call that the folder is of merged results.
        write(&self.out.plan_file(), |path| files::write_json(path, &self.plan))?;
        self.remove_others()?;
        let folders: Vec<(Numbering, PathBuf, PathBuf)> = self
            .trials()
            .map(|(source, trial)| {
                let numbering = source.numbering;
                (numbering, source.folder.trial_folder(trial), self.out.trial_folder(&numbering.of_all(trial)))
            })
            .collect();
        let copied = side_by_side(&folders, |(numbering, from, to)| {
            let result = numbering.result(from)?;
            let is_there = files::read(&to.join(RESULT)).is_ok_and(|there| there.as_deref() == Some(&result[..]));
            if !is_there {
                write(to, |to| copy_trial(from, &result, to))?;
            }
            Ok::<_, MergeError>((!is_there).then_some(to))
        })?;
        let copied: Vec<&PathBuf> = copied.into_iter().flatten().collect();
        // A result says that its trial's other files are there, whatever happens to the machine now.
        write(self.out.root(), sync)?;
        side_by_side(&copied, |folder| {
            write(&folder.join(RESULT), |result| fs::rename(folder.join(COPIED_RESULT), result))
        })?;
        write(self.out.root(), sync)?;
        self.write_surroundings()
    }

    /// The trials whose results stand, each with its part, as that names it.
    fn trials(&self) -> impl Iterator<Item = (&PartSource, &TrialKey)> {
        self.parts.iter().zip(&self.plan.merged).flat_map(|(source, merged)| {
            let in_part = move |number: &u32| number.checked_sub(source.numbering.trials_before);
            merged.trials.iter().filter_map(move |number| Some((source, source.ended.get(&in_part(number)?)?)))
        })
    }

    /// Removes trials that are not of this plan: loads of which another part has those that stand now.
    fn remove_others(&self) -> Result<(), MergeError> {
        let in_out = |(source, trial): (&PartSource, &TrialKey)| self.out.trial_folder(&source.numbering.of_all(trial));
        let own: HashSet<PathBuf> = self.trials().map(in_out).collect();
        let there = match fs::read_dir(self.out.root().join("trials")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            there => there.map_err(|cause| MergeError::Write { path: self.out.root().join("trials"), cause })?,
        };
        for other in there.flatten().map(|entry| entry.path()).filter(|path| !own.contains(path)) {
            write(&other, |path| fs::remove_dir_all(path))?;
        }
        Ok(())
    }

    /// Writes what is not of a single trial. The experiment is last: it makes the folder one that can be read.
    fn write_surroundings(&self) -> Result<(), MergeError> {
        for source in &self.parts {
            let Some(machine) = &source.machine else { continue };
            write(&self.out.part_machine_file(source.facts.part.number()), |path| {
                fs::create_dir_all(path.parent().unwrap_or(path))?;
                files::write_json(path, machine)
            })?;
        }
        let measured = self.parts.iter().filter(|source| !source.ended.is_empty());
        if let Some(machine) = measured.chain(&self.parts).find_map(|source| source.machine.as_ref()) {
            write(&self.out.machine_file(), |path| files::write_json(path, machine))?;
        }
        let Some(first) = self.parts.first() else { return Ok(()) };
        let left_out = first.folder.left_out()?;
        write(&self.out.left_out_file(), |path| files::write_json(path, &left_out))?;
        let text = first.folder.experiment_text()?;
        write(&self.out.experiment_file(), |path| files::write_whole(path, text.as_bytes()))
    }

    /// Number of the trials that have ended.
    pub fn ended(&self) -> usize {
        self.plan.merged.iter().map(|merged| merged.trials.len()).sum()
    }

    /// The parts that have trials left, each with its folder.
    pub fn unfinished(&self) -> Vec<(Part, &Path)> {
        let has_left = |source: &&PartSource| source.plan.expected().any(|trial| !source.has(trial));
        self.parts.iter().filter(has_left).map(|source| (source.facts.part, source.folder.root())).collect()
    }

    /// The numbers of the parts that are not there.
    pub fn absent(&self) -> Vec<u32> {
        self.plan.absent_parts()
    }
}

impl PartSource {
    fn read(folder: &ResultsFolder) -> Result<PartSource, MergeError> {
        let folder = ResultsFolder::open(folder.root())?;
        let shown = folder.root().display();
        let plan = folder.plan()?;
        let Some((plan, facts)) = plan.and_then(|plan| plan.part.clone().map(|facts| (plan, facts))) else {
            return refused(format!("{shown} is no part of a plan: it was not measured with `kvdyno run --part`"));
        };
        let planned: HashSet<&TrialKey> = plan.trials.iter().collect();
        let ended = folder.ended()?;
        if let Some(other) = ended.iter().find(|ended| !planned.contains(&ended.trial)) {
            return refused(format!("{shown} has a result of trial {}, which is not in its plan", other.trial.number));
        }
        // An engine that failed before it was opened has none.
        let known = ended.iter().filter(|ended| !ended.engine.version.is_empty());
        let versions = known.map(|ended| (ended.trial.engine.clone(), ended.engine.version.clone())).collect();
        let ended = ended.into_iter().map(|ended| (ended.trial.number, ended.trial)).collect();
        let Some(numbering) = Numbering::of(&facts, &plan) else {
            return refused(format!("{shown} is of a plan with more trials than have numbers"));
        };
        Ok(PartSource { machine: folder.machine()?, facts, plan, numbering, ended, versions, folder })
    }

    fn shown(&self) -> String {
        self.folder.root().display().to_string()
    }

    fn has(&self, trial: &TrialKey) -> bool {
        self.ended.contains_key(&trial.number)
    }

    /// Refuses another part that was not made from the same plan by the same program.
    fn refuse_stranger(&self, other: &PartSource) -> Result<(), MergeError> {
        let (this, that) = (self.shown(), other.shown());
        if self.facts.part.of() != other.facts.part.of() {
            return refused(format!(
                "{this} is part {} and {that} part {}: parts of one plan have one number of parts",
                self.facts.part, other.facts.part
            ));
        }
        if self.facts.deal != other.facts.deal {
            let [mine, others] = [self.facts.deal, other.facts.deal];
            return refused(format!("{that} is of a plan that was dealt by --deal {others}, and {this} by {mine}"));
        }
        let changes = self.plan.changes_of_experiment(&other.plan.experiment);
        // Where databases are is each machine's own affair.
        let changes: Vec<String> = changes.into_iter().filter(|change| !change.starts_with("lab.dir was ")).collect();
        if !changes.is_empty() {
            let told = changes.iter().take(MOST_CHANGES).cloned().collect::<Vec<_>>().join("; ");
            let more = of_the_rest(changes.len(), MOST_CHANGES, |more| format!("; and {more} more"));
            return refused(format!("{that} is of another experiment than {this}: {told}{more}"));
        }
        if let (Some(mine), Some(others)) = (&self.machine, &other.machine)
            && (&mine.kvdyno, &mine.build) != (&others.kvdyno, &others.build)
        {
            let words = |machine: &Machine| {
                let commit = machine.build.as_ref().and_then(|build| build.commit.as_deref());
                format!("{}, commit {}", machine.kvdyno, commit.unwrap_or("unknown"))
            };
            let [mine, others] = [words(mine), words(others)];
            return refused(format!(
                "{that} was measured by another build of kvdyno than {this}: by {others}, not by {mine}"
            ));
        }
        if self.facts.plan != other.facts.plan {
            return refused(format!(
                "{that} is of another plan than {this}, though of the same experiment: its machine has other engines, \
                 or engines that can do other work"
            ));
        }
        Ok(())
    }
}

impl Numbering {
    /// That of a part; `None` if there are not enough numbers.
    fn of(facts: &PartFacts, plan: &SavedPlan) -> Option<Numbering> {
        if facts.deal == Deal::Blocks {
            return Some(Numbering::default());
        }
        let before = facts.part.number() - 1;
        let most = |number: fn(&TrialKey) -> u32| plan.trials.iter().map(number).max().unwrap_or(0);
        let all_before = |number: fn(&TrialKey) -> u32| {
            most(number).checked_mul(facts.part.of())?;
            most(number).checked_mul(before)
        };
        Some(Numbering {
            trials_before: all_before(|trial| trial.number)?,
            repeats_before: all_before(|trial| trial.repeat)?,
        })
    }

    /// A part's trial, as one of all.
    fn of_all(self, trial: &TrialKey) -> TrialKey {
        TrialKey {
            number: trial.number + self.trials_before,
            repeat: trial.repeat + self.repeats_before,
            ..trial.clone()
        }
    }

    /// The result in a trial's folder, as that of one of all. One that was damaged behind its outcome, as far as it was
    /// read before, is refused.
    fn result(self, trial: &Path) -> Result<Vec<u8>, MergeError> {
        let path = trial.join(RESULT);
        let damaged = |cause: String| ReadError::Damaged { path: path.clone(), cause };
        let text = folder::read(&path)?;
        let text = text.ok_or_else(|| damaged("it is gone".to_owned()))?;
        if self.trials_before == 0 {
            serde_json::from_slice::<IgnoredAny>(&text).map_err(|error| damaged(error.to_string()))?;
            return Ok(text);
        }
        let mut result: TrialResult = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        result.trial = self.of_all(&result.trial);
        let beside = result.design.iter_mut().flat_map(|design| &mut design.beside);
        beside.for_each(|number| *number += self.trials_before);
        if let Some(copy) = &mut result.copied_from {
            copy.load += self.trials_before;
        }
        Ok(files::to_json(&result).map_err(|error| damaged(error.to_string()))?)
    }
}

/// Refuses parts in which an engine has more than one version.
fn refuse_other_engines(parts: &[PartSource]) -> Result<(), MergeError> {
    let mut first: BTreeMap<&str, (&str, &PartSource)> = BTreeMap::new();
    for source in parts {
        for (engine, version) in &source.versions {
            let (before, of) = *first.entry(engine).or_insert((version, source));
            if before != version {
                let (this, that) = (of.shown(), source.shown());
                return refused(format!("{that} has {engine} of version {version}, and {this} of version {before}"));
            }
        }
    }
    Ok(())
}

/// Refuses a folder that has anything but results of these parts.
fn refuse_other_contents(out: &ResultsFolder, parts: &[PartSource]) -> Result<(), MergeError> {
    let shown = out.root().display();
    let Some(plan) = out.plan()?.filter(|plan| !plan.merged.is_empty()) else {
        return match out.is_unused() {
            Ok(true) => Ok(()),
            Ok(false) => refused(format!("{shown} is not empty; choose another --out")),
            Err(cause) => {
                refused(format!("{shown} cannot be the folder of the results: {cause}; choose another --out"))
            }
        };
    };
    for merged in &plan.merged {
        let part = merged.facts.part;
        match parts.iter().find(|source| source.facts.part == part) {
            None => {
                return refused(format!("{shown} has part {part}, too; name that as well, or choose another --out"));
            }
            Some(source) if source.facts != merged.facts => {
                let other = source.shown();
                return refused(format!("{shown} has part {part} of another run than {other}; choose another --out"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The plan of all parts together: what each of them did, or still has to do.
fn merged_plan(parts: &[PartSource]) -> SavedPlan {
    let numbered = parts.iter().any(|source| source.facts.deal == Deal::Repeats);
    let loaded_by = loaded_by(parts.iter().map(|source| (source.facts.part, &source.plan.trials[..])));
    let (mut trials, mut merged) = (BTreeMap::new(), Vec::new());
    for source in parts {
        let part = source.facts.part;
        let numbering = source.numbering;
        let is_own = |trial: &&TrialKey| {
            numbered || trial.phase == Phase::Run || loaded_by.get(trial.variant.as_str()) == Some(&part)
        };
        let expected =
            source.plan.expected_so_far(|trial| source.has(trial)).chain(source.ended.values()).filter(is_own);
        trials.extend(expected.map(|trial| numbering.of_all(trial)).map(|trial| (trial.number, trial)));
        let own = source.ended.values().filter(is_own);
        let mut own: Vec<u32> = own.map(|trial| trial.number + numbering.trials_before).collect();
        own.sort_unstable();
        merged.push(MergedPart { facts: source.facts.clone(), hosts: source.plan.hosts.clone(), trials: own });
    }
    let spent = |figure: fn(&Spent) -> f64| parts.iter().map(|source| figure(&source.plan.spent)).sum();
    let with_trials = parts.iter().filter(|source| !source.plan.trials.is_empty());
    let most_values: Vec<Option<u32>> = with_trials.map(|source| source.plan.most_values).collect();
    let experiment = parts.first().map_or(Value::Null, |source| source.plan.experiment.clone());
    SavedPlan {
        spent: Spent {
            seconds: spent(|spent| spent.seconds),
            trials: merged.iter().map(|merged| merged.trials.len()).sum(),
        },
        // A part without a limit had the most looks, and so has the widest intervals.
        most_values: most_values.iter().copied().collect::<Option<Vec<u32>>>().and_then(|all| all.into_iter().max()),
        budget: parts.iter().find_map(|source| source.plan.budget),
        merged,
        ..SavedPlan::new(experiment, trials.into_values().collect(), None)
    }
}

/// The part whose loads of each variant stand. Loads are compared, so those of a variant are all of one part: the first
/// of those that load it with the most engines, as an engine is not loaded where it can do none of the runs.
fn loaded_by<'a>(parts: impl Iterator<Item = (Part, &'a [TrialKey])>) -> HashMap<&'a str, Part> {
    let mut best: HashMap<&str, (usize, Part)> = HashMap::new();
    for (part, trials) in parts {
        let mut engines: HashMap<&str, HashSet<&str>> = HashMap::new();
        for load in trials.iter().filter(|trial| trial.phase == Phase::Load) {
            engines.entry(&load.variant).or_default().insert(&load.engine);
        }
        for (variant, engines) in engines {
            let known = best.entry(variant).or_insert((engines.len(), part));
            if engines.len() > known.0 {
                *known = (engines.len(), part);
            }
        }
    }
    best.into_iter().map(|(variant, (_, part))| (variant, part)).collect()
}

fn refused<T>(why: String) -> Result<T, MergeError> {
    Err(MergeError::Refused(why))
}

fn write(path: &Path, writing: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), MergeError> {
    writing(path).map_err(|cause| MergeError::Write { path: path.to_owned(), cause })
}

/// Copies the regular files of a trial's folder, and its result to [`COPIED_RESULT`].
fn copy_trial(from: &Path, result: &[u8], to: &Path) -> io::Result<()> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(to)?,
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != RESULT {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    fs::write(to.join(COPIED_RESULT), result)
}

/// Makes all that was written to a folder's filesystem last: once for many files.
fn sync(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_of_the_first_part_that_has_all_engines() {
        let load = |variant: &str, engine: &str| TrialKey {
            number: 1,
            engine: engine.to_owned(),
            variant: variant.to_owned(),
            phase: Phase::Load,
            workload: "fillseq".to_owned(),
            readers: 0,
            writers: 1,
            clients: Default::default(),
            repeat: 1,
        };
        let parts = [
            // An engine that cannot do the runs of the first part is not loaded there.
            vec![load("x", "lmdb"), load("y", "lmdb")],
            vec![load("x", "lmdb"), load("x", "pebble")],
            vec![load("x", "lmdb"), load("x", "pebble"), load("y", "lmdb")],
        ];
        let part = |number: usize| format!("{number}/3").parse::<Part>().unwrap();
        let loaded = loaded_by(parts.iter().enumerate().map(|(index, trials)| (part(index + 1), &trials[..])));
        assert_eq!(loaded, HashMap::from([("x", part(2)), ("y", part(1))]));
    }
}
