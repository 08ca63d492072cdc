//! The design of a comparison: how the trials of one step, a setup each, are measured beside each other.
//!
//! - *Duet*: two run at once, client i of both on one processor, and are compared by processor time. Interference
//!   affects both equally. It suits clients that hardly sleep, and engines with little background work: this is
//!   counted, and has a processor of its own while the clients share one. Beside duets each has slices by itself, as
//!   long together as was asked for, for its rates and latencies, and to check the duet. CPU time is no rate: an engine
//!   that takes more of it may do more a second, by threads of its own. So different engines are measured in duets only
//!   on request.
//! - *Slices*: all are open, one at a time works for a fraction of a second, in random order; the others are frozen.
//!   A drift of the machine affects all. It suits work that depends on processor and memory, not on storage.
//! - *Turns*: one after the other, whole. It suits everything.
//!
//! Bulej et al., *Duet Benchmarking*, ICPE 2020; Abedi and Brecht, *Conducting Repeatable Experiments in Highly
//! Variable Cloud Computing Environments*, ICPE 2017.

use std::time::Duration;

use kvdyno_dataset::subseed;
use kvdyno_environment::machine::available_kib;
use kvdyno_environment::requested::CacheState;
use kvdyno_experiment::{Experiment, FileError};
use kvdyno_model::{ClientKind, Design, Durability, EngineName, Loads, Order, StorageKind};
use kvdyno_results::EngineIdentity;
use kvdyno_worker::workloads::{TrialEnd, WorkloadParameters, WorkloadSpec};

use crate::environment::Environment;
use crate::plan::PlannedTrial;

/// Fraction of the available memory that databases and caches of trials that are open at once may take.
const MEMORY_SHARE: f64 = 0.6;
/// Memory of a process beside its cache, its buffers and its database.
const PROCESS_BYTES: u64 = 64 << 20;

/// The design for the trials of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDesign {
    /// `auto` for a duet if the clients turn out not to sleep and background work to be little, and else slices.
    pub design: Design,
    /// Why this one.
    pub why: String,
    /// The processors of a duet's clients, in their order; empty if it will be none.
    pub cpus: Vec<u32>,
}

impl StepDesign {
    /// Turns: the trials run one after the other, for the given reason.
    pub fn turns(why: &str) -> StepDesign {
        StepDesign { design: Design::Turns, why: why.to_owned(), cpus: Vec::new() }
    }
}

/// The machine, as far as a design depends on it.
#[derive(Clone, Debug)]
pub struct DesignMachine {
    /// The processors that a worker may run on.
    pub cpus: Vec<u32>,
    /// Its memory that can still be had, bytes.
    pub memory: u64,
}

impl DesignMachine {
    /// This machine, as the trials of an environment see it.
    pub fn of(environment: &Environment) -> DesignMachine {
        DesignMachine { cpus: environment.placement.cpus(), memory: available_kib() << 10 }
    }
}

/// A slice of a trial, and how many of them there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slicing {
    /// The part that is not counted.
    pub lead: Duration,
    /// The part that is.
    pub length: Duration,
    /// Number of slices in a trial.
    pub count: u32,
}

/// The least and the most that the counted part of a slice takes.
const SLICE_BOUNDS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(200));

impl Slicing {
    /// Divides a measured part of `duration` into at least ten slices, if each then has at least 50 ms.
    pub fn of(duration: Duration) -> Slicing {
        let length = (duration / 10).clamp(SLICE_BOUNDS.0, SLICE_BOUNDS.1);
        let count = duration.as_secs_f64() / length.as_secs_f64();
        Slicing { lead: length / 10, length, count: (count.round() as u32).max(1) }
    }

    /// The slices that trials have to themselves beside as many duets: [`ALONE_OF_A_DUET`] for each, together as long.
    pub fn beside_duets(self) -> Slicing {
        let part = |time: Duration| time / ALONE_OF_A_DUET;
        Slicing { lead: part(self.lead), length: part(self.length), count: self.count * ALONE_OF_A_DUET }
    }
}

/// The slices that each trial has to itself for a slice of a duet. A shared machine's speed changes by a fifth within
/// tens of milliseconds, so that only trials in short turns have the same of it: ratios of LMDB to itself scattered
/// from repeat to repeat by 3.2 % with slices of 50 ms, and by 1.0 % with five times as many of 10 ms.
pub const ALONE_OF_A_DUET: u32 = 5;

/// Times of its measured part that a search for a rate takes, about: the capacity, the 17 rates that 400 searches on
/// LMDB and RocksDB tried on average, and the rate that was found.
pub(crate) const PROBES: u32 = 20;

/// How many times its measured part a trial takes for all of its slices, for estimates. One of a duet has the measured
/// part to itself, and as much work again beside the other, each with half of the processors' time.
pub(crate) fn times_measured(experiment: &Experiment) -> u32 {
    match experiment.searches() {
        true => PROBES,
        false if are_duets(experiment) => 2,
        false => 1,
    }
}

/// Whether the trials of an experiment will probably be duets.
pub(crate) fn are_duets(experiment: &Experiment) -> bool {
    let adapter = |label: &String| {
        let section = experiment.engine.get(label).and_then(|section| section.engine.as_deref());
        let name = EngineName::parse(section.unwrap_or(label));
        (name.adapter, name.preset)
    };
    let engines: Vec<_> = experiment.engines.iter().map(adapter).collect();
    match experiment.lab.design {
        _ if experiment.searches() => false,
        Design::Duet => true,
        Design::Auto => matches!(engines.as_slice(), [one, other] if one == other),
        Design::Slices | Design::Turns => false,
    }
}

/// The design for the trials of one step; the experiment is that of their variant, and so are `engines`, in its order.
///
/// # Errors
/// If one is requested that the work does not allow.
pub fn step_design(
    experiment: &Experiment,
    step: &[&PlannedTrial],
    engines: &[EngineIdentity],
    machine: &DesignMachine,
) -> Result<StepDesign, FileError> {
    let together = against_slices(experiment, step, machine);
    let duet = || together.clone().or_else(|| against_duet(step, machine));
    let cpus = || machine.cpus.iter().copied().take(clients(step)).collect();
    let refuse = |why: String| {
        let design = experiment.lab.design;
        FileError::new(format!("lab.design = {design} cannot be: {why}; `auto` takes what can be"))
    };
    let step_design = |design, why: &str, cpus| StepDesign { design, why: why.to_owned(), cpus };
    Ok(match (experiment.lab.design, together.clone()) {
        (Design::Turns, _) => step_design(Design::Turns, "it was requested", Vec::new()),
        (Design::Slices, Some(why)) => return Err(refuse(why)),
        (Design::Slices, None) => step_design(Design::Slices, "it was requested", Vec::new()),
        (Design::Duet, _) => match duet() {
            Some(why) => return Err(refuse(why)),
            None => step_design(Design::Duet, "it was requested", cpus()),
        },
        (Design::Auto, Some(why)) => step_design(Design::Turns, &why, Vec::new()),
        (Design::Auto, None) => match duet().or_else(|| against_cpu_time(step, engines)) {
            Some(why) => step_design(Design::Slices, &format!("no duet: {why}"), Vec::new()),
            None => step_design(Design::Auto, "", cpus()),
        },
    })
}

/// How many of the loads of a step are done at once. It is one where they wait for the storage, because a device's
/// counters of syncs belong to none of several.
pub fn loads_at_once(experiment: &Experiment, step: &[&PlannedTrial], machine: &DesignMachine) -> usize {
    match experiment.lab.loads {
        Loads::AtOnce if !waits_for_storage(experiment.load_settings().durability) => {
            databases_at_once(experiment, step, machine)
        }
        Loads::AtOnce | Loads::InTurns => 1,
    }
}

/// How many of the databases of these loads can be worked on at once, where nothing is compared: as many as have
/// processors and memory. Where the environment limits each by itself, or gives each storage of its own, it is one.
pub fn databases_at_once(experiment: &Experiment, loads: &[&PlannedTrial], machine: &DesignMachine) -> usize {
    let Some(load) = loads.first() else { return 1 };
    let environment = &experiment.environment;
    let is_by_itself = environment.memory.is_some()
        || environment.cache_state == CacheState::Dropped
        || environment.storage != StorageKind::Folder;
    if is_by_itself {
        return 1;
    }
    let of_cpus = machine.cpus.len() / load.workload.roles().len().max(1);
    let of_memory = (machine.memory as f64 * MEMORY_SHARE / memory_of(experiment, &load.workload) as f64) as usize;
    of_cpus.min(of_memory).clamp(1, loads.len())
}

/// How many times the loads of a step take the time of one: as often as some are done at once.
pub(crate) fn load_rounds(experiment: &Experiment, step: &[PlannedTrial], machine: &DesignMachine) -> u32 {
    let all: Vec<&PlannedTrial> = step.iter().collect();
    all.len().div_ceil(loads_at_once(experiment, &all, machine)) as u32
}

/// Why the trials of a step cannot be open at once, one at work at a time; `None` if they can.
fn against_slices(experiment: &Experiment, step: &[&PlannedTrial], machine: &DesignMachine) -> Option<String> {
    let trial = step.first()?;
    let (workload, environment) = (&trial.workload, &experiment.environment);
    let settings = experiment.engine_settings();
    let waits = levels(&workload.parameters, settings.durability).find(|level| waits_for_storage(*level));
    let mut arrivals = workload.parameters.arrivals();
    let periodic = arrivals.find(|arrival| arrival.period().is_some()).unwrap_or_default();
    let needed = step.iter().map(|trial| memory_of(experiment, &trial.workload)).sum::<u64>();
    let reasons = [
        (workload.parameters.run.searches(), "a search for the highest rate has the machine to itself".to_owned()),
        (experiment.lab.order == Order::Sequential, "lab.order = sequential has one database at a time".to_owned()),
        (step.len() < 2, "there is one set-up".to_owned()),
        (environment.memory.is_some(), "environment.memory limits each by itself, page cache included".to_owned()),
        (
            environment.cache_state == CacheState::Dropped,
            "environment.cache_state = dropped begins each trial without a page cache".to_owned(),
        ),
        (
            environment.storage != StorageKind::Folder,
            format!("each database lies on storage of its own ({})", environment.storage),
        ),
        (
            !matches!(workload.parameters.end, TrialEnd::After(_)),
            format!("{} ends by its number of operations", workload.name),
        ),
        (
            periodic.period().is_some(),
            format!("arrival = {periodic} varies the rate within a period, and slices cut that short"),
        ),
        (
            workload.parameters.has_partial_roles(),
            "its roles work in parts of the measured window, and slices have no such parts".to_owned(),
        ),
        (workload.name.settles(), format!("{} ends with the engine's background work", workload.name)),
        (
            workload.parameters.writers > 0 && waits.is_some(),
            format!("writes wait for the storage at durability {}", waits.unwrap_or(settings.durability)),
        ),
        (
            needed as f64 > machine.memory as f64 * MEMORY_SHARE,
            format!(
                "together they may take {} MiB, too much of {} MiB of available memory",
                needed >> 20,
                machine.memory >> 20
            ),
        ),
    ];
    reasons.into_iter().find_map(|(holds, why)| holds.then_some(why))
}

/// Why the trials of a step, which can be measured in slices, cannot be a duet; `None` if they can.
fn against_duet(step: &[&PlannedTrial], machine: &DesignMachine) -> Option<String> {
    let clients = clients(step);
    let paced = step.iter().any(|trial| trial.workload.parameters.is_paced());
    let reasons = [
        (step.len() != 2, format!("there are {} set-ups", step.len())),
        (paced, "clients at a given rate sleep".to_owned()),
        (
            step.iter().any(|trial| trial.key.readers > 0 && trial.key.writers > 0),
            "readers and writers stand beside each other".to_owned(),
        ),
        (
            step.iter().any(|trial| trial.key.clients == ClientKind::Processes),
            "readers and writers are processes".to_owned(),
        ),
        (clients > machine.cpus.len(), format!("{clients} clients on {} processors", machine.cpus.len())),
    ];
    reasons.into_iter().find_map(|(holds, why)| holds.then_some(why))
}

/// Why CPU time does not tell which of the setups of a step is faster; `None` if all are of one engine.
fn against_cpu_time(step: &[&PlannedTrial], engines: &[EngineIdentity]) -> Option<String> {
    // In the experiment's order, and not in that of their turns, which is another in each repeat.
    let mut trials = step.to_vec();
    trials.sort_by_key(|trial| trial.engine);
    let of = |trial: &PlannedTrial| engines.get(trial.engine);
    let pair = trials.windows(2).find(|pair| of(pair[0]).is_none() || of(pair[0]) != of(pair[1]))?;
    let [one, other] = [pair[0], pair[1]].map(|trial| trial.key.engine.as_str());
    Some(format!("{one} and {other} are different engines, and CPU time is no rate"))
}

fn clients(step: &[&PlannedTrial]) -> usize {
    step.iter().map(|trial| trial.workload.roles().len()).max().unwrap_or(0)
}

/// The levels of durability of all that is written.
fn levels(parameters: &WorkloadParameters, of_database: Durability) -> impl Iterator<Item = Durability> {
    let alike = parameters.roles.is_empty().then(|| parameters.durability.unwrap_or(of_database));
    let of_roles = parameters.roles.iter().map(move |role| role.durability.unwrap_or(of_database));
    alike.into_iter().chain(of_roles)
}

fn waits_for_storage(durability: Durability) -> bool {
    matches!(durability, Durability::Periodic | Durability::Commit)
}

/// The most memory that a trial may take, page cache included: its database twice, and its buffers.
fn memory_of(experiment: &Experiment, workload: &WorkloadSpec) -> u64 {
    let data = &workload.parameters.data;
    let database = workload.records_stored().saturating_mul(data.key_size + data.value_size).saturating_mul(2);
    let settings = experiment.engine_settings();
    let buffers = settings.cache_bytes.min(database).saturating_add(settings.write_buffer_bytes);
    database.saturating_add(buffers).saturating_add(PROCESS_BYTES)
}

/// The order in which the trials of a step have their turn in a round of slices: another in each.
pub fn slice_order(seed: u64, round: u32, trials: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..trials).collect();
    order.sort_by_key(|trial| subseed(seed, &[u64::from(round), *trial as u64]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    const READERS: &str = "[[run]]\nworkload = \"readrandom\"\nreaders = [1]";

    fn machine() -> DesignMachine {
        DesignMachine { cpus: vec![0, 1], memory: 16 << 30 }
    }

    fn engine(name: &str, preset: Option<&str>) -> EngineIdentity {
        EngineIdentity { name: name.into(), preset: preset.map(str::to_owned) }
    }

    /// The design of a step whose setups are all of one engine.
    fn design_of(text: &str) -> Result<StepDesign, FileError> {
        design_with(text, &[(); 3].map(|()| engine("a", None)))
    }

    fn design_with(text: &str, engines: &[EngineIdentity]) -> Result<StepDesign, FileError> {
        let experiment = Experiment::parse(text).unwrap();
        let plan = Plan::of(&experiment.variants().unwrap());
        let step: Vec<&PlannedTrial> = plan.trials.iter().filter(|trial| trial.section == Some(0)).collect();
        step_design(&experiment, &step, engines, &machine())
    }

    fn run(engines: &str, rest: &str) -> String {
        format!("engines = [{engines}]\n{rest}\n")
    }

    #[test]
    fn two_readers_are_a_duet_if_they_do_not_sleep_and_more_are_slices() {
        let two = design_of(&run("\"a\", \"b\"", READERS)).unwrap();
        assert_eq!((two.design, two.cpus), (Design::Auto, vec![0]));
        let three = design_of(&run("\"a\", \"b\", \"c\"", READERS)).unwrap();
        assert_eq!((three.design, three.why.as_str()), (Design::Slices, "no duet: there are 3 set-ups"));
        let beside = design_of(&run("\"a\", \"b\"", "[[run]]\nreaders = [1]")).unwrap();
        assert_eq!(beside.why, "no duet: readers and writers stand beside each other");
        let many = "[[run]]\nworkload = \"readrandom\"\nreaders = [4]";
        let many = design_of(&run("\"a\", \"b\"", many)).unwrap();
        assert_eq!((many.design, many.why.as_str()), (Design::Slices, "no duet: 4 clients on 2 processors"));
    }

    #[test]
    fn different_engines_are_a_duet_only_on_request() {
        let (lmdb, rocksdb) = (engine("lmdb", None), engine("rocksdb", None));
        let (btree, lsm) = (engine("wiredtiger", Some("btree")), engine("wiredtiger", Some("lsm")));
        let two = run("\"a\", \"b\"", READERS);
        let engines = [lmdb, rocksdb];
        let presets = [engine("wiredtiger", None), btree, lsm.clone()];
        for engines in [&engines[..], &presets[..2], &presets[1..], &[]] {
            let design = design_with(&two, engines).unwrap();
            let why = "no duet: a and b are different engines, and CPU time is no rate";
            assert_eq!((design.design, design.why.as_str(), design.cpus.len()), (Design::Slices, why, 0));
        }
        // Two builds or settings of one engine, as `kvdyno diff` compares them.
        assert_eq!(design_with(&two, &[lsm.clone(), lsm]).unwrap().design, Design::Auto);
        let requested = run("\"a\", \"b\"", &format!("{READERS}\n[lab]\ndesign = \"duet\""));
        assert_eq!(design_with(&requested, &engines).unwrap().design, Design::Duet);
    }

    #[test]
    fn what_shares_no_machine_takes_turns() {
        for (rest, why) in [
            ("[[run]]\nreaders = [1]\n[environment]\nmemory = \"1GiB\"", "limits each by itself"),
            ("[[run]]\nreaders = [1]\n[lab]\norder = \"sequential\"", "one database at a time"),
            ("[[run]]\nreaders = [1]\noperations = 5", "ends by its number of operations"),
            ("[[run]]\nreaders = [1]\nread_rate = 5\narrival = \"sine\"", "arrival = sine varies the rate"),
            ("[[run]]\nreaders = [1]\nread_rate = 5\narrival = \"bursty 5s\"", "arrival = bursty 5s varies the rate"),
            (
                "[[run]]\nworkload = \"mix\"\nreaders = [1]\n[[run.role]]\nmix = \"get 100\"\nuntil = \"5s\"\n\
                 [[run.role]]\nmix = \"put 100\"\nfrom = \"5s\"",
                "its roles work in parts of the measured window",
            ),
            ("[[run]]\nreaders = [1]\n[data]\nrecords = 100000000", "too much of 16384 MiB"),
            (
                "[[run]]\nworkload = \"overwrite\"\nreaders = [1]\n[settings]\ndurability = \"commit\"",
                "writes wait for the storage",
            ),
        ] {
            let design = design_of(&run("\"a\", \"b\"", rest)).unwrap();
            assert_eq!(design.design, Design::Turns);
            assert!(design.why.contains(why), "{}", design.why);
            if !rest.contains("[lab]") {
                let with_design = format!("{rest}\n[lab]\ndesign = \"slices\"");
                let refused = design_of(&run("\"a\", \"b\"", &with_design)).unwrap_err();
                assert!(refused.message.contains(why), "{}", refused.message);
            }
        }
    }

    #[test]
    fn a_duet_that_cannot_be_is_refused() {
        let refused =
            design_of(&run("\"a\", \"b\", \"c\"", "[[run]]\nreaders = [1]\n[lab]\ndesign = \"duet\"")).unwrap_err();
        assert!(refused.message.contains("lab.design = duet cannot be: there are 3 set-ups"), "{}", refused.message);
    }

    #[test]
    fn as_many_loads_are_done_at_once_as_have_processors_and_memory() {
        let at_once = |rest: &str, cpus: u32, memory: u64| {
            let experiment = Experiment::parse(&run("\"a\", \"b\", \"c\"", rest)).unwrap();
            let plan = Plan::of(&experiment.variants().unwrap());
            let loads: Vec<&PlannedTrial> = plan.trials.iter().filter(|trial| trial.section.is_none()).collect();
            let machine = DesignMachine { cpus: (0..cpus).collect(), memory };
            let at_once = loads_at_once(&experiment, &loads[..3], &machine);
            let rounds: u32 = plan
                .steps()
                .filter(|step| step[0].section.is_none())
                .map(|step| load_rounds(&experiment, step, &machine))
                .sum();
            (at_once, rounds)
        };
        const AT_ONCE: &str = "[lab]\nloads = \"at-once\"";
        assert_eq!([1, 2, 64].map(|cpus| at_once(AT_ONCE, cpus, 16 << 30)), [(1, 3), (2, 2), (3, 1)]);
        assert_eq!(at_once(AT_ONCE, 64, 1 << 20), (1, 3));
        assert_eq!(at_once("", 64, 16 << 30), (1, 3));
        for by_itself in ["cache_state = \"dropped\"", "memory = \"1GiB\"", "storage = \"ext4\""] {
            assert_eq!(at_once(&format!("{AT_ONCE}\n[environment]\n{by_itself}"), 64, 16 << 30), (1, 3), "{by_itself}");
        }
        let synced = |level: &str| at_once(&format!("{AT_ONCE}\n[load]\ndurability = \"{level}\""), 64, 16 << 30);
        assert_eq!(["none", "process", "periodic", "commit"].map(synced), [(3, 1), (3, 1), (1, 3), (1, 3)]);
    }

    #[test]
    fn a_trial_is_cut_into_at_least_ten_slices_where_they_are_not_too_short() {
        let of = |ms| Slicing::of(Duration::from_millis(ms));
        assert_eq!((of(1000).length.as_millis(), of(1000).count), (100, 10));
        assert_eq!((of(10_000).length.as_millis(), of(10_000).count), (200, 50));
        assert_eq!((of(200).length.as_millis(), of(200).count), (50, 4));
        assert_eq!(of(10).count, 1);
    }

    #[test]
    fn a_trial_of_a_duet_takes_twice_its_measured_part() {
        let times = |engines: &str, rest: &str| times_measured(&Experiment::parse(&run(engines, rest)).unwrap());
        let design = |design: &str| format!("[lab]\ndesign = \"{design}\"");
        assert_eq!(times("\"lmdb\", \"bdb\"", &design("duet")), 2);
        assert_eq!(times("\"lmdb\", \"bdb\"", ""), 1);
        // Two versions or settings of one engine may be a duet, and so count as one.
        let settings = "[engine.b]\nengine = \"a\"";
        assert_eq!((times("\"a\", \"b\"", settings), times("\"a\", \"a:lsm\"", "")), (2, 1));
        assert_eq!(times("\"a\", \"b\"", &format!("{settings}\n{}", design("slices"))), 1);
        assert_eq!(times("\"a\", \"b\", \"c\"", settings), 1);
    }

    #[test]
    fn each_round_has_an_order_of_its_own() {
        let orders: Vec<Vec<usize>> = (0..50).map(|round| slice_order(7, round, 3)).collect();
        for first in 0..3 {
            let begun = orders.iter().filter(|order| order[0] == first).count();
            assert!((8..=26).contains(&begun), "{first} began {begun} of 50 rounds");
        }
        assert_eq!(slice_order(7, 3, 3), orders[3]);
    }
}
