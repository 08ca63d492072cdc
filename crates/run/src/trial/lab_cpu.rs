//! The lab's own use of processors in a trial's measured part: it is no interference of others.

use kvdyno_worker::clock::process_cpu_ns;

/// CPU time of this process in parts of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LabCpu {
    /// Until the last look, ns.
    used_ns: u64,
    /// At the beginning of the part, or at the last look into it, ns.
    from_ns: u64,
}

impl LabCpu {
    /// Begins a part.
    pub(super) fn begin(&mut self) {
        self.from_ns = process_cpu_ns();
    }

    /// Notes what was used since the part began, or since the last look.
    pub(super) fn look(&mut self) {
        let now_ns = process_cpu_ns();
        self.used_ns += now_ns.saturating_sub(std::mem::replace(&mut self.from_ns, now_ns));
    }

    pub(super) fn seconds(&self) -> f64 {
        self.used_ns as f64 / 1e9
    }
}
