//! Counters of the kernel's events (`perf_event_open(2)`).

use std::io;
use std::mem;
use std::os::fd::{FromRawFd, OwnedFd};

/// The first version of the kernel's `struct perf_event_attr` (`linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// `PERF_TYPE_SOFTWARE` with `PERF_COUNT_SW_TASK_CLOCK`, and `PERF_TYPE_TRACEPOINT`.
const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;
const TRACEPOINT: u32 = 2;
/// The flags `inherit` and `exclude_kernel`, and `PERF_FLAG_FD_CLOEXEC`.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const CLOSE_ON_EXEC: u64 = 1 << 3;

/// A counter of one kind of event.
#[derive(Debug)]
pub struct EventCounter(OwnedFd);

impl EventCounter {
    /// A tracepoint, by its number, in this process, threads and children included that begin later.
    ///
    /// # Errors
    /// If this process may not count it.
    pub(crate) fn of_process(tracepoint: u64) -> io::Result<EventCounter> {
        EventCounter::open(EventAttributes {
            kind: TRACEPOINT,
            config: tracepoint,
            flags: INHERIT,
            ..Default::default()
        })
    }

    /// The time that the calling thread is on a processor, ns, by the machine's clock: other than its CPU time, it has
    /// the time that interrupts take, and that a hypervisor takes from the processor meanwhile.
    ///
    /// # Errors
    /// If this process may not count it.
    pub fn of_thread_time() -> io::Result<EventCounter> {
        // A process without rights may count no event of the kernel's part; the clock goes on there all the same.
        EventCounter::open(EventAttributes {
            kind: SOFTWARE,
            config: TASK_CLOCK,
            flags: EXCLUDE_KERNEL,
            ..Default::default()
        })
    }

    fn open(attributes: EventAttributes) -> io::Result<EventCounter> {
        let attributes = EventAttributes { size: mem::size_of::<EventAttributes>() as u32, ..attributes };
        // SAFETY: the kernel reads `size` bytes of the attributes. 0 and -1: the caller on all processors, no group.
        let fd = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC as libc::c_ulong)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is a new descriptor, and nobody else's.
        Ok(EventCounter(unsafe { OwnedFd::from_raw_fd(fd as i32) }))
    }

    /// The count so far; `None` if it cannot be read.
    pub fn read(&self) -> Option<u64> {
        let mut count = [0; 8];
        let size = rustix::io::read(&self.0, &mut count).ok()?;
        (size == count.len()).then(|| u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_thread_is_on_a_processor_while_it_works_and_not_while_it_sleeps() {
        // Containers may forbid it.
        let Ok(counter) = EventCounter::of_thread_time() else { return };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(20) {}
        let (before, worked, sleep) = (Instant::now(), counter.read().unwrap(), Duration::from_millis(50));
        thread::sleep(sleep);
        let after = counter.read().unwrap();
        // However long it was kept from work besides: the two clocks differ by less than this.
        let most = before.elapsed() - sleep + Duration::from_millis(1);
        assert!(worked > 0 && Duration::from_nanos(after - worked) < most, "{worked} and then {after}, of {most:?}");
    }
}
