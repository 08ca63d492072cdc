//! `[environment]` on the command line.

use clap::Args;
use kvdyno_environment::requested::{Allocator, CacheState, Cpus, NumaPolicy, Numbers, Smt, Storage};
use kvdyno_experiment::{Bytes, EnvironmentSection};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, IntoDeserializer};
use toml::Spanned;

#[derive(Debug, Args)]
#[command(next_help_heading = "The environment [default: as it is]")]
pub struct EnvironmentOptions {
    /// CPUs that trials may use: how many, or which, such as 0-3,8; the one CPU 5 is 5-5
    #[arg(long, value_name = "CPUS")]
    pub cpus: Option<Cpus>,
    /// off: one hardware thread of each core; on: all of them
    #[arg(long, value_parser = word::<Smt>, value_name = "on|off")]
    pub smt: Option<Smt>,
    /// Where memory comes from: local, interleave, interleave:NODES, bind:NODES, preferred:NODE
    #[arg(long, value_name = "POLICY")]
    pub numa: Option<NumaPolicy>,
    /// Only CPUs of these NUMA nodes: 0,2
    #[arg(long, value_name = "NODES")]
    pub numa_cpus: Option<Numbers>,
    /// The most memory that a trial may have, page cache included
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// What malloc is: libc, jemalloc, tcmalloc, mimalloc, or the path of a library
    #[arg(long, value_name = "NAME")]
    pub allocator: Option<Allocator>,
    /// What of a database is in the page cache when a run begins: warm or dropped
    #[arg(long, value_parser = word::<CacheState>, value_name = "STATE")]
    pub cache_state: Option<CacheState>,
    /// What databases lie on: folder, ext4, ext4-nojournal, xfs, btrfs or raw, made anew for each load
    #[arg(long, value_parser = word::<Storage>, value_name = "KIND")]
    pub storage: Option<Storage>,
    /// The size of the file below such a filesystem [default: as the data need]
    #[arg(long, value_name = "SIZE", requires = "storage")]
    pub storage_size: Option<Bytes>,
}

impl EnvironmentOptions {
    /// The section of the file.
    pub fn section(&self) -> EnvironmentSection {
        fn placed<T: Clone>(value: &Option<T>) -> Option<Spanned<T>> {
            value.clone().map(|value| Spanned::new(0..0, value))
        }
        EnvironmentSection {
            cpus: placed(&self.cpus),
            smt: placed(&self.smt),
            numa: placed(&self.numa),
            numa_cpus: placed(&self.numa_cpus),
            memory: placed(&self.memory),
            allocator: placed(&self.allocator),
            cache_state: placed(&self.cache_state),
            storage: placed(&self.storage),
            storage_size: placed(&self.storage_size),
            ..EnvironmentSection::default()
        }
    }
}

/// A word of experiment files.
fn word<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    let text: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_file() {
        assert_eq!(word("ext4-nojournal"), Ok(Storage::Ext4NoJournal));
        let error = word::<Smt>("of").unwrap_err();
        assert!(error.contains("`on` or `off`"), "{error}");
    }
}
