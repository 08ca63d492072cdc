//! The kernel's files, read from `/`, or from a folder that looks like it in tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kvdyno_model::IndexList;

/// The folders that contain `proc`, `sys` and `etc`. Missing or unreadable files are `None`: containers show a part of
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Tree(PathBuf);

impl Tree {
    /// The machine's own.
    pub(crate) fn live() -> Self {
        Self(PathBuf::from("/"))
    }

    /// A folder that looks like it.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self(root.to_owned())
    }

    /// The path of a file; `path` is relative: `proc/stat`.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }

    /// A file's text without the white space at its end, if that is not empty.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        // Device-tree files end with a NUL.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\n', ' ', '\0']);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file that holds one value.
    pub(crate) fn value<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.trim().parse().ok()
    }

    /// The numbers N of the entries `prefixN` in a folder, in order.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut numbers: Vec<u32> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The numbers in a kernel's list: `0-3,8,10-11`. `None` for what is no such list.
pub(crate) fn number_list(text: &str) -> Option<Vec<u32>> {
    match text.trim() {
        "" => Some(Vec::new()),
        list => list.parse::<IndexList>().ok().map(|list| list.as_slice().to_vec()),
    }
}

/// The value of the first line `key: value`, as `/proc/cpuinfo` and `/proc/meminfo` write them.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    fields(text, key).next()
}

/// The values of all lines `key: value`.
pub(crate) fn fields<'a>(text: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == key).then(|| value.trim())
    })
}

/// The chosen word of a kernel's switch, in brackets among the others: `madvise` of `always [madvise] never`; of a
/// switch of one word that.
pub(crate) fn chosen(words: &str) -> &str {
    let inside = words.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(words.trim(), |(word, _)| word)
}

/// `16384 kB`.
pub(crate) fn kilobytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers() {
        assert_eq!(number_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(number_list("\n"), Some(vec![]));
        assert_eq!(number_list("0-x"), None);
    }

    #[test]
    fn fields_of_text() {
        let text = "MemTotal:  24731708 kB\nMemFree:  1 kB\n";
        assert_eq!(field(text, "MemTotal").and_then(kilobytes), Some(24731708));
        assert_eq!(field(text, "Mem"), None);
    }
}
