//! Loop devices and mounts that a test makes, and those that there are of its lab.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::Lab;

impl Lab {
    /// Mounts and loop devices that have to do with this lab.
    pub fn mounts_and_loops(&self) -> Vec<String> {
        let home = self.path("").canonicalize().unwrap();
        let home = home.to_string_lossy().into_owned();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut leftovers: Vec<String> =
            mounts.lines().filter(|line| line.contains(&home)).map(str::to_owned).collect();
        for entry in fs::read_dir("/sys/block").unwrap().flatten() {
            let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
            if file.contains(&home) {
                leftovers.push(format!("{} {file}", entry.path().display()));
            }
        }
        leftovers
    }

    /// Nothing of this lab is mounted or a device.
    #[track_caller]
    pub fn has_given_back(&self) -> &Self {
        assert_eq!(self.mounts_and_loops(), Vec::<String>::new());
        self
    }
}

/// A file as a block device, for as long as this lives.
pub struct LoopDevice {
    path: PathBuf,
    file: PathBuf,
}

impl LoopDevice {
    /// Over a new sparse file of a lab.
    pub fn new(lab: &Lab, name: &str, megabytes: u64) -> LoopDevice {
        let file = lab.path("").canonicalize().unwrap().join(name);
        fs::File::create(&file).unwrap().set_len(megabytes << 20).unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().unwrap();
        let advice = "these tests make loop devices: run them as root (in a container with SYS_ADMIN)";
        assert!(made.status.success(), "{advice}: {}", String::from_utf8_lossy(&made.stderr));
        LoopDevice { path: String::from_utf8(made.stdout).unwrap().trim().into(), file }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// With a new ext4 on it.
    pub fn formatted(self) -> LoopDevice {
        let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&self.path).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self
    }

    /// Whether it still stands for our file.
    pub fn is_bound(&self) -> bool {
        let Some(name) = self.path.file_name() else { return false };
        let bound = fs::read_to_string(Path::new("/sys/block").join(name).join("loop/backing_file"));
        bound.is_ok_and(|file| Path::new(file.trim()) == self.file)
    }

    /// Its first bytes.
    pub fn head(&self) -> Vec<u8> {
        use std::io::Read;
        let mut head = vec![0; 1 << 16];
        fs::File::open(&self.path).unwrap().read_exact(&mut head).unwrap();
        head
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let given_back = Command::new("losetup").arg("--detach").arg(&self.path).status();
        // The kernel lets it go when nobody has it open any more: `losetup --find` of another test may, for a moment.
        let patience = Instant::now() + Duration::from_secs(10);
        while self.is_bound() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        if !std::thread::panicking() {
            assert!(given_back.unwrap().success() && !self.is_bound(), "{} stays", self.path.display());
        }
    }
}
