//! An engine that crashes, leaves, hangs, errs or fills the storage spoils its own trials and nobody else's, and the
//! report says what it did.

use crate::support::{Comparison, HANG, Lab, NEVER, Ran, SmallFilesystem, side_by_side};

/// `faulty` beside LMDB, reading at random. Databases have 2000 records: put 2001 is the first after the load.
fn faulty(fault: &str) -> Comparison {
    Lab::new().compare(["faulty", "lmdb"]).workload("readrandom").operations(5000).fault(fault, 1000)
}

/// Put 2001 of the run is hit, none of the load. The writer's own operations end it: however busy the machine, it gets
/// there.
fn faulty_after_the_load(fault: &str) -> Comparison {
    faulty(fault).workload("overwrite").operations(3000).option("faulty.after=2000").fault(fault, 1)
}

trait Survived {
    /// LMDB's trials are whole, the report tells the failures, nothing is left.
    fn only_faulty_suffers(&self);
}

impl Survived for Ran {
    #[track_caller]
    fn only_faulty_suffers(&self) {
        self.exits(1).all_finished("lmdb").is_whole().reports_failures();
    }
}

#[track_caller]
fn fails_in_the_run(comparison: Comparison, kind: &str, words: &str) {
    failed_in_the_run(&comparison.run(), kind, words);
}

#[track_caller]
fn failed_in_the_run(ran: &Ran, kind: &str, words: &str) {
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", ran.workload()).failed(kind, words);
    ran.only_faulty_suffers();
}

#[track_caller]
fn fails_in_the_load(comparison: Comparison, kind: &str, words: &str) {
    failed_in_the_load(&comparison.run(), kind, words);
}

#[track_caller]
fn failed_in_the_load(ran: &Ran, kind: &str, words: &str) {
    ran.trial("faulty", "load").failed(kind, words);
    ran.trial("faulty", ran.workload()).failed("not-run", "the load failed").failed("not-run", words);
    ran.only_faulty_suffers();
}

// ---- crashes

#[test]
fn a_segmentation_fault_in_a_read() {
    fails_in_the_run(faulty("segv-get"), "crashed", "signal 11 (SIGSEGV) while measuring");
}

#[test]
fn a_segmentation_fault_in_a_write_of_the_load() {
    fails_in_the_load(faulty("segv-put"), "crashed", "signal 11 (SIGSEGV) while measuring");
}

#[test]
fn a_segmentation_fault_in_a_write_of_the_run() {
    fails_in_the_run(faulty_after_the_load("segv-put"), "crashed", "signal 11 (SIGSEGV) while measuring");
}

#[test]
fn a_segmentation_fault_in_the_warm_up() {
    // The first read crashes: so long that it comes in the warm-up, whatever else wants the processor.
    let warming = faulty("segv-get").fault("segv-get", 1).operations(100).with("warmup", "3s");
    fails_in_the_run(warming, "crashed", "signal 11 (SIGSEGV) while warming up");
}

#[test]
fn a_segmentation_fault_in_the_opening() {
    fails_in_the_load(faulty("segv-open"), "crashed", "signal 11 (SIGSEGV) while opening the database");
}

#[test]
fn a_segmentation_fault_in_the_closing() {
    fails_in_the_load(faulty("segv-close"), "crashed", "signal 11 (SIGSEGV) while closing the database");
}

#[test]
fn an_abort() {
    fails_in_the_run(faulty("abort-get"), "crashed", "signal 6 (SIGABRT) while measuring");
}

// ---- exits

/// An exit code of 0 does not make it a success.
#[test]
fn an_exit_that_says_all_is_well() {
    fails_in_the_run(faulty("exit-get"), "exited", "the process exited with code 0 while measuring");
}

#[test]
fn an_exit_in_the_opening() {
    fails_in_the_load(faulty("exit-open"), "exited", "the process exited with code 3 while opening the database");
}

// ---- hangs

/// A limit of working and one of closing, for a closing may compact for long. LMDB has to meet both, so they are long,
/// and all engines that hang are waited for at once. The other limit of each ends nothing here.
#[test]
fn calls_that_never_return_are_ended_by_the_limit_that_is_theirs() {
    let working = |comparison: Comparison| comparison.file("lab.hang_timeout", HANG).file("lab.close_timeout", NEVER);
    let closing = |comparison: Comparison| comparison.file("lab.hang_timeout", NEVER).file("lab.close_timeout", HANG);
    // The writer comes to the put that never returns long before the reader is through; no time is over meanwhile.
    let beside_a_reader = faulty_after_the_load("hang-put").workload("readwhilewriting").operations(2_000_000);
    let ran = side_by_side(&[
        working(faulty("hang-get")),
        working(beside_a_reader),
        working(faulty("hang-put")),
        closing(faulty("hang-open")),
        closing(faulty("hang-close")),
        working(faulty("hang-get").workload("readrandom,readseq")),
    ]);
    let [read, write_beside_a_reader, write_of_the_load, opening, closing, with_a_trial_after_it] = &ran[..] else {
        panic!("{} runs", ran.len())
    };
    failed_in_the_run(read, "hung", "s while measuring");
    failed_in_the_run(write_beside_a_reader, "hung", "s while measuring");
    failed_in_the_load(write_of_the_load, "hung", "s while measuring");
    failed_in_the_load(opening, "hung", "s while opening the database");
    failed_in_the_load(closing, "hung", "s while closing the database");
    failed_in_the_run(with_a_trial_after_it, "hung", "s while measuring");
    let after = with_a_trial_after_it.trial("faulty", "readseq");
    after.finished().notes("the database was loaded again before this trial");
}

// ---- errors

#[test]
fn reads_that_answer_with_an_error() {
    let words = "errors; the first: reading record";
    fails_in_the_run(faulty("error-get"), "engine-error", words);
    fails_in_the_run(faulty("error-get"), "engine-error", "injected by fault=error-get");
}

#[test]
fn errors_without_end_end_the_trial() {
    let ran = faulty("error-get").fault("error-get", 1).operations(1_000_000).run();
    assert_eq!(ran.trial("faulty", "readrandom").result.answers.errors, 100);
    ran.only_faulty_suffers();
}

#[test]
fn writes_that_answer_with_an_error() {
    fails_in_the_load(faulty("error-put"), "engine-error", "writing: injected by fault=error-put");
    fails_in_the_run(faulty_after_the_load("error-put"), "engine-error", "writing: injected by fault=error-put");
}

#[test]
fn an_opening_that_answers_with_an_error() {
    fails_in_the_load(faulty("error-open"), "engine-error", "opening the database: injected by fault=error-open");
}

#[test]
fn a_trial_that_takes_longer_than_it_may() {
    let hour = Lab::new().compare(["faulty"]).workload("readwhilewriting").milliseconds(3_600_000);
    // The load has to meet it.
    let slow = hour.file("lab.trial_timeout", "15s");
    let ran = slow.run();
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", "readwhilewriting").failed("too-slow", "not finished after 15s");
    ran.exits(1).is_whole().reports_failures();
}

// ---- full storage

#[test]
fn an_engine_that_says_there_is_no_space() {
    fails_in_the_load(faulty("enospc-put"), "no-space", "No space left on device");
    fails_in_the_run(faulty_after_the_load("enospc-put"), "no-space", "No space left on device");
}

/// Files that the faulty engine left are removed before LMDB needs the space.
#[test]
fn a_filesystem_that_is_full_in_the_load() {
    let filling = faulty("fill-disk").with("dir", "small").file("lab.min_free", "64KiB");
    let Some(small) = SmallFilesystem::mount(filling.lab(), "small") else { return };
    let ran = filling.run();
    ran.trial("faulty", "load").failed("no-space", "");
    ran.trial("faulty", "readrandom").failed("not-run", "the load failed");
    ran.only_faulty_suffers();
    small.is_empty();
}

/// The first put after a load of 200 records. Writes are few: LMDB keeps old pages for a reader that is held up, and on
/// a busy machine would fill the filesystem by itself.
fn filling_in_the_run() -> Comparison {
    let small = faulty_after_the_load("fill-disk").with("records", 200).option("faulty.after=200");
    small.with("write-rate", 2000).operations(800).file("lab.min_free", "64KiB")
}

#[test]
fn a_filesystem_that_is_full_in_the_run() {
    let filling = filling_in_the_run().with("dir", "small");
    let Some(small) = SmallFilesystem::mount(filling.lab(), "small") else { return };
    let ran = filling.run();
    ran.trial("faulty", "load").finished();
    ran.trial("faulty", ran.workload()).failed("no-space", "");
    ran.only_faulty_suffers();
    small.is_empty();
}

/// Where databases go unless told otherwise: what the failed trial left makes room for its own result and the rest.
#[test]
fn a_filesystem_that_is_full_where_the_results_are() {
    let filling = filling_in_the_run();
    let Some(_small) = SmallFilesystem::mount(filling.lab(), "results") else { return };
    let ran = filling.run();
    ran.trial("faulty", ran.workload()).failed("no-space", "");
    ran.only_faulty_suffers();
}

/// The lab does not wait until the storage is full to the last byte: the faulty engine's log grows with each write, at
/// 8 MB a second, and the trial would take a minute.
#[test]
fn storage_that_is_almost_full() {
    let minute = Lab::new().compare(["faulty"]).workload("readwhilewriting").milliseconds(60_000);
    let growing = minute.with("records", 500).with("value-size", 4000).with("write-rate", 2000).with("dir", "small");
    let Some(small) = SmallFilesystem::mount(growing.lab(), "small") else { return };
    let ran = growing.file("lab.min_free", "116MiB").run();
    ran.trial("faulty", "readwhilewriting").failed("no-space", "left while measuring, min_free is 116MiB");
    ran.exits(1).is_whole().reports_failures();
    small.is_empty();
}

/// Keys and values of a load and its copy are 68 MB. LMDB has one record in each page, so the load alone takes 98 MB.
#[test]
fn a_copy_that_finds_no_space_costs_its_own_trials() {
    let copied = Lab::new().compare(["lmdb"]).workload("readrandom").operations(1000).with("database", "snapshot");
    let copied = copied.with("records", 24_000).with("value-size", 1400).with("readers", "1,2").with("dir", "small");
    let Some(small) = SmallFilesystem::mount(copied.lab(), "small") else { return };
    let ran = copied.file("lab.min_free", "64KiB").run();
    ran.exits(1).is_whole();
    ran.trial("lmdb", "load").finished();
    for trial in ran.trials("lmdb", "readrandom") {
        trial.failed("no-space", "a copy of the loaded database: No space left on device");
    }
    small.is_empty();
}

/// A load of LMDB and its copy take 53 MB each, those of the faulty engine 18 MB: there is room for three of the four.
#[test]
fn a_copy_without_space_beside_another_gets_it_afterwards() {
    let lab = Lab::new();
    let Some(small) = SmallFilesystem::mount(&lab, "small") else { return };
    lab.write(
        "experiment.toml",
        "engines = [\"faulty\", \"lmdb\"]\n[data]\nrecords = 12900\nvalue_size = 1400\n\
         [[run]]\nworkload = \"readrandom\"\nduration = \"200ms\"\nwarmup = \"0s\"\n\
         [lab]\ndatabase = \"snapshot\"\ndesign = \"slices\"\nrepeat = 1\ndir = \"small\"\nmin_free = \"64KiB\"\n",
    );
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    ran.exits(0).is_whole();
    assert!(ran.stderr.contains("lmdb: its copy had no space beside those of the others"), "{}", ran.stderr);
    small.is_empty();
}

// ---- no fault, but a nuisance

/// More than a pipe holds, on both streams of the worker: none of it gets among what kvdyno prints.
#[test]
fn an_engine_that_talks_without_end() {
    let ran = faulty("noisy").fault("noisy", 10).with("format", "csv").run();
    ran.is_clean();
    assert!(!ran.stdout.contains("a lot to say") && !ran.stderr.contains("a lot to say"));
    assert!(ran.trial("faulty", "readrandom").file("worker.log").len() > 500_000);
}

// ---- afterwards

/// The faults of reads spare cursors: the scan that follows runs, on a database that was loaded anew.
#[test]
fn a_trial_after_a_crash_has_a_new_database() {
    let ran = faulty("segv-get").workload("readrandom,readseq").run();
    ran.trial("faulty", "readrandom").failed("crashed", "SIGSEGV");
    ran.trial("faulty", "readseq").finished().notes("the database was loaded again before this trial");
    ran.says("faulty: loading the database again").only_faulty_suffers();
}

/// A database that a good trial left is not loaded again.
#[test]
fn a_trial_after_a_good_one_has_its_database() {
    let ran = faulty("none").workload("readwhilewriting,readseq").milliseconds(200).run();
    ran.is_clean();
    assert!(ran.results().iter().all(|result| result.notes.is_empty()));
}

/// The one of an earlier repeat says nothing of the next one's.
#[test]
fn every_repeat_is_tried() {
    let ran = faulty("segv-get").with("repeat", 2).run();
    for trial in ran.trials("faulty", "load") {
        trial.finished();
    }
    for trial in ran.trials("faulty", "readrandom") {
        trial.failed("crashed", "SIGSEGV");
    }
    ran.only_faulty_suffers();
}

/// A crash in one engine's database leaves another engine's alone when both are the same adapter.
#[test]
fn two_setups_of_one_engine_are_two() {
    let lab = Lab::new();
    lab.write(
        "experiment.toml",
        r#"
        engines = ["broken", "sound"]
        data.records = 1000
        lab.audit = "off"
        engine.broken = { engine = "faulty", options = { fault = "segv-get" } }
        engine.sound = { engine = "faulty" }
        [[run]]
        workload = "readrandom"
        readers = [1, 2]
        operations = 3000
        warmup = "0s"
        "#,
    );
    let ran = lab.run(["run", "experiment.toml", "--out", "results"]);
    for trial in ran.trials("broken", "readrandom") {
        trial.failed("crashed", "SIGSEGV");
    }
    ran.exits(1).all_finished("sound").is_whole().reports_failures();
}
