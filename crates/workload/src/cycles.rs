//! The 3n+1 problem: from a number, half of it if it is even, three times it and one more if it is odd, until 1 comes.
//! The *cycle length* of a number is how many there are on the way, both ends counted: 1 for 1, 2 for 2, 8 for 3.

use crate::keys::KeyFormat;

/// The most starting points. Of those up to here none leads beyond 6,404,797,161,121,264, which is 16 decimal digits (the
/// next "path record", 319,804,831, has 19), and none needs more than 1000 steps (E. Roosendaal, "3x+1 path records").
pub const MOST_STARTS: u64 = 300_000_000;
/// No number on the way from any of those has a longer cycle.
pub const LONGEST_CYCLE: u64 = 1000;
/// Starting points that a thread takes at a time.
pub const CHUNK: u64 = 1000;

kvdyno_model::words! {
    /// How the 3n+1 workload writes its numbers as keys and values.
    #[derive(Default)]
    pub enum Spelling: "a spelling", "SPELLING" {
        /// As the data's `key_format` has them, all of one size.
        Plain = "plain" as default,
        /// Each decimal digit by its name, in a language of its own, with a space between.
        Enhanced = "enhanced",
    }
}

/// The number that follows.
#[inline(always)]
pub fn next(number: u64) -> u64 {
    if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 }
}

/// The names of the digits, as K. S. Bhaskar's benchmark has them.
const DIGITS: [&str; 10] = ["zero", "eins", "deux", "tres", "quattro", "пять", "ستة", "सात", "捌", "ஒன்பது"];
/// Bytes that are copied for a digit, whatever its name has: the longest name and a space, rounded up.
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
        let mut place = 0;
        while place < name.len() {
            words[digit].0[place] = name[place];
            place += 1;
        }
        words[digit].1 = name.len();
        digit += 1;
    }
    words
}

/// Room for any number, however it is spelled.
pub type NumberBuffer = [u8; MOST_DIGITS * (LONGEST_NAME + 1) + WORD];

/// Numbers as bytes, and back.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    spelling: Spelling,
    format: KeyFormat,
}

impl Numbers {
    /// Spelled so; `format` is that of plain ones.
    pub fn new(spelling: Spelling, format: KeyFormat) -> Numbers {
        Numbers { spelling, format }
    }

    /// Bytes of a number with so many decimal digits, at the most.
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

    /// An empty room.
    pub fn buffer() -> NumberBuffer {
        [0; MOST_DIGITS * (LONGEST_NAME + 1) + WORD]
    }

    /// Spells `number`, which is below 10^16.
    #[inline(always)]
    pub fn write(self, number: u64, room: &mut NumberBuffer) -> &[u8] {
        match self.spelling {
            Spelling::Plain => {
                let digits = &mut room[..self.format.width()];
                self.format.spell(number, digits);
                digits
            }
            Spelling::Enhanced => write_names(number, room),
        }
    }

    /// The way back; `None` for what [`Numbers::write`] does not write.
    #[inline(always)]
    pub fn read(self, bytes: &[u8]) -> Option<u64> {
        match self.spelling {
            Spelling::Plain if bytes.len() == self.format.width() => self.format.number(bytes),
            Spelling::Plain => None,
            Spelling::Enhanced => read_names(bytes),
        }
    }
}

fn write_names(number: u64, room: &mut NumberBuffer) -> &[u8] {
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
        room[size..size + WORD].copy_from_slice(word);
        size += length + 1;
    }
    &room[..size - 1]
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

/// Whether a number above 1 can have this cycle length: only powers of two fall as fast as they can, by half a step.
#[inline(always)]
pub fn is_plausible(number: u64, length: u64) -> bool {
    let least = u64::from(64 - number.leading_zeros());
    (least..=LONGEST_CYCLE).contains(&length) && ((length == least) == number.is_power_of_two())
}

/// What must come out for the starting points 1 to N, found without a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The longest cycle.
    pub longest: u64,
    /// The first starting point that has it.
    pub longest_start: u64,
    /// The highest number that comes on the way from any of them.
    pub highest: u64,
    /// The cycle lengths of all starting points together.
    pub total: u64,
    /// How many different numbers above 1 come; absent beyond [`MOST_COUNTED`] starting points.
    pub numbers: Option<u64>,
}

/// More starting points than these would need gigabytes to count the numbers on the way.
pub const MOST_COUNTED: u64 = 10_000_000;
/// Lengths that are remembered; beyond them they are found by walking.
const REMEMBERED: u64 = 1 << 24;

/// Solves it for the starting points 1 to `starts`.
///
/// Every way is followed until it falls below where it began: the rest is that of a smaller starting point. So the
/// highest of all is found, and by `numbers` each number above `starts` at least once.
pub fn solve(starts: u64) -> Solution {
    let mut lengths = vec![0u16; starts.min(REMEMBERED) as usize + 1];
    let mut above = Vec::new();
    let mut solution = Solution { longest: 0, longest_start: 0, highest: 0, total: 0, numbers: None };
    for start in 1..=starts {
        let (mut number, mut steps) = (start, 0u64);
        while number > 1 && (number >= start || number >= lengths.len() as u64) {
            solution.highest = solution.highest.max(number);
            if starts <= MOST_COUNTED && number > starts {
                above.push(number);
            }
            number = next(number);
            steps += 1;
        }
        solution.highest = solution.highest.max(number);
        let length = steps + if number == 1 { 1 } else { u64::from(lengths[number as usize]) };
        if let Some(place) = lengths.get_mut(start as usize) {
            *place = length as u16;
        }
        if length > solution.longest {
            (solution.longest, solution.longest_start) = (length, start);
        }
        solution.total += length;
    }
    if starts <= MOST_COUNTED {
        above.sort_unstable();
        above.dedup();
        solution.numbers = Some(starts.saturating_sub(1) + above.len() as u64);
    }
    solution
}

/// How many different numbers come, about: for estimates of space and time.
pub fn numbers_expected(starts: u64) -> u64 {
    starts.saturating_mul(11) / 5
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const ALL: [Numbers; 4] = [
        Numbers { spelling: Spelling::Plain, format: KeyFormat::Hex },
        Numbers { spelling: Spelling::Plain, format: KeyFormat::Decimal },
        Numbers { spelling: Spelling::Plain, format: KeyFormat::Binary },
        Numbers { spelling: Spelling::Enhanced, format: KeyFormat::Hex },
    ];

    /// K. S. Bhaskar's and D. Anderson's published answers.
    #[test]
    fn the_published_answers_come_out() {
        let hundred_thousand = solve(100_000);
        assert_eq!((hundred_thousand.longest, hundred_thousand.highest), (351, 1_570_824_736));
        assert_eq!(hundred_thousand.numbers, Some(217_211));
        let million = solve(1_000_000);
        assert_eq!((million.longest, million.highest), (525, 56_991_483_520));
        assert_eq!((million.longest_start, million.numbers), (837_799, Some(2_168_610)));
    }

    #[test]
    fn solving_agrees_with_walking_every_way_to_its_end() {
        for starts in [1, 2, 3, 10, 703, 5000] {
            let ways: Vec<Vec<u64>> = (1..=starts)
                .map(|start| {
                    let way = std::iter::successors(Some(start), |&number| (number > 1).then(|| next(number)));
                    way.collect()
                })
                .collect();
            let all: HashSet<u64> = ways.iter().flatten().copied().filter(|&number| number > 1).collect();
            let longest = ways.iter().map(Vec::len).max().unwrap();
            let solution = solve(starts);
            assert_eq!(solution.numbers, Some(all.len() as u64), "{starts}");
            assert_eq!(solution.highest, ways.iter().flatten().copied().max().unwrap());
            assert_eq!(solution.longest, longest as u64);
            assert_eq!(ways[solution.longest_start as usize - 1].len(), longest);
            assert_eq!(solution.total, ways.iter().map(|way| way.len() as u64).sum::<u64>());
            for way in &ways {
                for (place, &number) in way.iter().enumerate().filter(|(_, number)| **number > 1) {
                    assert!(is_plausible(number, (way.len() - place) as u64), "{number}");
                }
            }
        }
    }

    #[test]
    fn digits_are_spelled_as_the_report_spells_them() {
        let mut room = Numbers::buffer();
        assert_eq!(ALL[3].write(409, &mut room), "quattro zero ஒன்பது".as_bytes());
        assert_eq!(ALL[3].write(1_235_678, &mut room), "eins deux tres пять ستة सात 捌".as_bytes());
        for text in ["", " ", "eins ", " eins", "eins  deux", "einsdeux", "ein", "சுழியம்", "सा", "quattro\0zero"]
        {
            assert_eq!(ALL[3].read(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn no_length_is_plausible_that_cannot_be() {
        assert!(is_plausible(3, 8) && is_plausible(8, 4) && is_plausible(2, 2));
        assert!(!is_plausible(8, 5) && !is_plausible(8, 3) && !is_plausible(3, 2) && !is_plausible(3, 1001));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(number in 0u64..10_000_000_000_000_000) {
            for numbers in ALL {
                let mut room = Numbers::buffer();
                let bytes = numbers.write(number, &mut room);
                prop_assert!(bytes.len() as u64 <= numbers.key_size());
                prop_assert_eq!(numbers.read(bytes), Some(number));
            }
        }

        #[test]
        fn anything_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..40), text in "([ zeinsdx]|捌|सात){0,6}") {
            for numbers in ALL {
                for bytes in [bytes.as_slice(), text.as_bytes()] {
                    if let Some(number) = numbers.read(bytes).filter(|number| *number < 10_000_000_000_000_000) {
                        let mut room = Numbers::buffer();
                        let again = numbers.write(number, &mut room).to_vec();
                        // Zeros in front are the one other spelling of a number.
                        prop_assert!(again == bytes || number < 10u64.pow(bytes.len().min(15) as u32));
                    }
                }
            }
        }
    }
}
