//! Keys of the file.

use insta::assert_snapshot;

use super::{refused, refused_at, refused_file};

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
