//! `kvdyno run`: runs an experiment file, or goes on with an interrupted one.

mod parts;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use jiff::Zoned;
use kvdyno_analysis::verdicts::Looks;
use kvdyno_environment::lock::FolderLock;
use kvdyno_environment::machine::host;
use kvdyno_environment::memory::scope;
use kvdyno_environment::ownership::RunName;
use kvdyno_environment::random_bits;
use kvdyno_experiment::{Experiment, FileError, MOST_BYTES, Shipped};
use kvdyno_model::text::{counted, of_the_rest};
use kvdyno_model::{DealtPart, FilePath, Part, TimeSpan, WantedParts};
use kvdyno_plan::{AffordableRepeats, Checked, EnginesHere, Extent, MachineCapacity, check, check_space};
use kvdyno_report::{Format, Tables};
use kvdyno_results::folder::ResultsFolder;
use kvdyno_results::{PartFacts, SavedPlan, files, plan_digest};
use kvdyno_run::{LabProgram, Progress, Stop, Summary};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::{EraseArguments, OutputArguments, RunArguments, WatchArguments};
use crate::commands::named::use_own_names;
use crate::commands::rule::{ComparisonsDecide, most_values};
use crate::commands::{experiments, machine, report};
use crate::error::Error;
use crate::output::{print, tell};
use crate::progress::Watchers;

/// Runs the command.
pub fn run(arguments: RunArguments) -> Result<(), Error> {
    if let Some(folder) = &arguments.resume {
        let ended = resume(folder, arguments.budget, &arguments.erase, &arguments.watch)?;
        return ended.map_or(Ok(()), |ended| ended.report(arguments.output.wanted(), &arguments.watch));
    }
    let path = arguments.file.clone().unwrap_or_default();
    let (mut experiment, text) = file_or_shipped(&path)?;
    enter_scope(&experiment);
    if let Some(dir) = &arguments.dir {
        let dir = std::path::absolute(dir).map_err(Error::io(format!("cannot find {}", dir.display())))?;
        experiment.lab.dir = Some(FilePath(dir));
    }
    let mut file = Some((path, text));
    if arguments.fit {
        file = make_whole(&mut experiment, file)?;
        // No file is passed on: the changes have no position in it.
        let file = file.take();
        experiment = fitted(&experiment, arguments.budget).map_err(|error| in_file(error, file))?;
    }
    give_up(&mut experiment, &arguments.erase)?;
    match arguments.part {
        Some(WantedParts::Free(of)) if !arguments.output.dry_run => parts::run_free(&experiment, file, of, &arguments),
        Some(WantedParts::One(part)) => {
            let part = DealtPart { part, deal: arguments.deal.unwrap_or_default() };
            start(experiment, file, Some(part), &arguments.output, &arguments.watch)
        }
        _ => start(experiment, file, None, &arguments.output, &arguments.watch),
    }
}

/// Continues in a systemd scope if the experiment limits memory and this user can do that in such a scope only.
pub fn enter_scope(experiment: &Experiment) {
    let Some(command) = experiment.limits_memory().then(scope::command).flatten() else { return };
    tell(format_args!("restarting in a systemd scope of this user, to limit memory"));
    // If that fails, the check refuses the limit and gives the remedy.
    tell(format_args!("systemd-run could not be started: {}", scope::enter(command)));
}

/// Lets an experiment have the device that the command line gives up: that of `--device`, or one of its file.
pub fn give_up(experiment: &mut Experiment, erase: &EraseArguments) -> Result<(), Error> {
    let Some(confirmed) = &erase.yes_erase else { return Ok(()) };
    let absolute =
        |path: &Path| std::path::absolute(path).map_err(Error::io(format!("cannot find {}", path.display())));
    if let Some(device) = &erase.device {
        experiment.environment.device = Some(FilePath(absolute(device)?));
    }
    let confirmed = absolute(confirmed)?;
    // A variant that cannot be is refused later, with its place.
    let variants = experiment.variants().unwrap_or_default();
    let named: Vec<&Path> = variants.iter().filter_map(|one| one.experiment.environment.device.as_deref()).collect();
    let is_named = named.iter().any(|device| *device == confirmed || device.is_relative());
    if !variants.is_empty() && !is_named {
        let shown = confirmed.display();
        let remedy = match named.first() {
            Some(device) => format!("to erase that: --yes-erase {}", device.display()),
            None => format!("to use it: --device {shown}"),
        };
        return Err(Error::Input(format!("--yes-erase {shown} is no device of the experiment; {remedy}")));
    }
    experiment.yes_erase = Some(confirmed);
    Ok(())
}

/// Makes an experiment independent of the working folder and of the files that it names. Gives its own file back.
fn make_whole(
    experiment: &mut Experiment,
    file: Option<(PathBuf, String)>,
) -> Result<Option<(PathBuf, String)>, Error> {
    let base = base_of(file.as_ref().map(|(path, _)| path.as_path()))?;
    experiment.make_paths_absolute(&base);
    match experiment.read_histograms(&base) {
        Ok(()) => Ok(file),
        Err(error) => Err(in_file(error, file)),
    }
}

/// The folder that relative paths begin at: that of the file for those in a file, the user's for those of the command
/// line.
fn base_of(file: Option<&Path>) -> Result<PathBuf, Error> {
    let base = std::env::current_dir().map_err(Error::io("cannot tell the working folder"))?;
    Ok(match file.and_then(Path::parent) {
        Some(folder) => base.join(folder),
        None => base,
    })
}

/// The experiment at a size that fits this machine; says what was changed.
fn fitted(experiment: &Experiment, budget: Option<TimeSpan<1>>) -> Result<Experiment, FileError> {
    let here = Path::new(".");
    let machine = kvdyno_environment::machine::machine(here);
    let storage = experiment.lab.dir.as_deref().unwrap_or(here);
    let capacity = MachineCapacity {
        memory: machine.memory_kib << 10,
        cores: machine.cpu.threads.max(1),
        threads_per_core: machine.cpu.threads / machine.cpu.cores.max(1),
        disk: kvdyno_environment::storage::free_bytes(storage).unwrap_or(u64::MAX),
        budget: budget.map(|time| time.0),
        engines: EnginesHere::of(experiment)?,
    };
    let (experiment, changes) = kvdyno_plan::fitted(experiment, &capacity)?;
    for change in &changes {
        tell(format_args!("fit: {change}"));
    }
    Ok(experiment)
}

/// The experiment that `path` names: a file, or where there is none an experiment that comes with the program.
pub fn file_or_shipped(path: &Path) -> Result<(Experiment, String), Error> {
    match path.to_str().and_then(Shipped::named).filter(|_| !path.exists()) {
        Some(shipped) => parse(shipped.text.to_owned(), path),
        None => read(path),
    }
}

fn read(path: &Path) -> Result<(Experiment, String), Error> {
    let text = read_to_limit(path).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => Error::Input(format!(
            "there is no file {}, and no experiment of that name; kvdyno's own experiments are {}",
            path.display(),
            experiments::names()
        )),
        ErrorKind::InvalidData => Error::Input(format!("{} is not UTF-8, and so no experiment file", path.display())),
        ErrorKind::IsADirectory => Error::Input(format!(
            "{} is a folder; give an experiment file, or continue an interrupted run with --resume",
            path.display()
        )),
        _ => Error::Io { what: format!("cannot read {}", path.display()), cause },
    })?;
    parse(text, path)
}

/// One byte more than an experiment may have is enough to refuse it, even if the file has no end.
fn read_to_limit(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    // A character that the limit cut through is not to be taken for damage.
    match String::from_utf8(bytes) {
        Err(error) if error.as_bytes().len() > MOST_BYTES => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        text => text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error)),
    }
}

fn parse(text: String, path: &Path) -> Result<(Experiment, String), Error> {
    let experiment = Experiment::parse(&text).map_err(|error| in_file(error, Some((path.to_owned(), text.clone()))))?;
    Ok((experiment, text))
}

fn in_file(error: FileError, file: Option<(PathBuf, String)>) -> Error {
    Error::Experiment { error, file }
}

/// A run that was not interrupted.
pub struct EndedRun {
    /// Its results.
    pub results: ResultsFolder,
    summary: Summary,
}

impl EndedRun {
    fn report(&self, wanted: (Format, Tables), watch: &WatchArguments) -> Result<(), Error> {
        report::show_ended(&self.results, wanted, watch)?;
        match self.summary.failed {
            0 => Ok(()),
            failed => Err(Error::Trials { failed, ended: self.summary.ended }),
        }
    }
}

/// Checks an experiment, makes its results folder, runs it or a part of it, and reports. `file` is where it came from.
pub fn start(
    experiment: Experiment,
    file: Option<(PathBuf, String)>,
    part: Option<DealtPart>,
    output: &OutputArguments,
    watch: &WatchArguments,
) -> Result<(), Error> {
    match measure(experiment, file, part, (output.out.as_deref(), output.dry_run), watch)? {
        Some(ended) => ended.report(output.wanted(), watch),
        None => Ok(()),
    }
}

/// Every key of an experiment as its plan has it, and its file.
fn resolved(
    experiment: &Experiment,
    file: Option<(PathBuf, String)>,
) -> Result<(serde_json::Value, Option<(PathBuf, String)>), Error> {
    let mut whole = experiment.clone();
    let file = make_whole(&mut whole, file)?;
    use_own_names(&mut whole);
    let checked = check(whole).map_err(|error| in_file(error, file.clone()))?;
    let text = written(&checked.experiment)?;
    // Parsed again, as a resumed run reads it.
    Ok((Experiment::parse(&text).map_err(|error| in_file(error, None))?.resolved(), file))
}

fn written(experiment: &Experiment) -> Result<String, Error> {
    experiment.to_toml().map_err(|error| Error::Input(format!("the experiment cannot be written: {error}")))
}

/// The same without a report. `output`: the results folder, and whether the experiment file is to be printed instead;
/// then there is no run, as there is none of a part without trials.
pub fn measure(
    mut experiment: Experiment,
    file: Option<(PathBuf, String)>,
    part: Option<DealtPart>,
    (out, dry_run): (Option<&Path>, bool),
    watch: &WatchArguments,
) -> Result<Option<EndedRun>, Error> {
    let file = make_whole(&mut experiment, file)?;
    use_own_names(&mut experiment);
    let mut checked = check(experiment).map_err(|error| in_file(error, file))?;
    let digest = plan_digest(checked.plan.trials.iter().map(|trial| &trial.key));
    let blocks = part.map(|part| checked.keep_part(part));
    let text = written(&checked.experiment)?;
    if dry_run {
        tell(size(&checked));
        return print(&text).map(|()| None);
    }
    let folder = out_folder(&checked.experiment, part.map(|dealt| dealt.part), out)?;
    if let Some(dir) = checked.experiment.lab.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(Error::Input(format!(
            "--dir {}: there is no such folder; make it, on the storage to be measured",
            dir.display()
        )));
    }
    let storage = checked.experiment.lab.dir.clone().map_or_else(|| folder.clone(), |dir| dir.0);
    check_space(&checked, &storage)?;
    let watchers = Watchers::new(watch, &checked.experiment.lab, &[])?;
    let results = new_folder(&folder)?;
    let lock = lock(&results)?;
    // Another run may have begun and ended there meanwhile.
    if !results.is_unused().map_err(Error::io(format!("cannot read {}", folder.display())))? {
        return Err(Error::Input(format!("{} is not empty; choose another --out", folder.display())));
    }
    files::write_json(&results.left_out_file(), &checked.left_out).map_err(Error::io("cannot save left-out.json"))?;
    let seed = random_bits().map_err(Error::io("cannot draw the seed of values"))?;
    results.save_value_seed(seed).map_err(Error::io("cannot save values.seed"))?;
    let budget = checked.experiment.lab.budget.map(|budget| budget.0);
    let machine = machine::describe(&storage, budget);
    files::write_json(&results.machine_file(), &machine).map_err(Error::io("cannot save machine.json"))?;
    // Parsed again, as a resumed run reads it.
    let resolved = Experiment::parse(&text).map_err(|error| in_file(error, None))?.resolved();
    let trials = checked.plan.trials.iter().map(|trial| trial.key.clone()).collect();
    let repeat = checked.experiment.lab.repeat;
    let plan = SavedPlan::new(resolved, trials, (!repeat.is_auto()).then(|| repeat.most()));
    let run = lock.run().to_string();
    let part_facts = part.map(|DealtPart { part, deal }| PartFacts { part, deal, run, plan: digest });
    let plan = SavedPlan {
        most_values: most_values(AffordableRepeats::of(&checked)),
        hosts: host().into_iter().filter(|_| !checked.plan.trials.is_empty()).collect(),
        part: part_facts,
        ..plan
    };
    files::write_json(&results.plan_file(), &plan).map_err(Error::io("cannot save plan.json"))?;
    // Last: the file is what makes the folder one that can be resumed.
    files::write_whole(&results.experiment_file(), text.as_bytes())
        .map_err(Error::io("cannot save experiment.toml"))?;
    if tells_that_nothing_is_to_do(part.zip(blocks), &checked) {
        return Ok(None);
    }
    run_rest(&checked, results, lock.run(), watchers, None).map(Some)
}

/// Tells if a part has no trials: there were fewer blocks than parts.
fn tells_that_nothing_is_to_do(part: Option<(DealtPart, usize)>, checked: &Checked) -> bool {
    let Some((DealtPart { part, .. }, blocks)) = part.filter(|_| checked.plan.trials.is_empty()) else { return false };
    tell(format_args!("part {part} has nothing to do: the plan has {}", counted(blocks, "block")));
    true
}

/// Goes on with a run; `None` for a part without trials. `budget`: its new time limit, which includes the time that it
/// took before.
pub fn resume(
    folder: &Path,
    budget: Option<TimeSpan<1>>,
    erase: &EraseArguments,
    watch: &WatchArguments,
) -> Result<Option<EndedRun>, Error> {
    // Its databases have the same paths as before: an engine may know them by those.
    let root = ResultsFolder::open(folder)?.root().canonicalize();
    let results = ResultsFolder::at(root.map_err(Error::io(format!("cannot find {}", folder.display())))?);
    let (mut experiment, text) = read(&results.experiment_file())?;
    let mut begun = results.plan()?;
    if begun.as_ref().is_some_and(|plan| !plan.merged.is_empty()) {
        let shown = results.root().display();
        return Err(Error::Input(format!("{shown} has merged results; resume a part that has trials left")));
    }
    // A run of an older version has no keys that came later.
    begun.iter_mut().for_each(|plan| plan.complete(&Experiment::default().resolved()));
    refuse_changed(&results, begun.as_ref().map(|plan| plan.changes_of_experiment(&experiment.resolved())))?;
    // Damaged results are reported before anything is touched.
    let so_far = results.results()?;
    results.value_seed()?;
    enter_scope(&experiment);
    give_up(&mut experiment, erase)?;
    let lock = lock(&results)?;
    if let Some(budget) = budget {
        lengthen(&results, &experiment, begun.as_mut(), budget)?;
    }
    experiment.lab.budget = begun.as_ref().and_then(|plan| plan.budget).or(experiment.lab.budget);
    let mut checked = check(experiment).map_err(|error| in_file(error, Some((results.experiment_file(), text))))?;
    let part = begun.as_ref().and_then(|plan| plan.part.as_ref());
    let part = part.map(|facts| DealtPart { part: facts.part, deal: facts.deal });
    let blocks = part.map(|part| checked.keep_part(part));
    if tells_that_nothing_is_to_do(part.zip(blocks), &checked) {
        return Ok(None);
    }
    let trials = checked.plan.trials.iter().map(|trial| &trial.key);
    if let Some(change) = begun.and_then(|plan| plan.change_of_trials(trials)) {
        return Err(Error::Input(format!(
            "the installed engines give {} another plan than it was begun with: {change}; restore the engines of its \
             beginning, or start a new run with another --out",
            results.root().display()
        )));
    }
    let note = results.machine()?.as_ref().and_then(machine::begun_by_another);
    let watchers = Watchers::new(watch, &checked.experiment.lab, &so_far)?;
    note_host(&results)?;
    run_rest(&checked, results, lock.run(), watchers, note).map(Some)
}

/// Notes in the plan that this machine goes on with it.
fn note_host(results: &ResultsFolder) -> Result<(), Error> {
    let (Some(mut plan), Some(host)) = (results.plan()?, host()) else { return Ok(()) };
    if plan.hosts.iter().any(|known| known.is(&host)) {
        return Ok(());
    }
    plan.hosts.push(host);
    files::write_json(&results.plan_file(), &plan).map_err(Error::io("cannot save plan.json"))
}

/// Gives a run another time limit.
fn lengthen(
    results: &ResultsFolder,
    experiment: &Experiment,
    plan: Option<&mut SavedPlan>,
    budget: TimeSpan<1>,
) -> Result<(), Error> {
    let Some(plan) = plan.filter(|_| experiment.lab.repeat.is_auto()) else {
        let words = "--budget: the number of its repeats ends this run, and no time limit; resume it without --budget";
        return Err(Error::Input(words.to_owned()));
    };
    plan.lengthen(budget);
    files::write_json(&results.plan_file(), plan).map_err(Error::io("cannot save plan.json"))
}

/// More changes than this are not read.
const MOST_CHANGES: usize = 5;

/// Refuses to go on with another experiment than that of the results that are there already.
fn refuse_changed(results: &ResultsFolder, changes: Option<Vec<String>>) -> Result<(), Error> {
    let Some(changes) = changes.filter(|changes| !changes.is_empty()) else { return Ok(()) };
    let more = of_the_rest(changes.len(), MOST_CHANGES, |more| format!("; and {more} more"));
    let told: Vec<&str> = changes.iter().take(MOST_CHANGES).map(String::as_str).collect();
    let file = results.experiment_file();
    Err(Error::Input(format!(
        "{file} was changed since the run began: {}{more}; restore it, or start anew: kvdyno run {file} --out FOLDER",
        told.join("; "),
        file = file.display()
    )))
}

/// The results folder: one that does not exist yet, or is empty.
pub fn out_folder(experiment: &Experiment, part: Option<Part>, out: Option<&Path>) -> Result<PathBuf, Error> {
    let name: String = experiment.name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '-' }).collect();
    let folder = out.map(Path::to_owned).unwrap_or_else(|| {
        let stamp = Zoned::now().strftime("%Y%m%d-%H%M%S");
        let part = part.map(|part| format!("-part-{}-of-{}", part.number(), part.of())).unwrap_or_default();
        PathBuf::from("results").join(format!("{name}{part}-{stamp}"))
    });
    let folder = std::path::absolute(&folder).map_err(Error::io(format!("cannot find {}", folder.display())))?;
    if folder.is_dir() && !ResultsFolder::at(&folder).is_unused().unwrap_or(false) {
        let shown = folder.display();
        let or_resume = match ResultsFolder::open(&folder) {
            Ok(_) => format!(", or continue it: kvdyno run --resume {shown}"),
            Err(_) => String::new(),
        };
        return Err(Error::Input(format!("{shown} is not empty; choose another --out{or_resume}")));
    }
    // The first that exists decides whether a folder can be there.
    let existing = folder.ancestors().find(|path| path.symlink_metadata().is_ok());
    match existing.filter(|path| !path.is_dir()) {
        None => Ok(folder),
        Some(path) => Err(Error::Input(format!(
            "{} cannot be a results folder: {} is not a folder; choose another --out",
            folder.display(),
            path.display()
        ))),
    }
}

/// Makes a results folder, unless it is there.
pub fn new_folder(folder: &Path) -> Result<ResultsFolder, Error> {
    fs::create_dir_all(folder).map_err(Error::io(format!("cannot make {}", folder.display())))?;
    let folder = folder.canonicalize().map_err(Error::io(format!("cannot find {}", folder.display())))?;
    Ok(ResultsFolder::at(folder))
}

fn lock(results: &ResultsFolder) -> Result<FolderLock, Error> {
    FolderLock::acquire(results.root()).map_err(|error| Error::Input(error.to_string()))
}

/// The size of a checked experiment, and what its budget will probably tell, in a line.
fn size(checked: &Checked) -> String {
    let affordable = AffordableRepeats::of(checked);
    let looks = Looks::of_values(most_values(affordable));
    let rule = ComparisonsDecide { experiment: &checked.experiment, looks };
    let forecast = affordable.and_then(|affordable| rule.forecast(affordable));
    let forecast = forecast.map(|words| format!("; {words}")).unwrap_or_default();
    format!("{}{forecast}", Extent::of(checked))
}

/// Runs what is left of the plan. `note`: what each result must say of this program.
fn run_rest(
    checked: &Checked,
    results: ResultsFolder,
    run: &RunName,
    mut watchers: Watchers,
    note: Option<String>,
) -> Result<EndedRun, Error> {
    let stop = Stop::default();
    let counter = stop.counter();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let counter = counter.clone();
        // SAFETY: the handler only raises an atomic counter.
        unsafe {
            signal_hook::low_level::register(signal, move || {
                counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            })
        }
        .map_err(Error::io("cannot handle signals"))?;
    }
    // Started by `/proc/self/exe`: the program's file may be replaced while the run goes on.
    let program = LabProgram { worker: vec!["/proc/self/exe".into(), "worker".into()], note };
    watchers.note(&format!("results: {}", results.root().display()));
    for one in &checked.left_out {
        watchers.note(&format!("left out: {}: {}", one.what(), one.reason));
    }
    program.note.iter().for_each(|note| watchers.note(note));
    let plan = results.plan()?;
    if let Some(facts) = plan.as_ref().and_then(|plan| plan.part.as_ref()) {
        watchers.note(&format!("part {} of the plan", facts.part));
    }
    watchers.note(&size(checked));
    let most_values = plan.and_then(|plan| plan.most_values);
    let rule = ComparisonsDecide { experiment: &checked.experiment, looks: Looks::of_values(most_values) };
    let summary = kvdyno_run::run(checked, &results, run, &program, &rule, &stop, &mut watchers);
    watchers.finish();
    let summary = summary?;
    if summary.interrupted {
        return Err(Error::Interrupted { folder: results.root().to_owned(), command: "run" });
    }
    Ok(EndedRun { results, summary })
}
