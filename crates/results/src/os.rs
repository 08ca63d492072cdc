//! The operating system's accounts of a trial: processes, the block device, space.

use serde::{Deserialize, Serialize};

/// The unit in which Linux counts the inputs and outputs of a process (`ru_inblock`, `ru_oublock`), bytes, whatever the
/// filesystem's blocks are.
pub const ACCOUNTED_BLOCK: u64 = 512;

/// The operating system's accounts of the worker: as `time` reports them, and more. For several processes, the sums;
/// the wall time is from the first one's start until the last one was reaped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsFacts {
    /// From the worker's start until it was reaped, seconds.
    pub wall_s: f64,
    /// User CPU seconds.
    pub user_s: f64,
    /// System CPU seconds.
    pub sys_s: f64,
    /// (user + system) / wall, per cent; cut to a whole number as `time` does.
    pub cpu_pct: u64,
    /// Peak resident size, KiB. For several processes, the sum of their peaks, in which a page that they share counts
    /// once for each of them.
    pub peak_rss_kib: u64,
    /// For several processes: the highest observed sum of their proportional set sizes, KiB, in which a page that they
    /// share counts once. Absent for one process, and if the kernel does not report it.
    pub peak_pss_kib: Option<u64>,
    /// Voluntary context switches.
    pub ctx_voluntary: u64,
    /// Involuntary context switches.
    pub ctx_involuntary: u64,
    /// Filesystem inputs, in blocks of [`ACCOUNTED_BLOCK`] bytes.
    pub fs_in_ops: u64,
    /// Filesystem outputs, in blocks of [`ACCOUNTED_BLOCK`] bytes.
    pub fs_out_ops: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Bytes that the process caused to be read from storage; absent where the kernel does not say.
    pub read_bytes: Option<u64>,
    /// Bytes that the process caused to be written to storage; absent where the kernel does not say.
    pub write_bytes: Option<u64>,
    /// Bytes of its calls; absent if it did not reach the close of its database, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallBytes>,
    /// Syncs that the filesystem did for the worker, from before the database was opened to the end of the measured
    /// part. Absent if no write was to be durable when it was acknowledged, where the device's flushes tell, where they
    /// are not counted or need not be, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// The block device below the database, with all traffic on it during the trial.
    pub device: Option<Device>,
}

/// Bytes that went through calls such as `read(2)` and `write(2)`, from before the database was opened until it was
/// closed, whether or not a device had a part in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallBytes {
    /// Bytes that calls gave.
    pub read: u64,
    /// Bytes that calls took.
    pub written: u64,
}

impl CallBytes {
    /// The sum over two processes, or over two times.
    pub fn plus(self, more: CallBytes) -> CallBytes {
        CallBytes { read: self.read + more.read, written: self.written + more.written }
    }

    /// Bytes that came after `before`.
    pub fn since(self, before: CallBytes) -> CallBytes {
        CallBytes { read: self.read.saturating_sub(before.read), written: self.written.saturating_sub(before.written) }
    }
}

/// A block device's counters over a trial, the database's dirty pages written out at both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name: `nvme0n1`.
    pub name: String,
    /// Bytes read from it.
    pub read_bytes: u64,
    /// Bytes written to it.
    pub write_bytes: u64,
    /// Read requests completed.
    pub reads: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Flushes of its disk's write cache completed. Absent where a sync need not be one: the disk has no volatile
    /// write cache, or writes through it (FUA), or the kernel keeps no such account of it; and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

impl Device {
    fn without(self, part: &Device) -> Device {
        Device {
            flushes: self.flushes.map(|flushes| flushes.saturating_sub(part.flushes.unwrap_or(0))),
            read_bytes: self.read_bytes.saturating_sub(part.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(part.write_bytes),
            reads: self.reads.saturating_sub(part.reads),
            writes: self.writes.saturating_sub(part.writes),
            name: self.name,
        }
    }
}

impl OsFacts {
    /// The facts less those of a part that is known separately. For the peak resident size, the result is how much it
    /// rose.
    pub fn without(&self, part: &OsFacts) -> OsFacts {
        let less = |a: Option<u64>, b: Option<u64>| a.map(|a| a.saturating_sub(b.unwrap_or(0)));
        let (user_s, sys_s) = ((self.user_s - part.user_s).max(0.0), (self.sys_s - part.sys_s).max(0.0));
        let wall_s = (self.wall_s - part.wall_s).max(0.0);
        OsFacts {
            wall_s,
            user_s,
            sys_s,
            cpu_pct: if wall_s > 0.0 { (100.0 * (user_s + sys_s) / wall_s) as u64 } else { 0 },
            peak_rss_kib: self.peak_rss_kib.saturating_sub(part.peak_rss_kib),
            peak_pss_kib: self.peak_pss_kib,
            ctx_voluntary: self.ctx_voluntary.saturating_sub(part.ctx_voluntary),
            ctx_involuntary: self.ctx_involuntary.saturating_sub(part.ctx_involuntary),
            fs_in_ops: self.fs_in_ops.saturating_sub(part.fs_in_ops),
            fs_out_ops: self.fs_out_ops.saturating_sub(part.fs_out_ops),
            minor_faults: self.minor_faults.saturating_sub(part.minor_faults),
            major_faults: self.major_faults.saturating_sub(part.major_faults),
            read_bytes: less(self.read_bytes, part.read_bytes),
            write_bytes: less(self.write_bytes, part.write_bytes),
            calls: self.calls.map(|calls| calls.since(part.calls.unwrap_or_default())),
            syncs: self.syncs,
            device: self.device.clone().map(|device| match &part.device {
                Some(part) => device.without(part),
                None => device,
            }),
        }
    }

    /// The facts of two processes that ran at the same time; what does not add up is left out.
    pub fn beside(&self, other: &OsFacts) -> OsFacts {
        let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        OsFacts {
            wall_s: self.wall_s.max(other.wall_s),
            user_s: self.user_s + other.user_s,
            sys_s: self.sys_s + other.sys_s,
            cpu_pct: 0,
            peak_rss_kib: self.peak_rss_kib + other.peak_rss_kib,
            peak_pss_kib: None,
            ctx_voluntary: self.ctx_voluntary + other.ctx_voluntary,
            ctx_involuntary: self.ctx_involuntary + other.ctx_involuntary,
            fs_in_ops: self.fs_in_ops + other.fs_in_ops,
            fs_out_ops: self.fs_out_ops + other.fs_out_ops,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            read_bytes: both(self.read_bytes, other.read_bytes),
            write_bytes: both(self.write_bytes, other.write_bytes),
            calls: self.calls.zip(other.calls).map(|(a, b)| a.plus(b)),
            syncs: both(self.syncs, other.syncs),
            device: None,
        }
    }
}

/// The size of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Allocated blocks of its folder after the trial, KiB.
    pub db_kib: u64,
    /// The most that was seen during the trial, KiB.
    pub db_peak_kib: u64,
    /// The lengths of its files added up, holes included, bytes; absent on a bare device, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apparent_bytes: Option<u64>,
    /// Bytes of the keys and values in it, as far as that is certain; absent if records have no known size, and in
    /// older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_bytes: Option<u64>,
    /// The part of `db_kib` in log files, as far as something was written to them, KiB. Absent if the adapter does not
    /// say which files are logs, on a bare device, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_kib: Option<u64>,
    /// The part of `db_kib` that was allocated but never written, KiB, log files included. Absent if the filesystem
    /// does not report it, on a bare device, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preallocated_kib: Option<u64>,
    /// The part of its files that was in memory and not on the storage yet after the measured part, KiB: at most 0.1 s
    /// after it, or at the trial's end if that was sooner. Absent in slices, where nothing is written, where the kernel
    /// does not tell, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_kib: Option<u64>,
}

impl Space {
    /// The part of `db_kib` that is neither log nor preallocated, KiB. Absent if one of the two is.
    pub fn data_kib(&self) -> Option<u64> {
        Some(self.db_kib.saturating_sub(self.log_kib? + self.preallocated_kib?))
    }
}
