//! The spelling of an id as a key. Keys sort as their ids do.

use crate::blocks::{hex8, read_word};
use crate::key_error::KeyError;
use crate::key_format::{KeyFormat, decimal8, hex8_to_number};
use crate::prefix::Groups;

/// The keys of an experiment: `number ∥ padding`. A key of 20 bytes is 16 digits and `0000`, padded as in db_bench. If
/// groups of keys share a prefix, the prefix is the group's number and the rest is the key's number within the group,
/// both in this form.
#[derive(Clone, Debug)]
pub struct Keys {
    shape: Shape,
    format: KeyFormat,
    size: usize,
    /// Symbols of the number.
    width: usize,
    /// Ids that need more than the low 8 symbols exist.
    wide: bool,
}

/// The form of a key.
#[derive(Clone, Debug)]
enum Shape {
    /// 16 hexadecimal digits of which the low 8 are enough: the usual case, which the measured loop tells by one test.
    Usual,
    /// One number.
    Number,
    /// Two numbers.
    Groups(Groups),
}

impl Keys {
    /// Keys for ids below `records`.
    ///
    /// # Errors
    /// If they are too short for the format or for this number of records.
    pub fn new(format: KeyFormat, size: u64, records: u64) -> Result<Keys, KeyError> {
        let keys = Keys::unchecked(format, size, records)?;
        match format.capacity(keys.width).filter(|&capacity| capacity < records) {
            Some(capacity) => Err(KeyError::Capacity { records, format, size, capacity }),
            None => Ok(keys),
        }
    }

    /// Keys for ids below `records`, of which `keys_per_prefix` neighbours each have their first `prefix_size` bytes in
    /// common.
    ///
    /// # Errors
    /// If not all keys could be told apart.
    pub fn grouped(
        format: KeyFormat,
        size: u64,
        records: u64,
        prefix_size: u64,
        keys_per_prefix: u64,
    ) -> Result<Keys, KeyError> {
        let keys = Keys::unchecked(format, size, records)?;
        let groups = Groups::new(format, size, records, prefix_size, keys_per_prefix)?;
        Ok(Keys { shape: Shape::Groups(groups), ..keys })
    }

    fn unchecked(format: KeyFormat, size: u64, records: u64) -> Result<Keys, KeyError> {
        if !(8..=65535).contains(&size) {
            return Err(KeyError::Size(size));
        }
        let width = (size as usize).min(format.width());
        let low = match format {
            KeyFormat::Hex => 1 << 32,
            KeyFormat::Decimal => 100_000_000,
            KeyFormat::Binary => u64::MAX,
        };
        let wide = records > low;
        let shape = if format == KeyFormat::Hex && width == 16 && !wide { Shape::Usual } else { Shape::Number };
        Ok(Keys { shape, format, size: size as usize, width, wide })
    }

    /// Bytes of a key.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A key of id 0, for [`Keys::write`] to write into.
    pub fn blank(&self) -> Vec<u8> {
        vec![self.format.padding(); self.size]
    }

    /// Spells `id` into `key`, which came from [`Keys::blank`] and has been changed by this alone.
    #[inline(always)]
    pub fn write(&self, id: u64, key: &mut [u8]) {
        match self.shape {
            Shape::Usual => key[8..16].copy_from_slice(&hex8(id as u32)),
            _ => self.write_unusual(id, key),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_unusual(&self, id: u64, key: &mut [u8]) {
        match &self.shape {
            Shape::Groups(groups) => groups.write(self.format, id, key),
            _ => self.write_number(id, key),
        }
    }

    fn write_number(&self, id: u64, key: &mut [u8]) {
        match self.format {
            KeyFormat::Hex => self.digits(key, hex8(id as u32), || hex8((id >> 32) as u32)),
            KeyFormat::Decimal => {
                self.digits(key, decimal8(id % 100_000_000), || decimal8(id / 100_000_000 % 100_000_000));
            }
            KeyFormat::Binary => key[..8].copy_from_slice(&id.to_be_bytes()),
        }
    }

    fn digits(&self, key: &mut [u8], low: [u8; 8], high: impl FnOnce() -> [u8; 8]) {
        let split = self.width - 8;
        key[split..split + 8].copy_from_slice(&low);
        if self.wide {
            key[..split].copy_from_slice(&high()[8 - split..]);
        }
    }

    /// The last byte of keys that lie between those of records, and that none has; `None` if every key is some
    /// record's.
    pub fn absent_byte(&self) -> Option<u8> {
        match (self.format, &self.shape) {
            // After every digit, and after the padding.
            (KeyFormat::Hex | KeyFormat::Decimal, _) => Some(b'z'),
            (KeyFormat::Binary, Shape::Number | Shape::Usual) if self.size > self.width => Some(u8::MAX),
            (KeyFormat::Binary, _) => None,
        }
    }

    /// The id of a key that these keys spelled; for any other bytes, some number.
    #[inline(always)]
    pub fn read_own(&self, key: &[u8]) -> u64 {
        match (&self.shape, key.get(8..16)) {
            (Shape::Usual, Some(digits)) => u64::from(hex8_to_number(digits)),
            _ => self.read_unusual(key),
        }
    }

    #[cold]
    #[inline(never)]
    fn read_unusual(&self, key: &[u8]) -> u64 {
        self.read(key).unwrap_or(0)
    }

    /// Whether `key` is the spelling of `id`, to the last byte.
    #[inline(always)]
    pub fn is_key_of(&self, id: u64, key: &[u8]) -> bool {
        match (&self.shape, key.split_first_chunk::<16>()) {
            (Shape::Usual, Some((digits, padding))) => {
                is_plain_key_of(id, digits) && id >> 32 == 0 && key.len() == self.size && is_padding(padding)
            }
            _ => self.is_unusual_key_of(id, key),
        }
    }

    #[cold]
    #[inline(never)]
    fn is_unusual_key_of(&self, id: u64, key: &[u8]) -> bool {
        self.read(key) == Some(id)
    }

    /// Whether keys are 16 hexadecimal digits of which the low 8 change, and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.shape, Shape::Usual) && self.size == 16
    }

    /// The id of a key, if it is one that these keys spell.
    pub fn read(&self, key: &[u8]) -> Option<u64> {
        if key.len() != self.size {
            return None;
        }
        match &self.shape {
            Shape::Usual => read_usual(key).or_else(|| self.format.padded_number(key)),
            Shape::Number => self.format.padded_number(key),
            Shape::Groups(groups) => groups.read(self.format, key),
        }
    }
}

/// Whether 16 hexadecimal digits spell `id`, of 32 bits: one word against another, twice.
#[inline(always)]
pub(crate) fn is_plain_key_of(id: u64, digits: &[u8; 16]) -> bool {
    read_word(digits, 0) == u64::from_le_bytes(*b"00000000")
        && read_word(digits, 8) == u64::from_le_bytes(hex8(id as u32))
}

/// Spells `id`, of 32 bits, into 16 hexadecimal digits that spelled another such one.
#[inline(always)]
pub(crate) fn write_plain(id: u64, digits: &mut [u8; 16]) {
    digits[8..].copy_from_slice(&hex8(id as u32));
}

/// Whether nothing stands behind the digits but what fills a usual key.
#[inline(always)]
fn is_padding(padding: &[u8]) -> bool {
    padding.is_empty() || padding.iter().all(|&byte| byte == b'0')
}

/// The id that a usual key spells: it is read at once, spelled again, and compared.
#[inline(always)]
fn read_usual(key: &[u8]) -> Option<u64> {
    let (digits, padding) = key.split_first_chunk::<16>()?;
    let number = hex8_to_number(&digits[8..]);
    let same = digits[..8] == *b"00000000" && digits[8..] == hex8(number) && is_padding(padding);
    same.then_some(u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(format: KeyFormat, size: u64, records: u64, id: u64) -> Vec<u8> {
        let keys = Keys::new(format, size, records).unwrap();
        let mut key = keys.blank();
        keys.write(id, &mut key);
        key
    }

    #[test]
    fn keys_look_as_documented() {
        assert_eq!(spelled(KeyFormat::Hex, 16, 1 << 40, 0xabc_1234_5678), b"00000abc12345678");
        assert_eq!(spelled(KeyFormat::Hex, 20, 1000, 255), b"00000000000000ff0000");
        assert_eq!(spelled(KeyFormat::Hex, 8, 1000, 255), b"000000ff");
        assert_eq!(spelled(KeyFormat::Decimal, 16, 1 << 40, 98_765_432_101), b"0000098765432101");
        assert_eq!(spelled(KeyFormat::Decimal, 8, 1000, 999), b"00000999");
        assert_eq!(spelled(KeyFormat::Binary, 9, 1000, 258), [0, 0, 0, 0, 0, 0, 1, 2, 0]);
    }

    #[test]
    fn too_short_keys_are_refused() {
        assert_eq!(Keys::new(KeyFormat::Hex, 7, 1).unwrap_err(), KeyError::Size(7));
        assert!(Keys::new(KeyFormat::Decimal, 8, 100_000_000).is_ok());
        let error = Keys::new(KeyFormat::Decimal, 8, 100_000_001).unwrap_err().to_string();
        assert!(error.contains("of which there are 100000000"), "{error}");
    }

    proptest! {
        #[test]
        fn a_key_reads_back_as_its_id(format in 0usize..3, size in 8u64..40, records in 1u64..1 << 50, seed: u64) {
            let format = KeyFormat::ALL[format];
            if let Ok(keys) = Keys::new(format, size, records) {
                let id = seed % records;
                let mut key = keys.blank();
                keys.write(records - 1, &mut key);
                keys.write(id, &mut key);
                prop_assert_eq!(keys.read(&key), Some(id));
                prop_assert_eq!(keys.read_own(&key), id);
                prop_assert!(keys.is_key_of(id, &key));
            }
        }

        #[test]
        fn only_its_own_key_is_an_ids(
            format in 0usize..3, size in 8u64..40, records in 1u64..1 << 50, seed: u64, at: prop::sample::Index,
            bit in 0u32..8,
        ) {
            let format = KeyFormat::ALL[format];
            if let Ok(keys) = Keys::new(format, size, records) {
                let id = seed % records;
                let mut key = keys.blank();
                keys.write(id, &mut key);
                for other in [id + 1, id.wrapping_sub(1), id ^ 1 << 32, id ^ 1 << 40] {
                    prop_assert!(!keys.is_key_of(other, &key), "{other}");
                }
                prop_assert!(!keys.is_key_of(id, &key[..key.len() - 1]));
                prop_assert!(!keys.is_key_of(id, &[key.as_slice(), b"0"].concat()));
                key[at.index(size as usize)] ^= 1 << bit;
                prop_assert!(!keys.is_key_of(id, &key));
            }
        }

        #[test]
        fn keys_sort_as_their_ids(format in 0usize..3, a in 0u64..1 << 50, b in 0u64..1 << 50) {
            let format = KeyFormat::ALL[format];
            let key = |id| spelled(format, 16, 1 << 50, id);
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        }

        #[test]
        fn strange_keys_are_nobodys(key in prop::collection::vec(any::<u8>(), 0..20)) {
            for format in [KeyFormat::Hex, KeyFormat::Decimal] {
                let keys = Keys::new(format, 16, 1000).unwrap();
                if let Some(id) = keys.read(&key) {
                    let mut again = keys.blank();
                    Keys::new(format, 16, u64::MAX >> 12).unwrap().write(id, &mut again);
                    prop_assert_eq!(again.as_slice(), key.as_slice());
                }
            }
        }
    }
}
