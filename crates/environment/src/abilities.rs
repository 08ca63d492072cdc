//! The abilities of this machine and this user: which parts of an environment can be set, for people, a line for each
//! part. Each is tried as an experiment would request it; nothing is changed.

use crate::machine::usable_cpus;
use crate::memory::MemoryControl;
use crate::placement::{Placement, known_allocators};
use crate::requested::{EnvironmentSection, IndexList, NumaPolicy, Refusal, Smt, StorageKind};
use crate::storage::backing_store;
use crate::tree::Tree;

/// The parts of an environment, each with what can be had of it.
pub fn abilities() -> Vec<(&'static str, String)> {
    let allocators = known_allocators().into_iter().map(|(name, library)| (name, library.ok_or(None)));
    vec![
        ("CPUs", cpus()),
        ("NUMA", numa()),
        (
            "memory limit",
            MemoryControl::find().map_or_else(|refusal| refusal.to_string(), |control| control.to_string()),
        ),
        ("allocators", listed(allocators)),
        ("storage", listed([StorageKind::Ext4, StorageKind::Xfs, StorageKind::Btrfs, StorageKind::Raw].map(made))),
        ("user", if rustix::process::geteuid().is_root() { "root" } else { "not root" }.to_owned()),
    ]
}

fn cpus() -> String {
    let usable = IndexList::new(usable_cpus(&Tree::live())).map(String::from).unwrap_or_default();
    let smt = Placement::resolve(&EnvironmentSection { smt: Some(Smt::On), ..EnvironmentSection::default() });
    format!("{usable}; {}", smt.map_or_else(|refusal| refusal.to_string(), |_| "SMT on or off".to_owned()))
}

fn numa() -> String {
    let tried = Placement::resolve(&EnvironmentSection {
        numa: Some(NumaPolicy::Interleave(None)),
        ..EnvironmentSection::default()
    });
    match tried {
        Ok(placement) => format!("local, {}, bind, preferred", placement.policy().unwrap_or_default()),
        Err(refusal) => refusal.to_string(),
    }
}

/// Whether a storage of this kind can be made from a file.
fn made(storage: StorageKind) -> (String, Result<(), Option<Refusal>>) {
    let requested = EnvironmentSection { storage, ..EnvironmentSection::default() };
    (storage.to_string(), backing_store::check(&requested, None).map_err(Some))
}

/// `jemalloc; not here: tcmalloc, mimalloc`, with the first reason if there is one.
fn listed<T>(all: impl IntoIterator<Item = (String, Result<T, Option<Refusal>>)>) -> String {
    let (here, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, tried)| tried.is_ok());
    let why =
        missing.iter().find_map(|(_, tried)| tried.as_ref().err()?.as_ref().map(|refusal| format!(" ({refusal})")));
    let names = |some: Vec<(String, _)>| some.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let missing = if missing.is_empty() { None } else { Some(format!("not here: {}", names(missing))) };
    let parts = [Some(names(here)).filter(|names| !names.is_empty()), missing];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ") + &why.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_say_what_is_missing() {
        let all = |here: [bool; 2], why: Option<Refusal>| {
            let tried = here.map(|here| if here { Ok(()) } else { Err(why.clone()) });
            listed(["a", "b"].map(str::to_owned).into_iter().zip(tried))
        };
        assert_eq!(all([true, true], None), "a, b");
        assert_eq!(all([false, true], None), "b; not here: a");
        assert_eq!(
            all([false, false], Some(Refusal::new(crate::requested::EnvironmentKey::Storage, "no root"))),
            "not here: a, b (no root)"
        );
    }

    #[test]
    fn each_part_has_a_line() {
        for (part, ability) in abilities() {
            assert!(!ability.is_empty() && !ability.contains('\n'), "{part}: {ability}");
        }
    }
}
