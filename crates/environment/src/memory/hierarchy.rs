//! Finds the control groups below which groups can be made.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use procfs::process::Process;
use rustix::fs::{Access, access};

use super::{CgroupVersion, ControlGroup, MemoryGroup};
use crate::ownership::Register;
use crate::requested::{EnvironmentKey, Refusal};

/// The advice where a scope cannot be had just now.
const SCOPE: &str = "systemd-run --user --scope -p Delegate=yes kvdyno …";

/// The place in which this process can make groups that limit memory.
#[derive(Clone, Debug)]
pub struct MemoryControl {
    version: CgroupVersion,
    /// The group in which others are made.
    parent: PathBuf,
    /// This process must leave `parent` for a group below it first: in version 2 a group has processes or groups with
    /// controllers, not both.
    leave: bool,
}

/// A mounted hierarchy, and this process's group in it.
#[derive(Clone, Debug)]
struct Hierarchy {
    point: PathBuf,
    own: PathBuf,
}

impl MemoryControl {
    /// Finds the group in which others can be made, without changing anything.
    ///
    /// # Errors
    /// If there is none for this user; it says what would be right.
    pub fn find() -> Result<MemoryControl, Refusal> {
        find().map_err(|no_limit| no_limit.refusal)
    }

    /// Makes the group of a trial, limited to `limit` bytes.
    ///
    /// # Errors
    /// If it cannot be made or limited; then it is not there.
    pub fn group(&self, register: &Register, number: u32, limit: u64) -> io::Result<MemoryGroup> {
        if self.leave {
            self.leave_parent(register)?;
        }
        MemoryGroup::make(self.version, register, &self.parent.join(register.name(number)), limit)
    }

    /// Moves this process into the group of number 0, and lets the parent's groups limit memory.
    fn leave_parent(&self, register: &Register) -> io::Result<()> {
        let own = self.parent.join(register.name(0));
        if !own.is_dir() {
            register.make_group(&own)?;
            fs::write(own.join("cgroup.procs"), "0")?;
        }
        fs::write(self.parent.join("cgroup.subtree_control"), "+memory")
    }
}

impl fmt::Display for MemoryControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.version {
            CgroupVersion::One => "control groups, version 1",
            CgroupVersion::Two => "control groups, version 2",
        })
    }
}

impl ControlGroup {
    /// A group without limits, for the trial of this number. It is of version 2 if that is mounted, with or without
    /// controllers; else of version 1, where its CPU time is counted if it can be.
    ///
    /// # Errors
    /// Why none can be made here.
    pub fn of_trial(register: &Register, number: u32) -> io::Result<ControlGroup> {
        let mut refusal = io::Error::new(io::ErrorKind::NotFound, "no control groups are mounted");
        for Hierarchy { own, .. } in hierarchies() {
            match ControlGroup::make(register, &own.join(register.name(number))) {
                Ok(group) => return Ok(group),
                Err(cause) => refusal = cause,
            }
        }
        Err(refusal)
    }
}

/// Why no group can be made.
#[derive(Debug)]
struct NoLimit {
    refusal: Refusal,
    /// In a scope of systemd's it could.
    scope_helps: bool,
}

fn refused(why: String) -> NoLimit {
    let refusal = Refusal::new(EnvironmentKey::Memory, format!("memory cannot be limited here: {why}"));
    NoLimit { refusal, scope_helps: false }
}

/// Whether this process cannot limit memory, but could in a systemd scope.
pub(super) fn scope_helps() -> bool {
    find().is_err_and(|no_limit| no_limit.scope_helps)
}

fn find() -> Result<MemoryControl, NoLimit> {
    match (hierarchy(CgroupVersion::Two), hierarchy(CgroupVersion::One)) {
        (Some(two), _) if has(&two.point.join("cgroup.controllers"), "memory") => in_version_2(&two),
        (_, Some(one)) => in_version_1(&one),
        (Some(two), None) => Err(refused(format!(
            "the kernel's memory controller is not enabled ({} does not name it)",
            two.point.join("cgroup.controllers").display()
        ))),
        (None, None) => Err(refused("no control groups are mounted; /sys/fs/cgroup is where they should be".into())),
    }
}

fn in_version_1(hierarchy: &Hierarchy) -> Result<MemoryControl, NoLimit> {
    match may_write(&hierarchy.own) {
        true => Ok(MemoryControl { version: CgroupVersion::One, parent: hierarchy.own.clone(), leave: false }),
        false => Err(refused(format!("this user may make no group in {}; run it as root", hierarchy.own.display()))),
    }
}

/// Beside this process's group, where the group above hands the controller down; in it, where the user has it alone.
fn in_version_2(hierarchy: &Hierarchy) -> Result<MemoryControl, NoLimit> {
    let control =
        |parent: &Path, leave| Ok(MemoryControl { version: CgroupVersion::Two, parent: parent.to_owned(), leave });
    let is_top = hierarchy.own == hierarchy.point;
    let above = if is_top { Some(hierarchy.own.as_path()) } else { hierarchy.own.parent() };
    if let Some(above) = above
        && has(&above.join("cgroup.subtree_control"), "memory")
        && may_write(above)
        && may_write(&above.join("cgroup.procs"))
    {
        return control(above, false);
    }
    let own = &hierarchy.own;
    let alone = fs::read_to_string(own.join("cgroup.procs"))
        .is_ok_and(|text| text.split_whitespace().all(|pid| pid.parse() == Ok(std::process::id())));
    if has(&own.join("cgroup.controllers"), "memory") && may_write(own) && may_write(&own.join("cgroup.procs")) && alone
    {
        return control(own, true);
    }
    let own = own.display();
    Err(match above {
        Some(above) if may_write(&above.join("cgroup.subtree_control")) => refused(format!(
            "{0} does not hand the memory controller down; write +memory to {0}/cgroup.subtree_control",
            above.display()
        )),
        _ => {
            let why = format!("this user may make no group beside or in {own}; run it as root, or as `{SCOPE}`");
            NoLimit { scope_helps: true, ..refused(why) }
        }
    })
}

fn may_write(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// Whether a file of words contains this one.
fn has(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|other| other == word))
}

/// The mounted hierarchy of a version that could have the memory controller.
fn hierarchy(version: CgroupVersion) -> Option<Hierarchy> {
    match version {
        CgroupVersion::One => version_1("memory"),
        CgroupVersion::Two => mounted(|kind, _| kind == "cgroup2", |hierarchy, _| hierarchy == 0),
    }
}

/// The mounted hierarchy of version 1 that has a controller.
fn version_1(controller: &str) -> Option<Hierarchy> {
    mounted(
        |kind, has_option| kind == "cgroup" && has_option(controller),
        |_, controllers| controllers.iter().any(|own| own == controller),
    )
}

/// The first mount that `is_mount` accepts by its filesystem and options, with the group of this process that
/// `is_group` accepts by its hierarchy and controllers.
fn mounted(
    is_mount: impl Fn(&str, &dyn Fn(&str) -> bool) -> bool,
    is_group: impl Fn(u32, &[String]) -> bool,
) -> Option<Hierarchy> {
    let process = Process::myself().ok()?;
    let mut mounts = process.mountinfo().ok()?.into_iter();
    let mount = mounts.find(|mount| is_mount(&mount.fs_type, &|option| mount.super_options.contains_key(option)))?;
    let mut groups = process.cgroups().ok()?.into_iter();
    let group = groups.find(|group| is_group(group.hierarchy, &group.controllers))?;
    Some(Hierarchy { own: own(&mount.mount_point, &mount.root, &group.pathname), point: mount.mount_point })
}

/// The mounted hierarchies in which groups without limits are made: the first that lets one is taken.
fn hierarchies() -> impl Iterator<Item = Hierarchy> {
    let version_1 = ["cpuacct", "memory"].into_iter().filter_map(version_1);
    hierarchy(CgroupVersion::Two).into_iter().chain(version_1)
}

/// The path of a process's group below a mount that shows the hierarchy from `root` on. In a container that mounts less
/// than it names, it is the mount itself.
fn own(point: &Path, root: &str, group: &str) -> PathBuf {
    let below = Path::new(group).strip_prefix(root).or_else(|_| Path::new(group).strip_prefix("/"));
    let own = below.map_or_else(|_| point.to_owned(), |below| point.join(below));
    if own.is_dir() { own.components().collect() } else { point.to_owned() }
}

/// The mount points of the hierarchies that could have groups of ours.
pub(super) fn points() -> Vec<PathBuf> {
    let mut points: Vec<PathBuf> = hierarchies().map(|hierarchy| hierarchy.point).collect();
    // Controllers of version 1 may be mounted together.
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn hierarchy(root: &tempfile::TempDir, own: &str) -> Hierarchy {
        Hierarchy { point: root.path().to_owned(), own: own_in(root, own) }
    }

    fn own_in(root: &tempfile::TempDir, group: &str) -> PathBuf {
        own(root.path(), "/", group)
    }

    #[test]
    fn beside_ones_own_group_where_the_one_above_hands_the_controller_down() {
        let root = tree(&[
            ("user/cgroup.subtree_control", "cpu memory\n"),
            ("user/cgroup.procs", ""),
            ("user/session/cgroup.procs", "1\n2\n"),
        ]);
        let control = in_version_2(&hierarchy(&root, "/user/session")).unwrap();
        assert_eq!((control.parent, control.leave), (root.path().join("user"), false));
    }

    #[test]
    fn in_ones_own_group_where_nobody_else_is_in_it() {
        let alone = format!("{}\n", std::process::id());
        let root = tree(&[("scope/cgroup.controllers", "memory"), ("scope/cgroup.procs", &alone)]);
        let control = in_version_2(&hierarchy(&root, "/scope")).unwrap();
        assert_eq!((control.parent, control.leave), (root.path().join("scope"), true));
    }

    #[test]
    fn else_it_says_what_would_be_right() {
        let root = tree(&[("scope/cgroup.controllers", "memory"), ("scope/cgroup.procs", "1\n2\n")]);
        let NoLimit { refusal, scope_helps } = in_version_2(&hierarchy(&root, "/scope")).unwrap_err();
        assert!(scope_helps && refusal.key == EnvironmentKey::Memory);
        assert!(refusal.message.contains("systemd-run --user --scope"), "{refusal}");
    }

    #[test]
    fn a_mount_may_show_a_part_of_the_hierarchy() {
        let root = tree(&[("lab/cgroup.procs", "")]);
        assert_eq!(own(root.path(), "/docker/1", "/docker/1/lab"), root.path().join("lab"));
        assert_eq!(own(root.path(), "/", "/not/here"), root.path());
        assert_eq!(own(root.path(), "/", "/"), root.path());
    }
}
