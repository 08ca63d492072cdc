//! Sources of memory: NUMA nodes and allocators.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{IndexList, KeyValue};

/// The policy for memory on NUMA nodes (`set_mempolicy(2)`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumaPolicy {
    /// The node of the processor that first touches a page.
    Local,
    /// Page by page in turn, from all nodes or from these.
    Interleave(Option<IndexList>),
    /// From these nodes alone.
    Bind(IndexList),
    /// From this node as long as it has any.
    Preferred(u32),
}

/// The allocator behind `malloc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// The C library's.
    Libc,
    /// A library of this name, from the system's folders.
    Named(NamedAllocator),
    /// This library.
    Path(PathBuf),
}

crate::words! {
    /// Allocators that are known by name.
    pub enum NamedAllocator {
        /// `libjemalloc.so.2`
        Jemalloc = "jemalloc",
        /// `libtcmalloc_minimal.so.4`
        Tcmalloc = "tcmalloc",
        /// `libmimalloc.so`
        Mimalloc = "mimalloc",
    }
}

impl KeyValue for NumaPolicy {
    const PLACEHOLDER: &'static str = "POLICY";

    fn describe() -> String {
        "local, interleave, interleave:NODES, bind:NODES or preferred:NODE".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let (policy, nodes) = text.split_once(':').map_or((text, None), |(policy, nodes)| (policy, Some(nodes)));
        let nodes = nodes.map(str::parse::<IndexList>).transpose()?;
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

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^(local|interleave(:[-0-9, ]+)?|bind:[-0-9, ]+|preferred:[0-9]+)$" })
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

crate::read_by_text!(NumaPolicy);
crate::written_as_text!(NumaPolicy);

impl KeyValue for Allocator {
    const PLACEHOLDER: &'static str = "NAME";

    fn describe() -> String {
        "libc, jemalloc, tcmalloc, mimalloc, or a library's path".to_owned()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        match NamedAllocator::ALL.iter().find(|named| named.word() == text) {
            Some(named) => Ok(Allocator::Named(*named)),
            None if text == "libc" => Ok(Allocator::Libc),
            None => Ok(Allocator::Path(text.into())),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "enum": ["libc", "jemalloc", "tcmalloc", "mimalloc"] }, { "type": "string" }] })
    }
}

crate::read_by_text!(Allocator);
crate::written_as_text!(Allocator);

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allocator::Libc => f.pad("libc"),
            Allocator::Named(named) => named.fmt(f),
            Allocator::Path(path) => f.pad(&path.display().to_string()),
        }
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
            assert_eq!(text.parse::<Allocator>().unwrap().to_string(), text);
        }
        assert_eq!("/opt/libx.so".parse(), Ok(Allocator::Path("/opt/libx.so".into())));
    }
}
