//! NUMA nodes.

use kvdyno_results::NumaNode;

use crate::tree::{Tree, fields, kilobytes};

/// All NUMA nodes: none if the kernel was built without NUMA, one on a machine that has no more.
pub(crate) fn nodes(tree: &Tree) -> Vec<NumaNode> {
    let folder = "sys/devices/system/node";
    tree.numbered(folder, "node").into_iter().filter_map(|node| one(tree, folder, node)).collect()
}

fn one(tree: &Tree, folder: &str, node: u32) -> Option<NumaNode> {
    let folder = format!("{folder}/node{node}");
    let meminfo = tree.text(format!("{folder}/meminfo"))?;
    let memory_kib = fields(&meminfo, &format!("Node {node} MemTotal")).find_map(kilobytes)?;
    let distances = tree.text(format!("{folder}/distance"))?;
    let distances = distances.split_whitespace().map(|distance| distance.parse().ok()).collect::<Option<_>>()?;
    // A node of memory only has an empty list.
    let cpus = tree.text(format!("{folder}/cpulist")).unwrap_or_default();
    Some(NumaNode { node, cpus, memory_kib, distances })
}
