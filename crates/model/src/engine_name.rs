//! The name of an engine as a user writes it.

use std::fmt;
use std::path::Path;

/// An engine's options as a user wrote them: name and text, in order; a later one replaces an earlier one of the same
/// name.
pub type OptionText = (String, String);

/// A user's name for an engine: `lmdb`, `wiredtiger:lsm`, `rocksdb@8.5.4:pfx`, `lmdb@/old/liblmdb.so`, `./libmine.so`,
/// `./libmine.so:fast`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineName {
    /// Name or path.
    pub adapter: String,
    /// One of the versions that were installed, or the path of the library that the adapter loads.
    pub version: Option<String>,
    /// A preset of the adapter's.
    pub preset: Option<String>,
}

impl EngineName {
    /// Splits what a user wrote.
    pub fn parse(text: &str) -> EngineName {
        let (adapter, preset) = match text.rsplit_once(':') {
            Some((adapter, preset)) if !preset.contains('/') => (adapter, Some(preset.to_owned())),
            _ => (text, None),
        };
        let (adapter, version) = match split_version(adapter) {
            Some((name, version)) => (name, Some(version.to_owned())),
            None => (adapter, None),
        };
        EngineName { adapter: adapter.to_owned(), version, preset }
    }

    /// The library that it names by its path, in the place of a version.
    pub fn library(&self) -> Option<&Path> {
        self.version.as_deref().filter(|version| is_path(version)).map(Path::new)
    }

    /// The same with paths that begin at `base`.
    #[must_use]
    pub fn below(&self, base: &Path) -> EngineName {
        let absolute = |text: &String| match is_path(text) {
            true => base.join(text).to_string_lossy().into_owned(),
            false => text.clone(),
        };
        EngineName {
            adapter: absolute(&self.adapter),
            version: self.version.as_ref().map(absolute),
            preset: self.preset.clone(),
        }
    }

    /// Whether it is the path of an adapter.
    pub fn is_path(&self) -> bool {
        is_path(&self.adapter)
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.adapter)?;
        self.version.as_ref().map_or(Ok(()), |version| write!(f, "@{version}"))?;
        self.preset.as_ref().map_or(Ok(()), |preset| write!(f, ":{preset}"))
    }
}

/// Name and version. In a path `@` is a letter like others, but behind an adapter's file begins its library.
fn split_version(adapter: &str) -> Option<(&str, &str)> {
    let at = adapter.find('@').filter(|at| !is_path(&adapter[..*at]));
    let at = at.or_else(|| adapter.find(".so@").map(|end| end + ".so".len()))?;
    Some((&adapter[..at], &adapter[at + 1..]))
}

/// `liblmdb.so.0` is one as `./liblmdb.so.0`.
fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".so")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<String>, Option<String>) {
        let name = EngineName::parse(text);
        (name.adapter, name.version, name.preset)
    }

    #[test]
    fn a_name_may_have_a_version_and_a_preset_and_may_be_a_path() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("lmdb"), ("lmdb".into(), None, None));
        assert_eq!(parsed("wiredtiger:lsm"), ("wiredtiger".into(), None, some("lsm")));
        assert_eq!(parsed("rocksdb@8.5.4"), ("rocksdb".into(), some("8.5.4"), None));
        assert_eq!(parsed("rocksdb@8.5.4:pfx"), ("rocksdb".into(), some("8.5.4"), some("pfx")));
        assert_eq!(parsed("./libmine.so"), ("./libmine.so".into(), None, None));
        assert_eq!(parsed("./a@1/b:c/libmine.so"), ("./a@1/b:c/libmine.so".into(), None, None));
        assert_eq!(parsed("./libmine.so:fast"), ("./libmine.so".into(), None, some("fast")));
    }

    #[test]
    fn a_version_may_be_a_path() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("lmdb@/old/liblmdb.so"), ("lmdb".into(), some("/old/liblmdb.so"), None));
        assert_eq!(parsed("rocksdb@./a@1/lib.so.8:pfx"), ("rocksdb".into(), some("./a@1/lib.so.8"), some("pfx")));
        assert_eq!(parsed("./libmine.so@old.so"), ("./libmine.so".into(), some("old.so"), None));
        let name = EngineName::parse("./libmine.so@old.so:fast").below(Path::new("/base"));
        assert_eq!(name.to_string(), "/base/./libmine.so@/base/old.so:fast");
        assert_eq!(EngineName::parse("rocksdb@8.5.4").below(Path::new("/base")).to_string(), "rocksdb@8.5.4");
        assert_eq!(EngineName::parse("lmdb@0.9.90").library(), None);
    }
}
