//! Sets of processors and of nodes, as system calls take them.

use std::ffi::c_ulong;
use std::io;

use crate::requested::IndexList;

/// Bits in a word of the kernel's sets.
const BITS: usize = c_ulong::BITS as usize;

/// A bit for each number. Unlike `cpu_set_t` of any length: the kernel takes what it knows of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask(Vec<c_ulong>);

impl Mask {
    pub(super) fn of(numbers: &IndexList) -> Mask {
        let highest = numbers.as_slice().iter().max().copied().unwrap_or(0) as usize;
        let mut words = vec![0; highest / BITS + 1];
        for number in numbers.as_slice() {
            words[*number as usize / BITS] |= 1 << (*number as usize % BITS);
        }
        Mask(words)
    }

    pub(super) fn words(&self) -> &[c_ulong] {
        &self.0
    }

    /// The numbers whose bits are set; absent if there is none.
    pub(super) fn numbers(words: &[c_ulong]) -> Option<IndexList> {
        let all = 0..words.len() * BITS;
        IndexList::new(all.filter(|bit| words[bit / BITS] >> (bit % BITS) & 1 == 1).map(|bit| bit as u32))
    }

    /// Lets this thread run on these processors alone. A bare system call.
    pub(super) fn set_affinity(&self) -> io::Result<()> {
        let this_thread = 0;
        let bytes = size_of_val(self.words());
        // SAFETY: the kernel reads so many bytes of memory that `self` holds.
        let status = unsafe { libc::syscall(libc::SYS_sched_setaffinity, this_thread, bytes, self.0.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bits() {
        assert_eq!(Mask::of(&"0,2,65".parse().unwrap()).words(), [0b101, 0b10]);
        assert_eq!(Mask::numbers(&[0, 0]), None);
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(numbers in prop::collection::vec(0u32..2000, 1..20)) {
            let numbers = IndexList::new(numbers).unwrap();
            prop_assert_eq!(Mask::numbers(Mask::of(&numbers).words()), Some(numbers));
        }
    }
}
