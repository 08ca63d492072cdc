//! The backing store: made anew for each load, found in the result, and given back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Lab, LoopDevice, Ran, RunningKvdyno, eventually, may_set_the_environment, squeezed};

/// An experiment of a load and a run on LMDB, small and quick, on what `environment` says.
fn file(environment: &str) -> String {
    format!(
        r#"
        engines = ["lmdb"]
        [environment]
        {environment}
        [data]
        records = 20_000
        [[run]]
        workload = "readrandom"
        readers = [1]
        operations = 3000
        warmup = "0s"
        [lab]
        min_free = "16MiB"
        "#
    )
}

/// Runs it in a new lab.
fn run(environment: &str) -> Ran {
    let lab = Lab::new();
    lab.write("experiment.toml", &file(environment));
    lab.run(["run", "experiment.toml", "--out", "results"])
}

// ---- filesystems on a file

#[track_caller]
fn filesystem(storage: &str, kind: &str) {
    if !may_set_the_environment() {
        return;
    }
    let ran = run(&format!("storage = \"{storage}\"\nstorage_size = \"400MiB\"\ncache_state = \"dropped\""));
    ran.exits(0).is_clean().is_whole();
    ran.lab.has_given_back();
    for what in ["load", "readrandom"] {
        let result = ran.trial("lmdb", what).result;
        assert_eq!(result.environment.storage, storage);
        assert!(result.environment.filesystem.starts_with(&format!("{kind} (rw")), "{}", result.environment.filesystem);
        assert!(result.os.device.as_ref().unwrap().name.starts_with("loop"), "{:?}", result.os.device);
    }
    let load = ran.trial("lmdb", "load").result;
    assert!(load.os.device.unwrap().write_bytes >= 2_000_000, "the load is on the device when it has ended");
    let run = ran.trial("lmdb", "readrandom").result;
    let pages = run.environment.cached.unwrap();
    assert!(pages.total > 2_000_000 && pages.cached * 100 <= pages.total, "{pages:?}");
    assert!(run.os.device.unwrap().read_bytes > 0, "what was dropped is read from the device");
}

#[test]
fn ext4_is_made_for_the_database() {
    filesystem("ext4", "ext4");
}

#[test]
fn ext4_without_a_journal_is_made_for_the_database() {
    filesystem("ext4-nojournal", "ext4");
}

#[test]
fn xfs_is_made_for_the_database() {
    filesystem("xfs", "xfs");
}

#[test]
fn btrfs_is_made_for_the_database() {
    filesystem("btrfs", "btrfs");
}

/// Whether it has a journal, as the filesystem itself has it.
#[test]
fn the_journal_is_there_or_not() {
    if !may_set_the_environment() {
        return;
    }
    for (storage, has_journal) in [("ext4", true), ("ext4-nojournal", false)] {
        let lab = Lab::new();
        let text = file(&format!("storage = \"{storage}\"\nstorage_size = \"200MiB\"")) + "keep = true\n";
        lab.write("experiment.toml", &text).run(["run", "experiment.toml", "--out", "results"]).exits(0);
        lab.has_given_back();
        let told = Command::new("dumpe2fs").arg("-h").arg(image(&lab)).output().unwrap();
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert_eq!(told.contains("has_journal"), has_journal, "{told}");
    }
}

/// The file below the only database.
fn image(lab: &Lab) -> PathBuf {
    let folders = std::fs::read_dir(lab.path("results/databases")).unwrap().flatten().map(|entry| entry.path());
    let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    folder.join(format!("kvdyno-{name}.img"))
}

/// Two engines in turns have one each.
#[test]
fn each_database_has_a_filesystem_of_its_own() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let text = file("storage = \"ext4\"\nstorage_size = \"128MiB\"").replace("[\"lmdb\"]", "[\"lmdb\", \"leveldb\"]");
    lab.write("experiment.toml", &text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).is_clean().is_whole();
    lab.has_given_back();
    let device = |engine| ran.trial(engine, "readrandom").result.os.device.unwrap().name;
    assert_ne!(device("lmdb"), device("leveldb"));
}

// ---- the raw device

/// The installed LMDB that can, as `kvdyno engines install lmdb@0.9.90` leaves it.
fn lmdb_for_devices() -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))?;
    let library = data.join("kvdyno/engines/lmdb@0.9.90/liblmdb.so");
    if !library.is_file() {
        eprintln!("skipped: {} is not there; kvdyno engines install lmdb@0.9.90", library.display());
    }
    library.is_file().then_some(library)
}

#[test]
fn a_database_on_the_bare_device() {
    let Some(library) = lmdb_for_devices().filter(|_| may_set_the_environment()) else { return };
    let lab = Lab::new();
    let text = file("storage = \"raw\"\ncache_state = \"dropped\"").replace("[\"lmdb\"]", "[\"lmdb\", \"leveldb\"]")
        + &format!("missing_engines = \"skip\"\n[engine.lmdb]\nlibrary = \"{}\"\n", library.display());
    lab.write("experiment.toml", &text);
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).all_finished("lmdb").says("leveldb cannot keep a database on a raw device");
    lab.has_given_back();
    let result = ran.trial("lmdb", "readrandom").result;
    assert_eq!((result.environment.storage.as_str(), result.environment.filesystem.as_str()), ("raw", "raw"));
    // What was written to the device, not its size.
    assert!((2_000..20_000).contains(&result.space.db_kib), "{:?}", result.space);
    assert!(result.os.device.unwrap().read_bytes > 0);
    assert!(!lab.path("results/databases").exists());
}

#[test]
fn an_engine_that_cannot_use_a_device_is_refused() {
    if !may_set_the_environment() {
        return;
    }
    let ran = run("storage = \"raw\"");
    ran.exits(2).says("lmdb cannot keep a database on a raw device");
    assert!(!ran.lab.path("results").exists());
}

// ---- a device that the user names

fn with_device(lab: &Lab, device: &LoopDevice, arguments: &[&str]) -> Ran {
    let text = file(&format!("storage = \"ext4\"\ndevice = \"{}\"", device.path().display()));
    lab.write("experiment.toml", &text);
    let mut all = vec!["run", "experiment.toml", "--out", "results"];
    all.extend(arguments);
    lab.run_with(&all)
}

/// The file alone never does.
#[test]
fn a_device_is_erased_only_if_it_is_named_twice() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let device = LoopDevice::new(&lab, "disk", 400).formatted();
    let before = device.head();
    let shown = device.path().display().to_string();
    with_device(&lab, &device, &[])
        .exits(2)
        .says(&format!("{shown} would be erased, and holds ext4; if that is right, say so: --yes-erase {shown}"));
    with_device(&lab, &device, &["--device", &shown]).exits(2).says("--yes-erase");
    with_device(&lab, &device, &["--device", &shown, "--yes-erase", "/dev/null"])
        .exits(2)
        .says(&format!("to erase that: --yes-erase {shown}"));
    with_device(&lab, &device, &["--yes-erase", "/dev/null"]).exits(2).says("is no device of the experiment; to erase");
    let of_none = ["compare", "lmdb", "--yes-erase", "/dev/null", "--out", "results"];
    lab.run_with(&of_none).exits(2).says("is no device of the experiment; to use it");
    assert!(before == device.head() && !lab.path("results").exists());
    let ran = with_device(&lab, &device, &["--yes-erase", &shown]);
    ran.exits(0).is_clean().is_whole();
    let result = ran.trial("lmdb", "readrandom").result;
    assert_eq!(format!("/dev/{}", result.os.device.unwrap().name), shown);
    assert!(before != device.head(), "it was made anew");
    drop(device);
    lab.has_given_back();
}

#[test]
fn a_device_that_is_in_use_is_never_touched() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let device = LoopDevice::new(&lab, "disk", 400).formatted();
    let shown = device.path().display().to_string();
    std::fs::create_dir(lab.path("point")).unwrap();
    let mount = |command: &mut Command| assert!(command.status().unwrap().success());
    mount(Command::new("mount").arg(device.path()).arg(lab.path("point")));
    let ran = with_device(&lab, &device, &["--device", &shown, "--yes-erase", &shown]);
    mount(Command::new("umount").arg(lab.path("point")));
    ran.exits(2).says(&format!("{shown} is mounted at"));
    assert!(!lab.path("results").exists());
}

#[test]
fn a_device_has_room_for_one_database() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let device = LoopDevice::new(&lab, "disk", 400);
    let shown = device.path().display().to_string();
    let text = file("storage = \"xfs\"").replace("[\"lmdb\"]", "[\"lmdb\", \"leveldb\"]");
    lab.write("experiment.toml", &text);
    let arguments = ["run", "experiment.toml", "--out", "results", "--device", &shown, "--yes-erase", &shown];
    lab.run_with(&arguments).exits(2).says("choose lab.order = \"sequential\"");
    lab.write("experiment.toml", &(text + "order = \"sequential\"\n"));
    lab.run_with(&arguments).exits(0).is_clean().is_whole();
}

// ---- bad input: nothing is changed

#[track_caller]
fn refused(environment: &str, words: &str) {
    if !may_set_the_environment() {
        return;
    }
    let ran = run(environment);
    ran.exits(2).says(words);
    ran.lab.has_given_back();
    assert!(!ran.lab.path("results").exists());
}

/// It would be full before anything was measured.
#[test]
fn a_device_without_room_is_refused_before_it_is_erased() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let device = LoopDevice::new(&lab, "disk", 128);
    let path = device.path().to_str().unwrap();
    let before = device.head();
    let compare = ["compare", "lmdb", "--storage", "ext4", "--device", path, "--yes-erase", path, "--out", "results"];
    lab.run(compare).exits(2).says("128MiB has no room for keys and values of").says("lab.min_free = 256MiB");
    assert!(device.head() == before && !lab.path("results").exists());
}

#[test]
fn devices_that_cannot_be() {
    refused("storage = \"ext4\"\ndevice = \"/dev/surely-not\"", "there is no /dev/surely-not");
    refused("storage = \"ext4\"\ndevice = \"/dev/null\"", "/dev/null is no block device");
    refused("device = \"/dev/null\"", "device means nothing to storage = \"folder\"");
    refused("storage = \"ext4\"\nstorage_size = \"1GiB\"\ndevice = \"/dev/null\"", "a device has its own size");
}

#[test]
fn sizes_that_cannot_be() {
    refused("storage_size = \"1GiB\"", "storage_size means nothing to storage = \"folder\"");
    refused("storage = \"xfs\"\nstorage_size = \"100MiB\"", "100MiB is too little for xfs");
    let large = file("storage = \"ext4\"\nstorage_size = \"128MiB\"").replace("20_000", "20_000_000");
    let lab = Lab::new();
    lab.write("experiment.toml", &large);
    if may_set_the_environment() {
        lab.run(["run", "experiment.toml", "--out", "results"]).exits(2).says("has no room for keys and values");
        let huge = file("storage = \"ext4\"\nstorage_size = \"900TiB\"");
        lab.write("experiment.toml", &huge).run(["run", "experiment.toml", "--out", "results"]).exits(2).says("free");
    }
    assert!(!lab.path("results").exists());
}

#[test]
fn a_tool_that_is_missing() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    lab.write("experiment.toml", &file("storage = \"xfs\""));
    let mut command = lab.kvdyno();
    command.args(["run", "experiment.toml", "--out", "results"]).env("PATH", "/nowhere");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = squeezed(&String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&squeezed("xfs needs `mkfs.xfs`, which is not on PATH")), "{said}");
    assert!(said.contains("xfsprogs") && !lab.path("results").exists());
}

// ---- ended at any moment

/// Killed at different moments, before, while and after filesystems are made: the next run has what it needs.
#[test]
fn killed_it_goes_on_where_it_was() {
    if !may_set_the_environment() {
        return;
    }
    for milliseconds in [0, 60, 150, 300, 600] {
        let lab = Lab::new();
        let text = file("storage = \"ext4-nojournal\"\nstorage_size = \"128MiB\"")
            .replace("readers = [1]", "readers = [1, 2]")
            .replace("operations = 3000", "duration = \"300ms\"");
        lab.write("experiment.toml", &text);
        let killed = lab.start(["run", "experiment.toml", "--out", "results"]).has_begun().after(milliseconds).killed();
        killed.lab.has_no_workers();
        // With what was left over, and without.
        if milliseconds % 100 == 0 {
            cleaned(&lab);
        }
        let resumed = lab.resume();
        resumed.exits(0).is_clean();
        assert_eq!(resumed.results().len(), 3);
        lab.has_given_back();
        assert!(!lab.path("results/databases").exists());
    }
}

/// Killed while `losetup` is on its way, which goes on: nobody forgets the device that comes afterwards.
#[test]
fn a_tool_that_outlives_its_run_makes_nothing_that_is_forgotten() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    lab.write("experiment.toml", &file("storage = \"ext4\"\nstorage_size = \"128MiB\""));
    let here = lab.path("").canonicalize().unwrap();
    let path = std::env::var("PATH").unwrap();
    let tool = std::env::split_paths(&path).map(|folder| folder.join("losetup")).find(|tool| tool.exists()).unwrap();
    let (here, tool) = (here.display(), tool.display());
    let wait = format!("touch {here}/begun; while [ ! -e {here}/go ]; do sleep 0.01; done");
    lab.write("losetup", &format!("#!/bin/sh\ncase \"$*\" in *--find*) {wait} ;; esac\nexec {tool} \"$@\"\n"));
    fs::set_permissions(lab.path("losetup"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = lab.kvdyno();
    command.args(["run", "experiment.toml", "--out", "results"]).env("PATH", format!("{here}:{path}"));
    let running = RunningKvdyno::start(lab.clone(), command);
    eventually("losetup", || lab.path("begun").exists());
    let pid = running.pid();
    running.killed();
    let first = lab.run(["clean"]);
    lab.write("go", "").has_no_processes();
    let said = lab.run(["clean"]).stdout;
    let words = format!("process {pid} is not seen here, but it or what it started works with it");
    assert!(first.stdout.contains(&words), "{}", first.stdout);
    assert!(said.contains("removed the loop device"), "{said}");
    lab.has_given_back();
}

/// Somebody unmounted and removed the databases of a killed run, and left their loop devices.
#[test]
fn a_loop_device_whose_file_was_removed_is_given_back_by_the_resumed_run() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let text = file("storage = \"ext4\"\nstorage_size = \"128MiB\"");
    lab.write("experiment.toml", &text.replace("operations = 3000", "duration = \"3s\""));
    let killed = lab.start(["run", "experiment.toml", "--out", "results"]).has_records(1).has_a_worker().killed();
    killed.lab.has_no_workers();
    let point = image(&lab).with_file_name("kvdyno-storage");
    eventually("unmounted", || Command::new("umount").arg(&point).status().unwrap().success());
    fs::remove_dir_all(point.parent().unwrap()).unwrap();
    assert_eq!(lab.mounts_and_loops().len(), 1);
    lab.resume().exits(0).is_clean();
    lab.has_given_back();
}

/// Interrupted in order, it leaves nothing but its files.
#[test]
fn interrupted_it_gives_back_what_it_made() {
    if !may_set_the_environment() {
        return;
    }
    let lab = Lab::new();
    let text =
        file("storage = \"btrfs\"\nstorage_size = \"200MiB\"").replace("operations = 3000", "duration = \"20s\"");
    lab.write("experiment.toml", &text);
    let running = lab.start(["run", "experiment.toml", "--out", "results"]).has_records(1).has_a_worker().after(100);
    assert!(!lab.mounts_and_loops().is_empty());
    running.interrupted().ends().exits(130);
    lab.has_given_back();
    assert!(image(&lab).is_file());
}

/// Removes what is left over of this lab.
fn cleaned(lab: &Lab) {
    eventually("a clean lab", || {
        lab.run(["clean"]);
        lab.mounts_and_loops().is_empty()
    });
}
