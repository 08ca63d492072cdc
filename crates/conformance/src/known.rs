//! Known behaviour of others' engines: checks that they fail for a reason of their own, and checks that take long. It
//! is in one list, `engines/known-failures.toml`, with the versions in which it was seen and the reason.

use std::sync::LazyLock;

use kvdyno_model::{EngineName, TimeSpan};
use serde::Deserialize;

/// The whole list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownOfEngines {
    #[serde(default)]
    failure: Vec<KnownFailure>,
    #[serde(default)]
    slow: Vec<SlowCheck>,
}

/// Checks of an engine, with what is known of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownChecks<T> {
    /// Its name, or NAME:PRESET. A name alone is meant with every preset.
    pub engine: String,
    /// The version of the engine that it was seen in, as the engine says it; `7.8.*`: all that begin so.
    pub version: String,
    /// The checks.
    pub checks: Vec<String>,
    /// The behaviour of the engine that makes it so.
    pub reason: String,
    /// Time limit of such a check.
    pub timeout: T,
}

/// Checks that an engine fails, for a reason that no adapter can mend; with a time limit if they fail by never ending.
pub type KnownFailure = KnownChecks<Option<TimeSpan<1>>>;

/// Checks that a sound engine passes, though not in the time that others need; with the least time limit.
pub type SlowCheck = KnownChecks<TimeSpan<1>>;

impl KnownOfEngines {
    /// The list that comes with this program.
    ///
    /// # Errors
    /// If it is no such list.
    pub fn list() -> Result<&'static KnownOfEngines, &'static toml::de::Error> {
        static LIST: LazyLock<Result<KnownOfEngines, toml::de::Error>> =
            LazyLock::new(|| toml::from_str(include_str!("../../../engines/known-failures.toml")));
        LIST.as_ref()
    }

    /// Why this engine, named as a user names it, fails a check in this version; absent if that is not known. Adapters
    /// that are given by path have no known failures.
    pub fn failure(&self, engine: &EngineName, version: &str, check: &str) -> Option<&KnownFailure> {
        self.failure.iter().find(|entry| entry.is_about(engine, version, check))
    }

    /// The reason why a check is slow in this engine.
    pub fn slow(&self, engine: &EngineName, version: &str, check: &str) -> Option<&SlowCheck> {
        self.slow.iter().find(|entry| entry.is_about(engine, version, check))
    }
}

impl<T> KnownChecks<T> {
    fn is_about(&self, engine: &EngineName, version: &str, check: &str) -> bool {
        let (name, preset) = self.engine.split_once(':').map_or((&*self.engine, None), |(name, of)| (name, Some(of)));
        let preset_fits = preset.is_none_or(|preset| engine.preset.as_deref() == Some(preset));
        let version_fits = match self.version.strip_suffix('*') {
            Some(beginning) => version.starts_with(beginning),
            None => version == self.version,
        };
        name == engine.adapter && preset_fits && version_fits && self.checks.iter().any(|name| name == check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::checks;

    fn list(text: &str) -> KnownOfEngines {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn an_entry_is_about_its_engine_its_preset_its_versions_and_its_checks_and_nothing_else() {
        let list = list(
            "[[failure]]\nengine = 'rocks'\nversion = '7.8.*'\nchecks = ['miss', 'delete']\nreason = 'of its own'\n\
             [[failure]]\nengine = 'tiger:lsm'\nversion = '3.2.1'\nchecks = ['miss']\nreason = 'of a tree'\n\
             [[slow]]\nengine = 'rocks'\nversion = '*'\nchecks = ['create']\nreason = 'waits'\ntimeout = '10m'\n",
        );
        let reason = |engine, version, check| {
            list.failure(&EngineName::parse(engine), version, check).map(|entry| entry.reason.as_str())
        };
        assert_eq!(reason("rocks", "7.8.3", "delete"), Some("of its own"));
        assert_eq!(reason("rocks:pfx", "7.8.3", "miss"), Some("of its own"));
        assert_eq!(reason("rocks@7.8.3", "7.8.3", "miss"), Some("of its own"));
        assert_eq!(reason("rocks", "7.9.0", "delete"), None, "another version");
        assert_eq!(reason("rocks", "7.8.3", "create"), None, "another check");
        assert_eq!(reason("./rocks", "7.8.3", "miss"), None, "a path");
        assert_eq!(reason("tiger:lsm", "3.2.1", "miss"), Some("of a tree"));
        assert_eq!(reason("tiger:btree", "3.2.1", "miss"), None, "another preset");
        assert_eq!(reason("tiger", "3.2.1", "miss"), None, "no preset");
        assert_eq!(reason("tiger:lsm", "3.2.10", "miss"), None, "a version that begins so");
        let slow = |check| list.slow(&EngineName::parse("rocks"), "1", check).map(|entry| entry.timeout.0.as_secs());
        assert_eq!((slow("create"), slow("miss")), (Some(600), None));
    }

    #[test]
    fn the_list_is_about_checks_that_there_are_and_gives_reasons() {
        let list = KnownOfEngines::list().unwrap();
        let failures = list.failure.iter().map(|entry| (&entry.engine, &entry.version, &entry.checks, &entry.reason));
        let slow = list.slow.iter().map(|entry| (&entry.engine, &entry.version, &entry.checks, &entry.reason));
        let mut seen = std::collections::HashSet::new();
        for (engine, version, names, reason) in failures.chain(slow) {
            assert!(!names.is_empty() && !version.is_empty() && reason.len() > 20, "{engine} {version}: {reason}");
            for name in names {
                assert!(checks().iter().any(|check| check.name == name), "{engine}: there is no check `{name}`");
                assert!(seen.insert((engine, version, name)), "{engine} {version}: `{name}` is there twice");
            }
        }
    }

    /// Known failures of others' engines are reported; a failure of an engine of ours is a defect and is fixed.
    #[test]
    fn no_engine_of_ours_is_excused() {
        let list = KnownOfEngines::list().unwrap();
        for entry in &list.failure {
            let name = entry.engine.split(':').next().unwrap_or_default();
            let ours = ["null", "skeleton", "faulty", "synthetic", "slow"];
            assert!(!ours.contains(&name), "{name}");
        }
    }
}
