//! Keys of which groups have their beginning in common.

use crate::key_error::KeyError;
use crate::key_format::KeyFormat;

/// The split of an id into a prefix, the number of its group, and its number within the group. Keys still sort as their
/// ids do.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    keys_per_prefix: u64,
    prefix_size: usize,
    /// Symbols of the two numbers; behind each there may be padding.
    prefix_width: usize,
    suffix_width: usize,
}

impl Groups {
    pub(crate) fn new(
        format: KeyFormat,
        size: u64,
        records: u64,
        prefix_size: u64,
        keys_per_prefix: u64,
    ) -> Result<Groups, KeyError> {
        check_prefix_size(prefix_size, size)?;
        if keys_per_prefix == 0 {
            return Err(KeyError::NoKeys);
        }
        let width = |size: u64| (size as usize).min(format.width());
        let suffix_size = size - prefix_size;
        let groups = Groups {
            keys_per_prefix,
            prefix_size: prefix_size as usize,
            prefix_width: width(prefix_size),
            suffix_width: width(suffix_size),
        };
        let too_few = |width: usize, needed: u64| format.capacity(width).filter(|&capacity| capacity < needed);
        let prefixes = records.div_ceil(keys_per_prefix);
        if let Some(capacity) = too_few(groups.prefix_width, prefixes) {
            let (keys, size) = (keys_per_prefix, prefix_size);
            return Err(KeyError::Prefixes { prefixes, keys, records, size, format, capacity });
        }
        let keys = keys_per_prefix.min(records);
        match too_few(groups.suffix_width, keys) {
            Some(capacity) => Err(KeyError::Suffixes { keys, size: suffix_size, format, capacity }),
            None => Ok(groups),
        }
    }

    #[inline(never)]
    pub(crate) fn write(&self, format: KeyFormat, id: u64, key: &mut [u8]) {
        let (group, within) = (id / self.keys_per_prefix, id % self.keys_per_prefix);
        format.spell(group, &mut key[..self.prefix_width]);
        format.spell(within, &mut key[self.prefix_size..][..self.suffix_width]);
    }

    /// The id of a key of the right size, if it was spelled so.
    #[inline(never)]
    pub(crate) fn read(&self, format: KeyFormat, key: &[u8]) -> Option<u64> {
        let (prefix, suffix) = key.split_at(self.prefix_size);
        let (group, within) = (format.padded_number(prefix)?, format.padded_number(suffix)?);
        let first = group.checked_mul(self.keys_per_prefix)?;
        if within < self.keys_per_prefix { first.checked_add(within) } else { None }
    }
}

/// Refuses a prefix of `prefix` bytes that keys of `size` bytes cannot have.
///
/// # Errors
/// If it is empty or longer than a key.
pub fn check_prefix_size(prefix: u64, size: u64) -> Result<(), KeyError> {
    if (1..=size).contains(&prefix) { Ok(()) } else { Err(KeyError::PrefixSize { prefix, size }) }
}

#[cfg(test)]
mod tests {
    use crate::key_error::KeyError;
    use crate::key_format::KeyFormat;
    use crate::keys::Keys;
    use proptest::prelude::*;

    fn spelled(keys: &Keys, id: u64) -> Vec<u8> {
        let mut key = keys.blank();
        keys.write(id, &mut key);
        key
    }

    #[test]
    fn grouped_keys_look_as_documented() {
        let hex = Keys::grouped(KeyFormat::Hex, 20, 1000, 12, 10).unwrap();
        assert_eq!(spelled(&hex, 123), b"00000000000c00000003");
        let long = Keys::grouped(KeyFormat::Decimal, 24, 1000, 20, 10).unwrap();
        assert_eq!(spelled(&long, 123), b"000000000000001200000003");
        let binary = Keys::grouped(KeyFormat::Binary, 8, 1 << 20, 3, 256).unwrap();
        assert_eq!(spelled(&binary, 0x01_02_03), [0, 1, 2, 0, 0, 0, 0, 3]);
    }

    #[test]
    fn what_cannot_tell_every_record_apart_is_refused() {
        let grouped = |size, records, prefix, keys| Keys::grouped(KeyFormat::Hex, size, records, prefix, keys);
        assert_eq!(grouped(16, 100, 0, 10).unwrap_err(), KeyError::PrefixSize { prefix: 0, size: 16 });
        assert_eq!(grouped(16, 100, 17, 10).unwrap_err(), KeyError::PrefixSize { prefix: 17, size: 16 });
        assert_eq!(grouped(16, 100, 12, 0).unwrap_err(), KeyError::NoKeys);
        assert!(grouped(16, 160, 1, 10).is_ok());
        let error = grouped(16, 161, 1, 10).unwrap_err().to_string();
        assert!(error.starts_with("17 prefixes, one for each 10 of 161 records, do not fit into 1 bytes"), "{error}");
        assert!(grouped(16, 1000, 15, 16).is_ok());
        let error = grouped(16, 1000, 15, 17).unwrap_err().to_string();
        assert!(error.starts_with("17 keys of a prefix cannot be told apart by the 1 bytes"), "{error}");
        assert!(grouped(16, 100, 16, 1).is_ok(), "a prefix that is the whole key, for one key each");
        assert!(grouped(16, 100, 16, 2).is_err());
        assert!(grouped(16, 16, 15, u64::MAX).is_ok(), "one prefix for all");
    }

    /// Keys that can be made, and for how many records: arbitrary numbers, cut down to what fits.
    fn keys() -> impl Strategy<Value = (Keys, u64)> {
        let sizes = (8u64..40).prop_flat_map(|size| (Just(size), 1..=size));
        (0usize..3, sizes, 1u64..1 << 50, 1u64..1000).prop_map(|(format, (size, prefix), records, keys)| {
            let (format, most) = (KeyFormat::ALL[format], u64::MAX >> 14);
            let fitting = |size: u64| format.capacity((size as usize).min(format.width())).unwrap_or(most).min(most);
            let keys = keys.min(fitting(size - prefix));
            let records = records.min(fitting(prefix).saturating_mul(keys));
            (Keys::grouped(format, size, records, prefix, keys).unwrap(), records)
        })
    }

    proptest! {
        #[test]
        fn a_grouped_key_reads_back_as_its_id((keys, records) in keys(), seed: u64) {
            let id = seed % records;
            let mut key = spelled(&keys, records - 1);
            keys.write(id, &mut key);
            prop_assert_eq!(keys.read(&key), Some(id));
            prop_assert_eq!(keys.read_own(&key), id);
        }

        #[test]
        fn grouped_keys_differ_and_sort_as_their_ids((keys, records) in keys(), a: u64, b: u64) {
            let (a, b) = (a % records, b % records);
            prop_assert_eq!(spelled(&keys, a).cmp(&spelled(&keys, b)), a.cmp(&b));
        }

        #[test]
        fn neighbours_share_a_prefix(size in 8u64..40, prefix in 4u64..8, per_prefix in 1u64..16, group in 0u64..1000) {
            let keys = Keys::grouped(KeyFormat::Hex, size, 16_000, prefix, per_prefix).unwrap();
            let prefix_of = |id| spelled(&keys, id)[..prefix as usize].to_vec();
            let first = group * per_prefix;
            for within in 0..per_prefix {
                prop_assert_eq!(prefix_of(first), prefix_of(first + within));
            }
            prop_assert_ne!(prefix_of(first), prefix_of(first + per_prefix));
        }

        #[test]
        fn strange_keys_are_nobodys_in_groups(key in prop::collection::vec(any::<u8>(), 16)) {
            let keys = Keys::grouped(KeyFormat::Binary, 16, 1 << 40, 6, 100).unwrap();
            if let Some(id) = keys.read(&key) {
                prop_assert_eq!(spelled(&keys, id), key);
            }
        }
    }
}
