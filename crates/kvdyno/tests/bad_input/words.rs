//! Words, and abilities that an engine does not have.

use insta::assert_snapshot;

use super::{refused, refused_at, refused_in};
use crate::support::Lab;

#[test]
fn a_word_that_is_none_of_its_kind() {
    for (name, word, words) in [
        ("--workload", "readrandm", "there is no workload `readrandm`; did you mean `readrandom`?"),
        ("--workload", "fillseq", "`fillseq` loads, so it belongs in [load]"),
        ("--load", "readseq", "`readseq` does not load; it can be fillseq, fillrandom or 3n1"),
        ("--durability", "comit", "`comit` is not a durability level; it can be none, process, periodic or commit"),
        ("--compression", "zst", "`zst`"),
        ("--key-format", "hexa", "`hexa` is not a key format; it can be hex, decimal or binary"),
        ("--format", "cvs", "[possible values: table, csv"),
        ("--verify", "some", "it can be full or off"),
        ("--order", "chaos", "it can be interleaved or sequential"),
    ] {
        refused(["compare", "lmdb", name, word]).says(words);
    }
    let text = "engines = [\"lmdb\"]\n[settings]\ndurability = \"comit\"\n";
    refused_at("3:14", text).says("did you mean `commit`?");
}

#[test]
fn what_an_option_takes_away() {
    let refused_with = |what: [&'static str; 2]| refused(["compare", "rocksdb:pfx", what[0], what[1]]);
    refused_with(["--workload", "readseq"]).says("rocksdb:pfx cannot scan, which `readseq` needs");
    refused_with(["--compression", "snappy"])
        .says("rocksdb cannot be measured so: compression `snappy`; it offers only none");
}

#[test]
fn a_scan_of_an_engine_that_cannot() {
    let lab = Lab::with_null();
    let ran = refused_in(&lab, ["compare", "lmdb", "null", "--workload", "readrandom,readseq"]);
    assert_snapshot!(ran.stderr, @"  × null cannot scan, which `readseq` needs; leave one of them out");
    refused_in(&lab, ["compare", "null", "--workload", "readreverse"]).says("null cannot scan against key order");
}

#[test]
fn keys_and_values_beyond_an_engines_limits() {
    let ran = refused(["compare", "faulty", "lmdb", "--key-size", "512"]);
    assert_snapshot!(ran.stderr, @"  × lmdb cannot be measured so: keys of 512 bytes; its keys have 1 to 511 bytes");
}

#[test]
fn a_compression_that_an_engine_does_not_have() {
    refused(["compare", "lmdb", "--compression", "zstd"])
        .says("lmdb cannot be measured so: compression `zstd`; it offers only none");
}
