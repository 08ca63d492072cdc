//! How far a check has come: the number of calls that the engine has answered. A slow engine goes on answering, and one
//! that hangs does not.

use std::fs::{self, File};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kvdyno_model::text::grouped;
use memmap2::{MmapOptions, MmapRaw};

/// The file in a process's folder with the number of answers. The process has it mapped, so that counting writes
/// nothing: checks have files refused, and filesystems full.
const ANSWERED: &str = "answered";

/// The count of this process. Without one nothing is counted.
static COUNT: OnceLock<MmapRaw> = OnceLock::new();

/// Makes the file, for a process that is to be started there.
pub(crate) fn prepare(folder: &Path) -> std::io::Result<()> {
    fs::write(folder.join(ANSWERED), 0u64.to_ne_bytes())
}

/// Begins to count in this process. A failure is no fault of the engine, and then there are no counts.
pub(crate) fn begin(folder: &Path) {
    let file = File::options().read(true).write(true).open(folder.join(ANSWERED));
    let map = file.and_then(|file| MmapOptions::new().len(size_of::<AtomicU64>()).map_raw(&file));
    if let Ok(map) = map {
        let _ = COUNT.set(map);
    }
}

/// Notes that the engine has answered a call.
pub(crate) fn answered() {
    if let Some(map) = COUNT.get() {
        // SAFETY: a page of the file, aligned and never unmapped; all access to it is atomic.
        unsafe { AtomicU64::from_ptr(map.as_mut_ptr().cast()) }.fetch_add(1, Ordering::Relaxed);
    }
}

/// The count as a parent sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    answered: u64,
    /// When it was last seen to grow.
    at: Instant,
}

impl Seen {
    pub fn nothing() -> Seen {
        Seen { answered: 0, at: Instant::now() }
    }

    pub fn look(&mut self, folder: &Path) {
        let text = fs::read(folder.join(ANSWERED)).ok().and_then(|bytes| bytes.try_into().ok());
        let answered = text.map_or(0, u64::from_ne_bytes);
        if answered != self.answered {
            *self = Seen { answered, at: Instant::now() };
        }
    }

    /// The same, with what would help.
    pub fn told_at_end(&self) -> String {
        let help =
            if self.answered > 0 && self.goes_on() { ": it is slow; a longer --timeout may be enough" } else { "" };
        self.told() + help
    }

    fn goes_on(&self) -> bool {
        self.at.elapsed() <= GOES_ON
    }

    /// For people: how many, and whether there are still more.
    pub fn told(&self) -> String {
        let silent = self.at.elapsed();
        match (self.answered, !self.goes_on()) {
            (0, _) => "no call answered".to_owned(),
            (count, true) => {
                format!("calls answered: {}, none in the last {} s", grouped(count as f64), silent.as_secs())
            }
            (count, false) => format!("calls answered: {}, and it goes on", grouped(count as f64)),
        }
    }
}

/// An engine that has answered within this time goes on.
const GOES_ON: Duration = Duration::from_secs(3);
