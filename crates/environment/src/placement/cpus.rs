//! Which processors.
//!
//! A number takes them core by core in the kernel's order: the first hardware threads of all cores before any second
//! one, or, with SMT on, whole cores.

use std::collections::BTreeSet;

use super::numa;
use crate::machine::siblings;
use crate::requested::{Cpus, EnvironmentKey, EnvironmentSection, IndexList, Refusal, Smt};
use crate::tree::Tree;

/// The requested processors among those that this process may use; absent if nothing is requested of them.
pub(super) fn resolve(
    requested: &EnvironmentSection,
    tree: &Tree,
    usable: &[u32],
) -> Result<Option<IndexList>, Refusal> {
    if requested.cpus.is_none() && requested.smt.is_none() && requested.numa_cpus.is_none() {
        return Ok(None);
    }
    let selection = CpuSelection { tree, usable, from: candidates(requested, tree, usable)? };
    let chosen = match &requested.cpus {
        None => selection.list(&selection.from, requested.smt)?,
        Some(Cpus::List(list)) => {
            selection.check(list.as_slice(), requested)?;
            selection.list(list.as_slice(), requested.smt)?
        }
        Some(Cpus::Count(count)) => selection.count(*count as usize, requested.smt)?,
    };
    Ok(IndexList::new(chosen))
}

fn candidates(requested: &EnvironmentSection, tree: &Tree, usable: &[u32]) -> Result<Vec<u32>, Refusal> {
    let Some(nodes) = &requested.numa_cpus else { return Ok(usable.to_vec()) };
    let of_nodes = numa::cpus_of(nodes, tree)?;
    let from: Vec<u32> = usable.iter().filter(|cpu| of_nodes.contains(cpu)).copied().collect();
    if from.is_empty() {
        let message = format!("this process may use no CPU of node {nodes}; it may use {}", words(usable));
        return Err(Refusal::new(EnvironmentKey::NumaCpus, message));
    }
    Ok(from)
}

/// The processors that can be chosen, and the machine that they are of.
struct CpuSelection<'a> {
    tree: &'a Tree,
    /// The processors that this process may use.
    usable: &'a [u32],
    /// The usable CPUs that can be chosen.
    from: Vec<u32>,
}

impl CpuSelection<'_> {
    /// Whether all of `list` can be chosen.
    fn check(&self, list: &[u32], requested: &EnvironmentSection) -> Result<(), Refusal> {
        let Some(cpu) = list.iter().find(|cpu| !self.from.contains(cpu)) else { return Ok(()) };
        let nodes = requested.numa_cpus.as_ref().map(IndexList::to_string).unwrap_or_default();
        let message = if self.usable.contains(cpu) {
            format!("CPU {cpu} is not of node {nodes}, as numa_cpus wants it; those are {}", words(&self.from))
        } else if self.tree.path(format!("sys/devices/system/cpu/cpu{cpu}")).exists() {
            format!("CPU {cpu} is off, or not allowed to this process; it may use {}", words(self.usable))
        } else {
            format!("this machine has no CPU {cpu}; this process may use {}", words(self.usable))
        };
        Err(Refusal::new(EnvironmentKey::Cpus, message))
    }

    /// These, or one of each of their cores, or all of their cores.
    fn list(&self, cpus: &[u32], smt: Option<Smt>) -> Result<Vec<u32>, Refusal> {
        match smt {
            None => Ok(cpus.to_vec()),
            Some(Smt::Off) => Ok(self.cores(cpus, true)?.iter().map(|threads| threads[0]).collect()),
            Some(Smt::On) => {
                let cores: Vec<Vec<u32>> = self.cores(cpus, true)?.iter().map(|core| self.whole(core[0])).collect();
                self.check_whole(&cores)?;
                Ok(cores.concat())
            }
        }
    }

    fn count(&self, count: usize, smt: Option<Smt>) -> Result<Vec<u32>, Refusal> {
        let cores = self.cores(&self.from, smt.is_some())?;
        let order: Vec<u32> = match smt {
            None => {
                let most = cores.iter().map(Vec::len).max().unwrap_or(0);
                (0..most).flat_map(|thread| cores.iter().filter_map(move |core| core.get(thread).copied())).collect()
            }
            Some(Smt::Off) => cores.iter().map(|core| core[0]).collect(),
            Some(Smt::On) => return self.whole_cores(count, &cores),
        };
        if !(1..=order.len()).contains(&count) {
            let each = if smt.is_some() { ", one of each core," } else { "" };
            return Err(Refusal::new(
                EnvironmentKey::Cpus,
                format!("it must be from 1 to {}: so many CPUs{each} there are", order.len()),
            ));
        }
        Ok(order[..count].to_vec())
    }

    /// The first `count` processors, in whole cores.
    fn whole_cores(&self, count: usize, cores: &[Vec<u32>]) -> Result<Vec<u32>, Refusal> {
        let whole: Vec<Vec<u32>> = cores.iter().map(|core| self.whole(core[0])).collect();
        self.check_whole(&whole)?;
        let ends: Vec<usize> = whole
            .iter()
            .scan(0, |sum, core| {
                Some({
                    *sum += core.len();
                    *sum
                })
            })
            .collect();
        match ends.iter().position(|end| *end == count) {
            Some(last) => Ok(whole[..=last].concat()),
            None => {
                let ends = words(&ends.iter().map(|end| *end as u32).collect::<Vec<_>>());
                let message =
                    format!("{count} CPUs do not come out in whole cores, as smt = \"on\" wants it; {ends} would");
                Err(Refusal::new(EnvironmentKey::Cpus, message))
            }
        }
    }

    /// The hardware threads of each core that are among `cpus`. If the system does not tell, each CPU counts as a core;
    /// if that is `needed`, it is an error.
    fn cores(&self, cpus: &[u32], needed: bool) -> Result<Vec<Vec<u32>>, Refusal> {
        let unknown = "this system does not tell which CPUs share a core (/sys/devices/system/cpu); leave smt out";
        let mut seen = BTreeSet::new();
        let mut cores = Vec::new();
        for cpu in cpus {
            let threads = match siblings(self.tree, *cpu) {
                Some(threads) => threads,
                None if needed => return Err(Refusal::new(EnvironmentKey::Smt, unknown)),
                None => vec![*cpu],
            };
            if !seen.contains(cpu) {
                seen.extend(threads.iter().copied());
                cores.push(threads.into_iter().filter(|thread| cpus.contains(thread)).collect());
            }
        }
        Ok(cores)
    }

    /// All hardware threads of a processor's core.
    fn whole(&self, cpu: u32) -> Vec<u32> {
        siblings(self.tree, cpu).unwrap_or_else(|| vec![cpu])
    }

    /// Checks that cores can be used whole and have second hardware threads.
    fn check_whole(&self, cores: &[Vec<u32>]) -> Result<(), Refusal> {
        if cores.iter().all(|core| core.len() < 2) {
            let control = self.tree.text("sys/devices/system/cpu/smt/control");
            let control =
                control.map(|word| format!(" (/sys/devices/system/cpu/smt/control: {word})")).unwrap_or_default();
            let message = format!("there are no second hardware threads here{control}; it can be \"off\", or left out");
            return Err(Refusal::new(EnvironmentKey::Smt, message));
        }
        match cores.iter().flatten().find(|cpu| !self.from.contains(cpu)) {
            None => Ok(()),
            Some(cpu) => {
                let may = words(&self.from);
                let message =
                    format!("CPU {cpu}, a hardware thread of a core that is used, cannot be; those that can are {may}");
                Err(Refusal::new(EnvironmentKey::Smt, message))
            }
        }
    }
}

fn words(cpus: &[u32]) -> String {
    IndexList::new(cpus.iter().copied()).map_or_else(|| "none".to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    /// The processors that come of an `[environment]` with these keys, on two sockets of 32 cores with two threads
    /// each.
    fn on(tree: &Tree, usable: &[u32], keys: (&str, Option<Smt>, &str)) -> Result<String, String> {
        let (cpus, smt, nodes) = keys;
        let requested = EnvironmentSection {
            cpus: (!cpus.is_empty()).then(|| cpus.parse().unwrap()),
            smt,
            numa_cpus: (!nodes.is_empty()).then(|| nodes.parse().unwrap()),
            ..EnvironmentSection::default()
        };
        let selected =
            resolve(&requested, tree, usable).map_err(|refusal| format!("{}: {}", refusal.key, refusal.message))?;
        Ok(selected.map_or_else(|| "as it is".to_owned(), String::from))
    }

    const OFF: Option<Smt> = Some(Smt::Off);
    const ON: Option<Smt> = Some(Smt::On);

    #[test]
    fn cores_with_two_threads() {
        let (_root, tree) = testing::two_sockets();
        let all: Vec<u32> = (0..128).collect();
        for (keys, expected) in [
            (("", None, ""), "as it is"),
            (("0-3,8", None, ""), "0-3,8"),
            (("", OFF, ""), "0-63"),
            (("", ON, ""), "0-127"),
            (("0-1,64", OFF, ""), "0-1"),
            (("9-9", None, ""), "9"),
            (("64-65", OFF, ""), "64-65"),
            (("0-1", ON, ""), "0-1,64-65"),
            (("3", None, ""), "0-2"),
            (("66", None, ""), "0-65"),
            (("4", ON, ""), "0-1,64-65"),
            (("64", OFF, ""), "0-63"),
            (("", None, "1"), "8-15,72-79"),
            (("", OFF, "1"), "8-15"),
            (("2", None, "1,7"), "8-9"),
            (("9", None, "1"), "8-15,72"),
        ] {
            assert_eq!(on(&tree, &all, keys).as_deref(), Ok(expected), "{keys:?}");
        }
    }

    #[test]
    fn what_cannot_be() {
        let (_root, tree) = testing::two_sockets();
        let some: Vec<u32> = (0..10).chain(64..70).collect();
        for (keys, expected) in [
            (("200-201", None, ""), "cpus: this machine has no CPU 200; this process may use 0-9,64-69"),
            (("20-21", None, ""), "cpus: CPU 20 is off, or not allowed to this process; it may use 0-9,64-69"),
            (("0-8", None, "0"), "cpus: CPU 8 is not of node 0, as numa_cpus wants it; those are 0-7,64-69"),
            (("17", None, ""), "cpus: it must be from 1 to 16: so many CPUs there are"),
            (("11", OFF, ""), "cpus: it must be from 1 to 10: so many CPUs, one of each core, there are"),
            (
                ("5-7", ON, ""),
                "smt: CPU 70, a hardware thread of a core that is used, cannot be; those that can are 0-9,64-69",
            ),
            (("", None, "5"), "numa_cpus: this process may use no CPU of node 5; it may use 0-9,64-69"),
            (("", None, "9"), "numa_cpus: this machine has no node 9; those here are 0-7"),
        ] {
            assert_eq!(on(&tree, &some, keys).unwrap_err(), format!("environment.{expected}"), "{keys:?}");
        }
        assert_eq!("0".parse::<Cpus>().unwrap_err(), "0 CPUs are too few; 1 is the least");
        let whole: Vec<u32> = (0..3).chain(64..67).collect();
        let odd = on(&tree, &whole, ("3", ON, "")).unwrap_err();
        assert_eq!(
            odd,
            "environment.cpus: 3 CPUs do not come out in whole cores, as smt = \"on\" wants it; 2,4,6 would"
        );
    }

    #[test]
    fn a_machine_without_second_threads() {
        let (root, tree) = testing::aarch64();
        let all = [0, 1, 2, 3];
        assert_eq!(on(&tree, &all, ("", OFF, "")).as_deref(), Ok("0-3"));
        assert_eq!(on(&tree, &all, ("2", OFF, "")).as_deref(), Ok("0-1"));
        let refused = "environment.smt: there are no second hardware threads here; it can be \"off\", or left out";
        assert_eq!(on(&tree, &all, ("", ON, "")).unwrap_err(), refused);
        assert_eq!(on(&tree, &all, ("2", ON, "")).unwrap_err(), refused);
        testing::write(root.path(), "sys/devices/system/cpu/smt/control", "off\n");
        assert!(on(&tree, &all, ("0-1", ON, "")).unwrap_err().contains("(/sys/devices/system/cpu/smt/control: off)"));
    }

    #[test]
    fn a_system_that_shows_no_cores() {
        let (_root, tree) = testing::empty();
        assert_eq!(on(&tree, &[0, 1], ("1", None, "")).as_deref(), Ok("0"));
        assert!(on(&tree, &[0, 1], ("1", OFF, "")).unwrap_err().contains("does not tell which CPUs share a core"));
    }
}
