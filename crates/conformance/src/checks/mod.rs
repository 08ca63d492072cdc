//! The checks, a file for each group of them.

mod durability;
mod lifecycle;
mod options;
mod processes;
mod reads_and_writes;
mod scans;
mod sessions;
mod sizes;
mod snapshots;

use std::sync::LazyLock;

use crate::check::Check;

/// All checks, in the order in which they are run.
pub fn checks() -> &'static [Check] {
    static ALL: LazyLock<Vec<Check>> = LazyLock::new(|| {
        [
            lifecycle::CHECKS,
            reads_and_writes::CHECKS,
            sizes::CHECKS,
            scans::CHECKS,
            snapshots::CHECKS,
            sessions::CHECKS,
            processes::CHECKS,
            durability::CHECKS,
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
}
