//! CPUs, NUMA policy, huge pages and allocator of a worker: resolved before anything runs, set between `fork` and
//! `exec`, and compared with what the worker observed.
//!
//! All of them are inherited, by threads and across `exec`, so that the engine's own threads and processes have them
//! too. Pages of files follow the policy of the task that touches them first.

mod allocator;
mod cpus;
mod huge_pages;
mod mask;
mod numa;

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use kvdyno_results::{NamedFigure, ObservedEnvironment};

use crate::machine::usable_cpus;
use crate::requested::{EnvironmentKey, EnvironmentSection, IndexList, Refusal};
use crate::tree::Tree;

use allocator::Preload;
use huge_pages::HugePageLimit;
use mask::Mask;
use numa::Policy;

pub use allocator::known as known_allocators;
pub(crate) use numa::current as current_policy;

/// The figures of this process that no field of [`ObservedEnvironment`] has.
pub(crate) fn figures(tree: &Tree) -> Vec<NamedFigure> {
    huge_pages::figure(tree).into_iter().collect()
}

/// The placement of a worker: everything needed to start it as requested. The rest stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    cpus: Option<(IndexList, Mask)>,
    numa: Option<Policy>,
    huge_pages: Option<HugePageLimit>,
    allocator: Option<Preload>,
}

impl Placement {
    /// Finds out whether this machine can provide it and this user may have it. The kernel's consent is tested on a
    /// thread of its own, which then ends: nothing is changed.
    ///
    /// # Errors
    /// The first thing that cannot be had.
    pub fn resolve(requested: &EnvironmentSection) -> Result<Placement, Refusal> {
        let tree = Tree::live();
        let placement = Placement::on(requested, &tree, &usable_cpus(&tree))?;
        placement.try_on_a_thread()?;
        Ok(placement)
    }

    /// The same on the machine that `tree` shows, for a process that may use the processors `usable`.
    fn on(requested: &EnvironmentSection, tree: &Tree, usable: &[u32]) -> Result<Placement, Refusal> {
        let cpus = cpus::resolve(requested, tree, usable)?;
        Ok(Placement {
            cpus: cpus.map(|cpus| (cpus.clone(), Mask::of(&cpus))),
            numa: requested.numa.as_ref().map(|policy| numa::resolve(policy, tree)).transpose()?,
            huge_pages: requested.huge_pages.map(|when| huge_pages::resolve(when, tree)).transpose()?,
            allocator: requested.allocator.as_ref().map(|allocator| allocator::resolve(allocator, tree)).transpose()?,
        })
    }

    fn try_on_a_thread(&self) -> Result<(), Refusal> {
        let this = self.clone();
        let tried = thread::spawn(move || this.try_here()).join();
        tried.unwrap_or_else(|_| Err(Refusal::new(EnvironmentKey::Cpus, "trying it ended the thread that tried")))
    }

    fn try_here(&self) -> Result<(), Refusal> {
        let refused = |error: io::Error| format!("the kernel does not let this process set it: {error}");
        self.set_cpus().map_err(|error| Refusal::new(EnvironmentKey::Cpus, refused(error)))?;
        self.set_numa().map_err(|error| Refusal::new(EnvironmentKey::Numa, refused(error)))
    }

    /// The processors that a worker may run on.
    pub fn cpus(&self) -> Vec<u32> {
        match &self.cpus {
            Some((cpus, _)) => cpus.as_slice().to_vec(),
            None => usable_cpus(&Tree::live()),
        }
    }

    /// The calls that a process makes on itself before its new image.
    fn set(&self) -> io::Result<()> {
        self.set_cpus()?;
        self.set_numa()?;
        self.huge_pages.map_or(Ok(()), HugePageLimit::set)
    }

    /// The memory policy in words, its nodes counted out.
    pub(crate) fn policy(&self) -> Option<String> {
        self.numa.as_ref().map(Policy::words)
    }

    /// Lets `command` start its process so.
    pub fn set_on(&self, command: &mut Command) {
        if let Some(preload) = &self.allocator {
            preload.set_on(command);
        }
        if self.cpus.is_some() || self.numa.is_some() || self.huge_pages.is_some() {
            let this = Arc::new(self.clone());
            // SAFETY: between fork and exec only async-signal-safe calls are allowed: these are three bare system calls
            // on memory that the parent filled.
            unsafe { command.pre_exec(move || this.set()) };
        }
    }

    fn set_cpus(&self) -> io::Result<()> {
        self.cpus.as_ref().map_or(Ok(()), |(_, mask)| mask.set_affinity())
    }

    fn set_numa(&self) -> io::Result<()> {
        self.numa.as_ref().map_or(Ok(()), Policy::set)
    }

    /// The first part of it that the worker did not observe, in words.
    pub fn contradiction(&self, observed: &ObservedEnvironment) -> Option<String> {
        let cpus = self.cpus.as_ref().and_then(|(cpus, _)| {
            let right = cpus.to_string() == observed.cpus;
            (!right).then(|| format!("the worker was to run on CPUs {cpus}, and found itself on {}", observed.cpus))
        });
        let numa = self.numa.as_ref().and_then(|policy| {
            let policy = policy.words();
            let has = observed.numa_policy.as_deref().unwrap_or("none");
            (policy != has).then(|| format!("the worker's memory policy was to be {policy}, and it found {has}"))
        });
        let allocator = self.allocator.as_ref().and_then(|preload| preload.contradiction(&observed.allocator));
        let huge_pages = self.huge_pages.and_then(|limit| limit.contradiction(observed));
        cpus.or(numa).or(huge_pages).or(allocator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed;
    use crate::requested::{Allocator, Cpus, NumaPolicy};

    fn requested(cpus: &str, numa: Option<NumaPolicy>) -> EnvironmentSection {
        EnvironmentSection { cpus: Some(Cpus::List(cpus.parse().unwrap())), numa, ..EnvironmentSection::default() }
    }

    #[test]
    fn what_is_not_asked_for_contradicts_nothing() {
        let nothing = Placement::resolve(&EnvironmentSection::default()).unwrap();
        assert_eq!(nothing.contradiction(&ObservedEnvironment::default()), None);
    }

    #[test]
    fn a_thread_finds_what_was_set() {
        let first = usable_cpus(&Tree::live())[0].to_string();
        let placement = Placement::resolve(&requested(&first, None)).unwrap();
        let trial = thread::spawn(move || {
            placement.try_here().unwrap();
            (placement.contradiction(&observed::around_this_process()), placement)
        });
        let (contradiction, placement) = trial.join().unwrap();
        assert_eq!(contradiction, None);
        let elsewhere = ObservedEnvironment { cpus: "900".to_owned(), ..ObservedEnvironment::default() };
        let words = placement.contradiction(&elsewhere).unwrap();
        assert_eq!(words, format!("the worker was to run on CPUs {first}, and found itself on 900"));
    }

    #[test]
    fn a_policy_and_an_allocator_that_are_not_found() {
        let requested = EnvironmentSection {
            numa: Some(NumaPolicy::Local),
            allocator: Some(Allocator::Libc),
            ..EnvironmentSection::default()
        };
        let placement = Placement {
            numa: Some(Policy::new(NumaPolicy::Local)),
            allocator: Some(allocator::resolve(requested.allocator.as_ref().unwrap(), &Tree::live()).unwrap()),
            ..Placement::default()
        };
        let observed = |policy: &str, allocator: &str| ObservedEnvironment {
            numa_policy: Some(policy.to_owned()),
            allocator: allocator.to_owned(),
            ..ObservedEnvironment::default()
        };
        assert_eq!(placement.contradiction(&observed("local", "libc")), None);
        assert!(placement.contradiction(&observed("default", "libc")).unwrap().contains("found default"));
        assert!(placement.contradiction(&observed("local", "/x.so")).unwrap().contains("/x.so"));
    }
}
