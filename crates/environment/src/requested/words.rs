//! The parts of a environment that are chosen by a word.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Numbers;

/// Simultaneous multithreading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Smt {
    /// Every hardware thread of a core that is used.
    On,
    /// One hardware thread of each core.
    Off,
}

/// Where memory comes from (`set_mempolicy(2)`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NumaPolicy {
    /// The node of the processor that first touches a page.
    Local,
    /// Page by page in turn, from all nodes or from these.
    Interleave(Option<Numbers>),
    /// From these nodes alone.
    Bind(Numbers),
    /// From this node as long as it has any.
    Preferred(u32),
}

/// What gives memory for `malloc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Allocator {
    /// The C library's.
    Libc,
    /// A library of this name, from the system's folders.
    Named(NamedAllocator),
    /// This library.
    Path(PathBuf),
}

/// Allocators that are known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedAllocator {
    /// `libjemalloc.so.2`
    Jemalloc,
    /// `libtcmalloc_minimal.so.4`
    Tcmalloc,
    /// `libmimalloc.so`
    Mimalloc,
}

/// What of the database is in the page cache when a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// Whatever the trial before it left.
    #[default]
    Warm,
    /// Nothing.
    Dropped,
}

/// What a database lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// A folder of the filesystem that is there.
    #[default]
    Folder,
    /// A new ext4.
    Ext4,
    /// A new ext4 without a journal.
    #[serde(rename = "ext4-nojournal")]
    Ext4NoJournal,
    /// A new XFS.
    Xfs,
    /// A new btrfs.
    Btrfs,
    /// The block device itself, for engines that can.
    Raw,
}

impl FromStr for NumaPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (policy, nodes) = text.split_once(':').map_or((text, None), |(policy, nodes)| (policy, Some(nodes)));
        let nodes = nodes.map(str::parse::<Numbers>).transpose()?;
        match (policy, nodes) {
            ("local", None) => Ok(NumaPolicy::Local),
            ("interleave", nodes) => Ok(NumaPolicy::Interleave(nodes)),
            ("bind", Some(nodes)) => Ok(NumaPolicy::Bind(nodes)),
            ("preferred", Some(nodes)) if nodes.as_slice().len() == 1 => Ok(NumaPolicy::Preferred(nodes.as_slice()[0])),
            _ => Err(format!(
                "`{text}` is no policy; it can be local, interleave, interleave:NODES, bind:NODES or preferred:NODE, \
                 with NODES such as 0-3"
            )),
        }
    }
}

impl fmt::Display for NumaPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumaPolicy::Local => f.pad("local"),
            NumaPolicy::Interleave(None) => f.pad("interleave"),
            NumaPolicy::Interleave(Some(nodes)) => f.pad(&format!("interleave:{nodes}")),
            NumaPolicy::Bind(nodes) => f.pad(&format!("bind:{nodes}")),
            NumaPolicy::Preferred(node) => f.pad(&format!("preferred:{node}")),
        }
    }
}

impl TryFrom<String> for NumaPolicy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<NumaPolicy> for String {
    fn from(policy: NumaPolicy) -> String {
        policy.to_string()
    }
}

const NAMED: [(&str, NamedAllocator); 3] = [
    ("jemalloc", NamedAllocator::Jemalloc),
    ("tcmalloc", NamedAllocator::Tcmalloc),
    ("mimalloc", NamedAllocator::Mimalloc),
];

impl From<String> for Allocator {
    fn from(text: String) -> Allocator {
        match NAMED.iter().find(|(name, _)| *name == text) {
            Some((_, named)) => Allocator::Named(*named),
            None if text == "libc" => Allocator::Libc,
            None => Allocator::Path(text.into()),
        }
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allocator::Libc => f.pad("libc"),
            Allocator::Named(named) => {
                f.pad(NAMED.iter().find(|(_, other)| other == named).map_or("", |(name, _)| name))
            }
            Allocator::Path(path) => f.pad(&path.display().to_string()),
        }
    }
}

impl From<Allocator> for String {
    fn from(allocator: Allocator) -> String {
        allocator.to_string()
    }
}

impl Storage {
    /// Whether a filesystem or a device is made ready for the experiment, and erased.
    pub fn is_made(self) -> bool {
        self != Storage::Folder
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Storage::Folder => "folder",
            Storage::Ext4 => "ext4",
            Storage::Ext4NoJournal => "ext4-nojournal",
            Storage::Xfs => "xfs",
            Storage::Btrfs => "btrfs",
            Storage::Raw => "raw",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_read_and_write() {
        for text in ["local", "interleave", "interleave:0-1,3", "bind:2", "preferred:1"] {
            assert_eq!(text.parse::<NumaPolicy>().unwrap().to_string(), text);
        }
        for text in ["", "bind", "preferred:0,1", "local:1", "interleave:", "everywhere"] {
            assert!(text.parse::<NumaPolicy>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_allocator_that_is_not_known_by_name_is_a_path() {
        for text in ["libc", "jemalloc", "tcmalloc", "mimalloc", "/opt/libx.so"] {
            assert_eq!(Allocator::from(text.to_owned()).to_string(), text);
        }
        assert_eq!(Allocator::from("/opt/libx.so".to_owned()), Allocator::Path("/opt/libx.so".into()));
    }
}
