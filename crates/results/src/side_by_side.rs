//! Work on many files, some in each thread.

use std::panic::resume_unwind;
use std::thread;

/// Threads. Files that are not in the page cache are waited for, so there are more than processors.
const THREADS: usize = 16;

/// The answer of `work` to each item, in their order. Each thread has some of them, in a row.
///
/// # Errors
/// That of the first item that has one.
pub fn side_by_side<'a, T: Sync, R: Send, E: Send>(
    items: &'a [T],
    work: impl Fn(&'a T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let work = &work;
    thread::scope(|scope| {
        let shares = items.chunks(items.len().div_ceil(THREADS).max(1));
        let begun: Vec<_> =
            shares.map(|share| scope.spawn(move || share.iter().map(work).collect::<Result<Vec<R>, E>>())).collect();
        let mut all = Vec::with_capacity(items.len());
        for thread in begun {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_order_and_the_first_error_counts() {
        let double = |number: &u32| if *number < 1000 { Ok(2 * number) } else { Err(*number) };
        for length in [0, 1, 2, 7, 100, 1000] {
            let numbers: Vec<u32> = (0..length).collect();
            assert_eq!(side_by_side(&numbers, double), Ok(numbers.iter().map(|number| 2 * number).collect()));
        }
        let numbers: Vec<u32> = (0..2000).collect();
        assert_eq!(side_by_side(&numbers, double), Err(1000));
    }
}
