//! Time since this process started.

use std::time::Duration;

use procfs::process::Process;
use procfs::{Current, Uptime};

/// The time since this process was started, programs before an `exec` included. Zero where `/proc` does not say.
pub fn process_age() -> Duration {
    let started = Process::myself().and_then(|process| process.stat()).map(|stat| stat.starttime);
    let (Ok(started), Ok(uptime)) = (started, Uptime::current()) else { return Duration::ZERO };
    let started = started as f64 / procfs::ticks_per_second() as f64;
    Duration::try_from_secs_f64(uptime.uptime - started).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_clock() {
        let before = process_age();
        std::thread::sleep(Duration::from_millis(200));
        let grown = process_age().saturating_sub(before);
        assert!(grown >= Duration::from_millis(190) && grown < Duration::from_secs(20), "{grown:?}");
    }
}
