//! Options in an engine's own words: they take effect, are told, and are refused before anything is touched where the
//! engine does not know them or the lab sets the same.

use std::fs;
use std::path::PathBuf;

use crate::support::{Comparison, Lab, Ran};

/// Overwrites with an option.
fn overwrites(engine: &str, option: &str) -> Comparison {
    let comparison = Lab::new().compare([engine]).with("records", 2000).workload("overwrite").operations(2000);
    comparison.option(option)
}

fn run(engine: &str, option: &str) -> Ran {
    overwrites(engine, option).run()
}

/// The values that the engine reports of a word, under a topic.
fn told(ran: &Ran, topic: &str, name: &str) -> Vec<String> {
    let is_it = |topic_of: &str, name_of: &str| topic_of == topic && name_of.starts_with(name);
    let results = ran.is_clean().results();
    let entries = results.iter().flat_map(|result| &result.statistics);
    let told: Vec<String> =
        entries.filter(|entry| is_it(&entry.topic, &entry.name)).map(|entry| entry.value.clone()).collect();
    assert!(!told.is_empty(), "nothing of {topic} {name}");
    told
}

#[test]
fn rocksdb_takes_blob_files_and_options_of_tables() {
    let words = "enable_blob_files=true;min_blob_size=64;block_based_table_factory={block_restart_interval=4}";
    let ran = run("rocksdb", &format!("rocksdb.options={words}"));
    assert!(told(&ran, "OPTIONS", "enable_blob_files").iter().all(|value| value == "true"));
    assert!(told(&ran, "OPTIONS", "min_blob_size").contains(&"64".to_owned()));
    assert!(told(&ran, "OPTIONS", "block_restart_interval").contains(&"4".to_owned()));
}

#[test]
fn wiredtiger_takes_a_configuration_of_its_table() {
    let ran = run("wiredtiger", "wiredtiger.create_config=os_cache_max=1MB");
    let told = told(&ran, "metadata", "file:");
    assert!(told.iter().all(|settings| settings.contains("os_cache_max=1MB")), "{told:?}");
}

#[test]
fn sqlite_takes_pragmas() {
    let ran = run("sqlite", "sqlite.pragmas=temp_store(memory); main.journal_size_limit=1000000");
    let told = |name| told(&ran, "pragma", name);
    assert!(told("temp_store").iter().all(|value| value == "2"));
    let limit = told("main.journal_size_limit");
    assert!(limit.contains(&"1000000".to_owned()), "{limit:?}");
}

#[test]
fn berkeley_db_takes_lines_of_its_file() {
    let ran =
        overwrites("bdb", "bdb.db_config=mutex_set_tas_spins 77;set_mp_max_write 100 1000").arguments(["--keep"]).run();
    let databases = ran.all_finished("bdb").lab.databases();
    assert!(!databases.is_empty());
    for database in &databases {
        let lines = fs::read_to_string(database.join("DB_CONFIG")).unwrap();
        assert_eq!(lines, "mutex_set_tas_spins 77\nset_mp_max_write 100 1000\n");
    }
}

/// Each has a reason that names the option, the word, and who sets it.
#[test]
fn what_an_engine_does_not_know_and_what_the_lab_sets_is_refused() {
    let hidden = format!("bdb.db_config=#{}set_cachesize 1 0 1", "x".repeat(254));
    let cases: [(&str, &str, &[&str]); 32] = [
        ("rocksdb", "rocksdb.options=no_such_option=1", &["options: ", "no_such_option"]),
        ("rocksdb", "rocksdb.options=max_total_wal_size=x", &["options: ", "max_total_wal_size"]),
        ("rocksdb", "rocksdb.options=min_blob_size=0;write_buffer_size=1", &["character 17", "the lab's write_buffer"]),
        ("rocksdb", "rocksdb.options=block_based_table_factory={no_block_cache=true}", &["the lab's cache"]),
        ("rocksdb", "rocksdb.options=block_based_table_factory.no_block_cache=true", &["the lab's cache"]),
        ("rocksdb", "rocksdb.options=\u{c}write_buffer_size=1", &["the lab's write_buffer"]),
        ("rocksdb", "rocksdb.options=db_host_id=\";write_buffer_size=1;db_host_id=\"", &["quote at character 12"]),
        ("sqlite", "sqlite.pragmas=temp_store='\"';synchronous=off;temp_store='\"'", &["quote at character 13"]),
        ("bdb", "bdb.db_config=db_log_dir /tmp", &["the lab's folder"]),
        ("rocksdb", "rocksdb.options=manual_wal_flush=true", &["the lab's durability"]),
        ("rocksdb", "rocksdb.options=max_background_jobs=3", &["option max_background_jobs"]),
        ("wiredtiger", "wiredtiger.open_config=cache_size=1G", &["the lab's cache"]),
        ("wiredtiger", "wiredtiger.create_config=no_such_word=1", &["no_such_word"]),
        ("sqlite", "sqlite.pragmas=no_such_word=1", &["no pragma no_such_word, at character 1"]),
        ("sqlite", "sqlite.pragmas=temp_store=2;synchronous=off", &["character 14", "the lab's durability"]),
        ("wiredtiger", "wiredtiger.open_config=\"log\":(enabled=false)", &["the lab's durability"]),
        ("sqlite", "sqlite.pragmas=Synchronous=off", &["the lab's durability"]),
        ("bdb", "bdb.db_config=set_flags\tDB_TXN_NOSYNC", &["the lab's durability"]),
        ("bdb", "bdb.db_config=set_flags DB_TXN_NOSYNC", &["the lab's durability"]),
        ("bdb", "bdb.db_config=no_such_word 1", &["db_config", "no_such_word"]),
        ("bdb", &hidden, &["the line at character 1 has 274 bytes"]),
        ("bdb", "bdb.db_config=set_flags DB_NOPANIC", &["the adapter"]),
        ("bdb", "bdb.db_config=log_set_config DB_LOG_DIRECT on", &["the lab's durability"]),
        ("rocksdb", "rocksdb.options=compression_opts={max_compressed_bytes_per_kb=1}", &["the lab's compression"]),
        (
            "rocksdb",
            "rocksdb.options=compaction_options_universal={compression_size_percent=0}",
            &["the lab's compression"],
        ),
        ("sqlite", "sqlite.pragmas=main.synchronous=off", &["the lab's durability"]),
        ("sqlite", "sqlite.pragmas=temp_store('(');synchronous=off", &["character 17", "the lab's durability"]),
        ("sqlite", "sqlite.pragmas=[synchronous]=off", &["no pragma"]),
        ("wiredtiger", "wiredtiger.open_config= (),cache_size=1G", &["the bracket at character 2 has no name"]),
        ("wiredtiger", "wiredtiger.open_config=error_prefix=a(,cache_size=1G", &["the lab's cache"]),
        ("wiredtiger", "wiredtiger.create_config=app_metadata=a(,log=(enabled=false)", &["the lab's durability"]),
        (
            "wiredtiger",
            "wiredtiger.open_config=error_prefix=\"\\\"(\",cache_size=1G,error_prefix=\"\"",
            &["the lab's cache"],
        ),
    ];
    for (engine, option, words) in cases {
        let ran = overwrites(engine, option).arguments(["--keep"]).run();
        ran.exits(2);
        for word in words {
            ran.says(word);
        }
        assert_eq!(ran.lab.databases(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_plain_table_of_rocksdb_is_not_replaced() {
    let plain = overwrites("rocksdb", "rocksdb.table=plain").option("rocksdb.prefix_extractor=true");
    let ran = plain.option("rocksdb.options=block_based_table_factory={}").run();
    ran.exits(2);
    ran.says("block_based_table_factory, at character 1, is for option table to set");
}
