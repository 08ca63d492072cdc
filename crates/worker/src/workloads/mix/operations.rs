//! The next operation of a mix, and the kind that it is counted as.

use kvdyno_dataset::Stream;
use kvdyno_model::{MixOperation, OperationMix};
use kvdyno_results::OpKind;

use super::several::{batch_of, multiget_of};
use crate::key_choice::alias::{AliasEntry, ENTRIES, alias_table, drawn, of_all};
use crate::shared::MOST_KINDS;
use crate::workloads::parameters::WorkloadParameters;

/// The kind that an operation is counted as, for a client that writes and gets this number of records at once.
fn kind(operation: MixOperation, batch: usize, gets: usize) -> OpKind {
    match operation {
        MixOperation::Get if gets > 0 => OpKind::MultiGet,
        MixOperation::Put if batch > 0 => OpKind::Batch,
        MixOperation::Get => OpKind::Get,
        MixOperation::Put => OpKind::Put,
        MixOperation::Insert => OpKind::Insert,
        MixOperation::Range => OpKind::Range,
        MixOperation::ReadModifyWrite => OpKind::ReadModifyWrite,
        MixOperation::Delete => OpKind::Delete,
        MixOperation::Take => OpKind::Take,
        MixOperation::Miss => OpKind::Miss,
        MixOperation::Expire => OpKind::Expire,
        MixOperation::Contains => OpKind::Contains,
        MixOperation::InsertIfAbsent => OpKind::InsertIfAbsent,
        MixOperation::AtomicUpdate => OpKind::AtomicUpdate,
        MixOperation::TransactionalUpdate => OpKind::TransactionalUpdate,
    }
}

/// The kinds of the operations of a mix, in the order of the client's statistics.
pub(super) fn kinds(mix: &OperationMix, spec: &WorkloadParameters) -> Vec<OpKind> {
    mix.parts().iter().map(|part| kind(part.0, batch_of(spec), multiget_of(spec))).collect()
}

/// A run of operations: the most frequent operation a number of times, then at most one other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OperationRun {
    pub(super) most_frequent: u64,
    pub(super) other: Option<usize>,
}

/// Draws operations: the index of each among those of a mix.
///
/// The number of times that the most frequent operation comes before another is drawn at once, from the geometric
/// distribution, so that the cost of a draw per operation is negligible.
pub(super) struct OperationChoice {
    most_frequent: usize,
    /// Entry n stands for n of the most frequent operation and then another; the last entry for n of them alone.
    counts: [AliasEntry; ENTRIES],
    /// The cumulative weights, of 2^64, of all operations but the last, without the most frequent one.
    others: [u64; MOST_KINDS - 1],
    /// Number of these weights.
    ends: usize,
    stream: Stream,
}

impl OperationChoice {
    pub(super) fn new(mix: &OperationMix, stream: Stream) -> Self {
        let mut weights = [0.0; MOST_KINDS];
        weights.iter_mut().zip(mix.parts()).for_each(|(slot, (_, weight))| *slot = *weight);
        let most_frequent = (0..mix.parts().len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
        let all: f64 = weights.iter().sum();
        let part = weights[most_frequent] / all;
        let mut count = 0;
        let counts = [(); ENTRIES].map(|()| {
            let likelihood = part.powi(count) * if count as usize == ENTRIES - 1 { 1.0 } else { 1.0 - part };
            count += 1;
            likelihood
        });
        weights[most_frequent] = 0.0;
        let (all, mut end) = (weights.iter().sum::<f64>(), 0.0);
        let mut others = [u64::MAX; MOST_KINDS - 1];
        let ends = mix.parts().len().saturating_sub(1);
        for (slot, weight) in others.iter_mut().zip(&weights[..ends]) {
            end += weight / all;
            *slot = of_all(end);
        }
        OperationChoice { most_frequent, counts: alias_table(counts), others, ends, stream }
    }

    /// The index of the operation that comes most often.
    pub(super) fn most_frequent(&self) -> usize {
        self.most_frequent
    }

    /// The next ones.
    #[inline(always)]
    pub(super) fn next(&mut self) -> OperationRun {
        let bits = self.stream.bits();
        let count = drawn(bits, self.counts[(bits >> 56) as usize]);
        let other = (count < ENTRIES - 1).then(|| self.other());
        OperationRun { most_frequent: count as u64, other }
    }

    #[inline(always)]
    fn other(&mut self) -> usize {
        let bits = self.stream.bits();
        self.others[..self.ends].iter().map(|end| usize::from(bits >= *end)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_choice::fits;

    const EIGHT: &str = "get 30, put 20, insert 10, range 10, read-modify-write 10, delete 10, miss 5, contains 5";

    #[test]
    fn operations_come_as_often_as_their_weights_say() {
        let rare = "put 7, range 2, read-modify-write 1";
        for text in [format!("get 90, {rare}"), EIGHT.to_owned()] {
            come_by_their_weights(&text.parse().unwrap());
        }
    }

    fn come_by_their_weights(mix: &OperationMix) {
        let (mut counts, mut last, mut pairs) = ([0u32; MOST_KINDS], 0, [[0u32; MOST_KINDS]; MOST_KINDS]);
        each_of(mix, 1_000_000, |operation| {
            counts[operation] += 1;
            pairs[last][operation] += 1;
            last = operation;
        });
        let weights = mix.parts().iter().map(|part| part.1 / 100.0).collect::<Vec<_>>();
        let near = |count: u32, part: f64| (f64::from(count) - part * 1e6).abs() < 5.0 * (part * 1e6).sqrt() + 2.0;
        for first in 0..weights.len() {
            assert!(near(counts[first], weights[first]), "{counts:?}");
            for second in 0..weights.len() {
                assert!(near(pairs[first][second], weights[first] * weights[second]), "independent: {pairs:?}");
            }
        }
    }

    #[test]
    fn the_most_frequent_may_be_any() {
        for (text, parts) in [("put 5, get 95", vec![0.05, 0.95]), ("get 50, put 50", vec![0.5, 0.5])] {
            let mut counts = vec![0u64; 2];
            each_of(&text.parse().unwrap(), 1_000_000, |operation| counts[operation] += 1);
            assert!(fits(&counts, &parts), "{text}: {counts:?}");
        }
        each_of(&OperationMix::of([(MixOperation::Get, 100.0)]), 10_000, |operation| assert_eq!(operation, 0));
    }

    /// Draws `count` operations and gives each to `see`.
    fn each_of(mix: &OperationMix, count: u64, mut see: impl FnMut(usize)) {
        let mut choice = OperationChoice::new(mix, Stream::new(1));
        let mut left = count;
        while left > 0 {
            let run = choice.next();
            for _ in 0..run.most_frequent.min(left) {
                see(choice.most_frequent());
            }
            left = left.saturating_sub(run.most_frequent);
            if let Some(other) = run.other.filter(|_| left > 0) {
                see(other);
                left -= 1;
            }
        }
    }
}
