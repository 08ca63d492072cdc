//! Input that cannot be followed is refused before anything is touched, with what would be right.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Lab, Ran};
use insta::assert_snapshot;

/// Exit code 2, nothing touched, and what it said.
#[track_caller]
fn refused_in<const N: usize>(lab: &Lab, arguments: [&str; N]) -> Ran {
    let before = lab.tree();
    let ran = lab.run(arguments);
    ran.exits(2);
    assert_eq!(lab.tree(), before, "something was touched: {}", ran.stderr);
    assert_eq!(ran.stdout, "");
    ran
}

#[track_caller]
fn refused<const N: usize>(arguments: [&str; N]) -> Ran {
    refused_in(&Lab::new(), arguments)
}

/// An experiment file that is refused.
#[track_caller]
fn refused_file(text: &str) -> Ran {
    let lab = Lab::new();
    lab.write("experiment.toml", text);
    refused_in(&lab, ["run", "experiment.toml"])
}

/// The file, with the line and the column of what is wrong in it.
#[track_caller]
fn refused_at(location: &str, text: &str) -> Ran {
    let ran = refused_file(text);
    ran.says(&format!("experiment.toml:{location}"));
    ran
}

#[test]
fn a_file_that_is_none() {
    let lab = Lab::new();
    std::fs::write(lab.path("latin.toml"), b"engines = [\"lmdb\"] # Gr\xf6\xdfe\n").unwrap();
    refused_in(&lab, ["run", "latin.toml"]).says("latin.toml is not UTF-8, and so no experiment file");
    std::fs::create_dir(lab.path("folder")).unwrap();
    refused_in(&lab, ["run", "folder"]).says("folder is a folder; give an experiment file, or go on with results");
    lab.write("file", "a letter");
    let compare = lab.compare(["lmdb"]).workload("readrandom").operations(10).with("out", "file");
    compare.run().exits(2).says("file cannot be a results folder");
    assert_eq!(std::fs::read_to_string(lab.path("file")).unwrap(), "a letter");
}

/// One is one, and none is none.
#[test]
fn numbers_of_things_are_told_as_people_do() {
    let one = Lab::new().compare(["lmdb"]).workload("readrandom").operations(10).arguments(["--dry-run"]).run();
    one.exits(0).says("2 trials: 1 load of about a second in all, 1 run as long as their operations take");
    let text = "engines = [\"null\"]\n[lab]\nmin_free = \"900TiB\"\n[[run]]\nworkload = \"readrandom\"\n";
    let lab = Lab::with_null();
    lab.write("experiment.toml", text);
    refused_in(&lab, ["run", "experiment.toml"]).says("free; no database and min_free = 921600.0GiB need");
    lab.write("experiment.toml", &text.replace("null", "lmdb"));
    refused_in(&lab, ["run", "experiment.toml"]).says("free; a database of about 111MiB and min_free = 921600.0GiB");
}

// ---- engines

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
    refused_at("3:12", text).says("[engine.lmbd] is for no engine of `engines`; did you mean `lmdb`?");
}

// ---- options

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

// ---- adapters and libraries

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

// ---- keys of the file

#[test]
fn a_key_that_the_file_does_not_have() {
    let ran = refused_file("engines = [\"lmdb\"]\n\n[data]\nrecrods = 5\n");
    assert_snapshot!(ran.stderr, @"
     × there is no key `recrods` here; it can be records, key_size, key_format, spelling, prefix_size, keys_per_prefix, value_size or compressibility; did you mean `records`?
      ╭─[experiment.toml:4:1]
    3 │ [data]
    4 │ recrods = 5
      · ───┬───
      ·    ╰── here
      ╰────
    ");
    refused_at("2:2", "engines = [\"lmdb\"]\n[dta]\n").says("did you mean `data`?");
    refused_at("3:1", "engines = [\"lmdb\"]\n[[run]]\nreader = [1]\n").says("did you mean `readers`?");
    refused_at("3:1", "engines = [\"lmdb\"]\n[lab]\nhang_time = \"1s\"\n")
        .says("there is no key `hang_time` here")
        .says("did you mean `hang_timeout`?");
}

#[test]
fn a_value_of_another_type() {
    let ran = refused_file("engines = [\"lmdb\"]\n[data]\nrecords = \"many\"\n");
    assert_snapshot!(ran.stderr, @r#"
      × data.records: `many` is not a whole number such as 1000000 or 10M
       ╭─[experiment.toml:3:11]
     2 │ [data]
     3 │ records = "many"
       ·           ───┬──
       ·              ╰── here
       ╰────
    "#);
    refused_at("1:11", "engines = 5").says("expected a list, each a text");
    refused_at("3:12", "engines = [\"lmdb\"]\n[[run]]\nduration = 5\n").says("`5` is not a time such as 5s or 10m");
    refused_at("3:9", "engines = [\"lmdb\"]\n[settings]\ncache = \"lots\"\n").says("a size such as 64MiB");
    refused_at("3:11", "engines = [\"lmdb\"]\n[data]\nrecords = -1\n");
}

#[test]
fn a_file_that_is_no_toml() {
    refused_at("2:5", "engines = [\"lmdb\"]\n<<<<\n").says("key with no value");
    refused(["run", "nothing.toml"]).says("there is no file nothing.toml");
    refused(["run"]).says("<FILE>");
}

// ---- numbers

#[test]
fn a_number_out_of_its_range() {
    let ran = refused_file("engines = [\"lmdb\"]\n[data]\nrecords = 0\n");
    assert_snapshot!(ran.stderr, @r#"
      × data.records: 0 is too small; it must be from 1 to 2^48
       ╭─[experiment.toml:3:11]
     2 │ [data]
     3 │ records = 0
       ·           ┬
       ·           ╰── here
       ╰────
    "#);
    for (location, text, words) in [
        ("3:12", "[data]\nkey_size = 4\n", "data.key_size: 4 is too short; it must be from 8 to 65535 bytes"),
        ("3:12", "[data]\nkey_size = 65536\n", "65536 is too long; it must be from 8 to 65535 bytes"),
        ("3:15", "[data]\nprefix_size = 17\n", "a prefix of 17 bytes; keys of 16 bytes have prefixes of 1 to 16"),
        ("4:19", "[data]\nprefix_size = 12\nkeys_per_prefix = 0\n", "0 is too small; it must be from 1 to 2^48"),
        ("3:19", "[data]\nkeys_per_prefix = 10\n", "keys_per_prefix needs prefix_size"),
        ("3:15", "[data]\nprefix_size = 2\nkeys_per_prefix = 10\n", "100000 prefixes, one for each 10 of 1000000"),
        ("4:19", "[data]\nprefix_size = 15\nkeys_per_prefix = 17\n", "17 keys of a prefix cannot be told apart"),
        ("3:14", "[data]\nvalue_size = 99999999999\n", "99999999999 is too long; it must be from 0 to 2^30 bytes"),
        ("3:19", "[data]\ncompressibility = 2.0\n", "data.compressibility: it is 2; it must be from 0 to 1"),
        (
            "3:9",
            "[settings]\ncache = 512\n",
            "`512` has no unit, and is only 512 bytes; if that is not meant, write 512MiB",
        ),
        ("3:10", "[lab]\nrepeat = 0\n", "lab.repeat: 0 is too small; it must be from 1 to 10000"),
        (
            "3:10",
            "[lab]\nrepeat = 10000\n[[run]]\nreaders = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n",
            "comes to 110000 trials",
        ),
        ("3:9", "[load]\nbatch = 0\n", "it must be from 1 to 1000000"),
        ("3:11", "[load]\nwriters = 0\n", "it must be from 1 to 4096"),
        ("3:11", "[[run]]\nreaders = []\n", "run.readers: it is empty; give at least 1"),
        ("3:15", "[[run]]\nreaders = [1, 5000]\n", "it must be from 1 to 4096"),
        ("3:12", "[[run]]\nduration = \"0s\"\n", "run.duration: 0s is too short; 1ms is the least"),
        ("3:14", "[[run]]\nwrite_rate = 0.0\n", "it must be above 0 writes a second"),
        ("3:14", "[[run]]\nwrite_rate = \"2MiB\"\n", "`2MiB` is not a rate such as 1000 records or 2MiB/s"),
        ("3:13", "[[run]]\nread_rate = 0\n", "0 is too small; it must be above 0 operations a second"),
        ("3:13", "[[run]]\nread_rate = \"2MiB/s\"\n", "`2MiB/s` is not a rate such as 1000 or 50k/s"),
        (
            "3:13",
            "[[run]]\nread_rate = \"10G/s\"\nreaders = [4]\n",
            "read_rate is 10000000000; it must be at most 400000000 a second",
        ),
        ("3:14", "[[run]]\nwrite_rate = \"10G\"\n", "it must be at most 100000000 a second: no clock keeps more"),
        ("3:11", "[[run]]\narrival = \"poisson\"\n", "give read_rate, write_rate or rate, or leave it out"),
        ("4:11", "[[run]]\nread_rate = 10\narrival = \"poison\"\n", "poisson"),
        ("4:13", "[[run]]\nworkload = \"overwrite\"\nread_rate = 10\n", "so read_rate means nothing to it"),
        ("4:13", "[[run]]\nworkload = \"readseq\"\nread_rate = 10\n", "so read_rate means nothing to it"),
        (
            "5:25",
            "[[run]]\nworkload = \"readrandom\"\nread_rate = 10\nreads_per_transaction = 5\n",
            "it must be 1 where `read_rate` is given",
        ),
        ("4:14", "[[run]]\nworkload = \"fwdrange\"\nseek_nexts = 0\n", "it must be from 1 to 1000000"),
        ("4:15", "[[run]]\nworkload = \"fwdrange\"\nseek_within = 0\n", "it must be from 1 to 2^48"),
        (
            "4:15",
            "[[run]]\nworkload = \"fwdrange\"\nseek_within = 1000001\n",
            "seek_within is 1000001; it must be from 1 to the number of records",
        ),
        (
            "5:14",
            "[[run]]\n[[run]]\nworkload = \"readrandom\"\nseek_nexts = 5\n",
            "`readrandom` reads no ranges, so seek_nexts means nothing to it",
        ),
        (
            "7:15",
            "[[run]]\nworkload = \"fwdrange\"\n[[run]]\nworkload = \"revrange\"\n\nseek_within = 1000001\n",
            "it must be from 1 to the number of records",
        ),
        ("3:14", "[[run]]\nseek_nexts = 5\n", "`readwhilewriting` reads no ranges, so seek_nexts means nothing to it"),
        ("3:21", "[[run]]\nkeys_per_multiget = 5\n", "`readwhilewriting` reads one record at a time"),
        (
            "4:20",
            "[[run]]\nworkload = \"overwrite\"\nrecords_fraction = 0.0\n",
            "it is 0; it must be above 0, at most 1000",
        ),
        (
            "3:20",
            "[[run]]\nrecords_fraction = 0.1\noperations = 5\n",
            "by records_fraction, by duration or by operations",
        ),
    ] {
        refused_at(location, &format!("engines = [\"lmdb\"]\n{text}")).says(words);
    }
}

#[test]
fn a_number_out_of_its_range_on_the_command_line() {
    for (name, value, words) in [
        ("--records", "0", "0 is too small; it must be from 1 to 2^48"),
        ("--records", "many", "`many` is not a whole number such as 1000000 or 10M"),
        ("--records", "-5", "-5 is too small"),
        ("--key-size", "4", "4 is too short; it must be from 8 to 65535 bytes"),
        ("--key-size", "65536", "65536 is too long"),
        ("--prefix-size", "17", "keys of 16 bytes have prefixes of 1 to 16"),
        ("--keys-per-prefix", "10", "keys_per_prefix needs prefix_size"),
        ("--value-size", "99999999999", "is too long; it must be from 0 to 2^30 bytes"),
        ("--compressibility", "2", "from 0 to 1"),
        ("--repeat", "0", "from 1 to 10000"),
        ("--load-batch", "0", "from 1 to 1000000"),
        ("--readers", "", "give at least 1"),
        ("--readers", "1,two", "`two` is not a whole number"),
        ("--write-rate", "-5", "it must be above 0 writes a second"),
        ("--duration", "5", "`5` is not a time such as 5s or 10m"),
        ("--duration", "18446744073709551615s", "is too long; 1000 days are the most"),
        ("--warmup", "18446744073709551615s", "is too long; 1000 days are the most"),
        ("--operations", "0", "0 is too small; it must be at least 1"),
        ("--cache", "lots", "`lots` is not a size such as 64MiB"),
        ("--cache", "512", "`512` has no unit"),
    ] {
        refused(["compare", "lmdb", name, value]).says(words);
    }
}

/// Without a reader the writer would run alone, under the name of a workload that reads.
#[test]
fn no_readers() {
    for workload in ["readwhilewriting", "readrandom", "readseq", "overwrite"] {
        let ran = refused(["compare", "lmdb", "--readers", "0", "--workload", workload, "--duration", "100ms"]);
        ran.says("it must be from 1 to 4096");
    }
}

#[test]
fn keys_that_are_too_few() {
    let ran = refused(["compare", "lmdb", "--records", "1G", "--key-format", "decimal", "--key-size", "8"]);
    assert_snapshot!(ran.stderr, @"  × 1000000000 records do not fit into decimal keys of 8 bytes, of which there are 100000000; use longer keys, or another format");
}

#[test]
fn a_duration_and_operations_are_one_too_many() {
    refused(["compare", "lmdb", "--duration", "1s", "--operations", "5"])
        .says("duration and operations cannot both end a run");
}

// ---- words

#[test]
fn a_word_that_is_none_of_its_kind() {
    for (name, word, words) in [
        ("--workload", "readrandm", "there is no workload `readrandm`; did you mean `readrandom`?"),
        ("--workload", "fillseq", "`fillseq` loads, and so belongs into [load]"),
        ("--load", "readseq", "`readseq` does not load; it can be fillseq, fillrandom or 3n1"),
        ("--durability", "comit", "`comit` is not a durability level; it can be none, process, periodic or commit"),
        ("--compression", "zst", "`zst`"),
        ("--key-format", "hexa", "`hexa` is not a key format; it can be hex, decimal or binary"),
        ("--format", "cvs", "`cvs` is not a format; use table, csv, json or md"),
        ("--verify", "some", "it can be full or off"),
        ("--order", "chaos", "it can be interleaved or sequential"),
    ] {
        refused(["compare", "lmdb", name, word]).says(words);
    }
    let text = "engines = [\"lmdb\"]\n[settings]\ndurability = \"comit\"\n";
    refused_at("3:14", text).says("did you mean `commit`?");
}

// ---- what an engine cannot do

#[test]
fn what_an_option_takes_away() {
    let refused_with = |what: [&'static str; 2]| refused(["compare", "rocksdb:pfx", what[0], what[1]]);
    refused_with(["--workload", "readseq"]).says("rocksdb:pfx cannot scan, which `readseq` needs");
    refused_with(["--compression", "snappy"]).says("rocksdb cannot be measured so: compression `snappy`; it has none");
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
        .says("lmdb cannot be measured so: compression `zstd`; it has none");
}

// ---- folders

#[test]
fn a_results_folder_that_is_not_new() {
    let lab = Lab::new();
    fs::create_dir(lab.path("taken")).unwrap();
    lab.write("taken/thesis.tex", "years of work");
    let ran = refused_in(&lab, ["compare", "lmdb", "--out", "taken"]);
    ran.says("taken is not empty; choose another --out");
    assert!(!ran.stderr.contains("--resume"), "there is nothing to go on with");
}

#[test]
fn a_results_folder_that_is_a_file() {
    let lab = Lab::new();
    lab.write("taken", "years of work");
    for out in ["taken", "taken/below"] {
        refused_in(&lab, ["compare", "lmdb", "--out", out]).says("taken is not a folder; choose another --out");
    }
    assert_eq!(fs::read_to_string(lab.path("taken")).unwrap(), "years of work");
}

#[test]
fn a_folder_without_results() {
    let words = "is not a results folder: it has no experiment.toml";
    refused(["run", "--resume", "."]).says(words);
    refused(["run", "--resume", "nowhere"]).says(words);
    refused(["report", "."]).says(words);
    refused(["run", "experiment.toml", "--resume", "."]).says("cannot be used with");
}

/// A typing error in a count should not leave a folder behind.
#[test]
fn databases_that_cannot_fit() {
    let lab = Lab::new();
    let ran = refused_in(&lab, ["compare", "faulty", "lmdb", "--records", "400G"]);
    ran.says("2 databases").says("choose another --dir, fewer records");
}

// ---- mixes and distributions

#[test]
fn a_mix_that_cannot_be_drawn() {
    for (mix, words) in [
        ("get 95, put 6", "the weights of `get 95, put 6` are 101 in all; they must be 100"),
        ("get 95, puts 5", "`puts` is not an operation; it can be get, put, insert, range, read-modify-write"),
        ("get 50, get 50", "get comes twice"),
        ("get -5, put 105", "`get -5` is not an operation with its weight"),
    ] {
        refused(["compare", "lmdb", "--workload", "mix", "--mix", mix]).says(words);
        let file = format!("engines = [\"lmdb\"]\n[[run]]\nworkload = \"mix\"\nmix = \"{mix}\"\n");
        refused_at("4:7", &file).says(words);
    }
    refused(["compare", "lmdb", "--workload", "mix"]).says("mix").says("operations with their weights");
    refused(["compare", "lmdb", "--workload", "ycsb-a", "--mix", "get 100"]).says("mix").says("ycsb-a");
}

#[test]
fn a_distribution_that_there_is_not() {
    for (distribution, words) in [
        ("zip", "`zip` is not a distribution"),
        ("zipf 0", "the exponent of zipf is 0; it must be 0.01 to 10"),
        ("hotspot 0.2 1.5", "the part of the draws of hotspot is 1.5; it must be"),
        ("uniform 3", "`uniform 3` has more numbers than the 0 that uniform takes"),
        ("normal NaN", "the standard deviation, a part of the records, of normal is NaN"),
    ] {
        refused(["compare", "lmdb", "--distribution", distribution]).says(words);
        let file =
            format!("engines = [\"lmdb\"]\n[[run]]\nworkload = \"readrandom\"\ndistribution = \"{distribution}\"\n");
        refused_at("4:16", &file).says(words);
    }
    let scan = refused(["compare", "lmdb", "--workload", "readseq", "--distribution", "zipf"]);
    scan.says("distribution").says("readseq");
}

#[test]
fn ranges_of_an_engine_without_cursors() {
    let ran = refused(["compare", "rocksdb:pfx", "--workload", "ycsb-e"]);
    ran.says("rocksdb:pfx").says("which the ranges of `ycsb-e` need");
}

/// After inserts there are more records than a scan in key order expects.
#[test]
fn a_scan_after_inserts_on_the_same_database() {
    let ran = refused(["compare", "lmdb", "--workload", "ycsb-d,readseq", "--database", "kept"]);
    ran.says("`readseq` reads in key order").says("a run before it inserts others").says("\"fresh\"");
}

/// After deletes there are fewer than most workloads expect, and a queue has others than a mix that deletes any.
#[test]
fn a_workload_that_knows_nothing_of_deletes_after_them() {
    let after = |first: &str, second: &str, database: &str| {
        let lab = Lab::new();
        let runs = [(first, 1), (second, 2)];
        let runs = runs.map(|(run, readers)| format!("[[run]]\n{run}\nreaders = [{readers}]\noperations = 1000\n"));
        let lab_section = format!("[lab]\ndatabase = \"{database}\"\n");
        let text = format!("engines = [\"lmdb\"]\n[data]\nrecords = 10000\n{lab_section}{}", runs.concat());
        lab.write("experiment.toml", &text).run(["run", "experiment.toml", "--dry-run"])
    };
    let mix = |mix: &str| format!("workload = \"mix\"\nmix = \"{mix}\"");
    let (queue, deletes) = (mix("insert 50, take 50"), mix("get 50, delete 50"));
    for (first, second) in [
        (&deletes, "workload = \"readrandom\"".to_owned()),
        (&deletes, queue.clone()),
        (&queue, "workload = \"overwrite\"".to_owned()),
        (&queue, mix("get 50, put 50")),
        (&queue, deletes.clone()),
    ] {
        after(first, &second, "kept").exits(2).says("knows nothing of records that are gone").says("\"fresh\"");
        after(first, &second, "fresh").exits(0);
    }
    for (first, second) in [(&deletes, mix("get 50, put 50")), (&queue, queue.clone()), (&queue, mix("range 100"))] {
        after(first, &second, "kept").exits(0);
    }
}

#[test]
fn deletes_that_cannot_be() {
    let mixed = |engine: &str, mix: &str, more: &[&str]| {
        let arguments = [&["compare", engine, "--workload", "mix", "--mix", mix], more].concat();
        let ran = Lab::with_null().run_with(&arguments);
        ran.exits(2);
        ran
    };
    mixed("lmdb", "put 50, take 50", &[]).says("take without put: a record that was taken would be written again");
    mixed("lmdb", "get 50, delete 50", &["--records", "4000", "--readers", "8"]).says("4096 or more");
    mixed("null", "get 50, delete 50", &[]).says("keeps nothing that `mix` could delete");
    let binary = ["--key-format", "binary", "--key-size", "8"];
    mixed("lmdb", "get 50, miss 50", &binary).says("longer than the number");
}

/// An engine that cannot do a part of a run is told of at its name in the file.
#[test]
fn an_engine_that_cannot_do_what_a_mix_or_a_transaction_asks() {
    let at = |engine: &str, run: &str, words: &str| {
        let text = format!("name = \"x\"\nengines = [\"lmdb\", \"{engine}\"]\n[[run]]\n{run}\n");
        let lab = Lab::with_null();
        lab.write("experiment.toml", &text);
        refused_in(&lab, ["run", "experiment.toml"]).says("experiment.toml:2:20").says(words);
    };
    at("null", "workload = \"mix\"\nmix = \"get 50, delete 50\"", "keeps nothing that `mix` could delete");
    let expiry = "workload = \"mix\"\nmix = \"insert 50, expire 50\"";
    refused_at("1:12", &format!("engines = [\"leveldb\"]\n[[run]]\n{expiry}")).says("cannot delete ranges");
    let isolated = "workload = \"transfer\"\nisolation = \"serializable\"";
    at(
        "wiredtiger:btree",
        isolated,
        "isolates its transactions as snapshot, and isolation = serializable is asked for",
    );
    let multiget = "workload = \"mix\"\nmix = \"get 100\"\nkeys_per_multiget = 5";
    at("bdb", multiget, "cannot get several records in one call, which `keys_per_multiget` of `mix` need");
}

#[test]
fn batches_that_a_mix_cannot_have() {
    let run = |keys: &str| format!("engines = [\"rocksdb\"]\n[[run]]\nworkload = \"mix\"\n{keys}");
    refused_at("5:9", &run("mix = \"get 100\"\nbatch = 5")).says("1: the mix has neither put nor insert");
    refused_at("5:9", &run("mix = \"put 50, delete 50\"\nbatch = 5")).says("while others are deleted");
    refused_at("5:21", &run("mix = \"put 100\"\nkeys_per_multiget = 5")).says("1: the mix has no get");
    let roles = "[[run.role]]\nmix = \"get 100\"\nkeys_per_multiget = 5\n[[run.role]]\nmix = \"get 100\"\nbatch = 2\n";
    refused_at("9:9", &run(roles)).says("role-2").says("1: the mix has neither put nor insert");
    let ycsb = "engines = [\"rocksdb\"]\n[[run]]\nworkload = \"ycsb-a\"\nbatch = 5";
    refused_at("4:9", ycsb).says("batch");
}

/// Else the figures of one would be repeats of the other's.
#[test]
fn two_runs_that_would_be_one_cell() {
    let file = |second: &str| {
        let runs = [("get 50, put 50", "1, 2"), second.split_once(';').unwrap()];
        let runs =
            runs.map(|(mix, readers)| format!("[[run]]\nworkload = \"mix\"\nmix = \"{mix}\"\nreaders = [{readers}]\n"));
        let lab = Lab::new();
        lab.write("experiment.toml", &format!("engines = [\"lmdb\"]\n{}", runs.concat()));
        lab.run(["run", "experiment.toml", "--dry-run"])
    };
    file("get 95, put 5;2, 4").exits(2).says("run 1 has `mix` with as many readers, too").says("a variant of its own");
    file("get 95, put 5;4").exits(0);
    file("get 50, put 50;1, 2").exits(0);
}

/// A precision that nothing has, and one that ends nothing.
#[test]
fn a_precision_that_cannot_be() {
    for none in ["0", "0%", "-3%", "101%"] {
        let precision = format!("--precision={none}");
        let ran = refused(["compare", "lmdb", "faulty", "--repeat", "auto", &precision]);
        ran.says("above 0 and at most 1, or a percentage");
    }
    refused(["compare", "lmdb", "faulty", "--repeat", "1", "--precision", "3%"])
        .says("repeat = 1 is a number")
        .says("repeat = \"auto\"");
    let file = "engines = [\"lmdb\", \"faulty\"]\n[lab]\nrepeat = 5\nprecision = 0.1\n";
    refused_file(file).says("how precise a cell has to be");
    let lab = Lab::new();
    lab.run(["compare", "lmdb", "faulty", "--repeat", "auto", "--precision", "3%", "--dry-run"]).exits(0);
}

#[test]
fn a_question_and_a_budget_that_end_nothing() {
    let ran = refused(["compare", "lmdb", "faulty", "--repeat", "4", "--question", "difference"]);
    ran.says("which comparisons end repeats").says("repeat = 4 is a number");
    refused(["compare", "lmdb", "faulty", "--repeat", "4", "--budget", "1m"]).says("how long repeats may go on");
    // The question is a default of a diff, and its repeats can be ordered.
    let lab = Lab::new();
    lab.run(["diff", "lmdb", "lmdb", "--repeat", "4", "--dry-run"]).exits(0);
}
