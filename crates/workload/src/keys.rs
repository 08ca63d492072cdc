//! How an id is spelled as a key. Keys sort as their ids do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::blocks::hex8;

/// The spelling of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyFormat {
    /// 16 hexadecimal digits.
    Hex,
    /// 16 decimal digits.
    Decimal,
    /// 8 bytes, most significant first.
    Binary,
}

impl KeyFormat {
    /// Every format.
    pub const ALL: [KeyFormat; 3] = [KeyFormat::Hex, KeyFormat::Decimal, KeyFormat::Binary];

    /// Symbols that a number takes at the most.
    fn width(self) -> usize {
        match self {
            KeyFormat::Hex | KeyFormat::Decimal => 16,
            KeyFormat::Binary => 8,
        }
    }

    /// What fills a key beyond its number.
    fn padding(self) -> u8 {
        match self {
            KeyFormat::Hex | KeyFormat::Decimal => b'0',
            KeyFormat::Binary => 0,
        }
    }

    /// How many ids can be told apart by `width` symbols; `None` for all of them.
    fn capacity(self, width: usize) -> Option<u64> {
        match self {
            KeyFormat::Hex => 16u64.checked_pow(width as u32),
            KeyFormat::Decimal => 10u64.checked_pow(width as u32),
            KeyFormat::Binary => None,
        }
    }
}

impl fmt::Display for KeyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            KeyFormat::Hex => "hex",
            KeyFormat::Decimal => "decimal",
            KeyFormat::Binary => "binary",
        })
    }
}

impl FromStr for KeyFormat {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<Self, KeyError> {
        KeyFormat::ALL
            .into_iter()
            .find(|format| format.to_string() == text)
            .ok_or_else(|| KeyError::Format(text.to_owned()))
    }
}

/// Keys that cannot be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No such format.
    #[error("`{0}` is not a key format; it can be hex, decimal or binary")]
    Format(String),
    /// Too short.
    #[error("keys of {0} bytes are too short; a key has 8 to 65535 bytes")]
    Size(u64),
    /// Not enough of them.
    #[error(
        "{records} records do not fit into {format} keys of {size} bytes, of which there are {capacity}; use longer keys, or another format"
    )]
    Capacity {
        /// Records wanted.
        records: u64,
        /// The format.
        format: KeyFormat,
        /// Bytes of a key.
        size: u64,
        /// Keys there are.
        capacity: u64,
    },
}

/// The keys of an experiment: `number ∥ padding`, so that a key of 20 bytes is 16 digits and `0000`, as db_bench pads.
#[derive(Clone, Debug)]
pub struct Keys {
    format: KeyFormat,
    size: usize,
    /// Symbols of the number.
    width: usize,
    /// Ids that need more than the low 8 symbols exist.
    wide: bool,
    /// 16 hexadecimal digits of which the low 8 are enough: the usual case, which the measured loop tells by one test.
    usual: bool,
}

impl Keys {
    /// Keys for ids below `records`.
    ///
    /// # Errors
    /// If they are too short for the format or for so many records.
    pub fn new(format: KeyFormat, size: u64, records: u64) -> Result<Keys, KeyError> {
        if !(8..=65535).contains(&size) {
            return Err(KeyError::Size(size));
        }
        let width = (size as usize).min(format.width());
        if let Some(capacity) = format.capacity(width).filter(|&capacity| capacity < records) {
            return Err(KeyError::Capacity { records, format, size, capacity });
        }
        let low = match format {
            KeyFormat::Hex => 1 << 32,
            KeyFormat::Decimal => 100_000_000,
            KeyFormat::Binary => u64::MAX,
        };
        let wide = records > low;
        Ok(Keys { format, size: size as usize, width, wide, usual: format == KeyFormat::Hex && width == 16 && !wide })
    }

    /// Bytes of a key.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A key of id 0, for [`Keys::write`] to write into.
    pub fn blank(&self) -> Vec<u8> {
        vec![self.format.padding(); self.size]
    }

    /// Spells `id` into `key`, which came from [`Keys::blank`] and has been changed by nobody but this.
    #[inline(always)]
    pub fn write(&self, id: u64, key: &mut [u8]) {
        match self.usual {
            true => key[8..16].copy_from_slice(&hex8(id as u32)),
            false => self.write_unusual(id, key),
        }
    }

    #[cold]
    #[inline(never)]
    fn write_unusual(&self, id: u64, key: &mut [u8]) {
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

    /// The id of a key that these keys spelled; for any other bytes, some number.
    #[inline(always)]
    pub fn read_own(&self, key: &[u8]) -> u64 {
        match key.get(8..16) {
            Some(digits) if self.usual => u64::from(hex8_to_number(digits)),
            _ => self.read_unusual(key),
        }
    }

    #[cold]
    #[inline(never)]
    fn read_unusual(&self, key: &[u8]) -> u64 {
        self.read(key).unwrap_or(0)
    }

    /// The id of a key, if it is one that these keys spell.
    pub fn read(&self, key: &[u8]) -> Option<u64> {
        if key.len() != self.size || key[self.width..].iter().any(|&byte| byte != self.format.padding()) {
            return None;
        }
        let number = &key[..self.width];
        match self.format {
            KeyFormat::Binary => Some(u64::from_be_bytes(number.try_into().ok()?)),
            KeyFormat::Hex => digits_to_number(number, 16),
            KeyFormat::Decimal => digits_to_number(number, 10),
        }
    }
}

fn digits_to_number(digits: &[u8], radix: u32) -> Option<u64> {
    digits.iter().try_fold(0u64, |number, &digit| {
        let canonical = digit.is_ascii_digit() || digit.is_ascii_lowercase();
        let value = (canonical.then_some(digit)? as char).to_digit(radix)?;
        number.checked_mul(u64::from(radix))?.checked_add(u64::from(value))
    })
}

const LOW_NIBBLES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The way back from [`hex8`], for digits that it wrote: the low nibble, and 9 more for a letter.
#[inline(always)]
fn hex8_to_number(digits: &[u8]) -> u32 {
    let x = digits.try_into().map_or(0, u64::from_be_bytes);
    let mut x = (x & LOW_NIBBLES) + 9 * ((x >> 6) & ONES);
    x = (x | (x >> 4)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
    (x | (x >> 16)) as u32
}

/// Eight decimal digits of a number below 10^8: split into two numbers of four digits, four of two, eight of one, each
/// step for all parts at once. The divisions by 100 and 10 are multiplications exact for these ranges.
#[inline(always)]
fn decimal8(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones + u64::from(b'0') * ONES).to_le_bytes()
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
