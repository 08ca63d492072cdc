//! The Rust version is stated once and repeated where a tool wants it: all of them say the same.

#![allow(clippy::unwrap_used)]

use kvdyno_gates::repository::{files, top};

fn table(path: &str) -> toml::Table {
    std::fs::read_to_string(top().join(path)).unwrap().parse().unwrap()
}

/// `rust-version` of the workspace.
fn stated() -> String {
    table("Cargo.toml")["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned()
}

#[test]
fn crates_of_their_own_state_the_same_version() {
    for file in files().iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let manifest: toml::Table = file.text.parse().unwrap();
        let Some(version) = manifest.get("package").and_then(|package| package.get("rust-version")) else { continue };
        let is_inherited = version.get("workspace").is_some();
        assert!(is_inherited || version.as_str() == Some(&stated()), "{}", file.path);
    }
}

#[test]
fn documents_state_the_same_version() {
    let mut told = 0;
    for file in files().iter().filter(|file| file.is_any_of(&["md"])) {
        for rest in file.lines().flat_map(|(_, line)| line.split("Rust 1.").skip(1)) {
            told += 1;
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            assert_eq!(format!("1.{number}"), stated(), "{}", file.path);
        }
    }
    assert!(told > 0, "no document tells the version");
}

/// The script reads it, and has no number of its own.
#[test]
fn the_set_up_has_no_version_of_its_own() {
    let script = files().into_iter().find(|file| file.path == "scripts/setup.sh").unwrap().text;
    assert!(script.contains("s/^rust-version") && !script.contains("least_rust=1"));
}
