//! A filesystem that is soon full.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::Lab;
use super::rights::may_mount;

/// 128 MiB of memory as a filesystem, in a folder of a lab, for as long as this lives.
pub struct SmallFilesystem {
    lab: Lab,
    name: &'static str,
}

impl SmallFilesystem {
    /// `None` where tests may not mount.
    pub fn mount(lab: &Lab, name: &'static str) -> Option<SmallFilesystem> {
        if !may_mount() {
            return None;
        }
        fs::create_dir(lab.path(name)).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=128m", "none"]).arg(lab.path(name)).output();
        let advice =
            "these tests fill a filesystem and must mount one: run them as root (in a container with SYS_ADMIN)";
        let mounted = mounted.expect(advice);
        assert!(mounted.status.success(), "{advice}: {}", String::from_utf8_lossy(&mounted.stderr));
        Some(SmallFilesystem { lab: lab.clone(), name })
    }

    #[track_caller]
    pub fn is_empty(&self) {
        let left: Vec<_> =
            fs::read_dir(self.lab.path(self.name)).unwrap().flatten().map(|entry| entry.path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new());
    }
}

impl Drop for SmallFilesystem {
    fn drop(&mut self) {
        let folder = self.lab.path(self.name);
        let unmounted = Command::new("umount").arg("--lazy").arg(&folder).status();
        if !std::thread::panicking() {
            assert!(unmounted.unwrap().success(), "{} stays mounted", folder.display());
        }
    }
}
