//! Key and value of a record together, made or checked in one call: what a step of a scan and a put of a batch need.
//!
//! The usual records, keys of 16 hexadecimal digits and values with room for a wide block, are made and checked by one
//! function that is compiled for processors which have such blocks. All others go the way of [`Keys`] and [`Values`].

use std::slice;

use crate::keys::{Keys, is_plain_key_of, write_plain};
use crate::values::Values;

/// Bytes that an engine lends: where they lie, and how many.
pub type LentBytes = (*const u8, usize);

/// The records of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct RecordMaker<'a> {
    keys: &'a Keys,
    values: &'a Values,
    shape: RecordShape,
}

/// The functions that make and check a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordShape {
    /// Plain keys, values with three wide blocks: records of 16 + 100 bytes are so.
    Three,
    /// Plain keys, values with wide blocks.
    Wide,
    /// Any.
    Other,
}

impl<'a> RecordMaker<'a> {
    /// Records with these keys and values.
    pub fn new(keys: &'a Keys, values: &'a Values) -> Self {
        let shape = match keys.is_plain() && values.is_wide() {
            true if values.is_three_wide() => RecordShape::Three,
            true => RecordShape::Wide,
            false => RecordShape::Other,
        };
        RecordMaker { keys, values, shape }
    }

    /// Whether this is, to the last bit, the record `id`, and where `NEW` at a version of at least `min_version`. The
    /// id is below the number of records that the keys are for.
    ///
    /// # Safety
    /// `key` and `value` point at so many bytes, or at anything where there are none.
    #[inline(always)]
    pub unsafe fn is_right<const NEW: bool>(
        &self,
        id: u64,
        min_version: u64,
        key: LentBytes,
        value: LentBytes,
    ) -> bool {
        // SAFETY: called for a value with a whole header.
        let new_enough = || !NEW || unsafe { Values::version_at(value.0) } >= min_version;
        // The sizes are compared here, so that the call has no more arguments than there are registers for them.
        if key.1 != self.keys.size() || value.1 != self.values.size() {
            // SAFETY: as the caller promises.
            return unsafe { self.is_right_varied(id, if NEW { min_version } else { 0 }, key, value) };
        }
        // SAFETY: the sizes are right; `new` has looked which can be called.
        unsafe {
            match self.shape {
                RecordShape::Three => is_right_wide::<true>(self.values, id, key.0, value.0) && new_enough(),
                RecordShape::Wide => is_right_wide::<false>(self.values, id, key.0, value.0) && new_enough(),
                RecordShape::Other => self.is_right_other(id, if NEW { min_version } else { 0 }, key.0, value.0),
            }
        }
    }

    /// [`RecordMaker::is_right`] of a value that has not the one size, as none has where sizes are drawn.
    ///
    /// # Safety
    /// As of [`RecordMaker::is_right`].
    #[inline(never)]
    unsafe fn is_right_varied(&self, id: u64, min_version: u64, key: LentBytes, value: LentBytes) -> bool {
        if !self.values.is_varied() || key.1 != self.keys.size() || value.1 == 0 {
            return false;
        }
        // SAFETY: as the caller promises; neither is empty.
        let (key, value) = unsafe { (slice::from_raw_parts(key.0, key.1), slice::from_raw_parts(value.0, value.1)) };
        self.keys.is_key_of(id, key) && self.values.is_right(id, min_version, value)
    }

    /// # Safety
    /// `key` and `value` point at bytes of the right sizes.
    #[inline(never)]
    unsafe fn is_right_other(&self, id: u64, min_version: u64, key: *const u8, value: *const u8) -> bool {
        // SAFETY: as the caller promises; an empty value needs no address.
        let (key, value) = unsafe {
            let value_size = self.values.size();
            let value = if value_size == 0 { &[] } else { slice::from_raw_parts(value, value_size) };
            (slice::from_raw_parts(key, self.keys.size()), value)
        };
        self.keys.is_key_of(id, key) && self.values.is_right(id, min_version, value)
    }

    /// Makes the record `id` at `version`: the key in `key`, which came from [`Keys::blank`] and has been changed by
    /// this and [`Keys::write`] alone; the value in `value`. Returns the value's size.
    ///
    /// # Safety
    /// `key` and `value` point at [`Keys::size`] and [`Values::largest`] bytes that nobody else uses meanwhile.
    #[inline(always)]
    pub unsafe fn write(&self, id: u64, version: u64, key: *mut u8, value: *mut u8) -> usize {
        // SAFETY: as the caller promises; `new` has looked which can be called.
        unsafe {
            match self.shape {
                RecordShape::Three => write_wide::<true>(self.values, id, version, key, value),
                RecordShape::Wide => write_wide::<false>(self.values, id, version, key, value),
                RecordShape::Other => return self.write_other(id, version, key, value),
            }
        }
        self.values.size()
    }

    /// # Safety
    /// As of [`RecordMaker::write`].
    #[inline(never)]
    unsafe fn write_other(&self, id: u64, version: u64, key: *mut u8, value: *mut u8) -> usize {
        // SAFETY: as the caller promises.
        unsafe {
            self.keys.write(id, slice::from_raw_parts_mut(key, self.keys.size()));
            self.values.write(id, version, slice::from_raw_parts_mut(value, self.values.largest()))
        }
    }
}

/// [`RecordMaker::is_right`] for usual records, at any version.
///
/// # Safety
/// [`Values::is_wide`], with `THREE` [`Values::is_three_wide`], and the keys are plain; `key` and `value` point at
/// bytes of the right sizes.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
unsafe fn is_right_wide<const THREE: bool>(values: &Values, id: u64, key: *const u8, value: *const u8) -> bool {
    // SAFETY: as the caller promises.
    unsafe { is_plain_key_of(id, &*key.cast()) && values.is_right_wide::<THREE>(id, value) }
}

/// [`RecordMaker::write`] for usual records.
///
/// # Safety
/// As of [`is_right_wide`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
unsafe fn write_wide<const THREE: bool>(values: &Values, id: u64, version: u64, key: *mut u8, value: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe {
        write_plain(id, &mut *key.cast());
        values.write_wide::<THREE>(id, version, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_format::KeyFormat;
    use proptest::prelude::*;

    fn write(made: &RecordMaker<'_>, id: u64, version: u64, key: &mut [u8], value: &mut [u8]) {
        // SAFETY: both are slices of the right sizes.
        unsafe { made.write(id, version, key.as_mut_ptr(), value.as_mut_ptr()) };
    }

    fn is_right(made: &RecordMaker<'_>, id: u64, min_version: u64, key: &[u8], value: &[u8]) -> bool {
        // SAFETY: both are slices.
        unsafe { made.is_right::<true>(id, min_version, (key.as_ptr(), key.len()), (value.as_ptr(), value.len())) }
    }

    proptest! {
        #[test]
        fn records_are_what_keys_and_values_make(
            key_size in 8u64..24,
            value_size in 0u64..300,
            records in 1u64..1 << 40,
            seed: u64,
            version in 0u64..1 << 40,
        ) {
            if let Ok(keys) = Keys::new(KeyFormat::Hex, if seed % 2 == 0 { 16 } else { key_size }, records) {
                let values = Values::new(value_size, 0.5, seed);
                let made = RecordMaker::new(&keys, &values);
                let id = seed % records;
                let (mut key, mut value) = (keys.blank(), vec![0; values.size()]);
                write(&made, id, version, &mut key, &mut value);
                prop_assert_eq!(keys.read(&key), Some(id));
                prop_assert!(values.is_right(id, version, &value));
                prop_assert!(is_right(&made, id, version, &key, &value));
                prop_assert_eq!(is_right(&made, id, version + 1, &key, &value), value_size < 4);
            }
        }

        #[test]
        fn records_of_drawn_sizes_are_what_keys_and_values_make(seed: u64, version in 0u64..1 << 40, id in 0u64..1000) {
            let keys = Keys::new(KeyFormat::Hex, 16, 1000).unwrap();
            let values = Values::varied("uniform 24 400".parse().unwrap(), 0.5, seed);
            let made = RecordMaker::new(&keys, &values);
            let (mut key, mut value) = (keys.blank(), vec![0; values.largest()]);
            // SAFETY: both are slices of the right sizes.
            let size = unsafe { made.write(id, version, key.as_mut_ptr(), value.as_mut_ptr()) };
            prop_assert!(is_right(&made, id, version, &key, &value[..size]));
            prop_assert!(!is_right(&made, id, version + 1, &key, &value[..size]));
            prop_assert!(!is_right(&made, id, version, &key, &value[..size - 1]));
            prop_assert!(!is_right(&made, id, version, &key, &[]));
            prop_assert!(!is_right(&made, id ^ 1, version, &key, &value[..size]));
        }

        #[test]
        fn any_flipped_bit_of_a_record_shows(
            wide: bool, value_size in 4u64..300, seed: u64, id in 0u64..1 << 20, bit: prop::sample::Index,
        ) {
            let keys = Keys::new(KeyFormat::Hex, if wide { 16 } else { 20 }, 1 << 20).unwrap();
            let values = Values::new(value_size, 0.5, seed);
            let made = RecordMaker::new(&keys, &values);
            let (mut key, mut value) = (keys.blank(), vec![0; values.size()]);
            write(&made, id, 7, &mut key, &mut value);
            prop_assert!(!is_right(&made, id ^ 1, 0, &key, &value));
            prop_assert!(!is_right(&made, id, 0, &key[1..], &value));
            prop_assert!(!is_right(&made, id, 0, &key, &value[1..]));
            let bit = bit.index(8 * (key.len() + value.len()));
            match key.len().checked_sub(bit / 8 + 1) {
                Some(_) => key[bit / 8] ^= 1 << (bit % 8),
                None => value[bit / 8 - key.len()] ^= 1 << (bit % 8),
            }
            prop_assert!(!is_right(&made, id, 0, &key, &value));
        }
    }
}
