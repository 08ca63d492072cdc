//! The spelling of a number as digits or bytes, and the way back.

use crate::blocks::hex8;

kvdyno_model::words! {
    /// The spelling of a record's number as a key.
    pub enum KeyFormat: "a key format", "FORMAT" {
        /// 16 hexadecimal digits.
        Hex = "hex",
        /// 16 decimal digits.
        Decimal = "decimal",
        /// 8 bytes, most significant first.
        Binary = "binary",
    }
}

impl KeyFormat {
    /// Symbols that a number takes at the most.
    pub fn width(self) -> usize {
        match self {
            KeyFormat::Hex | KeyFormat::Decimal => 16,
            KeyFormat::Binary => 8,
        }
    }

    /// The symbol that fills a key beyond its number.
    pub(crate) fn padding(self) -> u8 {
        match self {
            KeyFormat::Hex | KeyFormat::Decimal => b'0',
            KeyFormat::Binary => 0,
        }
    }

    /// Number of ids that `width` symbols can tell apart; `None` for all of them.
    pub(crate) fn capacity(self, width: usize) -> Option<u64> {
        let symbols: u64 = match self {
            KeyFormat::Hex => 16,
            KeyFormat::Decimal => 10,
            KeyFormat::Binary => 256,
        };
        symbols.checked_pow(width as u32)
    }

    /// Spells `number` with all of `digits`, at most [`KeyFormat::width`] of them, most significant first.
    pub fn spell(self, number: u64, digits: &mut [u8]) {
        match self {
            KeyFormat::Hex => copy_last(digits, [hex8((number >> 32) as u32), hex8(number as u32)].as_flattened()),
            KeyFormat::Decimal => {
                let high = decimal8(number / 100_000_000 % 100_000_000);
                copy_last(digits, [high, decimal8(number % 100_000_000)].as_flattened());
            }
            KeyFormat::Binary => copy_last(digits, &number.to_be_bytes()),
        }
    }

    /// The way back; `None` for anything that [`KeyFormat::spell`] does not write.
    pub fn number(self, digits: &[u8]) -> Option<u64> {
        match self {
            KeyFormat::Hex => digits_to_number(digits, 16),
            KeyFormat::Decimal => digits_to_number(digits, 10),
            KeyFormat::Binary => Some(digits.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))),
        }
    }

    /// The number with which `part` begins, if nothing but padding follows it.
    pub(crate) fn padded_number(self, part: &[u8]) -> Option<u64> {
        let (digits, padding) = part.split_at(part.len().min(self.width()));
        padding.iter().all(|&byte| byte == self.padding()).then(|| self.number(digits))?
    }
}

fn copy_last(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(&from[from.len() - to.len()..]);
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
pub(crate) fn hex8_to_number(digits: &[u8]) -> u32 {
    let x = digits.try_into().map_or(0, u64::from_be_bytes);
    let mut x = (x & LOW_NIBBLES) + 9 * ((x >> 6) & ONES);
    x = (x | (x >> 4)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
    (x | (x >> 16)) as u32
}

/// Eight decimal digits of a number below 10^8: split into two numbers of four digits, four of two, eight of one, each
/// step for all parts at once. The divisions by 100 and 10 are multiplications exact for these ranges.
#[inline(always)]
pub(crate) fn decimal8(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones + u64::from(b'0') * ONES).to_le_bytes()
}
