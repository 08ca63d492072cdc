//! The environment as a process observes it, independent of who set it: its processors, its memory's policy and pages,
//! its allocator.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use kvdyno_results::{KeptOutside, NamedFigure, NodePages, ObservedEnvironment};

use crate::machine::{siblings, usable_cpus};
use crate::placement::{self, current_policy};
use crate::requested::IndexList;
use crate::tree::Tree;

/// The environment of this process, by way of the thread that calls. Fields that only the parent can observe are empty.
///
/// The kernel walks all mapped pages for it: not for the measured part.
pub fn around_this_process() -> ObservedEnvironment {
    let tree = Tree::live();
    let cpus = usable_cpus(&tree);
    ObservedEnvironment {
        smt: smt(&tree, &cpus),
        cpus: IndexList::new(cpus).map(String::from).unwrap_or_default(),
        numa_policy: current_policy(),
        numa_pages: tree.text("proc/self/numa_maps").map(|maps| pages(&maps)).unwrap_or_default(),
        allocator: allocator(),
        figures: placement::figures(&tree),
        ..ObservedEnvironment::default()
    }
}

/// The environments of several processes as one: pages are summed; where they differ, each is named.
pub fn together(all: Vec<ObservedEnvironment>) -> ObservedEnvironment {
    let mut nodes: BTreeMap<u32, NodePages> = BTreeMap::new();
    for pages in all.iter().flat_map(|one| &one.numa_pages) {
        let sum = nodes.entry(pages.node).or_insert(NodePages { node: pages.node, kib: 0, file_kib: 0 });
        sum.kib += pages.kib;
        sum.file_kib += pages.file_kib;
    }
    let differing = |word: fn(&ObservedEnvironment) -> &str| {
        let mut words: Vec<&str> = all.iter().map(word).collect();
        words.dedup();
        words.join(" / ")
    };
    let figures = all.iter().map(|one| one.figures.clone()).reduce(|sum, more| added(sum, &more)).unwrap_or_default();
    let (cpus, allocator) = (differing(|one| &one.cpus), differing(|one| &one.allocator));
    let policy = differing(|one| one.numa_policy.as_deref().unwrap_or_default());
    let smt = all.iter().filter_map(|one| one.smt).reduce(|one, other| one || other);
    let outside = all.iter().filter_map(|one| one.outside.clone()).reduce(KeptOutside::with);
    let first = all.into_iter().next().unwrap_or_default();
    let numa_policy = (!policy.is_empty()).then_some(policy);
    let numa_pages = nodes.into_values().collect();
    ObservedEnvironment { cpus, smt, numa_policy, numa_pages, allocator, outside, figures, ..first }
}

/// The sums of figures, column by column.
fn added(figures: Vec<NamedFigure>, more: &[NamedFigure]) -> Vec<NamedFigure> {
    let of_column = |column: &str| more.iter().find(|figure| figure.column == column);
    figures
        .into_iter()
        .map(|figure| {
            let other = of_column(&figure.column);
            figure.plus(other)
        })
        .collect()
}

/// Whether two of `cpus` are hardware threads of one core.
fn smt(tree: &Tree, cpus: &[u32]) -> Option<bool> {
    let mut share = false;
    for cpu in cpus {
        share |= siblings(tree, *cpu)?.iter().any(|other| other != cpu && cpus.contains(other));
    }
    Some(share)
}

/// The pages of all mappings by node, from `numa_maps` (`proc(5)`): a line a mapping, with `N<node>=<pages>` for each
/// node and the size of such a page.
fn pages(maps: &str) -> Vec<NodePages> {
    let mut nodes: BTreeMap<u32, NodePages> = BTreeMap::new();
    for line in maps.lines() {
        let words = || line.split_whitespace();
        let page_kib = words().find_map(|word| word.strip_prefix("kernelpagesize_kB=")?.parse().ok()).unwrap_or(4);
        let of_file = words().any(|word| word.starts_with("file="));
        for (node, pages) in words().filter_map(on_node) {
            let sum = nodes.entry(node).or_insert(NodePages { node, kib: 0, file_kib: 0 });
            sum.kib += pages * page_kib;
            sum.file_kib += if of_file { pages * page_kib } else { 0 };
        }
    }
    nodes.into_values().collect()
}

/// `N2=17`
fn on_node(word: &str) -> Option<(u32, u64)> {
    let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
    Some((node.parse().ok()?, pages.parse().ok()?))
}

/// The library that `malloc` comes from: `libc`, or its path. Empty where the loader does not know.
fn allocator() -> String {
    // SAFETY: both are strings that end with a NUL; the handle means all libraries in the loader's order.
    let malloc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    // SAFETY: an all-zero `Dl_info` is one that knows nothing.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live `Dl_info`, and any address may be looked up.
    if malloc.is_null() || unsafe { libc::dladdr(malloc, &mut info) } == 0 || info.dli_fname.is_null() {
        return String::new();
    }
    // SAFETY: the loader's own name of a library that stays loaded.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes()));
    library_name(path)
}

fn library_name(path: &Path) -> String {
    let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // glibc's and musl's.
    let is_libc = ["libc.so", "libc-", "ld-musl-"].iter().any(|name| file.starts_with(name));
    if is_libc { "libc".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing;

    const MAPS: &str = "\
55d0c0000000 interleave:0-1 file=/usr/bin/x mapped=10 N0=6 N1=4 kernelpagesize_kB=4
55d0c1000000 interleave:0-1 heap anon=7 dirty=7 N0=4 N1=3 kernelpagesize_kB=4
7f0000000000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7ffd00000000 interleave:0-1 stack anon=3 dirty=3 N1=3 kernelpagesize_kB=4
7ffd10000000 interleave:0-1
";

    #[test]
    fn pages_of_all_sizes() {
        let observed = pages(MAPS);
        assert_eq!(
            observed,
            [
                NodePages { node: 0, kib: 40, file_kib: 24 },
                NodePages { node: 1, kib: 16 + 12 + 4096 + 12, file_kib: 16 + 4096 }
            ]
        );
        assert!(pages("").is_empty());
    }

    #[test]
    fn processors_that_share_a_core() {
        let (_root, tree) = testing::two_sockets();
        assert_eq!(smt(&tree, &[0, 1]), Some(false));
        assert_eq!(smt(&tree, &[0, 1, 64]), Some(true));
        assert_eq!(smt(&testing::empty().1, &[0]), None);
    }

    #[test]
    fn several_processes_together() {
        let one = |cpus: &str, kib| ObservedEnvironment {
            cpus: cpus.to_owned(),
            numa_policy: Some("local".to_owned()),
            numa_pages: vec![NodePages { node: 1, kib, file_kib: 1 }],
            allocator: "libc".to_owned(),
            ..ObservedEnvironment::default()
        };
        let both = together(vec![one("0", 5), one("0", 7)]);
        assert_eq!((both.cpus.as_str(), both.allocator.as_str()), ("0", "libc"));
        assert_eq!(both.numa_policy.as_deref(), Some("local"));
        assert_eq!(both.numa_pages, [NodePages { node: 1, kib: 12, file_kib: 2 }]);
        assert_eq!(together(vec![one("0", 5), one("1", 7)]).cpus, "0 / 1");
        assert_eq!(together(Vec::new()), ObservedEnvironment::default());
    }

    #[test]
    fn this_process() {
        let observed = around_this_process();
        assert!(!observed.cpus.is_empty() && !observed.allocator.is_empty(), "{observed:?}");
        let shows_nodes = Path::new("/proc/self/numa_maps").exists();
        assert_eq!(observed.numa_pages.iter().any(|pages| pages.kib > 0), shows_nodes, "{observed:?}");
    }

    #[test]
    fn the_c_library_has_a_name() {
        assert_eq!(library_name(Path::new("/lib/x86_64-linux-gnu/libc.so.6")), "libc");
        assert_eq!(library_name(Path::new("/lib/ld-musl-x86_64.so.1")), "libc");
        assert_eq!(library_name(Path::new("/usr/lib/libjemalloc.so.2")), "/usr/lib/libjemalloc.so.2");
    }
}
