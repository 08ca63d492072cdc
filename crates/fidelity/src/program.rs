//! The program that is tried: the commit that it was built from, and a name of its sources that tells it from others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use kvdyno_model::fnv1a;
use serde_json::Value;

/// The program and what it is of.
#[derive(Clone, Debug)]
pub struct TriedProgram {
    /// Its file.
    pub path: PathBuf,
    /// The commit of its sources, `-changed` if they were. The program itself tells it (`kvdyno machine`).
    pub commit: String,
    /// The name of its sources in the checkout, see [`sources_of`]: after a commit that changes none of them it is the
    /// same program.
    pub sources: String,
}

impl TriedProgram {
    /// The program at `path`, built from the sources of the checkout that has the folder `checkout`.
    ///
    /// # Errors
    /// If it cannot be run, does not tell its commit, or is of another than the checkout; and if git does not tell the
    /// sources.
    pub fn of(path: &Path, checkout: &Path) -> io::Result<TriedProgram> {
        let path = path.canonicalize()?;
        let output = Command::new(&path).args(["machine", "--json"]).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{} machine: {}", path.display(), said.trim())));
        }
        let machine: Value = serde_json::from_slice(&output.stdout).map_err(io::Error::other)?;
        TriedProgram::built_from(path, machine["build"]["commit"].as_str(), checkout)
    }

    fn built_from(path: PathBuf, commit: Option<&str>, checkout: &Path) -> io::Result<TriedProgram> {
        let refused = |why: String| io::Error::other(format!("{} {why}", path.display()));
        let commit =
            commit.ok_or_else(|| refused("does not know its commit: build it in a git checkout".to_owned()))?;
        let sources = sources_of(checkout)?;
        let head = git(checkout, &["rev-parse", "--short=12", "HEAD"])?;
        if commit.trim_end_matches("-changed") != head.trim() {
            return Err(refused(format!("is of commit {commit}, the checkout of {}: build it", head.trim())));
        }
        Ok(TriedProgram { commit: commit.to_owned(), path, sources })
    }
}

/// The sources of the program and its adapters. The study itself is no part of them: the words of a try, which it
/// chooses, are in the try's own name.
const SOURCES: [&str; 6] =
    ["crates", "engines", "Cargo.toml", "Cargo.lock", ":(exclude)crates/fidelity", ":(exclude)crates/*/tests/*"];

/// A hash of the names that git has for all source files (the hash of each one's content), and behind it `-dirty-` and
/// a hash of the changes that git does not have yet, if there are any.
///
/// # Errors
/// If git cannot tell: without it, or outside a checkout.
fn sources_of(checkout: &Path) -> io::Result<String> {
    let top = PathBuf::from(git(checkout, &["rev-parse", "--show-toplevel"])?.trim());
    let with_sources = |words: &[&str]| git(&top, &[words, &["--"], &SOURCES].concat());
    let listed = with_sources(&["ls-files", "--stage"])?;
    if listed.is_empty() {
        return Err(io::Error::other(format!("{}: git has no sources of kvdyno there", top.display())));
    }
    let changes = with_sources(&["diff", "--no-ext-diff", "--binary"])?;
    // Files that git does not have are in no diff.
    let new = with_sources(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    let clean = format!("{:016x}", fnv1a(listed.bytes()));
    if changes.is_empty() && new.is_empty() {
        return Ok(clean);
    }
    let contents: Vec<Vec<u8>> =
        new.split_terminator('\0').map(|file| fs::read(top.join(file))).collect::<io::Result<_>>()?;
    let changes = fnv1a((changes + &new).into_bytes().into_iter().chain(contents.into_iter().flatten()));
    Ok(format!("{clean}-dirty-{changes:016x}"))
}

/// The words that git prints about a folder.
fn git(folder: &Path, words: &[&str]) -> io::Result<String> {
    let refused = |why: &str| {
        io::Error::other(format!("tries are kept by their sources, which git does not tell: git {}: {why}", words[0]))
    };
    let output = Command::new("git").arg("-C").arg(folder).args(words).output();
    let output = output.map_err(|error| refused(&error.to_string()))?;
    if !output.status.success() {
        return Err(refused(String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_git(folder: &Path, words: &[&str]) {
        let who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"];
        git(folder, &[&who, words].concat()).unwrap();
    }

    fn write(folder: &Path, file: &str, text: &str) {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn commit(folder: &Path) {
        run_git(folder, &["add", "--all"]);
        run_git(folder, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
    }

    fn checkout() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        run_git(folder.path(), &["init", "--quiet"]);
        write(folder.path(), "crates/run/src/lib.rs", "a");
        write(folder.path(), "Cargo.toml", "b");
        commit(folder.path());
        folder
    }

    #[test]
    fn sources_have_the_name_of_their_content() {
        let folder = checkout();
        let folder = folder.path();
        let first = sources_of(folder).unwrap();
        for file in ["docs/fidelity.md", "crates/fidelity/src/main.rs", "crates/run/tests/run.rs"] {
            write(folder, file, "a table");
            assert_eq!(sources_of(folder).unwrap(), first, "{file}");
        }
        commit(folder);
        assert_eq!(sources_of(&folder.join("docs")).unwrap(), first, "a commit that changes no sources");
        write(folder, "crates/run/src/lib.rs", "c");
        let dirty = sources_of(folder).unwrap();
        assert!(dirty.starts_with(&format!("{first}-dirty-")), "{dirty}");
        write(folder, "crates/run/src/lib.rs", "d");
        assert_ne!(sources_of(folder).unwrap(), dirty, "another change");
        commit(folder);
        let second = sources_of(folder).unwrap();
        assert!(second != first && !second.contains("dirty"), "{second}");
        write(folder, "engines/new.c", "e");
        let new = sources_of(folder).unwrap();
        assert!(new.starts_with(&format!("{second}-dirty-")), "a file that git does not have: {new}");
        write(folder, "engines/new.c", "f");
        assert_ne!(sources_of(folder).unwrap(), new, "another content of it");
    }

    #[test]
    fn without_a_checkout_nothing_is_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let refused = sources_of(folder.path()).unwrap_err().to_string();
        assert!(
            refused.starts_with("tries are kept by their sources, which git does not tell: git rev-parse: "),
            "{refused}"
        );
        run_git(folder.path(), &["init", "--quiet"]);
        let refused = sources_of(folder.path()).unwrap_err().to_string();
        assert!(refused.ends_with("git has no sources of kvdyno there"), "{refused}");
    }

    #[test]
    fn a_program_of_another_commit_is_refused() {
        let folder = checkout();
        let folder = folder.path();
        let of = |commit: Option<&str>| TriedProgram::built_from("kvdyno".into(), commit, folder);
        let head = git(folder, &["rev-parse", "--short=12", "HEAD"]).unwrap().trim().to_owned();
        assert_eq!(of(Some(&head)).unwrap().sources, sources_of(folder).unwrap());
        let changed = format!("{head}-changed");
        assert_eq!(of(Some(&changed)).unwrap().commit, changed);
        let refused = of(Some("0123456789ab")).unwrap_err().to_string();
        assert_eq!(refused, format!("kvdyno is of commit 0123456789ab, the checkout of {head}: build it"));
        assert!(of(None).unwrap_err().to_string().contains("does not know its commit"));
    }
}
