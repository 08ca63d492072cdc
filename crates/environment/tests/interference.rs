//! The watch over a real machine.

use std::process::Command;
use std::thread;
use std::time::Duration;

use kvdyno_environment::interference::InterferenceMonitor;
use kvdyno_environment::process::spawn;
use kvdyno_results::Interference;

#[test]
fn a_busy_neighbour_is_told_of() {
    let mut watch = InterferenceMonitor::new();
    let worker = spawn(Command::new("sleep").arg("1000")).unwrap();
    watch.sample(&[worker.pid()]);
    let mut neighbour = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    // Even on a crowded machine it gets a part of a processor, and others have the rest.
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    watch.sample(&[worker.pid()]);
    let told = watch.finish();
    assert!(told.iter().any(|one| matches!(one, Interference::OtherProcesses { .. })), "{told:?}");
}
