//! Bytes that the host hands over.

use std::ffi::c_void;
use std::ptr;

use crate::types::Bytes;

/// Target of the address that is passed for empty bytes. The address of an empty Rust slice is dangling; an engine may
/// read from it, or take it for a marker.
static EMPTY: u8 = 0;

/// The address of these bytes: readable even if there are none.
#[inline]
pub fn address(bytes: &[u8]) -> *const c_void {
    if bytes.is_empty() { ptr::from_ref(&EMPTY).cast() } else { bytes.as_ptr().cast() }
}

impl Bytes {
    /// No bytes: a value or key that was not given.
    pub const NONE: Bytes = Bytes { data: ptr::null(), size: 0 };

    /// A key or a value of the host's, at a readable address.
    #[inline]
    pub fn of(bytes: &[u8]) -> Bytes {
        Bytes { data: address(bytes), size: bytes.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_lies_where_it_can_be_read() {
        for empty in [&[][..], &Vec::new(), &[7; 9][9..]] {
            let Bytes { data, size } = Bytes::of(empty);
            // SAFETY: that is what is tested; an address of Rust's for nothing would end the test.
            assert_eq!((unsafe { data.cast::<u8>().read_volatile() }, size), (0, 0));
            assert_eq!(data, address(empty));
        }
        let some = [1, 2, 3];
        assert_eq!((address(&some), Bytes::of(&some).size), (some.as_ptr().cast(), 3));
    }
}
