//! The checks, a file for each group of them.

mod counters;
mod cursor_limits;
mod delete_ranges;
mod durability;
mod isolation;
mod lifecycle;
mod options;
mod presence;
mod processes;
mod reads_and_writes;
pub(crate) mod refusals;
mod scans;
mod session_durability;
mod sessions;
mod sizes;
mod snapshots;
pub(crate) mod syncs;

use std::sync::LazyLock;

use crate::check::Check;

/// All checks, in the order in which they are run.
pub fn checks() -> &'static [Check] {
    static ALL: LazyLock<Vec<Check>> = LazyLock::new(|| {
        [
            lifecycle::CHECKS,
            counters::CHECKS,
            reads_and_writes::CHECKS,
            delete_ranges::CHECKS,
            presence::CHECKS,
            sizes::CHECKS,
            scans::CHECKS,
            cursor_limits::CHECKS,
            snapshots::CHECKS,
            isolation::CHECKS,
            sessions::CHECKS,
            processes::CHECKS,
            durability::CHECKS,
            session_durability::CHECKS,
            syncs::CHECKS,
            refusals::CHECKS,
            options::CHECKS,
        ]
        .concat()
    });
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_check_has_a_name_of_its_own_and_says_what_must_hold() {
        let names: HashSet<&str> = checks().iter().map(|check| check.name).collect();
        assert_eq!(names.len(), checks().len());
        for check in checks() {
            assert!(check.what.ends_with('.') && check.what.len() > 20, "{}: {}", check.name, check.what);
        }
    }

    /// The header's words, without the signs of its comments.
    fn header() -> String {
        let text = include_str!("../../../abi/include/kvdyno.h").replace("/*", " ").replace("*/", " ");
        let lines = text.lines().map(str::trim_start).map(|line| line.strip_prefix("* ").unwrap_or(line));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_header_says_what_every_check_demands() {
        let header = header();
        for check in checks() {
            assert!(check.rule.len() > 15, "{} rests on no rule", check.name);
            assert!(header.contains(check.rule), "{}: the header does not say `{}`", check.name, check.rule);
        }
    }
}
