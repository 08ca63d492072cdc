//! Flags that are keys of the experiment file: name, help, default and what they take come from the key's definition.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use kvdyno_experiment::{
    EngineSection, Experiment, FileError, LabKey, LoadKey, RunKey, RunSection, SettingsKey, SettingsSection, TopKey,
    sections,
};
use kvdyno_model::{Definition, Fraction, KeyPath, KeyValue, Otherwise, Repeat, TimeSpan, VerdictFigure, WorkloadName};
use kvdyno_plan::{concerns, shorten_for_repeats};
use kvdyno_worker::workloads::Workload;
use toml::{Table, Value};

/// Keys with the texts that were given for them.
type GivenKeys = Vec<(&'static Definition, String)>;

/// The keys that flags of `kvdyno compare` give, in the order of the reference.
#[derive(Clone, Debug, Default)]
pub struct KeyFlags {
    given: GivenKeys,
}

/// The same of `kvdyno diff`, some with other defaults.
#[derive(Clone, Debug, Default)]
pub struct DiffFlags {
    given: GivenKeys,
}

/// The keys of `[settings]` that `kvdyno engines settings` takes.
#[derive(Clone, Debug, Default)]
pub struct SettingsFlags {
    given: GivenKeys,
}

const SETTINGS: [SettingsKey; 3] = [SettingsKey::Cache, SettingsKey::WriteBuffer, SettingsKey::SyncPeriod];

/// Every key that has a flag.
fn all() -> impl Iterator<Item = &'static Definition> {
    sections().iter().flat_map(|section| &section.keys).filter(|key| key.flag.is_some())
}

fn of_settings() -> impl Iterator<Item = &'static Definition> {
    all().filter(|key| SETTINGS.map(KeyPath::from).contains(&key.path))
}

/// The default of a key for `kvdyno compare`, where it is not that of the file: so that it ends in verdicts, and soon.
fn default_of_compare(key: &Definition) -> Option<&'static str> {
    let defaults: [(KeyPath, &str); 4] = [
        (LabKey::Repeat.into(), "auto"),
        (LabKey::Budget.into(), "5m"),
        (RunKey::Duration.into(), LONGEST_RUN.0),
        (RunKey::Warmup.into(), LONGEST_RUN.1),
    ];
    defaults.into_iter().find(|(path, _)| *path == key.path).map(|(_, text)| text)
}

/// The duration of a run of `kvdyno compare` and its warm-up, where the budget has time for ten repeats of that.
const LONGEST_RUN: (&str, &str) = ("1s", "200ms");

/// The default of a key for `kvdyno diff`, where it is not that of the file.
fn default_of_diff(key: &Definition) -> Option<&'static str> {
    let defaults: [(KeyPath, &str); 9] = [
        (TopKey::Name.into(), "diff"),
        (LabKey::Repeat.into(), "auto"),
        (LabKey::Question.into(), "difference"),
        (LabKey::Database.into(), "auto"),
        // It compares runs alone.
        (LabKey::Loads.into(), "at-once"),
        (RunKey::Workload.into(), "readrandom"),
        (RunKey::Readers.into(), "1"),
        (RunKey::Duration.into(), "200ms"),
        (RunKey::Warmup.into(), "50ms"),
    ];
    defaults.into_iter().find(|(path, _)| *path == key.path).map(|(_, text)| text)
}

fn argument(key: &'static Definition) -> Arg {
    argument_with(key, None)
}

fn argument_of_compare(key: &'static Definition) -> Arg {
    argument_with(key, told_default_of_compare(key).as_deref())
}

/// The default of `kvdyno compare` in its help: that of runs depends on the budget.
fn told_default_of_compare(key: &Definition) -> Option<String> {
    match RunKey::ALL.iter().find(|typed| KeyPath::from(**typed) == key.path) {
        Some(RunKey::Duration) => {
            Some(format!("{}, or less if the budget is too short for ten repeats", LONGEST_RUN.0))
        }
        Some(RunKey::Warmup) => Some(format!("{}, or a fifth of a shorter duration", LONGEST_RUN.1)),
        _ => default_of_compare(key).map(str::to_owned),
    }
}

fn argument_of_diff(key: &'static Definition) -> Arg {
    argument_with(key, default_of_diff(key))
}

fn argument_with(key: &'static Definition, otherwise: Option<&str>) -> Arg {
    let flag = key.flag.unwrap_or(key.name);
    let argument = Arg::new(flag).long(flag).help(help(key, otherwise));
    let argument = match heading(key) {
        Some(heading) => argument.help_heading(heading),
        None => argument,
    };
    if key.value.is_switch {
        return argument.action(ArgAction::SetTrue);
    }
    let check = key.value.check;
    // A `[[run]]` for each workload.
    let is_list = key.value.is_list || is_workload(key);
    let name = if is_list { format!("{},…", key.value.placeholder) } else { key.value.placeholder.to_owned() };
    let is_several = is_workload(key);
    let read = move |text: &str| {
        let checked = if is_several { text.split(',').try_for_each(check) } else { check(text) };
        checked.map(|()| text.to_owned())
    };
    argument.value_name(name).value_parser(read).allow_hyphen_values(true)
}

fn is_workload(key: &Definition) -> bool {
    key.path == RunKey::Workload.into()
}

fn heading(key: &Definition) -> Option<String> {
    match key.section {
        "" => Some("Output".to_owned()),
        "run" => Some("[[run]]".to_owned()),
        section => Some(format!("[{section}]")),
    }
}

fn help(key: &Definition, instead: Option<&str>) -> String {
    let doc = key.doc.trim_end_matches('.').replace('`', "");
    let words = if key.value.words.is_empty() { String::new() } else { format!(": {}", key.value.description) };
    let otherwise = match (instead, &key.otherwise) {
        (Some(text), _) => text.to_owned(),
        (None, Otherwise::Default { .. }) if key.value.is_switch => return doc,
        (None, Otherwise::Default { text, .. }) => text.clone(),
        (None, Otherwise::Absent(meaning)) => meaning.replace('`', ""),
    };
    format!("{doc}{words} [default: {otherwise}]")
}

/// The keys that were given, with their texts.
fn given(keys: impl Iterator<Item = &'static Definition>, matches: &ArgMatches) -> GivenKeys {
    let text = |key: &'static Definition| {
        let flag = key.flag?;
        let text = match key.value.is_switch {
            true => matches.get_flag(flag).then(|| "true".to_owned()),
            false => matches.get_one::<String>(flag).cloned(),
        };
        text.map(|text| (key, text))
    };
    keys.filter_map(text).collect()
}

macro_rules! arguments {
    ($type:ident, $keys:expr, $argument:expr) => {
        impl FromArgMatches for $type {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok($type { given: given($keys, matches) })
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = $type::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args for $type {
            fn augment_args(command: Command) -> Command {
                command.args($keys.map($argument))
            }

            fn augment_args_for_update(command: Command) -> Command {
                $type::augment_args(command)
            }
        }
    };
}

arguments!(KeyFlags, all(), argument_of_compare);
arguments!(DiffFlags, all(), argument_of_diff);
arguments!(SettingsFlags, of_settings(), argument);

/// The value in the file: every value but a switch can be a text there.
fn value(key: &Definition, text: &str) -> Value {
    if key.value.is_switch { Value::Boolean(true) } else { Value::String(text.to_owned()) }
}

/// The keys that were given, and a command's own defaults for the rest. A mix alone chooses the workload that takes it,
/// and a search one that needs no other rate, with one reader.
/// If a key ends the run otherwise than by time, the duration has no default. If the number of repeats is given, the
/// budget and the question have none.
fn completed(given: &GivenKeys, default: fn(&Definition) -> Option<&'static str>) -> KeyFlags {
    let text_of = |path: KeyPath| given.iter().find(|(key, _)| key.path == path).map(|(_, text)| text.as_str());
    let has = |path| text_of(path).is_some();
    let ends_otherwise = has(RunKey::Operations.into()) || has(RunKey::RecordsFraction.into());
    let repeat = text_of(LabKey::Repeat.into()).and_then(|text| text.parse::<Repeat>().ok());
    let is_counted = repeat.is_some_and(|repeat| !repeat.is_auto());
    let (mixes, searches) = (has(RunKey::Mix.into()), has(RunKey::FindMaxRate.into()));
    let searches_reads = searches && !mixes && !has(RunKey::WriteRate.into());
    let until_enough = [LabKey::Budget, LabKey::Question].map(KeyPath::from);
    let left = all().filter(|key| !given.iter().any(|(other, _)| other.path == key.path));
    let left = left.filter(|key| !ends_otherwise || key.path != RunKey::Duration.into());
    let left = left.filter(|key| !is_counted || !until_enough.contains(&key.path));
    let own = |key: &Definition| match is_workload(key) {
        true if mixes => Some(WorkloadName::Mix.word()),
        true if searches_reads => Some(WorkloadName::ReadRandom.word()),
        false if searches && key.path == RunKey::Readers.into() => Some("1"),
        _ => default(key),
    };
    let defaults = left.filter_map(|key| Some((key, own(key)?.to_owned())));
    KeyFlags { given: given.iter().cloned().chain(defaults).collect() }
}

/// The experiment with the sections of its engines, and runs that are so short that its budget has time for many
/// repeats, if nobody gave their duration.
fn shortened(
    mut experiment: Experiment,
    sections: BTreeMap<String, EngineSection>,
    given: &GivenKeys,
) -> Result<Experiment, FileError> {
    // They say whether two setups are of one engine.
    experiment.engine = sections;
    let is_given = |key: RunKey| given.iter().any(|(other, _)| other.path == key.into());
    let budget = experiment.lab.budget.filter(|_| experiment.lab.repeat.is_auto() && !is_given(RunKey::Duration));
    let warmup_is_given = is_given(RunKey::Warmup);
    budget.map_or(Ok(()), |budget| shorten_for_repeats(&mut experiment, budget.0, warmup_is_given))?;
    Ok(experiment)
}

impl KeyFlags {
    /// An experiment on `engines` with the keys that were given, the defaults of `kvdyno compare` for the rest, and a
    /// `[[run]]` for each workload.
    ///
    /// # Errors
    /// If a value cannot be.
    pub fn experiment(
        &self,
        engines: &[String],
        sections: BTreeMap<String, EngineSection>,
    ) -> Result<Experiment, FileError> {
        let mut all = completed(&self.given, default_of_compare);
        // A load that leaves no records is followed by a run only if one is asked for.
        if !self.given.iter().any(|(key, _)| key.section == "run") && self.leaves_no_records() {
            all.given.retain(|(key, _)| key.section != "run");
        }
        shortened(all.experiment_as_given(engines)?, sections, &self.given)
    }

    fn experiment_as_given(&self, engines: &[String]) -> Result<Experiment, FileError> {
        let base = Table::try_from(Experiment::on(engines)).map_err(|error| FileError::new(error.to_string()))?;
        let mut table = base;
        for (key, text) in self.given.iter().filter(|(key, _)| key.section != "run") {
            let section = match key.section {
                "" => Some(&mut table),
                name => table.get_mut(name).and_then(Value::as_table_mut),
            };
            section.and_then(|section| section.insert(key.name.to_owned(), value(key, text)));
        }
        table.insert("run".to_owned(), Value::Array(self.runs()));
        Experiment::from_table(&table)
    }

    fn text_of(&self, path: KeyPath) -> Option<&str> {
        self.given.iter().find(|(key, _)| key.path == path).map(|(_, text)| text.as_str())
    }

    fn leaves_no_records(&self) -> bool {
        let load = self.text_of(LoadKey::Workload.into()).and_then(|text| text.parse::<WorkloadName>().ok());
        load.is_some_and(|load| !Workload::from(load).leaves_records())
    }

    /// A `[[run]]` for each workload; none if no key of a run was given and nothing can follow the load.
    fn runs(&self) -> Vec<Value> {
        if self.leaves_no_records() && !self.given.iter().any(|(key, _)| key.section == "run") {
            return Vec::new();
        }
        let usual = RunSection::default().workload.to_string();
        let names: Vec<&str> = self.text_of(RunKey::Workload.into()).unwrap_or(&usual).split(',').collect();
        names.iter().map(|name| Value::Table(self.run(name, names.len() == 1))).collect()
    }

    /// The `[[run]]` of a workload. With several workloads, each gets the keys that apply to it; with one, the check
    /// refuses keys that do not apply.
    fn run(&self, workload: &str, is_only: bool) -> Table {
        let mut run = Table::from_iter([(RunKey::Workload.name().to_owned(), Value::String(workload.to_owned()))]);
        let kind = workload.parse::<WorkloadName>().ok().map(Workload::from);
        let concerns = |key: &Definition| {
            let typed = RunKey::ALL.iter().find(|typed| KeyPath::from(**typed) == key.path);
            typed.zip(kind).is_none_or(|(key, kind)| concerns(*key, kind) || is_only && *key != RunKey::Duration)
        };
        let keys = self.given.iter().filter(|(key, _)| key.section == "run" && !is_workload(key));
        for (key, text) in keys.filter(|(key, _)| concerns(key)) {
            run.insert(key.name.to_owned(), value(key, text));
        }
        // A rate that means nothing to this workload takes the arrival with it.
        let rates = [RunKey::ReadRate, RunKey::WriteRate, RunKey::Rate, RunKey::FindMaxRate];
        if rates.iter().any(|key| self.text_of((*key).into()).is_some())
            && !rates.iter().any(|key| run.contains_key(key.name()))
        {
            run.remove(RunKey::Arrival.name());
        }
        run
    }
}

impl DiffFlags {
    /// An experiment on two setups, with the defaults of a diff for what was not given.
    ///
    /// # Errors
    /// If a value cannot be.
    pub fn experiment(
        &self,
        setups: &[String],
        sections: BTreeMap<String, EngineSection>,
    ) -> Result<Experiment, FileError> {
        shortened(completed(&self.given, default_of_diff).experiment_as_given(setups)?, sections, &self.given)
    }

    /// The least difference that matters, if it was given.
    pub fn detect(&self) -> Option<f64> {
        let (_, text) = self.given.iter().find(|(key, _)| key.path == LabKey::Detect.into())?;
        text.parse::<Fraction>().ok().map(|fraction| fraction.0)
    }

    /// The figure that decides, if it was given.
    pub fn figure(&self) -> Option<VerdictFigure> {
        let (_, text) = self.given.iter().find(|(key, _)| key.path == LabKey::Figure.into())?;
        VerdictFigure::from_text(text).ok()
    }

    /// The time limit, if it was given.
    pub fn budget(&self) -> Option<TimeSpan<1>> {
        let (_, text) = self.given.iter().find(|(key, _)| key.path == LabKey::Budget.into())?;
        text.parse().ok()
    }

    /// A flag that was given and says how to measure.
    pub fn about_measuring(&self) -> Option<&'static str> {
        self.besides(&[LabKey::Detect, LabKey::Figure])
    }

    /// A flag that was given and says how to measure, other than how long.
    pub fn about_more_than_time(&self) -> Option<&'static str> {
        self.besides(&[LabKey::Detect, LabKey::Figure, LabKey::Budget])
    }

    /// A flag that was given and is none of these.
    fn besides(&self, keys: &[LabKey]) -> Option<&'static str> {
        let is_one = |path: &KeyPath| keys.iter().any(|key| *path == KeyPath::from(*key));
        let (key, _) = self.given.iter().find(|(key, _)| !is_one(&key.path))?;
        key.flag
    }
}

impl SettingsFlags {
    /// The settings, with the defaults of what was not given.
    pub fn section(&self) -> SettingsSection {
        let table = Table::from_iter(self.given.iter().map(|(key, text)| (key.name.to_owned(), value(key, text))));
        // Each text was checked when it was given.
        table.try_into().unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// `kvdyno compare` on engines, with these flags.
    fn compare(engines: &[&str], words: &[&str]) -> Experiment {
        let command = KeyFlags::augment_args(Command::new("compare"));
        let flags = command.try_get_matches_from(["compare"].iter().chain(words)).unwrap();
        let engines: Vec<String> = engines.iter().map(|engine| engine.to_string()).collect();
        KeyFlags::from_arg_matches(&flags).unwrap().experiment(&engines, BTreeMap::new()).unwrap()
    }

    /// `kvdyno diff lmdb SETUP`, with these flags; `mine` is a setup of LMDB.
    fn diff(setup: &str, words: &[&str]) -> Experiment {
        let command = DiffFlags::augment_args(Command::new("diff"));
        let flags = command.try_get_matches_from(["diff"].iter().chain(words)).unwrap();
        let mine = EngineSection { engine: Some("lmdb".to_owned()), ..EngineSection::default() };
        let (setups, sections) = (["lmdb", setup].map(str::to_owned), BTreeMap::from([("mine".to_owned(), mine)]));
        DiffFlags::from_arg_matches(&flags).unwrap().experiment(&setups, sections).unwrap()
    }

    #[test]
    fn help_shows_the_default_of_each_definition() {
        let mut command = KeyFlags::augment_args(Command::new("compare"));
        // On a narrow terminal a default goes over two lines.
        let help = command.render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        for key in all().filter(|key| !key.value.is_switch) {
            let default = match (told_default_of_compare(key), &key.otherwise) {
                (Some(text), _) => text,
                (None, Otherwise::Default { text, .. }) => text.clone(),
                (None, Otherwise::Absent(meaning)) => meaning.replace('`', ""),
            };
            assert!(help.contains(&format!("--{} <", key.flag.unwrap_or_default())), "{}", key.path);
            assert!(help.contains(&format!("[default: {default}]")), "{}", key.path);
        }
    }

    #[test]
    fn runs_are_so_short_that_a_budget_has_time_for_many_repeats() {
        let run = |words: &[&str]| {
            let run = compare(&["lmdb", "leveldb", "bdb"], words).run.remove(0);
            [run.duration.unwrap().0, run.warmup.0].map(|time| time.as_millis())
        };
        assert_eq!(run(&["--budget", "60s"]), [250, 50]);
        assert_eq!(run(&["--budget", "20s"]), [200, 40]);
        // A run has time for a period.
        assert_eq!(run(&["--budget", "20s", "--read-rate", "5", "--arrival", "sine:500ms"]), [500, 100]);
        assert_eq!(run(&["--budget", "60s", "--warmup", "10ms"]), [290, 10]);
        assert_eq!(run(&[]), [1000, 200]);
        assert_eq!(run(&["--budget", "60s", "--duration", "2s"]), [2000, 200]);
        assert_eq!(run(&["--budget", "60s", "--repeat", "3"]), [1000, 200]);
        let search = ["--find-max-rate", "p99=1ms"];
        assert_eq!(run(&search), [500, 100]);
        assert_eq!(run(&[&search[..], &["--budget", "20m"]].concat()), [750, 150]);
    }

    #[test]
    fn a_diff_has_defaults_of_its_own_and_its_help_says_so() {
        let mut command = DiffFlags::augment_args(Command::new("diff"));
        let help = command.render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        for key in all().filter(|key| default_of_diff(key).is_some()) {
            let default = default_of_diff(key).unwrap();
            assert!(help.contains(&format!("[default: {default}]")), "{}", key.path);
        }
        let run_of = |setup: &str, words: &[&str]| diff(setup, words).run[0].duration.unwrap().0.as_millis();
        let run = |words: &[&str]| run_of("lmdb@new", words);
        assert_eq!(["15s", "30s", "3m"].map(|budget| run(&["--budget", budget])), [100, 140, 200]);
        assert_eq!(["mine", "bdb"].map(|setup| run_of(setup, &["--budget", "15s"])), [100, 200]);
        assert_eq!(run(&["--budget", "15s", "--duration", "300ms"]), 300);
        let usual = diff("bdb", &["--detect", "1%", "--workload", "readseq,overwritesome"]);
        assert!(usual.lab.repeat.is_auto() && usual.lab.detect.0 == 0.01 && usual.name == "diff");
        assert_eq!(diff("bdb", &["--mix", "get 100"]).run[0].workload, WorkloadName::Mix);
        assert_eq!(usual.run.iter().map(|run| run.duration.is_some()).collect::<Vec<_>>(), [true, false]);
        let counted = diff("bdb", &["--operations", "5", "--repeat", "3"]);
        assert!(counted.run[0].duration.is_none() && !counted.lab.repeat.is_auto());
    }

    #[test]
    fn a_mix_needs_no_workload_beside_it() {
        let workloads =
            |words: &[&str]| compare(&["lmdb"], words).run.iter().map(|run| run.workload).collect::<Vec<_>>();
        assert_eq!(workloads(&["--mix", "get=90,update=10"]), [WorkloadName::Mix]);
        assert_eq!(workloads(&["--mix", "get 100", "--workload", "readseq"]), [WorkloadName::ReadSeq]);
        assert_eq!(workloads(&[]), [RunSection::default().workload]);
    }

    #[test]
    fn a_flag_takes_what_the_file_takes() {
        let words = ["--records", "1.5M", "--cache", "512M", "--keep", "--workload", "readseq,overwrite"];
        let experiment = compare(&["lmdb"], &[&words[..], &["--batch", "5"]].concat());
        assert_eq!(experiment.data.records.get(), 1_500_000);
        assert_eq!(experiment.settings.cache.to_string(), "512MB");
        assert!(experiment.lab.keep && experiment.data.key_size.is_none());
        assert_eq!(experiment.run.iter().map(|run| run.batch.get()).collect::<Vec<_>>(), [1, 5]);
        assert!(compare(&["bdb"], &["--load", "3n1", "--records", "100k"]).run.is_empty());
        let command = KeyFlags::augment_args(Command::new("compare"));
        for (flag, value) in [("--cache", "512"), ("--duration", "18446744073709551615s"), ("--key-size", "65536")] {
            assert!(command.clone().try_get_matches_from(["compare", flag, value]).is_err(), "{flag} {value}");
        }
    }
}
