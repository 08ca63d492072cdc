//! The accounts of the operating system to a process.

use std::time::Duration;

use kvdyno_results::{CallBytes, OsFacts};

/// The costs that the operating system accounts to this process so far, but for the wall time.
pub fn own_costs() -> OsFacts {
    let mut usage = empty_usage();
    // SAFETY: the pointer is to a live `rusage`, whose zeros stay if the call fails.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let io = procfs::process::Process::myself().and_then(|process| process.io()).ok();
    OsFacts {
        user_s: duration(usage.ru_utime).as_secs_f64(),
        sys_s: duration(usage.ru_stime).as_secs_f64(),
        peak_rss_kib: own_peak_kib().unwrap_or(0),
        ..counters(&usage, io.as_ref())
    }
}

/// The peak resident size of this process since its image was loaded, KiB; absent where the kernel does not say.
pub fn own_peak_kib() -> Option<u64> {
    procfs::process::Process::myself().and_then(|process| process.status()).ok()?.vmhwm
}

/// The bytes of this process's calls so far; absent where the kernel does not say.
pub fn own_calls() -> Option<CallBytes> {
    procfs::process::Process::myself().and_then(|process| process.io()).ok().as_ref().map(call_bytes)
}

/// Bytes that this process has caused to be written to the storage so far; absent where the kernel does not say.
pub fn own_written_bytes() -> Option<u64> {
    procfs::process::Process::myself().and_then(|process| process.io()).ok().map(|io| io.write_bytes)
}

fn call_bytes(io: &procfs::process::Io) -> CallBytes {
    CallBytes { read: io.rchar, written: io.wchar }
}

/// The counters of an account, without its times and peaks.
pub(crate) fn counters(usage: &libc::rusage, io: Option<&procfs::process::Io>) -> OsFacts {
    OsFacts {
        ctx_voluntary: usage.ru_nvcsw as u64,
        ctx_involuntary: usage.ru_nivcsw as u64,
        fs_in_ops: usage.ru_inblock as u64,
        fs_out_ops: usage.ru_oublock as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        read_bytes: io.map(|io| io.read_bytes),
        write_bytes: io.map(|io| io.write_bytes),
        calls: io.map(call_bytes),
        ..OsFacts::default()
    }
}

/// An account of nothing.
pub(crate) fn empty_usage() -> libc::rusage {
    // SAFETY: `rusage` holds integers only, for which zero is a value.
    unsafe { std::mem::zeroed() }
}

/// A time of such an account.
pub(crate) fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}
