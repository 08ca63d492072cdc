//! The 3n+1 problem: from a number, half of it if it is even, three times it and one more if it is odd, until 1 comes.
//! The *cycle length* of a number is how many there are on the way, both ends counted: 1 for 1, 2 for 2, 8 for 3.

/// The most starting points. Up to here, no starting point leads beyond 6,404,797,161,121,264, which is 16 decimal
/// digits (the next "path record", 319,804,831, has 19), and none needs more than 1000 steps (E. Roosendaal, "3x+1 path
/// records").
pub const MOST_STARTS: u64 = 300_000_000;
/// No number on the way from any of those has a longer cycle.
pub const LONGEST_CYCLE: u64 = 1000;
/// Starting points that a thread takes at a time.
pub const CHUNK: u64 = 1000;

/// The number that follows.
#[inline(always)]
pub fn next(number: u64) -> u64 {
    if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 }
}

/// The cycle length of a number, found by walking.
pub fn cycle_length(number: u64) -> u64 {
    way(number).count() as u64
}

/// The highest number on the way from a number.
pub fn highest_on_the_way(number: u64) -> u64 {
    way(number).max().unwrap_or(number)
}

/// A number and all that follow it, down to 1.
fn way(number: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(number), |&number| (number > 1).then(|| next(number)))
}

/// Whether a number above 1 can have this cycle length: only powers of two fall as fast as they can, by half a step.
#[inline(always)]
pub fn is_plausible(number: u64, length: u64) -> bool {
    let least = u64::from(64 - number.leading_zeros());
    (least..=LONGEST_CYCLE).contains(&length) && ((length == least) == number.is_power_of_two())
}

/// The answers for the starting points 1 to N, found without a database.
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
    /// Number of different numbers above 1; absent beyond [`MOST_COUNTED`] starting points.
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
        if let Some(remembered) = lengths.get_mut(start as usize) {
            *remembered = length as u16;
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

/// Approximate number of different numbers, for estimates of space and time.
pub fn numbers_expected(starts: u64) -> u64 {
    starts.saturating_mul(11) / 5
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
                for (step, &number) in way.iter().enumerate().filter(|(_, number)| **number > 1) {
                    assert!(is_plausible(number, (way.len() - step) as u64), "{number}");
                }
            }
        }
    }

    #[test]
    fn no_length_is_plausible_that_cannot_be() {
        assert!(is_plausible(3, 8) && is_plausible(8, 4) && is_plausible(2, 2));
        assert!(!is_plausible(8, 5) && !is_plausible(8, 3) && !is_plausible(3, 2) && !is_plausible(3, 1001));
    }
}
