//! Counters that an engine keeps of its own work.

use crate::types as abi;
use std::mem::offset_of;

/// An engine's counts of its own work. Counts that the engine does not have are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of new data that it wrote from its memory to the database's files, without logs.
    pub flushed_bytes: Option<u64>,
    /// Bytes that it wrote anew to bring data that was in files into another form.
    pub compacted_bytes: Option<u64>,
    /// Time that it held writers back because background work was behind, nanoseconds.
    pub stalled_ns: Option<u64>,
}

impl Counters {
    /// Fills in what is counted, as far as the host knows of it.
    ///
    /// # Safety
    ///
    /// `to` is there, as long as its `size` says.
    pub(super) unsafe fn write(self, to: *mut abi::Counters) {
        let members = [
            (offset_of!(abi::Counters, flushed_bytes), self.flushed_bytes),
            (offset_of!(abi::Counters, compacted_bytes), self.compacted_bytes),
            (offset_of!(abi::Counters, stalled_ns), self.stalled_ns),
        ];
        // SAFETY: the caller's promise; a member is written only if all of it is within the size.
        unsafe {
            let size = (*to).size as usize;
            for (offset, value) in members {
                if let Some(value) = value.filter(|_| offset + size_of::<u64>() <= size) {
                    to.cast::<u8>().add(offset).cast::<u64>().write(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(size: usize) -> abi::Counters {
        let nothing = abi::ABSENT;
        let mut told = abi::Counters {
            size: size as u32,
            reserved: 0,
            flushed_bytes: nothing,
            compacted_bytes: nothing,
            stalled_ns: nothing,
        };
        let counted = Counters { flushed_bytes: Some(1), stalled_ns: Some(3), ..Counters::default() };
        // SAFETY: the struct is as long as that at the least.
        unsafe { counted.write(&mut told) };
        told
    }

    #[test]
    fn absent_ones_and_those_that_a_host_of_before_does_not_know_are_left_alone() {
        let whole = written(size_of::<abi::Counters>());
        assert_eq!((whole.flushed_bytes, whole.compacted_bytes, whole.stalled_ns), (1, abi::ABSENT, 3));
        assert_eq!(written(offset_of!(abi::Counters, stalled_ns)).stalled_ns, abi::ABSENT);
    }
}
