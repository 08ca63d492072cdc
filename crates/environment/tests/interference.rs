//! The watch over a real machine.

use std::process::Command;
use std::time::{Duration, Instant};

use kvdyno_environment::interference::InterferenceMonitor;
use kvdyno_environment::process::spawn;

#[test]
fn a_busy_neighbour_is_told_of() {
    let mut watch = InterferenceMonitor::new();
    let worker = spawn(Command::new("sleep").arg("1000")).unwrap();
    watch.sample(&[worker.pid()]);
    // Even on a crowded machine, a process other than the worker uses this processor.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        std::hint::black_box(start);
    }
    watch.sample(&[worker.pid()]);
    let notes = watch.finish();
    assert!(
        notes.iter().any(|note| note.starts_with("other processes and the kernel's own threads used")),
        "{notes:?}"
    );
}
