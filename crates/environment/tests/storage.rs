//! A real filesystem and its device.

// Helpers of tests are tests: a failure there is a failed test.
#![allow(clippy::unwrap_used)]

use std::fs;

use kvdyno_environment::storage::{DeviceCounters, allocated_kib, filesystem, settle};

#[test]
fn settled_writes_reach_the_device() {
    // Not in `/tmp`, which may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    settle(folder.path()).unwrap();
    let Some(before) = DeviceCounters::read(folder.path()) else { return };
    let file = folder.path().join("file");
    // The hundred bytes repeat at too great a distance for a filesystem to drop them as zeros.
    fs::write(&file, (0..4 << 20).map(|i: u32| (i.wrapping_mul(2654435761) >> 24) as u8).collect::<Vec<_>>()).unwrap();
    settle(&file).unwrap();
    let device = DeviceCounters::read(folder.path()).unwrap().since(&before);
    assert!(device.write_bytes >= 4 << 20 && device.writes > 0, "{device:?}");
    assert_eq!(Some(device.name), filesystem(&file).device);
    assert!(allocated_kib(&file).unwrap() >= 4 << 10);
}
