//! Transparent huge pages: `prctl(PR_SET_THP_DISABLE)`, below the machine's own switch.
//!
//! The switch (`/sys/kernel/mm/transparent_hugepage/enabled`) says where the kernel gives them: nowhere, where a
//! process advises it, everywhere. A process can have less than that, not more; children and new images inherit it
//! (`prctl(2)`).

use std::io;

use kvdyno_results::{FigureValue, NamedFigure, ObservedEnvironment};

use crate::requested::{EnvironmentKey, HugePages, Refusal};
use crate::tree::{Tree, field, kilobytes};

const SWITCH: &str = "sys/kernel/mm/transparent_hugepage/enabled";
/// Huge pages where memory was advised, and nowhere else (Linux 6.18, `include/uapi/linux/prctl.h`).
const EXCEPT_ADVISED: libc::c_ulong = 1 << 1;
const COLUMN: &str = "huge_pages_kib";

/// The limit that a process sets on itself; absent where the machine's switch is the limit already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HugePagesLimit {
    /// No huge pages.
    Never,
    /// No huge pages except in advised memory.
    ExceptAdvised,
}

/// Huge pages as they are to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct HugePageLimit(Option<HugePagesLimit>);

/// The limit for `requested` on the machine that `tree` shows.
pub(super) fn resolve(requested: HugePages, tree: &Tree) -> Result<HugePageLimit, Refusal> {
    let refused = |message: String| Err(Refusal::new(EnvironmentKey::HugePages, message));
    let switch = tree.text(SWITCH).as_deref().and_then(chosen).map(str::to_owned);
    match (requested, switch.as_deref()) {
        (HugePages::Never, None) => Ok(HugePageLimit(None)),
        (HugePages::Never, Some(_)) => Ok(HugePageLimit(Some(HugePagesLimit::Never))),
        (HugePages::Madvise, Some("madvise")) | (HugePages::Always, Some("always")) => Ok(HugePageLimit(None)),
        (HugePages::Madvise, Some("always")) if knows_advised(tree) => {
            Ok(HugePageLimit(Some(HugePagesLimit::ExceptAdvised)))
        }
        (HugePages::Madvise, Some("always")) => refused(format!(
            "the machine's switch /{SWITCH} is `always`, and kernels before Linux 6.18 limit no process to advised \
             memory; it can be \"never\" or \"always\""
        )),
        (_, None) => refused("this kernel has no transparent huge pages; it can be \"never\"".to_owned()),
        (_, Some(switch)) => refused(format!(
            "the machine's switch /{SWITCH} is `{switch}`, and a process cannot have more; it can be \"never\"{}",
            if switch == "madvise" { " or \"madvise\"" } else { "" }
        )),
    }
}

/// Whether the kernel can limit a process to advised memory: Linux 6.18 and later.
fn knows_advised(tree: &Tree) -> bool {
    let release = tree.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(18))
}

/// The word in brackets: `always [madvise] never`.
fn chosen(switch: &str) -> Option<&str> {
    Some(switch.split_once('[')?.1.split_once(']')?.0)
}

impl HugePageLimit {
    /// Limits this process. A bare system call.
    pub(super) fn set(self) -> io::Result<()> {
        let (on, flags): (libc::c_ulong, libc::c_ulong) = match self.0 {
            None => return Ok(()),
            Some(HugePagesLimit::Never) => (1, 0),
            Some(HugePagesLimit::ExceptAdvised) => (1, EXCEPT_ADVISED),
        };
        // SAFETY: the call takes numbers alone.
        let status = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, on, flags, 0, 0) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The process had huge pages that it was not to have.
    pub(super) fn contradiction(self, observed: &ObservedEnvironment) -> Option<String> {
        let figure = observed.figures.iter().find(|figure| figure.column == COLUMN)?;
        let kib = figure.value.number().filter(|kib| self.0 == Some(HugePagesLimit::Never) && *kib > 0.0)?;
        Some(format!("the worker was to have no huge pages, and had {kib} KiB of them"))
    }
}

/// The huge pages of this process, KiB.
pub(super) fn figure(tree: &Tree) -> Option<NamedFigure> {
    let kib = field(&tree.text("proc/self/smaps_rollup")?, "AnonHugePages").and_then(kilobytes)?;
    let meaning = "The worker's memory in transparent huge pages when its work was done, KiB.";
    Some(NamedFigure::new(COLUMN, FigureValue::Count(kib), meaning).titled("huge KiB"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    fn on(switch: &str, release: &str, requested: HugePages) -> Result<Option<HugePagesLimit>, String> {
        let (root, tree) = testing::empty();
        testing::write(root.path(), SWITCH, switch);
        testing::write(root.path(), "proc/sys/kernel/osrelease", release);
        resolve(requested, &tree).map(|limit| limit.0).map_err(|refusal| refusal.message)
    }

    #[test]
    fn a_process_has_what_the_switch_gives_or_less() {
        use HugePages::{Always, Madvise, Never};
        let always = "[always] madvise never";
        let [of_always, of_madvise] = [always, "always [madvise] never"]
            .map(|switch| [Never, Madvise, Always].map(|requested| on(switch, "6.18.44-x", requested)));
        assert_eq!(of_always, [Ok(Some(HugePagesLimit::Never)), Ok(Some(HugePagesLimit::ExceptAdvised)), Ok(None)]);
        assert!(on(always, "6.12.0", Madvise).is_err_and(|why| why.contains("before Linux 6.18")));
        assert_eq!(on(always, "7.0.1", Madvise), Ok(Some(HugePagesLimit::ExceptAdvised)));
        assert_eq!(of_madvise[..2], [Ok(Some(HugePagesLimit::Never)), Ok(None)]);
        assert!(of_madvise[2].as_ref().is_err_and(|why| why.contains("it can be \"never\" or \"madvise\"")));
        assert!(on("always madvise [never]", "6.18", Madvise).is_err_and(|why| why.ends_with("it can be \"never\"")));
    }

    #[test]
    fn huge_pages_that_were_not_to_be_contradict() {
        let figures = |kib| vec![NamedFigure::new(COLUMN, FigureValue::Count(kib), "")];
        let observed = |kib| ObservedEnvironment { figures: figures(kib), ..ObservedEnvironment::default() };
        let never = HugePageLimit(Some(HugePagesLimit::Never));
        assert_eq!(never.contradiction(&observed(0)), None);
        assert!(never.contradiction(&observed(2048)).is_some_and(|why| why.contains("2048 KiB")));
        assert_eq!(HugePageLimit(None).contradiction(&observed(2048)), None);
    }
}
