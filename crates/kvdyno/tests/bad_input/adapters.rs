//! Adapters and libraries.

use std::path::Path;
use std::process::Command;

use super::{refused, refused_in};
use crate::support::Lab;

#[test]
fn an_adapter_that_is_not_there() {
    refused(["compare", "./libmine.so"]).says("there is no adapter").says("libmine.so");
}

#[test]
fn an_adapter_that_is_no_library() {
    let lab = Lab::new();
    lab.write("libmine.so", "I am no library");
    refused_in(&lab, ["compare", "./libmine.so"]).says("cannot load").says("file too short");
}

#[test]
fn a_library_that_is_no_adapter() {
    let ran = refused(["compare", "/lib/x86_64-linux-gnu/libc.so.6"]);
    ran.says("is a library but not an adapter: it does not export kvdyno_engine_v2; see include/kvdyno.h");
}

#[test]
fn an_adapter_for_another_abi() {
    let lab = Lab::new();
    for (version, advice) in [("99", "use a newer kvdyno"), ("0", "build it against a newer kvdyno.h")] {
        compile(&lab, &format!(".size = sizeof(kvdyno_engine), .abi_version = {version}"));
        let words = format!("speaks ABI version {version}, this kvdyno speaks 2; {advice}");
        refused_in(&lab, ["compare", "./libmine.so"]).says(&words);
    }
}

#[test]
fn an_adapter_that_declares_what_does_not_fit() {
    let lab = Lab::new();
    let declared = |what: &str| format!(".size = sizeof(kvdyno_engine), .abi_version = KVDYNO_ABI_VERSION{what}");
    for (what, words) in [
        ("", "it has no name"),
        (", .name = \"Mine\"", "the name `Mine` is not of lower-case letters"),
        (", .name = \"mine\"", "the required function `probe` is NULL"),
    ] {
        compile(&lab, &declared(what));
        refused_in(&lab, ["compare", "./libmine.so"]).says("declares what does not fit").says(words);
    }
    compile(&lab, ".size = 16, .abi_version = KVDYNO_ABI_VERSION");
    refused_in(&lab, ["compare", "./libmine.so"]).says("its kvdyno_engine has 16 bytes, version 2 has at least");
}

/// A list of adapters says what is wrong with one, and still lists the others.
#[test]
fn a_bad_adapter_does_not_hide_good_ones() {
    let ran = Lab::new().run(["engines"]);
    ran.exits(0);
    let line = |name: &str| ran.stdout.lines().find(|line| line.trim().starts_with(name)).unwrap().to_owned();
    assert!(line("null").contains("unusable"), "{}", ran.stdout);
    assert!(line("lmdb").contains("0.9"), "{}", ran.stdout);
}

/// An adapter that consists of its declaration alone.
fn compile(lab: &Lab, declaration: &str) {
    let code = format!(
        "#include \"kvdyno.h\"\n\
         static const kvdyno_engine engine = {{{declaration}}};\n\
         const kvdyno_engine *kvdyno_engine_v2(void) {{ return &engine; }}\n"
    );
    lab.write("mine.c", &code);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../abi/include");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libmine.so", "mine.c", "-I"])
        .arg(include)
        .current_dir(lab.path(""))
        .status();
    assert!(compiled.expect("these tests need a C compiler, cc").success());
}

#[test]
fn a_library_that_is_not_there() {
    let ran = refused(["compare", "rocksdb", "--library", "rocksdb=/nowhere/librocksdb.so"]);
    ran.says("rocksdb cannot be measured here").says("/nowhere/librocksdb.so").says("No such file or directory");
}

#[test]
fn a_library_of_something_else() {
    let ran = refused(["compare", "rocksdb", "--library", "rocksdb=/lib/x86_64-linux-gnu/libc.so.6"]);
    ran.says("the library is not RocksDB, or too old: it has no rocksdb_");
}

#[test]
fn a_library_for_nobody() {
    refused(["compare", "lmdb", "--library", "rocksdb=/x.so"]).says("`rocksdb` is none of the engines to compare");
    refused(["compare", "lmdb", "--library", "/x.so"]).says("of the form ENGINE=PATH");
}
