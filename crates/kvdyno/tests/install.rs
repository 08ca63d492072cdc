//! `kvdyno engines install`: what is refused, and that nothing half-installed stays. Package clients are played by
//! small scripts, so nothing is fetched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::support::{Lab, adapters};

/// Runs `kvdyno engines install` in a lab whose `bin` folder is all of `PATH`.
fn install(lab: &Lab, arguments: &[&str]) -> Output {
    fs::create_dir_all(lab.path("bin")).unwrap();
    let mut command = lab.kvdyno();
    command.args(["engines", "install"]).args(arguments);
    command.env("PATH", lab.path("bin")).env("XDG_DATA_HOME", lab.path("data")).output().unwrap()
}

/// A command that the lab's `PATH` has.
fn command(lab: &Lab, name: &str, script: &str) {
    fs::create_dir_all(lab.path("bin")).unwrap();
    let path = lab.path("bin").join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn says(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn nothing_stayed(lab: &Lab) {
    let left: Vec<_> = fs::read_dir(lab.path("data/kvdyno/engines"))
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn names_and_versions_are_looked_up_before_anything_is_fetched() {
    for (engine, expected) in [
        ("lmbd", "there is no recipe for `lmbd`; did you mean `lmdb`?"),
        ("hyperleveldb@9.9", "there is no recipe for hyperleveldb 9.9; there is one for"),
        ("rocksdb@../../etc", "there is no recipe for rocksdb ../../etc; there is one for"),
        ("rocksdb:pfx", "a preset is chosen when the engine is measured"),
        ("iris", "iris is in no registry"),
    ] {
        let lab = Lab::new();
        let output = install(&lab, &["hyperleveldb", engine]);
        assert_eq!(output.status.code(), Some(2), "{engine}: {}", says(&output));
        assert!(says(&output).contains(expected), "{engine}: {}", says(&output));
        assert!(!lab.path("data").exists());
    }
}

#[test]
fn a_missing_client_is_named_with_the_package_that_has_it() {
    let lab = Lab::new();
    let output = install(&lab, &["hyperleveldb"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        says(&output).contains("`npm` is needed and not here; it comes with Debian package npm"),
        "{}",
        says(&output)
    );
    nothing_stayed(&lab);
}

#[test]
fn a_missing_compiler_is_named_before_anything_is_fetched() {
    let lab = Lab::new();
    command(&lab, "npm", "echo called > called; exit 1");
    let output = install(&lab, &["hyperleveldb"]);
    assert!(says(&output).contains("`c++` is needed"), "{}", says(&output));
    nothing_stayed(&lab);
}

/// With npm and the commands of the build, which are never reached.
fn with_npm(lab: &Lab, script: &str) {
    command(lab, "npm", script);
    for needed in ["c++", "make", "sh"] {
        command(lab, needed, "exit 1");
    }
}

#[test]
fn a_package_that_is_not_the_pinned_one_is_not_used() {
    let lab = Lab::new();
    with_npm(&lab, "echo 'half of it' > leveldown-hyper-2.0.0.tgz");
    let output = install(&lab, &["hyperleveldb"]);
    assert_eq!(output.status.code(), Some(1));
    let said = says(&output);
    assert!(said.contains("leveldown-hyper-2.0.0.tgz has the checksum") && said.contains("the recipe says"), "{said}");
    nothing_stayed(&lab);
}

#[test]
fn a_client_that_fails_is_quoted() {
    let lab = Lab::new();
    with_npm(&lab, "echo 'no such host' >&2; exit 7");
    let output = install(&lab, &["hyperleveldb"]);
    assert_eq!(output.status.code(), Some(1));
    let said = says(&output);
    assert!(said.contains("fetching npm leveldown-hyper 2.0.0 failed") && said.contains("no such host"), "{said}");
    assert!(said.contains("1 of 1 engines could not be installed"), "{said}");
    nothing_stayed(&lab);
}

#[test]
fn a_version_that_is_not_installed_says_how_to_get_it() {
    let lab = Lab::new();
    let mut command = lab.kvdyno();
    let output = command.args(["compare", "rocksdb@8.5.4"]).env("XDG_DATA_HOME", lab.path("data")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = says(&output);
    assert!(said.contains("rocksdb@8.5.4 is not installed; to get it: kvdyno engines install rocksdb@8.5.4"), "{said}");
}

#[test]
fn a_library_of_another_engine_is_refused() {
    let lab = Lab::new();
    let adapter = adapters().join("libkvdyno_skeleton.so");
    let library = format!("rocksdb={}", adapter.display());
    let output = lab.kvdyno().args(["compare", "rocksdb", "--library", &library]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(says(&output).contains("the library is not RocksDB, or too old: it has no"), "{}", says(&output));
}

#[test]
fn an_adapter_that_crashes_when_it_is_loaded_does_not_take_the_program_down() {
    let lab = Lab::new();
    let source = lab.path("crash.c");
    fs::write(&source, "__attribute__((constructor)) static void die(void) { __builtin_trap(); }\n").unwrap();
    let library = lab.path("libcrash.so");
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    let output = lab.kvdyno().args(["compare"]).arg(&library).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", says(&output));
    assert!(says(&output).contains("while the lab was loading its file, it died of signal 4"), "{}", says(&output));
}
