//! Tells the program which commit it was built from, and how. Sources without their history have no commit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let top = here.ancestors().nth(2).unwrap_or(&here).to_owned();
    if let Some(commit) = commit(&top) {
        println!("cargo:rustc-env=KVDYNO_COMMIT={commit}");
    }
    let rust = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("--version").output();
    let rust = rust.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    println!("cargo:rustc-env=KVDYNO_RUST={rust}");
    println!("cargo:rustc-env=KVDYNO_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    watch(&top);
}

/// A commit's abbreviated name, `-changed` if the sources are not those of it.
fn commit(top: &Path) -> Option<String> {
    // A repository above may be about something else.
    if Path::new(&git(top, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != top.canonicalize().ok()? {
        return None;
    }
    let name = git(top, &["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(top, &["status", "--porcelain", "--", "crates/*/src/*", "engines", "Cargo.toml", "Cargo.lock"])?;
    Some(if changes.is_empty() { name } else { format!("{name}-changed") })
}

/// Asks again when the commit changes, or sources do.
fn watch(top: &Path) {
    let head = git(top, &["rev-parse", "--git-path", "logs/HEAD"]).map(|path| top.join(path));
    let sources =
        fs::read_dir(top.join("crates")).into_iter().flatten().flatten().map(|entry| entry.path().join("src"));
    let all = sources.chain(head).chain(["engines", "Cargo.toml", "Cargo.lock"].map(|name| top.join(name)));
    for path in all.filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// The words that git prints; absent where it is not there, or refuses.
fn git(top: &Path, arguments: &[&str]) -> Option<String> {
    let out = Command::new("git").arg("-C").arg(top).args(arguments).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}
