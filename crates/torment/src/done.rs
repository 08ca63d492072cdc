//! The parts of a torment that are done: one that was ended goes on with the next part.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kvdyno_results::files;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TormentArguments;

/// The outcomes of the parts so far, kept in a file if there is one.
pub struct PartsDone {
    file: Option<PathBuf>,
    kept: PartsKept,
}

#[derive(Serialize, Deserialize)]
struct PartsKept {
    ordered: Ordered,
    parts: BTreeMap<String, Value>,
}

/// All that decides an outcome: parts of another torment are none of this one.
#[derive(PartialEq, Serialize, Deserialize)]
struct Ordered {
    numbers: [u64; 6],
    /// Size and time (s) of the program, whose parts these are.
    program: (u64, i64),
}

impl Ordered {
    fn of(kvdyno: &Path, arguments: &TormentArguments) -> io::Result<Ordered> {
        let TormentArguments { runs, kills, full, files, folders, seed, .. } = *arguments;
        let facts = fs::metadata(kvdyno)?;
        Ok(Ordered { numbers: [runs, kills, full, files, folders, seed], program: (facts.len(), facts.mtime()) })
    }
}

impl PartsDone {
    /// Those of an earlier start of the same torment; none if it was another one.
    ///
    /// # Errors
    /// If the program or the file cannot be read.
    pub fn of(kvdyno: &Path, arguments: &TormentArguments) -> io::Result<PartsDone> {
        let (ordered, file) = (Ordered::of(kvdyno, arguments)?, arguments.state.clone());
        let before: Option<PartsKept> = match file.as_ref().map(fs::read) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Ok(text)) => serde_json::from_slice(&text).ok(),
            _ => None,
        };
        let before = before.filter(|kept| kept.ordered == ordered);
        Ok(PartsDone { file, kept: before.unwrap_or(PartsKept { ordered, parts: BTreeMap::new() }) })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.kept.parts.len()
    }

    /// The outcome of a part: that of an earlier start, or what `work` gives.
    ///
    /// # Errors
    /// The error of `work`, or of keeping what it gives.
    pub fn part<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        if let Some(kept) = self.kept.parts.get(name) {
            return Ok(T::deserialize(kept)?);
        }
        let outcome = work()?;
        self.kept.parts.insert(name.to_owned(), serde_json::to_value(&outcome)?);
        if let Some(file) = &self.file {
            files::write_json(file, &self.kept)?;
        }
        Ok(outcome)
    }

    /// The torment is over: the next one begins anew.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn forget(self) -> io::Result<()> {
        self.file.filter(|file| file.exists()).map_or(Ok(()), fs::remove_file)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_part_is_done_once_until_another_torment_is_ordered() {
        let folder = tempfile::tempdir().unwrap();
        let (program, state) = (folder.path().join("kvdyno"), folder.path().join("state"));
        fs::write(&program, "1").unwrap();
        let of = |runs: &str| {
            let given = ["torment", "--runs", runs, "--state", state.to_str().unwrap()];
            PartsDone::of(&program, &TormentArguments::parse_from(given)).unwrap()
        };
        let mut first = of("5");
        assert_eq!(first.part("one", || Ok(7)).unwrap(), 7);
        assert!(first.part::<u64>("two", || Err(io::Error::other("ended"))).is_err());
        let mut again = of("5");
        assert_eq!(
            (again.count(), again.part("one", || Ok(8)).unwrap(), again.part("two", || Ok(9)).unwrap()),
            (1, 7, 9)
        );
        assert_eq!((of("5").count(), of("6").count()), (2, 0));
        fs::write(&program, "another").unwrap();
        assert_eq!(of("5").count(), 0);
        fs::write(&program, "1").unwrap();
        let end = of("5");
        end.forget().unwrap();
        assert!(!state.exists());
    }
}
