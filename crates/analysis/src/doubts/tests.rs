use proptest::prelude::*;

use kvdyno_model::{Arrival, Compression, Design, Durability};
use kvdyno_results::{
    AuditFacts, CpuAccount, CpuFacts, DesignFacts, Device, KeptOutside, OsFacts, Phase, ReadBack, RoleOperations,
    WorkloadFacts,
};

use super::*;
use crate::testing::{failed, machine, result, role_until};

fn sentences(result: &TrialResult) -> Vec<String> {
    check(result, Some(&machine())).iter().map(Doubt::to_string).collect()
}

#[test]
fn a_sound_result_has_no_doubts() {
    assert_eq!(sentences(&result("lmdb", 1, 1, 100_000.0)), Vec::<String>::new());
}

#[test]
fn a_failed_trial_has_nothing_to_doubt() {
    assert_eq!(check(&failed("lmdb", 1, 1), Some(&machine())), []);
}

/// `published/symas-2014-inmem-numa-interleave.csv`: wall, user, system, CPU %.
#[test]
fn the_slip_in_the_published_table_is_found_and_nothing_else() {
    let sound = [
        (623.66, 1025.96, 150.28, 188),
        (602.16, 1173.07, 27.88, 199),
        (944.78, 359.99, 116.32, 50),
        (601.35, 38117.47, 106.09, 6356),
    ];
    for (wall_s, user_s, sys_s, cpu_pct) in sound {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        (result.os.wall_s, result.os.user_s, result.os.sys_s, result.os.cpu_pct) = (wall_s, user_s, sys_s, cpu_pct);
        assert_eq!(check(&result, None), [], "{wall_s}");
    }
    let mut slip = result("wiredtiger:btree", 1, 1, 100_000.0);
    (slip.os.wall_s, slip.os.user_s, slip.os.sys_s, slip.os.cpu_pct) = (958.84, 2120.18, 57.05, 132);
    let doubts: Vec<_> = check(&slip, None).iter().map(Doubt::to_string).collect();
    assert_eq!(doubts, ["CPU is recorded as 132 %, but user + system over wall time gives 227 %."]);
}

/// Half of the window, at a rate that the whole could explain.
#[test]
fn a_role_in_a_part_of_the_window_is_judged_by_its_own_time() {
    let mut result = result("lmdb", 1, 1, 100_000.0);
    result.workload.roles = vec![role_until(5.0)];
    let own = Operations { operations_per_s: 200_000.0, ..result.operations[0].clone() };
    result.of_roles = vec![RoleOperations { name: "early".into(), operations: vec![own], seconds: Some(5.0) }];
    let told = "200000 get operations a second are more than the 100005 that their threads and mean latency allow.";
    assert_eq!(sentences(&result), [told]);
    let late = Pacing { behind_s: 0.06, ..Pacing::default() };
    result.workload.roles[0].rate = Some(5.0);
    result.of_roles[0].operations[0].pacing = Some(late);
    let expected = Doubt::RateNotKept { kind: OpKind::Get, rates: None, behind_s: 0.06, allowed_s: 0.05 };
    assert_eq!(check(&result, None), [expected]);
}

#[test]
fn more_cpu_than_there_is() {
    let mut result = result("lmdb", 1, 1, 100_000.0);
    (result.os.user_s, result.os.cpu_pct) = (result.os.wall_s * 5.0, 500);
    result.os.sys_s = 0.0;
    assert_eq!(sentences(&result), ["500 % CPU is more than the machine's 4 processors can give."]);
}

#[test]
fn what_was_not_read_back_is_told() {
    let mut result = result("lmdb", 1, 1, 100_000.0);
    let read = AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() };
    result.audit = Some(read.clone());
    assert_eq!(sentences(&result), Vec::<String>::new());
    result.audit = Some(AuditFacts { process: None, ..read.clone() });
    let lost = "What was written was not read back by a fresh process: its database was lost before, or the run \
                did not come to it.";
    assert_eq!(sentences(&result), [lost]);
    result.audit = Some(AuditFacts { extent: Audit::Off, process: None, ..read.clone() });
    assert_eq!(sentences(&result), ["What was written was not read back by a fresh process: the audit is off."]);
    result.audit = Some(AuditFacts { volatile: true, process: None, ..read });
    assert_eq!(sentences(&result), Vec::<String>::new());
}

/// A million values of 100 bytes, incompressible or compressed by half.
fn loaded() -> TrialResult {
    let mut load = result("lmdb", 1, 1, 100_000.0);
    load.trial.phase = Phase::Load;
    load.audit = Some(AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() });
    load.space.db_kib = 120_000;
    load
}

#[test]
fn a_database_smaller_than_its_values() {
    let mut load = loaded();
    assert_eq!(sentences(&load), Vec::<String>::new());
    load.space.db_kib = 4;
    assert!(sentences(&load)[0].starts_with("The database takes 4096 bytes, and its values have 90000000 that"));
    (load.workload.compression, load.space.db_kib) = (Compression::Lz4, 20_000);
    assert_eq!(sentences(&load), Vec::<String>::new());
}

#[test]
fn blocks_that_were_never_written_hold_no_values() {
    let mut load = loaded();
    load.space.preallocated_kib = Some(30_000);
    assert_eq!(sentences(&load), Vec::<String>::new());
    load.space.preallocated_kib = Some(50_000);
    assert!(sentences(&load)[0].starts_with("The database takes 71680000 bytes, and its values have 90000000 that"));
}

#[test]
fn a_database_smaller_than_its_values_after_a_run() {
    let mut run = TrialResult { space: loaded().space, audit: loaded().audit, ..result("lmdb", 1, 1, 100_000.0) };
    let record_bytes = run.workload.key_size + run.workload.value_size;
    run.space.live_bytes = Some(1_000_000 * record_bytes);
    assert_eq!(sentences(&run), Vec::<String>::new());
    run.space.db_kib = 4;
    assert!(sentences(&run)[0].starts_with("The database takes 4096 bytes, and its values have 90000000 that"));
    run.audit = None;
    assert_eq!(sentences(&run), Vec::<String>::new(), "it wrote nothing");
}

#[test]
fn what_is_kept_outside_the_folder() {
    let mut load = loaded();
    load.space.live_bytes = Some(110 << 20);
    (load.workload.cache_bytes, load.workload.write_buffer_bytes) = (64 << 20, 4 << 20);
    let mut with = |memory_kib, files_kib, cache_mib: u64| {
        let largest_file = (files_kib > 0).then(|| "/dev/hidden".into());
        load.environment.outside = Some(KeptOutside { memory_kib, files_kib, largest_file });
        load.workload.cache_bytes = cache_mib << 20;
        sentences(&load)
    };
    assert_eq!(with(135 << 10, 11_999, 64), Vec::<String>::new());
    let memory = "The engine used 138240 KiB of memory, where its cache and write buffers were to have 81920 KiB: it \
                  may keep more of its 112640 KiB of records in memory than others.";
    let files = "The engine had files of 12000 KiB open outside its database's folder, the largest /dev/hidden: they \
                 are not in the size of the database, and need not be on its storage.";
    assert_eq!(with(135 << 10, 12_000, 64), [files]);
    assert_eq!(with((136 << 10) + 1, 0, 64), [memory.replace("138240", "139265")]);
    assert_eq!(with(1 << 30, 0, 110), Vec::<String>::new(), "the cache holds all");
    load.space.db_kib = 4000;
    load.environment.outside = Some(KeptOutside { files_kib: 1023, ..KeptOutside::default() });
    assert!(!sentences(&load).iter().any(|sentence| sentence.contains("outside")), "small files");
}

#[test]
fn a_load_that_is_kept_elsewhere() {
    let mut load = loaded();
    (load.os.write_bytes, load.os.fs_out_ops) = (Some(1_000_000), 2_000);
    load.os.device = Some(Device { write_bytes: 2_000_000, ..Device::default() });
    load.environment.filesystem = "ext4 rw,relatime".into();
    let expected = "The load wrote 2000000 bytes to files, and its values have 90000000 that cannot be compressed: \
                    they are kept elsewhere, or not at all.";
    assert_eq!(sentences(&load), [expected]);
    // Each of these is enough to believe it, or not to know.
    let others: [fn(&mut TrialResult); 5] = [
        |load| load.os.write_bytes = Some(100_000_000),
        |load| load.os.fs_out_ops = 200_000,
        |load| load.os.device = Some(Device { write_bytes: 100_000_000, ..Device::default() }),
        |load| load.os.device = None,
        |load| load.environment.filesystem = "tmpfs rw".into(),
    ];
    for change in others {
        let mut other = load.clone();
        change(&mut other);
        assert_eq!(sentences(&other), Vec::<String>::new());
    }
}

#[test]
fn a_database_that_is_mostly_log() {
    let mut load = result("wiredtiger", 1, 1, 100_000.0);
    (load.space.db_kib, load.space.log_kib) = (320_000, Some(20_000));
    assert_eq!(sentences(&load), Vec::<String>::new());
    load.space.preallocated_kib = Some(140_000);
    assert_eq!(sentences(&load), Vec::<String>::new());
    load.space.preallocated_kib = Some(280_000);
    let expected = "Of the database's 320000 KiB, logs take 20000 KiB and preallocated space takes 280000 KiB: \
                    its size says little about the size of a larger database.";
    assert_eq!(sentences(&load), [expected]);
}

#[test]
fn a_duet_that_cpu_time_does_not_compare() {
    let duet = CpuAccount { operations: 1000, cpu_s: 1.0, client_cpu_s: 1.0 };
    let with = |facts: DesignFacts, background: f64| {
        let alone = Some(CpuAccount { client_cpu_s: 1.0 - background, ..duet });
        let cpu = CpuFacts { alone, ..CpuFacts::default() };
        sentences(&TrialResult { design: Some(facts), cpu, ..result("lmdb", 1, 1, 100_000.0) })
    };
    let design = Design::Duet;
    let facts = DesignFacts { design, slept: Some(0.009), duet: Some(duet), ..DesignFacts::default() };
    assert_eq!(with(facts.clone(), 0.049), Vec::<String>::new());
    let beside = DesignFacts { background_beside: Some(0.03), ..facts.clone() };
    for (facts, background, why) in [
        (DesignFacts { slept: Some(0.032), ..facts.clone() }, 0.0, "clients slept 3.2 % of the time"),
        (facts.clone(), 0.06, "background work has 6.0 % of it"),
        (beside, 0.0, "background work has 0.0 % of it and 3.0 % of the other's"),
        (DesignFacts { duet: None, ..facts.clone() }, 0.0, "no control group that can be frozen counts it"),
    ] {
        let said = with(facts, background);
        let begin = format!("The CPU time of a duet is not compared, because {why}");
        assert!(said.len() == 1 && said[0].starts_with(&begin), "{said:?}");
        assert!(said[0].ends_with('.'), "{said:?}");
    }
    let slices = DesignFacts { design: Design::Slices, slept: Some(0.5), duet: None, ..facts };
    assert_eq!(with(slices, 0.5), Vec::<String>::new());
}

#[test]
fn a_database_that_was_dirty_between_slices() {
    let mut run = result("lmdb", 1, 1, 100_000.0);
    run.space.db_kib = 100_000;
    let of = |dirty_kib| {
        let design = Some(DesignFacts { design: Design::Slices, dirty_kib, ..DesignFacts::default() });
        sentences(&TrialResult { design, ..run.clone() })
    };
    assert_eq!((of(None), of(Some(9_999))), (vec![], vec![]));
    let expected = "Up to 25000 KiB, 25 % of its database, were not on the storage yet when its process was frozen \
                    between slices: the kernel may have written them in slices of other setups.";
    assert_eq!(of(Some(25_000)), [expected]);
}

#[test]
fn a_machine_without_random_addresses() {
    let of = |level| {
        let mut machine = machine();
        machine.setup.randomize_va_space = level;
        check(&result("lmdb", 1, 1, 100_000.0), Some(&machine))
    };
    assert_eq!((of(None), of(Some(2)), of(Some(0))), (vec![], vec![], vec![Doubt::OneLayout]));
}

#[test]
fn writes_that_went_nowhere() {
    let mut run = result("lmdb", 1, 1, 100_000.0);
    run.audit = Some(AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() });
    (run.user_bytes_written, run.workload.durability) = (5000, Durability::Process);
    run.environment.filesystem = "ext4 rw,relatime".into();
    (run.os.write_bytes, run.os.fs_out_ops, run.os.device) = (Some(0), 0, None);
    let expected = "5000 bytes of writes were acknowledged, but nothing was written: not by the worker to any \
                    file, and not to the device.";
    assert_eq!(sentences(&run), [expected]);
    // Each of these is enough to believe it, or not to know.
    let others: [fn(&mut TrialResult); 7] = [
        |run| run.os.write_bytes = Some(4096),
        |run| run.os.write_bytes = None,
        |run| run.os.fs_out_ops = 8,
        |run| run.user_bytes_written = 0,
        |run| run.workload.durability = Durability::None,
        |run| run.environment.filesystem = "tmpfs rw".into(),
        |run| run.audit = Some(AuditFacts { volatile: true, ..AuditFacts::default() }),
    ];
    for change in others {
        let mut other = run.clone();
        change(&mut other);
        assert_eq!(sentences(&other), Vec::<String>::new());
    }
}

#[test]
fn the_driver_in_the_way() {
    let mut fast = result("null", 1, 1, 5_000_000.0);
    fast.operations[0].latency.mean_ns = 140;
    let expected = "The driver itself takes 60 ns for a get, beside the 140 ns of the call: 30 % of a reader's \
                    time is the driver's.";
    assert_eq!(sentences(&fast), [expected]);
}

#[test]
fn rates_that_cannot_be() {
    let mut result = result("lmdb", 1, 1, 100_000.0);
    result.operations[0].latency.mean_ns = 20_000;
    let doubts = sentences(&result);
    assert!(doubts[0].starts_with("100000 get operations a second are more than the 50001"), "{doubts:?}");
}

#[test]
fn a_rate_that_was_not_kept() {
    let mut slow = result("lmdb", 1, 1, 100.0);
    (slow.workload.read_rate, slow.workload.arrival) = (Some(1000.0), Some(Arrival::Poisson));
    let pacing = Pacing { behind_s: 9.0, most_behind_s: 9.0, kept: false, ..Pacing::default() };
    slow.operations[0].pacing = Some(pacing);
    let told = sentences(&slow);
    let rates = "1000 a second were requested and 100.0 were reached; at the end a client was 9.00 s behind";
    assert!(told[0].starts_with(&format!("The rate of get operations was not kept: {rates}")), "{told:?}");
    slow.operations[0].pacing = Some(Pacing { behind_s: 0.001, kept: true, ..pacing });
    assert!(sentences(&slow).iter().all(|told| !told.contains("not kept")));
}

#[test]
fn sleeps_that_make_operations_late() {
    // 1000 gets of 10 ms each in the mean.
    let mut slow = result("lmdb", 1, 1, 100.0);
    slow.workload.read_rate = Some(100.0);
    let pacing = Pacing { overslept_s: 1.9, kept: true, ..Pacing::default() };
    slow.operations[0].pacing = Some(pacing);
    assert_eq!(sentences(&slow), Vec::<String>::new());
    slow.operations[0].pacing = Some(Pacing { overslept_s: 2.5, ..pacing });
    let expected = "A get began 2500000 ns late in the mean because its client slept too long: 25 % of its mean \
                    latency of 10000000 ns is the driver's and the scheduler's.";
    assert_eq!(sentences(&slow), [expected]);
}

/// A histogram that wraps round gives such latencies.
#[test]
fn latencies_that_cannot_be() {
    let mut result = result("rocksdb", 4, 1, 115_336.0);
    result.operations[0].latency.mean_ns = 4;
    let expected = "A get took 4 ns by its mean latency, but 34681 ns by the rate and the number of threads: one \
                    of the two is wrong, or the threads did something else.";
    assert!(sentences(&result).contains(&expected.to_owned()), "{:?}", sentences(&result));
}

#[test]
fn a_limited_rate_leaves_time_between_writes() {
    let mut result = result("lmdb", 1, 1, 1000.0);
    result.operations[0].kind = OpKind::Put;
    result.operations[0].latency.mean_ns = 3000;
    assert_eq!(sentences(&result).len(), 1);
    result.workload.write_rate = Some(1000.0);
    assert_eq!(sentences(&result), Vec::<String>::new());
}

#[test]
fn too_short_and_too_few() {
    let mut result = result("lmdb", 1, 1, 100_000.0);
    if let Some(window) = &mut result.window {
        window.seconds = 0.25;
    }
    result.operations[0].operations = 900;
    let doubts = sentences(&result);
    assert_eq!(doubts[0], "The measured window is only 0.25 s long: its rates are a matter of chance.");
    assert_eq!(doubts[1], "Only 900 get operations were measured: their p99.99 is just the slowest of them.");
}

proptest! {
    /// The figures that `time` prints of any run agree with each other.
    #[test]
    fn the_truth_to_two_places_is_never_doubted(wall in 0.05f64..1e5, user in 0.0f64..64.0, sys in 0.0f64..16.0) {
        let cents = |v: f64| (v * 100.0).round() / 100.0;
        let mut result = result("lmdb", 1, 1, 100_000.0);
        result.os.wall_s = cents(wall);
        result.os.user_s = cents(user * wall);
        result.os.sys_s = cents(sys * wall);
        result.os.cpu_pct = (100.0 * (user + sys)) as u64;
        prop_assert_eq!(cpu_disagrees(&result), None);
    }

    #[test]
    fn a_tenth_off_is_always_doubted(wall in 10.0f64..1e5, busy in 0.5f64..64.0) {
        let mut result = result("lmdb", 1, 1, 100_000.0);
        (result.os.wall_s, result.os.user_s, result.os.sys_s) = (wall, busy * wall, 0.0);
        result.os.cpu_pct = (110.0 * busy) as u64 + 1;
        prop_assert!(cpu_disagrees(&result).is_some());
    }
}

#[test]
fn commits_that_no_flush_made_durable() {
    let mut run = result("lmdb", 2, 1, 100_000.0);
    run.operations[0].kind = OpKind::Put;
    run.audit = Some(AuditFacts { process: Some(ReadBack::default()), ..AuditFacts::default() });
    run.workload.durability = Durability::Commit;
    let (commits, clients) = (run.operations[0].operations, u64::from(run.operations[0].threads));
    let of = |flushes: Option<u64>, run: &TrialResult| {
        let device = Some(Device { flushes, writes: u64::MAX, ..Device::default() });
        sentences(&TrialResult { os: OsFacts { device, ..run.os.clone() }, ..run.clone() })
    };
    let enough = commits.div_ceil(clients) - 1;
    assert_eq!((of(None, &run), of(Some(enough), &run)), (vec![], vec![]));
    let expected = format!(
        "{commits} commits of {clients} clients were acknowledged as durable, but the device had only {} \
         flushes and {} writes, by whomever.",
        enough - 1,
        u64::MAX
    );
    assert_eq!(of(Some(enough - 1), &run), [expected]);
    let weaker =
        TrialResult { workload: WorkloadFacts { durability: Durability::Periodic, ..run.workload.clone() }, ..run };
    assert_eq!(of(Some(0), &weaker), Vec::<String>::new());
}
