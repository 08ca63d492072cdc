//! What of a stage can be set on this machine, by this user: for people, a line for each part. Nothing is tried that changes
//! anything.

use std::env;
use std::path::PathBuf;

use crate::asked::{Asked, NumaPolicy, Numbers, Smt};
use crate::machine::usable_cpus;
use crate::surroundings::{Surroundings, known_allocators};
use crate::tree::Tree;

/// Parts with what can be had of each.
pub fn abilities() -> Vec<(&'static str, String)> {
    let tree = Tree::live();
    vec![
        ("CPUs", cpus(&tree)),
        ("NUMA", numa()),
        ("memory limit", cgroups(&tree)),
        ("allocators", listed(known_allocators().into_iter().map(|(name, library)| (name, library.is_some())))),
        (
            "filesystems",
            listed(["ext4", "xfs", "btrfs"].map(|kind| (kind.to_owned(), has_tool(&format!("mkfs.{kind}"))))),
        ),
        ("user", if rustix::process::geteuid().is_root() { "root" } else { "not root" }.to_owned()),
    ]
}

fn cpus(tree: &Tree) -> String {
    let usable = Numbers::new(usable_cpus(tree)).map(String::from).unwrap_or_default();
    let smt = Surroundings::resolve(&Asked { smt: Some(Smt::On), ..Asked::default() });
    let smt = smt.map_or_else(|refusal| format!("no SMT: {refusal}"), |_| "SMT on or off".to_owned());
    format!("{usable}; {smt}")
}

fn numa() -> String {
    let tried = Surroundings::resolve(&Asked { numa: Some(NumaPolicy::Interleave(None)), ..Asked::default() });
    match tried {
        Ok(found) => format!("local, {}, bind, preferred", found.policy().unwrap_or_default()),
        Err(refusal) => format!("none: {refusal}"),
    }
}

/// Which hierarchy has the controller of memory.
fn cgroups(tree: &Tree) -> String {
    let unified = tree.text("sys/fs/cgroup/cgroup.controllers");
    let has_memory = |controllers: &str| controllers.split(' ').any(|controller| controller == "memory");
    if unified.as_deref().is_some_and(has_memory) {
        "cgroup v2".to_owned()
    } else if tree.path("sys/fs/cgroup/memory/memory.limit_in_bytes").exists() {
        "cgroup v1".to_owned()
    } else {
        "none: no cgroup controller of memory is here".to_owned()
    }
}

/// `jemalloc; not here: tcmalloc, mimalloc`
fn listed(all: impl IntoIterator<Item = (String, bool)>) -> String {
    let (here, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, here)| *here);
    let names = |some: Vec<(String, bool)>| some.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let parts = [names(here), names(missing)];
    match parts {
        [here, missing] if missing.is_empty() => here,
        [here, missing] if here.is_empty() => format!("not here: {missing}"),
        [here, missing] => format!("{here}; not here: {missing}"),
    }
}

/// Tools of root's are not in every user's path.
fn has_tool(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).any(|tool| tool.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    #[test]
    fn lists_say_what_is_missing() {
        let all = |here: [bool; 2]| listed(["a", "b"].map(str::to_owned).into_iter().zip(here));
        assert_eq!(all([true, true]), "a, b");
        assert_eq!(all([false, true]), "b; not here: a");
        assert_eq!(all([false, false]), "not here: a, b");
    }

    #[test]
    fn the_hierarchy_that_has_memory() {
        let (root, tree) = testing::empty();
        assert!(cgroups(&tree).starts_with("none"));
        testing::write(root.path(), "sys/fs/cgroup/memory/memory.limit_in_bytes", "1");
        assert_eq!(cgroups(&tree), "cgroup v1");
        testing::write(root.path(), "sys/fs/cgroup/cgroup.controllers", "cpu memory");
        assert_eq!(cgroups(&tree), "cgroup v2");
    }

    #[test]
    fn each_part_has_a_line() {
        for (part, ability) in abilities() {
            assert!(!ability.is_empty() && !ability.contains('\n'), "{part}: {ability}");
        }
    }
}
