//! Mutations: the same seed and number always give the same input.

use kvdyno_dataset::{Stream, subseed};

/// Words that readers look for, and values at the edges of types.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "\"\"",
    "null",
    "true",
    "[]",
    "{}",
    "[[run]]",
    "[[variant]]\nname = \"x\"\n",
    "[engine.x]",
    "[data]",
    "[lab]",
    "records = ",
    "readers = [1]\n",
    "\"18446744073709551615s\"",
    "\"1000d\"",
    "\"16EiB\"",
    "\"0B\"",
    "4096",
    "281474976710656",
    "65536",
    "\n",
    "\t",
    "\u{0}",
    "\u{202e}",
    "é",
    "'''",
    "\"\"\"",
    "#",
    "=",
    ",",
    "\\u0000",
];
/// Changes of one input, at most.
const MOST_CHANGES: u64 = 6;

/// The mutation of this number: one of `seeds`, changed at some points.
pub fn mutated(seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Stream::new(subseed(seed, &[number]));
    let mut bytes = one_of(seeds, &mut random).clone();
    for _ in 0..=random.below(MOST_CHANGES) {
        change(&mut bytes, seeds, &mut random);
    }
    bytes
}

/// An index of a slice that is not empty, or 0.
fn index(length: usize, random: &mut Stream) -> usize {
    random.below(length as u64) as usize
}

fn one_of<'a, T>(all: &'a [T], random: &mut Stream) -> &'a T {
    &all[index(all.len(), random)]
}

/// A range of at most 64 bytes, or now and then of any length.
fn range(length: usize, random: &mut Stream) -> std::ops::Range<usize> {
    let start = index(length + 1, random);
    let most = if random.below(8) == 0 { length - start } else { (length - start).min(64) };
    start..start + index(most + 1, random)
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Stream) {
    let span = range(bytes.len(), random);
    match random.below(9) {
        0 if !bytes.is_empty() => {
            let at = index(bytes.len(), random);
            bytes[at] ^= 1 << random.below(8);
        }
        1 => bytes.insert(span.start, random.bits() as u8),
        2 => drop(bytes.drain(span)),
        3 => {
            let copy = bytes[span.clone()].to_vec();
            bytes.splice(span.start..span.start, copy);
        }
        4 => drop(bytes.splice(span, one_of(&WORDS, random).bytes())),
        5 => replace_number(bytes, random),
        6 => {
            let other = one_of(seeds, random);
            bytes.splice(span, other[range(other.len(), random)].iter().copied());
        }
        7 => swap_lines(bytes, random),
        _ => bytes.truncate(span.end),
    }
}

/// Puts a word in place of one of the numbers.
fn replace_number(bytes: &mut Vec<u8>, random: &mut Stream) {
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[at - 1].is_ascii_digit()))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = *one_of(&starts, random);
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..start + length, one_of(&WORDS, random).bytes());
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut Stream) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (index(lines.len(), random), index(lines.len(), random));
    lines.swap(a, b);
    *bytes = lines.join(&b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_the_same_input_each_time_and_another_one_another() {
        let seeds = [b"records = 5\nname = \"a\"\n".to_vec(), b"engines = [\"lmdb\"]\n".to_vec()];
        let inputs: std::collections::HashSet<Vec<u8>> = (0..1000).map(|number| mutated(&seeds, 7, number)).collect();
        assert!(inputs.len() > 900);
        assert!((0..1000).all(|number| inputs.contains(&mutated(&seeds, 7, number))));
        assert!((0..1000).any(|number| mutated(&seeds, 8, number) != mutated(&seeds, 7, number)));
    }

    #[test]
    fn an_empty_input_is_mutated_too() {
        (0..1000).for_each(|number| drop(mutated(&[Vec::new()], 1, number)));
    }
}
