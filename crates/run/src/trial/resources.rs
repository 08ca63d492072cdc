//! The memory, the device and the engine's counters of a trial, looked at with each point of its time series.

use std::path::Path;

use kvdyno_engine::Counters;
use kvdyno_environment::storage::{DeviceCounters, WatchedDevice};
use kvdyno_results::ResourcePoint;

/// Everything that was seen of them so far.
pub(super) struct ResourceLog {
    device: Option<WatchedDevice>,
    /// The device's counters at the end of the last point.
    before: Option<DeviceCounters>,
    /// The engine's when they were last known.
    counted: Option<Counters>,
    pub(super) points: Vec<ResourcePoint>,
}

impl ResourceLog {
    /// The log of a trial whose database is at this path.
    pub(super) fn of(database: &Path) -> Self {
        ResourceLog { device: WatchedDevice::below(database), before: None, counted: None, points: Vec::new() }
    }

    /// The first point begins. The device's counters are read first: the engine's may have to be waited for.
    pub(super) fn begin(&mut self, counted: impl FnOnce() -> Option<Counters>) {
        self.before = self.counters();
        self.counted = counted();
    }

    /// Ends a point, with its end and its length in seconds, the resident size and the engine's counters. The device's
    /// counters are noted only for a trial that has the machine to itself.
    pub(super) fn look(
        &mut self,
        (end_s, seconds): (f64, f64),
        (resident_kib, counted): (Option<u64>, impl FnOnce() -> Option<Counters>),
        is_alone: bool,
    ) {
        let now = self.counters();
        let counted = counted();
        let counts = |part: fn(&Counters) -> Option<u64>| {
            Some(part(counted.as_ref()?)?.saturating_sub(part(self.counted.as_ref()?)?))
        };
        let since = now.as_ref().zip(self.before.as_ref()).map(|(now, before)| now.since(before));
        let since = since.filter(|_| is_alone);
        self.points.push(ResourcePoint {
            end_s,
            seconds,
            resident_kib,
            device_read_bytes: since.as_ref().map(|device| device.read_bytes),
            device_write_bytes: since.as_ref().map(|device| device.write_bytes),
            flushed_bytes: counts(|counters| counters.flushed_bytes),
            compacted_bytes: counts(|counters| counters.compacted_bytes),
            stalled_s: counts(|counters| counters.stalled_ns).map(|ns| ns as f64 / 1e9),
        });
        self.before = now;
        // Where they were not answered, the next point has what came since.
        self.counted = counted.or(self.counted);
    }

    fn counters(&self) -> Option<DeviceCounters> {
        self.device.as_ref()?.counters()
    }
}
