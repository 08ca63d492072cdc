//! Sessions that have a durability of their own: it stands beside the row, and who cannot have it is refused.

use kvdyno_model::Durability;

use crate::support::{Comparison, Lab};

fn writing(engine: &str, level: &str) -> Comparison {
    let comparison = Lab::new().compare([engine]).workload("overwrite").with("records", 1000).operations(300);
    comparison.with("readers", 2).with("audit", "full").with("run-durability", level)
}

#[test]
fn a_run_has_the_durability_of_its_sessions_and_tells_it() {
    for (engine, levels) in [
        ("leveldb", &["none", "commit"][..]),
        ("rocksdb", &["none", "commit"]),
        ("bdb", &["none", "commit"]),
        ("faulty", &["none", "commit"]),
    ] {
        for level in levels {
            let ran = writing(engine, level).run();
            let result = ran.is_clean().trial(engine, "overwrite").result;
            assert_eq!(result.workload.durability.word(), *level, "{engine}");
            let told = |name: &str| name.contains("session");
            assert!(result.engine.settings.iter().any(|setting| told(&setting.name)), "{engine}: {:?}", result.engine);
            let load = ran.trial(engine, "load").result;
            assert_eq!(load.workload.durability, Durability::Process, "{engine}");
        }
    }
}

#[test]
fn levels_of_variants_and_roles_are_in_results_and_tables() {
    let lab = Lab::new();
    let text = "engines = [\"leveldb\"]\n[data]\nrecords = 1000\n\
                [[run]]\nworkload = \"overwrite\"\nreaders = [1]\noperations = 200\nwarmup = \"0s\"\n\
                [[run]]\nworkload = \"mix\"\nreaders = [1]\noperations = 200\nwarmup = \"0s\"\n\
                [[run.role]]\nname = \"orders\"\nmix = \"put 100\"\ndurability = \"commit\"\n\
                [[run.role]]\nname = \"visits\"\nmix = \"put 100\"\n\
                [[variant]]\nname = \"fast\"\nrun.durability = \"none\"\n\
                [[variant]]\nname = \"sure\"\nrun.durability = \"commit\"\n";
    lab.write("experiment.toml", text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.is_clean();
    let table = &ran.stdout;
    assert!(table.contains("orders: 1 x put 100, uniform, durability commit; visits: 1 x put 100"), "{table}");
    let of = |variant: &str, name: &str| {
        let result = ran.results().into_iter().find(|it| it.trial.variant == variant && it.workload.name == name);
        result.unwrap().workload
    };
    assert_eq!(
        (of("fast", "overwrite").durability, of("sure", "overwrite").durability),
        (Durability::None, Durability::Commit)
    );
    let levels: Vec<_> = of("fast", "mix").roles.into_iter().map(|role| role.durability.unwrap()).collect();
    assert_eq!(levels, [Durability::Commit, Durability::None]);
}

#[test]
fn engines_and_runs_that_cannot_are_refused() {
    let refused = |engine: &str, level: &str, words: &str| {
        writing(engine, level).run().exits(2).says(words);
    };
    refused(
        "lmdb",
        "commit",
        "has one durability for all that is written, and `overwrite` asks for `commit` by session",
    );
    refused("leveldb", "periodic", "a session at periodic needs a database at periodic");
    writing("leveldb", "periodic").with("durability", "periodic").run().is_clean();
    writing("leveldb", "commit").workload("readrandom").run().exits(2).says("writes nothing");
    writing("leveldb", "always").run().exits(2).says("`always` is not a durability level");
}
