//! Memory: the latency of a load that depends on the one before, and the bandwidth of loads that do not.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of a cache line.
const LINE: usize = 64;
/// By how much the memory that is read is larger than the largest cache, and the least of it.
const TIMES_CACHE: u64 = 8;
const LEAST_BYTES: u64 = 256 << 20;
/// Loads between two looks at the clock.
const BETWEEN_LOOKS: usize = 1 << 16;

/// A cache line whose first word says which comes next.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct ChainLine {
    next: u32,
    _rest: [u32; LINE / 4 - 1],
}

fn bytes_beyond(cache: u64) -> usize {
    (TIMES_CACHE * cache).max(LEAST_BYTES) as usize
}

/// Lines that lead to each other in a random order, in one cycle through all of them (Sattolo, *An algorithm to
/// generate a random cyclic permutation*, Information Processing Letters 22, 1986): a prefetcher cannot guess it.
fn chain(lines: usize) -> Vec<ChainLine> {
    let mut chain: Vec<ChainLine> =
        (0..lines).map(|line| ChainLine { next: line as u32, _rest: [0; LINE / 4 - 1] }).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for line in (1..lines).rev() {
        let other = (random.next_u64() % line as u64) as usize;
        let next = chain[line].next;
        chain[line].next = chain[other].next;
        chain[other].next = next;
    }
    chain
}

/// The mean time of a load from memory whose address the load before gave, nanoseconds. It has the time of looking up
/// the pages that the system gives. `cache`: bytes of the largest cache.
pub(super) fn latency_ns(cache: u64, time: Duration) -> f64 {
    let chain = chain(bytes_beyond(cache) / LINE);
    let (mut at, mut loads, begun) = (0, 0usize, Instant::now());
    while begun.elapsed() < time {
        for _ in 0..BETWEEN_LOOKS {
            at = chain[at as usize].next;
        }
        loads += BETWEEN_LOOKS;
    }
    black_box(at);
    begun.elapsed().as_nanos() as f64 / loads as f64
}

/// Bytes a second that `threads` together read, each its own part of memory from its beginning to its end. `caches`:
/// bytes of all of the largest caches.
pub(super) fn bytes_per_s(threads: u32, caches: u64, time: Duration) -> f64 {
    let words = bytes_beyond(caches) / threads.max(1) as usize / size_of::<u64>();
    let barrier = Barrier::new(threads.max(1) as usize);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads.max(1))
            .map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let part: Vec<u64> = (0..words as u64).map(|word| word ^ u64::from(thread)).collect();
                    barrier.wait();
                    let (mut passes, begun) = (0u64, Instant::now());
                    while begun.elapsed() < time {
                        black_box(sum(black_box(&part)));
                        passes += 1;
                    }
                    (passes * (words * size_of::<u64>()) as u64) as f64 / begun.elapsed().as_secs_f64()
                })
            })
            .collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).sum()
    })
}

/// The sum of the first words of all cache lines: to load a line takes as long as to load all of its words, and to add
/// them all would take longer.
fn sum(words: &[u64]) -> u64 {
    words.iter().step_by(LINE / size_of::<u64>()).copied().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_one_cycle_through_all_lines() {
        for lines in [1, 2, 3, 1000] {
            let chain = chain(lines);
            let (mut at, mut seen) = (0, 0);
            loop {
                at = chain[at].next as usize;
                seen += 1;
                if at == 0 {
                    break;
                }
            }
            assert_eq!(seen, lines);
        }
    }

    #[test]
    fn a_word_of_each_line_is_read() {
        let words: Vec<u64> = (0..800).collect();
        assert_eq!(sum(&words), (0..100).map(|line| 8 * line).sum::<u64>());
    }
}
