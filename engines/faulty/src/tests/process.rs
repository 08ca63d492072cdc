//! The end of the process, seen from a parent.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use kvdyno_abi as abi;

use super::host::*;

const CHILD: &str = "KVDYNO_FAULTY_TEST";

/// The child: fills a database, reads once, closes. Run by the tests below with a fault and a folder.
#[test]
#[ignore = "a child of other tests"]
fn child() {
    let plan = std::env::var(CHILD).unwrap();
    let (fault, folder) = plan.split_once(' ').unwrap();
    let db = Db::open(
        Path::new(folder),
        Plan { durability: abi::DURABILITY_PROCESS, after: 9, ..with(String::from(fault).leak()) },
    )
    .unwrap();
    for number in 0..10 {
        db.put(&format!("key{number}"), "value").unwrap();
    }
    for _ in 0..10 {
        let _ = db.get("key0");
    }
    db.close().unwrap();
}

fn child_with(fault: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["tests::process::child", "--exact", "--ignored", "--nocapture"]);
    command.env(CHILD, format!("{fault} {}", folder.display()));
    command
}

fn run(fault: &str, folder: &Path) -> Output {
    child_with(fault, folder).output().unwrap()
}

#[test]
fn processes_end_as_the_fault_says() {
    const SIGSEGV: i32 = 11;
    const SIGABRT: i32 = 6;
    let signal = |status: ExitStatus| (status.signal(), status.code());
    for (fault, end, acknowledged) in [
        ("none", (None, Some(0)), 10),
        ("segv-open", (Some(SIGSEGV), None), 0),
        ("segv-put", (Some(SIGSEGV), None), 9),
        ("segv-get", (Some(SIGSEGV), None), 10),
        ("segv-close", (Some(SIGSEGV), None), 10),
        ("abort-get", (Some(SIGABRT), None), 10),
        ("exit-open", (None, Some(3)), 0),
        ("exit-get", (None, Some(0)), 10),
    ] {
        let folder = folder();
        let output = run(fault, folder.path());
        assert_eq!(signal(output.status), end, "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        let ended_early = !String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert_eq!(ended_early, fault != "none", "{fault}");
        if acknowledged > 0 {
            let db = Db::open(folder.path(), SOUND).unwrap();
            assert_eq!(db.scan(None, abi::FORWARD).len(), acknowledged, "{fault}: what was acknowledged survives");
            db.close().unwrap();
        }
    }
}

#[test]
fn processes_hang_as_the_fault_says() {
    let folders = [folder(), folder(), folder(), folder()];
    let faults = ["hang-open", "hang-put", "hang-get", "hang-close"];
    let start = |(fault, folder): (_, &tempfile::TempDir)| {
        child_with(fault, folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = faults.into_iter().zip(&folders).map(start).collect();
    std::thread::sleep(Duration::from_millis(700));
    for (fault, child) in faults.into_iter().zip(&mut children) {
        assert!(child.try_wait().unwrap().is_none(), "{fault} came to an end");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_noisy_engine_fills_pipes() {
    let folder = folder();
    let output = run("noisy", folder.path());
    assert!(output.status.success());
    assert!(output.stdout.len() > 512 << 10 && output.stderr.len() > 512 << 10);
}
