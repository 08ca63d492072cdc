//! Numbers as keys and values.

use kvdyno_dataset::KeyFormat;
use kvdyno_model::Spelling;

use super::problem::LONGEST_CYCLE;

/// The names of the digits, as K. S. Bhaskar's benchmark has them.
const DIGITS: [&str; 10] = ["zero", "eins", "deux", "tres", "quattro", "пять", "ستة", "सात", "捌", "ஒன்பது"];
/// Bytes that are copied for a digit, whatever the length of its name: the longest name and a space, rounded up.
const WORD: usize = 24;
/// Bytes of the longest name.
const LONGEST_NAME: usize = 18;
/// Decimal digits of the largest number.
const MOST_DIGITS: usize = 16;

/// Names that are copied whole and then cut, each followed by a space.
const WORDS: [([u8; WORD], usize); 10] = words();

const fn words() -> [([u8; WORD], usize); 10] {
    let mut words = [([b' '; WORD], 0); 10];
    let mut digit = 0;
    while digit < 10 {
        let name = DIGITS[digit].as_bytes();
        let mut byte = 0;
        while byte < name.len() {
            words[digit].0[byte] = name[byte];
            byte += 1;
        }
        words[digit].1 = name.len();
        digit += 1;
    }
    words
}

/// A buffer for any number, however it is spelled.
pub type NumberBuffer = [u8; MOST_DIGITS * (LONGEST_NAME + 1) + WORD];

/// Numbers as bytes, and back.
#[derive(Clone, Copy, Debug)]
pub struct NumberCodec {
    spelling: Spelling,
    format: KeyFormat,
}

impl NumberCodec {
    /// Spelled so; `format` is that of plain ones.
    pub fn new(spelling: Spelling, format: KeyFormat) -> NumberCodec {
        NumberCodec { spelling, format }
    }

    /// Bytes of a number with this number of decimal digits, at the most.
    fn most_bytes(self, digits: usize) -> u64 {
        let bytes = match self.spelling {
            Spelling::Plain => self.format.width(),
            Spelling::Enhanced => digits * (LONGEST_NAME + 1) - 1,
        };
        bytes as u64
    }

    /// Bytes of the longest key.
    pub fn key_size(self) -> u64 {
        self.most_bytes(MOST_DIGITS)
    }

    /// Bytes of the longest value, a cycle length.
    pub fn value_size(self) -> u64 {
        self.most_bytes(LONGEST_CYCLE.ilog10() as usize + 1)
    }

    /// An empty buffer.
    pub fn buffer() -> NumberBuffer {
        [0; MOST_DIGITS * (LONGEST_NAME + 1) + WORD]
    }

    /// Spells `number`, which is below 10^16.
    #[inline(always)]
    pub fn write(self, number: u64, buffer: &mut NumberBuffer) -> &[u8] {
        match self.spelling {
            Spelling::Plain => {
                let digits = &mut buffer[..self.format.width()];
                self.format.spell(number, digits);
                digits
            }
            Spelling::Enhanced => write_names(number, buffer),
        }
    }

    /// The way back; `None` for what [`NumberCodec::write`] does not write.
    #[inline(always)]
    pub fn read(self, bytes: &[u8]) -> Option<u64> {
        match self.spelling {
            Spelling::Plain if bytes.len() == self.format.width() => self.format.number(bytes),
            Spelling::Plain => None,
            Spelling::Enhanced => read_names(bytes),
        }
    }
}

fn write_names(number: u64, buffer: &mut NumberBuffer) -> &[u8] {
    let mut digits = [0u8; MOST_DIGITS];
    let (mut rest, mut first) = (number, MOST_DIGITS - 1);
    digits[first] = (rest % 10) as u8;
    rest /= 10;
    while rest > 0 && first > 0 {
        first -= 1;
        digits[first] = (rest % 10) as u8;
        rest /= 10;
    }
    let mut size = 0;
    for &digit in &digits[first..] {
        let (word, length) = &WORDS[usize::from(digit)];
        buffer[size..size + WORD].copy_from_slice(word);
        size += length + 1;
    }
    &buffer[..size - 1]
}

/// The digit whose name these bytes begin with. The first byte tells most of them, the second the two others.
#[inline(always)]
fn digit_at(bytes: &[u8]) -> Option<usize> {
    let digit = match bytes.first()? {
        b'z' => 0,
        b'e' => 1,
        b'd' => 2,
        b't' => 3,
        b'q' => 4,
        0xd0 => 5,
        0xd8 => 6,
        0xe0 if bytes.get(1) == Some(&0xa4) => 7,
        0xe6 => 8,
        0xe0 => 9,
        _ => return None,
    };
    bytes.starts_with(DIGITS[digit].as_bytes()).then_some(digit)
}

fn read_names(mut bytes: &[u8]) -> Option<u64> {
    let mut number = 0u64;
    loop {
        let digit = digit_at(bytes)?;
        number = number.checked_mul(10)?.checked_add(digit as u64)?;
        bytes = &bytes[DIGITS[digit].len()..];
        match bytes {
            [] => return Some(number),
            [b' ', rest @ ..] => bytes = rest,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [NumberCodec; 4] = [
        NumberCodec { spelling: Spelling::Plain, format: KeyFormat::Hex },
        NumberCodec { spelling: Spelling::Plain, format: KeyFormat::Decimal },
        NumberCodec { spelling: Spelling::Plain, format: KeyFormat::Binary },
        NumberCodec { spelling: Spelling::Enhanced, format: KeyFormat::Hex },
    ];

    #[test]
    fn digits_are_spelled_as_the_report_spells_them() {
        let mut buffer = NumberCodec::buffer();
        assert_eq!(ALL[3].write(409, &mut buffer), "quattro zero ஒன்பது".as_bytes());
        assert_eq!(ALL[3].write(1_235_678, &mut buffer), "eins deux tres пять ستة सात 捌".as_bytes());
        for text in ["", " ", "eins ", " eins", "eins  deux", "einsdeux", "ein", "சுழியம்", "सा", "quattro\0zero"]
        {
            assert_eq!(ALL[3].read(text.as_bytes()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(number in 0u64..10_000_000_000_000_000) {
            for numbers in ALL {
                let mut buffer = NumberCodec::buffer();
                let bytes = numbers.write(number, &mut buffer);
                prop_assert!(bytes.len() as u64 <= numbers.key_size());
                prop_assert_eq!(numbers.read(bytes), Some(number));
            }
        }

        #[test]
        fn anything_can_be_read(
            bytes in proptest::collection::vec(any::<u8>(), 0..40), text in "([ zeinsdx]|捌|सात){0,6}",
        ) {
            for numbers in ALL {
                for bytes in [bytes.as_slice(), text.as_bytes()] {
                    if let Some(number) = numbers.read(bytes).filter(|number| *number < 10_000_000_000_000_000) {
                        let mut buffer = NumberCodec::buffer();
                        let again = numbers.write(number, &mut buffer).to_vec();
                        // Zeros in front are the one other spelling of a number.
                        prop_assert!(again == bytes || number < 10u64.pow(bytes.len().min(15) as u32));
                    }
                }
            }
        }
    }
}
