//! Engines and their options.

use insta::assert_snapshot;

use super::{refused, refused_at, refused_file};

#[test]
fn an_engine_that_nobody_has_heard_of() {
    let ran = refused(["compare", "lmbd"]);
    ran.says("there is no engine `lmbd`; did you mean `lmdb`?").says("leveldb, lmdb,").says("./libmine.so");
    refused(["compare", "voldemort"]).says("there is no engine `voldemort`; known are");
    refused_at("1:20", "engines = [\"lmdb\", \"rocksd\"]").says("did you mean `rocksdb`?");
}

/// Of those that no adapter is here for, and of a misspelt one.
#[test]
fn an_engine_that_is_not_installed_says_how_to_get_it() {
    for name in ["redb", "fjall", "bbolt", "badger", "pebble", "sled"] {
        let advice = format!("{name} is not installed; to get it: kvdyno engines install {name}");
        refused(["compare", "lmdb", name]).says(&advice);
    }
    refused(["compare", "tokuft"]).says("tokuft is in no registry: build PerconaFT");
    refused(["compare", "reddb"]).says("there is no engine `reddb`; did you mean `redb`?");
}

#[test]
fn no_engine() {
    refused(["compare"]).says("<ENGINE>...");
    refused_file("engines = []").says("name at least one, such as engines = [\"lmdb\"]");
}

#[test]
fn an_engine_named_twice() {
    assert_snapshot!(refused(["compare", "lmdb", "lmdb"]).stderr, @r#"  × `lmdb` is named twice; to measure one engine in two set-ups give each a section [engine.NAME] with engine = "lmdb""#);
    refused_at("1:20", "engines = [\"lmdb\", \"lmdb\"]").says("[engine.NAME]");
}

#[test]
fn a_version_that_is_not_installed() {
    assert_snapshot!(refused(["compare", "rocksdb@5.7.3"]).stderr, @"  × rocksdb@5.7.3 is not installed; to get it: kvdyno engines install rocksdb@5.7.3");
}

#[test]
fn a_preset_that_it_does_not_have() {
    refused(["compare", "lmdb:fast"]).says("lmdb has no preset `fast` (it has none)");
}

#[test]
fn a_section_for_no_engine() {
    let text = "engines = [\"lmdb\"]\n[engine.lmbd.options]\nmap_size = \"1GiB\"\n";
    refused_at("3:12", text).says("[engine.lmbd] is not in `engines`; did you mean `lmdb`?");
}

#[test]
fn an_option_that_the_engine_does_not_have() {
    refused(["compare", "faulty", "--option", "faulty.falt=segv-get"])
        .says("  × faulty has no option `falt`; did you mean `fault`? (it has fault, every, after,");
    refused(["compare", "lmdb", "--option", "lmdb.page_size=4096"])
        .says("lmdb has no option `page_size`")
        .says("map_size");
    let text = "engines = [\"faulty\"]\n[engine.faulty.options]\nevery = 1\nevrey = 2\n";
    refused_at("4:9", text).says("did you mean `every`?");
}

#[test]
fn an_option_out_of_its_range() {
    let ran = refused(["compare", "faulty", "--option", "faulty.every=0"]);
    assert_snapshot!(ran.stderr, @"  × `0` is no value for faulty's option `every`: it is a whole number from 1 to 9223372036854775807");
    let text = "engines = [\"faulty\"]\n[engine.faulty.options]\nevery = 0\n";
    refused_at("3:9", text).says("it is a whole number from 1");
}

#[test]
fn an_option_of_another_type() {
    refused(["compare", "faulty", "--option", "faulty.every=often"])
        .says("`often` is no value for faulty's option `every`");
    refused(["compare", "faulty", "--option", "faulty.fault=sevg-get"]).says("it is one of none, segv-get,");
    refused(["compare", "faulty", "--option", "faulty.fill_limit=lots"]).says("`lots`").says("fill_limit");
}

#[test]
fn an_option_for_nobody() {
    let ran = refused(["compare", "lmdb", "--option", "faulty.every=1"]);
    ran.says("`faulty` is none of the engines to compare, which are lmdb");
    refused(["compare", "lmdb", "--option", "every=1"]).says("of the form ENGINE.OPTION=VALUE");
    refused(["compare", "lmdb", "--option", "lmdb.map_size"]).says("of the form ENGINE.OPTION=VALUE");
}
