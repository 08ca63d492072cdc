//! Interference that a test makes: it is told in trials of half a second, in each design.

use std::process::{Child, Command};

use crate::support::{Lab, Ran, pass_over};
use kvdyno_environment::interference::are_waits_told;
use kvdyno_model::Design;
use kvdyno_results::{Interference, Phase, TrialResult};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A process that takes what it gets of one processor, for as long as this lives.
struct BusyLoop(Child);

impl BusyLoop {
    /// On this processor alone; absent if it may not run there.
    fn on(cpu: usize) -> Option<BusyLoop> {
        let new = BusyLoop(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(Some(Pid::from_child(&new.0)), &set).ok()?;
        Some(new)
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Runs of half a second on the processor of a busy loop. Absent if there cannot be one.
fn beside_a_busy_loop(design: &str) -> Option<Ran> {
    let allowed = sched_getaffinity(None).unwrap();
    let cpu = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
    let Some(_neighbour) = BusyLoop::on(cpu) else {
        pass_over("it pins a process to a processor");
        return None;
    };
    let comparison = Lab::new().compare(["lmdb", "leveldb"]).workload("readrandom").milliseconds(500);
    let ran = comparison.with("design", design).with("cpus", format!("{cpu}-{cpu}")).run();
    ran.exits(0);
    Some(ran)
}

#[track_caller]
fn has_told_of_others(result: &TrialResult) {
    let told = &result.environment.interference;
    let is_of_others =
        |one: &Interference| matches!(one, Interference::ClientsProcessors { time_share } if *time_share >= 0.03);
    assert!(told.iter().any(is_of_others), "{told:?}");
}

#[test]
fn a_busy_loop_on_the_clients_processor_is_told_in_turns_and_slices() {
    for (name, design) in [("turns", Design::Turns), ("slices", Design::Slices)] {
        let Some(ran) = beside_a_busy_loop(name) else { return };
        let runs: Vec<TrialResult> =
            ran.results().into_iter().filter(|result| result.trial.phase == Phase::Run).collect();
        assert_eq!(runs.len(), 2);
        for result in runs {
            assert_eq!(result.design.as_ref().map(|facts| facts.design), Some(design));
            has_told_of_others(&result);
            let waits = result.window.as_ref().and_then(|window| window.waits);
            match design {
                Design::Turns if are_waits_told() => {
                    let waits = waits.expect("each thread's waits are known");
                    assert!(waits.most_s > 0.0 && waits.least_s <= waits.most_s, "{waits:?}");
                }
                _ => assert_eq!(waits, None),
            }
        }
    }
}
