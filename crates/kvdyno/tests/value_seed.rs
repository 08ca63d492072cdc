//! The bytes of values come from a seed that each run draws, and that no engine is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Lab, Ran};

/// A run whose database is kept.
fn kept() -> Ran {
    let ran = Lab::new().compare(["faulty"]).workload("readrandom").operations(1000).file("lab.keep", true).run();
    ran.exits(0);
    ran
}

/// The files of its database, as one.
fn database(ran: &Ran) -> Vec<u8> {
    let [folder] = &*ran.lab.databases() else { panic!("{:?}", ran.lab.databases()) };
    fs::read(folder.join("faulty.data")).unwrap()
}

fn seed(ran: &Ran) -> String {
    fs::read_to_string(ran.lab.path("results/values.seed")).unwrap().trim().to_owned()
}

#[test]
fn two_runs_of_one_experiment_have_the_same_keys_and_other_values() {
    let (one, other) = (kept(), kept());
    let (one_database, other_database) = (database(&one), database(&other));
    assert_eq!(one_database.len(), other_database.len());
    let differ = one_database.iter().zip(&other_database).filter(|(one, other)| one != other).count();
    // Of the 100 bytes of a value half are random: check, word and filler.
    assert!(differ > 2000 * 30, "{differ} bytes");
    for id in [0, 1000, 1999] {
        let key = format!("{id:016x}");
        let has = |database: &[u8]| holds(database, key.as_bytes());
        assert!(has(&one_database) && has(&other_database), "{key}");
    }
    assert_ne!(seed(&one), seed(&other));
}

#[test]
fn the_seed_is_in_a_file_for_its_owner_alone() {
    let ran = kept();
    let (seed, file) = (seed(&ran), ran.lab.path("results/values.seed"));
    assert_eq!(seed.len(), 16, "{seed}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let number = u64::from_str_radix(&seed, 16).unwrap();
    let spellings = [seed, number.to_string(), (number as i64).to_string()];
    let mut folders = vec![ran.lab.path("results")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path == file => {}
                false => {
                    let content = fs::read(&path).unwrap();
                    let told = |spelling: &String| holds(&content, spelling.as_bytes());
                    assert!(!spellings.iter().any(told), "{} has the seed", path.display());
                    read += 1;
                }
            }
        }
    }
    assert!(read > 5, "{read} files");
}

fn holds(content: &[u8], part: &[u8]) -> bool {
    content.windows(part.len()).any(|bytes| bytes == part)
}

#[test]
fn a_seed_that_is_none_is_named() {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom").operations(1000).run().exits(0);
    fs::write(lab.path("results/values.seed"), "seventeen").unwrap();
    lab.resume().exits(2).says("values.seed is damaged: it is not a number of 16 digits");
}
