//! NUMA policies: `set_mempolicy(2)` and `get_mempolicy(2)`, which the C library does not have.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::ptr;

use kvdyno_results::NumaNode;

use super::mask::Mask;
use crate::machine::numa_nodes;
use crate::requested::{EnvironmentKey, IndexList, NumaPolicy, Refusal};
use crate::tree::{Tree, field, number_list};

const KEY: EnvironmentKey = EnvironmentKey::Numa;
/// Words of a set that holds every node of every kernel: 1024 (`CONFIG_NODES_SHIFT` is 10 at the most).
const WORDS: usize = 1024 / c_ulong::BITS as usize;
/// Modes without the flags beside them (`include/uapi/linux/mempolicy.h`: bits 13 to 15).
const MODES: c_int = 0x1fff;

/// A policy with its nodes counted out.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    policy: NumaPolicy,
    mode: c_int,
    nodes: Mask,
}

impl Policy {
    /// `policy` as it stands: an interleaving must name its nodes.
    pub(super) fn new(policy: NumaPolicy) -> Policy {
        let (mode, nodes) = match &policy {
            NumaPolicy::Local => (libc::MPOL_LOCAL, None),
            NumaPolicy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, nodes.clone()),
            NumaPolicy::Bind(nodes) => (libc::MPOL_BIND, Some(nodes.clone())),
            NumaPolicy::Preferred(node) => (libc::MPOL_PREFERRED, IndexList::new([*node])),
        };
        let nodes = nodes.as_ref().map(Mask::of).unwrap_or_default();
        Policy { policy, mode, nodes }
    }

    /// The policy in the words that [`current`] uses.
    pub(super) fn words(&self) -> String {
        self.policy.to_string()
    }

    /// Applies the policy to memory that this thread allocates. A bare system call.
    pub(super) fn set(&self) -> io::Result<()> {
        let words = self.nodes.words();
        let (nodes, bits) = match words {
            [] => (ptr::null(), 0),
            // The kernel takes a bit less than it is told (`get_nodes` in `mm/mempolicy.c`).
            _ => (words.as_ptr(), size_of_val(words) * 8 + 1),
        };
        // SAFETY: the kernel reads so many bits of memory that `self` holds.
        let status = unsafe { libc::syscall(libc::SYS_set_mempolicy, self.mode, nodes, bits) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// The policy of this thread: `default`, or as experiment files say it. Absent where the kernel knows none, or does not
/// tell.
pub(crate) fn current() -> Option<String> {
    let (mut mode, mut nodes): (c_int, [c_ulong; WORDS]) = (0, [0; WORDS]);
    let bits = size_of_val(&nodes) * 8 + 1;
    // SAFETY: the kernel writes an integer and so many bits of a live array.
    let status = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, nodes.as_mut_ptr(), bits, ptr::null::<()>(), 0)
    };
    (status == 0).then(|| words(mode & MODES, Mask::numbers(&nodes)))
}

fn words(mode: c_int, nodes: Option<IndexList>) -> String {
    match (mode, nodes) {
        (libc::MPOL_DEFAULT, _) => "default".to_owned(),
        // Before Linux 5.14 the local policy was a preference for no node.
        (libc::MPOL_LOCAL, _) | (libc::MPOL_PREFERRED, None) => NumaPolicy::Local.to_string(),
        (libc::MPOL_INTERLEAVE, nodes) => NumaPolicy::Interleave(nodes).to_string(),
        (libc::MPOL_BIND, Some(nodes)) => NumaPolicy::Bind(nodes).to_string(),
        (libc::MPOL_PREFERRED, Some(nodes)) => format!("preferred:{nodes}"),
        (mode, nodes) => format!("mode {mode}:{}", nodes.map(String::from).unwrap_or_default()),
    }
}

/// `policy` on the machine that `tree` shows.
pub(super) fn resolve(policy: &NumaPolicy, tree: &Tree) -> Result<Policy, Refusal> {
    let nodes = known(tree, KEY)?;
    let allowed = allowed(tree);
    let usable = |node: &&NumaNode| node.memory_kib > 0 && allowed.as_ref().is_none_or(|all| all.contains(&node.node));
    let usable: Vec<u32> = nodes.iter().filter(usable).map(|node| node.node).collect();
    let named = match policy {
        NumaPolicy::Interleave(Some(nodes)) | NumaPolicy::Bind(nodes) => nodes.as_slice(),
        NumaPolicy::Preferred(node) => std::slice::from_ref(node),
        NumaPolicy::Local | NumaPolicy::Interleave(None) => &[],
    };
    for node in named {
        let known = one(&nodes, *node, KEY)?;
        if !usable.contains(node) {
            let why = if known.memory_kib == 0 { "has no memory" } else { "is not allowed to this process" };
            return Err(Refusal::new(KEY, format!("node {node} {why}; {}", there_are(&usable, "with memory"))));
        }
    }
    let policy = match policy {
        NumaPolicy::Interleave(None) => NumaPolicy::Interleave(IndexList::new(usable)),
        named => named.clone(),
    };
    Ok(Policy::new(policy))
}

/// The processors of `nodes`.
pub(super) fn cpus_of(nodes: &IndexList, tree: &Tree) -> Result<Vec<u32>, Refusal> {
    const KEY: EnvironmentKey = EnvironmentKey::NumaCpus;
    let known = known(tree, KEY)?;
    let mut cpus = Vec::new();
    for node in nodes.as_slice() {
        let of_node = number_list(&one(&known, *node, KEY)?.cpus).unwrap_or_default();
        if of_node.is_empty() {
            let with: Vec<u32> = known.iter().filter(|node| !node.cpus.is_empty()).map(|node| node.node).collect();
            return Err(Refusal::new(KEY, format!("node {node} has no CPUs; {}", there_are(&with, "with CPUs"))));
        }
        cpus.extend(of_node);
    }
    Ok(cpus)
}

fn known(tree: &Tree, key: EnvironmentKey) -> Result<Vec<NumaNode>, Refusal> {
    let nodes = numa_nodes(tree);
    let none = || Refusal::new(key, "this system shows no NUMA nodes (/sys/devices/system/node); leave the key out");
    if nodes.is_empty() { Err(none()) } else { Ok(nodes) }
}

fn one(nodes: &[NumaNode], number: u32, key: EnvironmentKey) -> Result<&NumaNode, Refusal> {
    let numbers: Vec<u32> = nodes.iter().map(|node| node.node).collect();
    let none = || Refusal::new(key, format!("this machine has no node {number}; {}", there_are(&numbers, "here")));
    nodes.iter().find(|node| node.node == number).ok_or_else(none)
}

fn there_are(nodes: &[u32], which: &str) -> String {
    match (nodes, IndexList::new(nodes.iter().copied())) {
        (_, None) => format!("no node {which}"),
        ([only], _) => format!("the only one {which} is {only}"),
        (_, Some(nodes)) => format!("those {which} are {nodes}"),
    }
}

/// The nodes that this process may take memory from, if they are known.
fn allowed(tree: &Tree) -> Option<Vec<u32>> {
    number_list(field(&tree.text("proc/self/status")?, "Mems_allowed_list")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    fn words_of(policy: &str, tree: &Tree) -> Result<String, String> {
        let policy = resolve(&policy.parse().unwrap(), tree);
        policy.map(|policy| policy.words()).map_err(|refusal| refusal.message)
    }

    #[test]
    fn all_nodes_are_counted_out() {
        let (_root, tree) = testing::two_sockets();
        assert_eq!(words_of("interleave", &tree).unwrap(), "interleave:0-7");
        assert_eq!(words_of("interleave:1,3", &tree).unwrap(), "interleave:1,3");
        assert_eq!(words_of("local", &tree).unwrap(), "local");
        let bind = resolve(&"bind:0,2".parse().unwrap(), &tree).unwrap();
        assert_eq!((bind.mode, bind.nodes.words()), (libc::MPOL_BIND, &[0b101][..]));
    }

    #[test]
    fn nodes_that_cannot_be_had() {
        let (root, tree) = testing::two_sockets();
        assert_eq!(words_of("bind:9", &tree).unwrap_err(), "this machine has no node 9; those here are 0-7");
        testing::write(root.path(), "sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:       0 kB\n");
        testing::write(root.path(), "proc/self/status", "Mems_allowed_list:\t0-5\n");
        assert_eq!(words_of("preferred:2", &tree).unwrap_err(), "node 2 has no memory; those with memory are 0-1,3-5");
        let refused = words_of("interleave:0-7", &tree).unwrap_err();
        assert!(refused.starts_with("node 2 has no memory"), "{refused}");
        assert!(words_of("bind:7", &tree).unwrap_err().starts_with("node 7 is not allowed to this process"));
        assert_eq!(words_of("interleave", &tree).unwrap(), "interleave:0-1,3-5");
    }

    #[test]
    fn a_kernel_without_numa() {
        let (_root, tree) = testing::aarch64();
        assert!(words_of("local", &tree).unwrap_err().contains("shows no NUMA nodes"));
        assert!(cpus_of(&"0".parse().unwrap(), &tree).unwrap_err().message.contains("shows no NUMA nodes"));
    }

    #[test]
    fn processors_of_nodes() {
        let (root, tree) = testing::two_sockets();
        assert_eq!(IndexList::new(cpus_of(&"0-1".parse().unwrap(), &tree).unwrap()).unwrap().to_string(), "0-15,64-79");
        testing::write(root.path(), "sys/devices/system/node/node1/cpulist", "\n");
        let refusal = cpus_of(&"1".parse().unwrap(), &tree).unwrap_err();
        assert_eq!(refusal.to_string(), "node 1 has no CPUs; those with CPUs are 0,2-7");
    }

    #[test]
    fn modes_have_the_words_of_experiment_files() {
        let nodes = || Some("0-1".parse().unwrap());
        assert_eq!(words(libc::MPOL_DEFAULT, None), "default");
        assert_eq!(words(libc::MPOL_PREFERRED, None), "local");
        assert_eq!(words(libc::MPOL_PREFERRED, Some("1".parse().unwrap())), "preferred:1");
        assert_eq!(words(libc::MPOL_BIND, nodes()), "bind:0-1");
        assert_eq!(words(6, nodes()), "mode 6:0-1");
    }

    #[test]
    fn this_thread_has_the_policy_that_it_was_given() {
        if numa_nodes(&Tree::live()).is_empty() {
            return;
        }
        for policy in ["local", "interleave:0", "bind:0", "preferred:0"] {
            let set = policy.parse().map(Policy::new).unwrap();
            // The thread ends, and its policy with it.
            let policy_then = std::thread::spawn(move || set.set().map(|()| current())).join().unwrap();
            match policy_then {
                Ok(now) => assert_eq!(now.as_deref(), Some(policy)),
                // A sandbox that does not let us.
                Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{policy}: {error}"),
            }
        }
    }
}
