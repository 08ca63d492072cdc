//! Numbers.

use insta::assert_snapshot;

use super::{refused, refused_at, refused_file};

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
        ("3:10", "[lab]\nrepeat = 10000\n[[run]]\nreaders = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", "has 110000 trials"),
        ("3:9", "[load]\nbatch = 0\n", "it must be from 1 to 1000000"),
        ("3:11", "[load]\nwriters = 0\n", "it must be from 1 to 4096"),
        ("3:11", "[[run]]\nreaders = []\n", "run.readers: it is empty; give at least 1"),
        ("3:15", "[[run]]\nreaders = [1, 5000]\n", "it must be from 1 to 4096"),
        ("3:18", "[[run]]\nreaders = [1, 2, 1]\n", "1 is named twice"),
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
        (
            "3:11",
            "[[run]]\narrival = \"poisson\"\n",
            "give read_rate, write_rate, rate or find_max_rate, or leave it out",
        ),
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
