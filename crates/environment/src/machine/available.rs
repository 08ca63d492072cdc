//! Memory that can still be had.

use crate::tree::{Tree, field, kilobytes};

/// KiB that are available, by the kernel and by the limits of the control groups that this process is in.
pub(super) fn kib(tree: &Tree) -> Option<u64> {
    let text = tree.text("proc/meminfo")?;
    let free = kilobytes(field(&text, "MemAvailable").or_else(|| field(&text, "MemTotal"))?)?;
    Some(limits(tree).fold(free, u64::min))
}

/// The room that each group has, KiB. In a container its own group is the root of what is seen.
fn limits(tree: &Tree) -> impl Iterator<Item = u64> {
    let groups = tree.text("proc/self/cgroup").unwrap_or_default();
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, limit, used) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
            all if all.split(',').any(|one| one == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => return None,
        };
        let folders = std::path::Path::new(path.trim_start_matches('/')).ancestors();
        let of = |folder: &std::path::Path| {
            let number = |name: &str| tree.text(format!("{root}/{}/{name}", folder.display()))?.parse::<u64>().ok();
            // A group without a limit says `max`, or a number that is larger than any memory.
            let left = number(limit)?.saturating_sub(number(used)?.saturating_sub(cached(tree, root, folder)));
            Some(left >> 10)
        };
        Some(folders.filter_map(of).collect::<Vec<u64>>())
    };
    groups.lines().filter_map(of_line).flatten().collect::<Vec<_>>().into_iter()
}

/// Bytes of a group that its limit would take from the page cache first.
fn cached(tree: &Tree, root: &str, folder: &std::path::Path) -> u64 {
    let text = tree.text(format!("{root}/{}/memory.stat", folder.display())).unwrap_or_default();
    let value = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        (matches!(name, "inactive_file" | "active_file")).then(|| value.parse::<u64>().ok()).flatten()
    };
    text.lines().filter_map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::testing::{empty, write};

    #[test]
    fn what_is_available_is_less_than_what_there_is() {
        let (root, tree) = empty();
        assert_eq!(kib(&tree), None);
        write(root.path(), "proc/meminfo", "MemTotal: 8000000 kB\n");
        assert_eq!(kib(&tree), Some(8_000_000), "kernels before 3.14 say no more");
        write(root.path(), "proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 5000000 kB\n");
        assert_eq!(kib(&tree), Some(5_000_000));
    }

    #[test]
    fn a_container_has_no_more_than_its_limit() {
        let (root, tree) = empty();
        let put = |path: &str, text: &str| write(root.path(), path, text);
        put("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 5000000 kB\n");
        put("proc/self/cgroup", "0::/a/b\n");
        put("sys/fs/cgroup/a/b/memory.max", "max\n");
        put("sys/fs/cgroup/a/b/memory.current", "1\n");
        assert_eq!(kib(&tree), Some(5_000_000));
        put("sys/fs/cgroup/a/memory.max", "2147483648\n");
        put("sys/fs/cgroup/a/memory.current", "1073741824\n");
        assert_eq!(kib(&tree), Some(1 << 20));
        // The page cache makes room.
        put("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 536870912\nactive_file 0\n");
        assert_eq!(kib(&tree), Some(3 << 19));
        put("proc/self/cgroup", "0::/\n");
        put("sys/fs/cgroup/memory.max", "1048576\n");
        put("sys/fs/cgroup/memory.current", "0\n");
        assert_eq!(kib(&tree), Some(1024));
    }

    #[test]
    fn version_1_of_control_groups() {
        let (root, tree) = empty();
        let put = |path: &str, text: &str| write(root.path(), path, text);
        put("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 5000000 kB\n");
        put("proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/x\n");
        put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4194304\n");
        put("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1048576\n");
        put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n");
        assert_eq!(kib(&tree), Some(3072));
    }
}
