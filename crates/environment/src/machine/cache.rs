//! Caches.

use kvdyno_results::Cache;

use crate::tree::{Tree, number_list};

/// The data and unified caches of one logical processor, from the first level up.
pub(super) fn of(tree: &Tree, cpu: u32) -> Vec<Cache> {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache");
    let indices = tree.numbered(&folder, "index");
    let mut caches: Vec<Cache> =
        indices.iter().filter_map(|index| one(tree, &format!("{folder}/index{index}"))).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn one(tree: &Tree, folder: &str) -> Option<Cache> {
    let kind = tree.text(format!("{folder}/type"))?.to_lowercase();
    if kind == "instruction" {
        return None;
    }
    let level = tree.value(format!("{folder}/level"))?;
    let size_kib = size_kib(&tree.text(format!("{folder}/size"))?)?;
    let shared_by = number_list(&tree.text(format!("{folder}/shared_cpu_list"))?)?.len() as u32;
    Some(Cache { level, kind, size_kib, shared_by })
}

/// The kernel writes `32K`, whatever the size (`drivers/base/cacheinfo.c`).
fn size_kib(text: &str) -> Option<u64> {
    text.strip_suffix('K')?.parse().ok()
}
