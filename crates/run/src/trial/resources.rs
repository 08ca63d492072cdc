//! The memory and the device of a trial, looked at with each point of its time series.

use std::path::Path;

use kvdyno_environment::storage::{DeviceCounters, WatchedDevice};
use kvdyno_results::ResourcePoint;

/// Everything that was seen of them so far.
pub(super) struct ResourceLog {
    device: Option<WatchedDevice>,
    /// The device's counters at the end of the last point.
    before: Option<DeviceCounters>,
    pub(super) points: Vec<ResourcePoint>,
}

impl ResourceLog {
    /// The log of a trial whose database is at this path.
    pub(super) fn of(database: &Path) -> Self {
        ResourceLog { device: WatchedDevice::below(database), before: None, points: Vec::new() }
    }

    /// The first point begins.
    pub(super) fn begin(&mut self) {
        self.before = self.counters();
    }

    /// Ends a point, with its end and its length in seconds. The device's counters are noted only for a trial that has
    /// the machine to itself.
    pub(super) fn look(&mut self, (end_s, seconds): (f64, f64), resident_kib: Option<u64>, is_alone: bool) {
        let now = self.counters();
        let since = now.as_ref().zip(self.before.as_ref()).map(|(now, before)| now.since(before));
        let since = since.filter(|_| is_alone);
        self.points.push(ResourcePoint {
            end_s,
            seconds,
            resident_kib,
            device_read_bytes: since.as_ref().map(|device| device.read_bytes),
            device_write_bytes: since.as_ref().map(|device| device.write_bytes),
        });
        self.before = now;
    }

    fn counters(&self) -> Option<DeviceCounters> {
        self.device.as_ref()?.counters()
    }
}
