//! A limit on memory, what a killed run leaves behind, and `kvdyno clean`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Lab, Ran, may_set_the_environment, squeezed};

const MIB: u64 = 1 << 20;

fn run(text: &str) -> Ran {
    let lab = Lab::new();
    lab.write("experiment.toml", text);
    lab.run(["run", "experiment.toml", "--out", "results"])
}

/// Five times the memory that it is allowed, page cache included.
const LARGE: &str = r#"
    engines = ["lmdb"]
    environment.memory = "64MiB"
    data = { records = 80_000, value_size = 4000 }
    [[run]]
    workload = "readrandom"
    readers = [2]
    duration = "2s"
    warmup = "0s"
"#;

/// The kernel's count never exceeded the limit, and the rest was read from the device again and again.
#[test]
fn a_database_of_five_times_the_memory_is_read_from_the_device() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let ran = lab.write("experiment.toml", LARGE).run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).is_clean().is_whole();
    for what in ["load", "readrandom"] {
        let result = ran.trial("lmdb", what).result;
        assert_eq!(result.environment.memory_limit, Some(64 * MIB));
        let peak = result.environment.memory_peak.unwrap();
        assert!((16 * MIB..=64 * MIB).contains(&peak), "{peak}");
        assert!(result.os.peak_rss_kib <= 64 * 1024, "{}", result.os.peak_rss_kib);
    }
    let result = ran.trial("lmdb", "readrandom").result;
    assert!(result.space.db_kib > 5 * 64 * 1024 * 95 / 100);
    let cached = result.environment.cached.unwrap();
    assert!(cached.cached * 100 <= cached.total, "a limited run begins without pages that nobody pays for: {cached:?}");
    assert!(result.os.read_bytes.unwrap() > 0, "{:?}", result.os);
    if let Some(device) = result.os.device {
        assert!(device.read_bytes > 0, "{device:?}");
    }
    assert_eq!(groups_of(&lab), Vec::<PathBuf>::new());
}

/// Not a crash of the engine's.
#[test]
fn an_engine_that_exceeds_the_limit_is_killed_and_told_apart() {
    if !may_set_the_environment() {
        return;
    }
    // What a transaction of LMDB's has changed is memory of its own until it is written, and this one changes 400 MB.
    let ran = run(r#"
        engines = ["lmdb"]
        environment.memory = "64MiB"
        settings.durability = "none"
        data = { records = 400, value_size = 1_000_000 }
        load.batch = 400
        [[run]]
        workload = "readrandom"
        readers = [1]
        operations = 10
        "#);
    ran.exits(1).trial("lmdb", "load").failed("no-memory", "killed for exceeding environment.memory = 64MiB");
    ran.trial("lmdb", "readrandom").failed("not-run", "killed for exceeding environment.memory");
}

#[test]
fn limits_that_are_too_small() {
    if !may_set_the_environment() {
        return;
    }
    let ran = run("engines = [\"lmdb\"]\nenvironment.memory = \"1MiB\"\n");
    ran.exits(2).says("environment.memory: 1MiB is too little for any engine; 64MiB is the least");
    let text = "engines = [\"lmdb\", \"leveldb\"]\nenvironment.memory = \"100MiB\"\n\
                settings = { cache = \"32MiB\", write_buffer = \"8MiB\" }\n";
    let ran = run(text);
    ran.exits(2).says(
        "100MiB is too little for leveldb: settings.cache = 32MiB, settings.write_buffer = 8MiB and 64MiB for the rest \
         need 104MiB",
    );
    assert!(!ran.lab.path("results").exists());
}

/// Killed in the middle of a trial on a filesystem of its own, under a limit: nothing stays in the system, and the run
/// goes on.
#[test]
fn what_a_killed_run_leaves_behind_is_found_and_removed() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let text =
        format!("{LARGE}\n[environment]\nstorage = \"ext4\"\n").replace("    environment.memory = \"64MiB\"\n", "");
    let text = text.replace("[environment]\n", "[environment]\nmemory = \"64MiB\"\n").replace("80_000", "2_000");
    lab.write("experiment.toml", &text);
    // It stands still, so that it is in progress however long the commands below take.
    let running = lab.start(["run", "experiment.toml", "--out", "results"]).has_records(1).has_a_worker().stopped();
    let of_this_run = || groups_of(&lab);
    assert_eq!(of_this_run().len(), 1);
    // A run in progress is left alone.
    lab.run(["clean"]).exits(0);
    assert!(of_this_run().len() == 1 && lab.mounts_and_loops().len() == 2, "{:?}", lab.mounts_and_loops());
    running.killed();
    assert!(of_this_run().len() == 1 && lab.mounts_and_loops().len() == 2);
    let seen = lab.run(["clean", "--dry-run"]);
    let name = of_this_run()[0].display().to_string();
    assert!(seen.exits(0).stdout.contains(&format!("would remove the control group {name}")), "{}", seen.stdout);
    assert!(of_this_run().len() == 1 && lab.mounts_and_loops().len() == 2, "nothing was removed");
    let cleaned = lab.run(["clean"]);
    let said = cleaned.exits(0).stdout.clone();
    for line in [
        format!("removed the control group {name}"),
        "removed the mount at ".into(),
        "removed the loop device /dev/loop".into(),
    ] {
        assert!(said.contains(&line), "{said}");
    }
    assert_eq!(of_this_run(), Vec::<PathBuf>::new());
    lab.has_given_back().has_no_workers();
    let again = lab.run(["clean"]);
    assert!(!again.exits(0).stdout.contains(&name) && !again.stdout.contains(&*lab.path("").to_string_lossy()));
    lab.resume().exits(0).is_clean();
    lab.has_given_back();
}

/// The run that goes on removes the groups of its own dead makers, and no other that bears its name or another run's.
#[test]
fn a_resumed_run_removes_the_groups_that_its_killed_makers_left() {
    if !may_set_the_environment() {
        return;
    }
    let killed = |lab: Lab| {
        let running = lab.compare(["lmdb"]).workload("readrandom,overwrite").milliseconds(1000).start();
        running.has_records(1).has_a_worker().killed();
        lab
    };
    let lab = killed(Lab::new());
    let other = killed(lab.another());
    let [left] = &groups_of(&lab)[..] else { panic!("{:?}", groups_of(&lab)) };
    let others = groups_of(&other);
    assert_eq!(others.len(), 1);
    // Of the run's name, and in no register.
    let lookalike = left.with_file_name(format!("{}9", left.file_name().unwrap().to_string_lossy()));
    fs::create_dir(&lookalike).unwrap();
    let resumed = lab.resume();
    let (after, others_after) = (groups_of(&lab), groups_of(&other));
    fs::remove_dir(&lookalike).unwrap();
    lab.run(["clean"]);
    resumed.exits(0).is_clean();
    assert_eq!(after, [lookalike]);
    assert_eq!(others_after, others);
}

/// Without root it says what would be right.
#[test]
fn without_rights_it_is_refused() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    lab.write("experiment.toml", "engines = [\"lmdb\"]\n[environment]\nmemory = \"1GiB\"\n");
    lab.write("storage.toml", "engines = [\"lmdb\"]\n[environment]\nstorage = \"ext4\"\n");
    for (file, words) in [("experiment.toml", "run it as root"), ("storage.toml", "ext4 needs root")] {
        let said = as_nobody(&lab, &["run", file, "--dry-run"]);
        assert!(squeezed(&said).contains(&squeezed(words)), "{said}");
    }
}

/// The refusal, for there must be one, that kvdyno gives to a user who may do nothing.
fn as_nobody(lab: &Lab, arguments: &[&str]) -> String {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    // The program may be built where this user may not look.
    let program = lab.path("program");
    fs::copy(env!("CARGO_BIN_EXE_kvdyno"), &program).unwrap();
    fs::set_permissions(lab.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new(program);
    command.current_dir(lab.path("")).args(arguments).uid(65534).gid(65534);
    command.env("KVDYNO_REGISTER", lab.path("register-of-nobody"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The groups of a lab's only run, by the name that no other run has.
fn groups_of(lab: &Lab) -> Vec<PathBuf> {
    let token = fs::read_to_string(lab.path("results/.lock")).unwrap();
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    let run = token["run"].as_str().unwrap();
    let mut own = groups(Path::new("/sys/fs/cgroup"));
    own.retain(|group| group.file_name().unwrap().to_string_lossy().contains(run));
    own
}

/// The groups below a folder that are kvdyno's.
fn groups(folder: &Path) -> Vec<PathBuf> {
    let mut groups = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with("kvdyno-") {
                groups.push(entry.path());
            }
            folders.push(entry.path());
        }
    }
    groups
}
