//! The document of a study.

use jiff::tz::TimeZone;
use kvdyno_analysis::verdicts::Question;
use kvdyno_model::text::of_the_rest;
use kvdyno_results::{Machine, Phase, TrialKey, TrialResult};
use serde_json::{Map, Value};

use super::cells::CellTable;
use super::engine_statistics::{EngineStatistics, statistics};
use super::repeating::{command, command_word};
use super::section::Section;
use super::sections::sections;
use super::trials::{CellSummary, TrialTable};
use crate::order::distinct;
use crate::remarks::{Remark, doubts, doubts_of_trials, failures, notes};
use crate::study::Study;
use crate::tables::{
    Fact, Relative, common_work, key_facts, machine_facts, main_settings, processor, relatives, versions,
};
use crate::verdicts::{
    Longer, PairSummary, RankingSummary, StudyAnswer, VerdictGroup, answer, groups, pairs, per_cent, rankings,
};

/// A report, in no format yet.
pub(crate) struct Document<'a> {
    /// The experiment's name.
    pub(crate) name: &'a str,
    /// The question that it answers; absent where nothing is compared.
    pub(crate) question: Option<String>,
    /// The setting that figures depend on most: records, durability, cache.
    pub(crate) main_settings: Vec<String>,
    /// When and where it ran, and how many trials finished, in a sentence.
    pub(crate) ran: String,
    /// The trials that have no result, in a sentence; absent if all have one.
    pub(crate) incomplete: Option<String>,
    /// The number of trials that have no result.
    pub(crate) missing: usize,
    /// `lmdb 0.9.24` for each engine.
    pub(crate) versions: Vec<String>,
    /// The experiment's settings.
    pub(crate) settings: Vec<Fact>,
    /// The machine, for people.
    pub(crate) machine_facts: Vec<Fact>,
    /// The machine, for programs.
    pub(crate) machine: Option<&'a Machine>,
    /// Failed trials.
    pub(crate) failed: usize,
    /// Their reasons.
    pub(crate) failures: Vec<Remark>,
    /// Figures that do not fit each other, an engine's of one sort together.
    pub(crate) doubts: Vec<Remark>,
    /// The same, trial by trial.
    pub(crate) doubts_of_trials: Vec<Remark>,
    /// Remarks of the trials.
    pub(crate) notes: Vec<Remark>,
    /// The verdicts in short.
    pub(crate) answer: StudyAnswer,
    /// Tables and charts.
    pub(crate) sections: Vec<Section<'a>>,
    /// The loads.
    pub(crate) load: TrialTable,
    /// The runs.
    pub(crate) run: TrialTable,
    /// Loads, then runs.
    pub(crate) cells: Vec<CellSummary>,
    /// The same as a table.
    pub(crate) cell_table: CellTable,
    /// The work that was requested, for programs: what all trials have in common.
    pub(crate) common_work: Map<String, Value>,
    /// The order of setups that did the same work.
    pub(crate) rankings: Vec<RankingSummary>,
    /// Each pair of the setups of a work.
    pub(crate) pairs: Vec<PairSummary>,
    /// Variants over the first of them.
    pub(crate) relative: Vec<Relative>,
    /// The engines' own.
    pub(crate) statistics: Vec<EngineStatistics<'a>>,
    /// The command that repeats it; empty if its file cannot be read.
    pub(crate) repeating: String,
}

impl<'a> Document<'a> {
    /// Builds it.
    pub(crate) fn of(study: &'a Study<'a>) -> Document<'a> {
        let cells = [Phase::Load, Phase::Run].into_iter().flat_map(|phase| study.cells(phase));
        let groups = groups(study);
        Document {
            name: study.name,
            question: question(study, &groups),
            main_settings: main_settings(study.results),
            ran: ran(study),
            incomplete: incomplete(study),
            missing: study.missing.len(),
            versions: versions(study),
            settings: key_facts(study),
            machine_facts: study.machines.first.as_ref().map(machine_facts).unwrap_or_default(),
            machine: study.machines.first.as_ref(),
            failed: study.results.iter().filter(|result| !result.is_finished()).count(),
            failures: failures(study),
            doubts: doubts(study),
            doubts_of_trials: doubts_of_trials(study),
            notes: notes(study),
            answer: answer(study, &groups, longer(study).as_ref()),
            sections: sections(study, &groups),
            load: TrialTable::of(study, Phase::Load),
            run: TrialTable::of(study, Phase::Run),
            cells: cells.map(CellSummary::from).collect(),
            cell_table: CellTable::of(study),
            common_work: common_work(study),
            rankings: rankings(&groups),
            pairs: pairs(&groups),
            relative: relatives(study),
            statistics: statistics(study.results),
            repeating: command(study.experiment_text, &[]),
        }
    }
}

impl Document<'_> {
    /// The words that the kernel was started with, where they are known.
    pub(crate) fn kernel_command_line(&self) -> Option<&str> {
        self.machine.and_then(|machine| machine.setup.kernel_command_line.as_deref())
    }
}

/// The way to lengthen a run that ends by its results and has ended.
fn longer(study: &Study<'_>) -> Option<Longer> {
    let ended = study.experiment.lab.repeat.is_auto() && study.missing.is_empty();
    let command = format!("kvdyno run --resume {}", command_word(study.folder));
    study.spent_s.filter(|_| ended).map(|spent_s| Longer { spent_s, command })
}

/// More setups than this are counted instead of named.
const MOST_SETUPS: usize = 7;

fn question(study: &Study<'_>, groups: &[VerdictGroup<'_, '_>]) -> Option<String> {
    let names = distinct(groups.iter().flat_map(|group| group.setups()));
    let (last, others) = names.split_last().filter(|(_, others)| !others.is_empty())?;
    let detect = per_cent(study.experiment.lab.detect.0);
    Some(match (study.experiment.lab.question, others) {
        (Question::Difference, [before]) => format!("Is {last} faster or slower than {before}, by {detect} % or more?"),
        (Question::Ranking, others) if others.len() < MOST_SETUPS => {
            format!("Which is the fastest of {} and {last}, and by how much?", others.join(", "))
        }
        (Question::Ranking, _) => format!("Which is the fastest of {} setups, and by how much?", names.len()),
        (Question::Difference, _) => format!("Which of {} setups differ by {detect} % or more?", names.len()),
    })
}

fn ran(study: &Study<'_>) -> String {
    let finished = study.results.iter().filter(|result| result.is_finished()).count();
    let trials = format!("{finished} of {} trials finished", study.results.len() + study.missing.len());
    let day = |result: &TrialResult| result.started.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string();
    let when = study.results.iter().min_by_key(|result| result.started).map(day);
    let machine = match study.machines.hosts().len() {
        0 | 1 => study.machines.first.as_ref().map(processor),
        hosts => Some(format!("{hosts} machines")),
    };
    let words = [when.map(|when| format!("Started {when}")), machine.map(|machine| format!("on {machine}"))];
    let words: Vec<String> = words.into_iter().flatten().collect();
    if words.is_empty() { format!("{trials}.") } else { format!("{}; {trials}.", words.join(" ")) }
}

/// More names than this are not read.
const MOST_NAMED: usize = 5;

fn incomplete(study: &Study<'_>) -> Option<String> {
    let names: Vec<String> = study.missing.iter().take(MOST_NAMED).map(TrialKey::title).collect();
    let more = of_the_rest(study.missing.len(), MOST_NAMED, |more| format!("; and of {more} more"));
    let (ended, all) = (study.results.len(), study.results.len() + study.missing.len());
    let words = || format!("{ended} of {all} trials have a result; there is none of {}{more}", names.join("; "));
    let of_trials = (!study.missing.is_empty()).then(words);
    let words: Vec<String> = study.machines.absent().into_iter().chain(of_trials).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
