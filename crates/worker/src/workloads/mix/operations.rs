//! The operations of a mix with their weights, as an experiment file has them: `get 95, put 5`.

use std::fmt;

use kvdyno_dataset::Stream;
use kvdyno_model::{Json, KeyValue, read_by_text, written_as_text};
use kvdyno_results::OpKind;

use super::several::{batch_of, multiget_of};
use crate::key_choice::alias::{AliasEntry, ENTRIES, alias_table, drawn, of_all};
use crate::shared::MOST_KINDS;
use crate::workloads::parameters::WorkloadParameters;

kvdyno_model::words! {
    /// An operation of a mix.
    pub enum MixOperation: "an operation", "OPERATION" {
        /// A record is read by its key.
        Get = "get",
        /// A record is updated: its value is written anew.
        Put = "put",
        /// A record that was not there is written, after all others in key order.
        Insert = "insert",
        /// A range is read: a seek to a record, and records that follow it in key order.
        Range = "range",
        /// A record is read, and then updated.
        ReadModifyWrite = "read-modify-write",
        /// A record is deleted; a put writes it again.
        Delete = "delete",
        /// The first record in key order is looked at, and one of the oldest deleted.
        Take = "take",
        /// A key is asked for that lies between those of records, and that none has.
        Miss = "miss",
        /// The first record in key order is looked at, and up to 64 of the oldest deleted as one range.
        Expire = "expire",
        /// Whether a record is there is asked for, without its value.
        Contains = "contains",
        /// A record is written if it is not there, and otherwise stays as it is.
        InsertIfAbsent = "insert-if-absent",
        /// A record is read and updated by one call of the engine, which lets nobody come between.
        AtomicUpdate = "atomic-update",
        /// A record is read and updated in a transaction, which is tried again until it is committed.
        TransactionalUpdate = "transactional-update",
    }
}

impl MixOperation {
    /// The kind that it is counted as, of a client that writes and gets so many records at once.
    fn kind(self, batch: usize, gets: usize) -> OpKind {
        match self {
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
}

/// Operations with their weights, in percent; together they are 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationMix {
    /// In the order of the client's statistics.
    parts: [(MixOperation, f64); MOST_KINDS],
    count: usize,
}

impl OperationMix {
    /// The mix of these parts, at most [`MOST_KINDS`], whose weights add up to 100.
    pub(super) const fn of<const N: usize>(given: [(MixOperation, f64); N]) -> OperationMix {
        let mut parts = [(MixOperation::Get, 0.0); MOST_KINDS];
        let mut index = 0;
        while index < N {
            parts[index] = given[index];
            index += 1;
        }
        OperationMix { parts, count: N }
    }

    /// The operations, each with its weight in percent.
    pub fn parts(&self) -> &[(MixOperation, f64)] {
        &self.parts[..self.count]
    }

    /// Whether it has an operation.
    pub fn has(&self, operation: MixOperation) -> bool {
        self.parts().iter().any(|part| part.0 == operation)
    }

    /// The kinds of its operations, in the order of the client's statistics.
    pub(super) fn kinds(&self, spec: &WorkloadParameters) -> Vec<OpKind> {
        self.parts().iter().map(|part| part.0.kind(batch_of(spec), multiget_of(spec))).collect()
    }

    fn with(mut self, operation: MixOperation, weight: f64) -> Result<OperationMix, String> {
        if self.has(operation) {
            return Err(format!("{operation} comes twice"));
        }
        let free = self.parts.get_mut(self.count).ok_or(format!("a mix has at most {MOST_KINDS} operations"))?;
        *free = (operation, weight);
        self.count += 1;
        Ok(self)
    }
}

/// How far the weights of a mix may be from 100 in all: thirds have an end.
const ROUNDING: f64 = 0.2;

impl KeyValue for OperationMix {
    const PLACEHOLDER: &'static str = "MIX";

    fn describe() -> String {
        format!("operations with their weights in percent, such as \"get 95, put 5\"; {}", MixOperation::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut mix = OperationMix::of([]);
        for part in text.split(',') {
            let mut words = part.split_whitespace();
            let (name, weight, more) = (words.next().unwrap_or_default(), words.next(), words.next());
            let operation = MixOperation::from_text(name)?;
            let weight = weight.map(str::parse).and_then(Result::ok).filter(|weight| more.is_none() && *weight > 0.0);
            let weight = weight.ok_or_else(|| format!("`{}` is not an operation with its weight", part.trim()))?;
            mix = mix.with(operation, weight)?;
        }
        let sum: f64 = mix.parts().iter().map(|part| part.1).sum();
        match (sum - 100.0).abs() <= ROUNDING {
            true => Ok(mix),
            false => Err(format!("the weights of `{text}` are {sum} in all; they must be 100")),
        }
    }

    fn schema() -> Json {
        let names: Vec<&str> = MixOperation::ALL.iter().map(|operation| operation.word()).collect();
        let part = format!("({}) +[0-9.]+", names.join("|"));
        serde_json::json!({ "type": "string", "pattern": format!("^ *{part}( *, *{part})* *$") })
    }

    fn words() -> Vec<(&'static str, &'static str)> {
        MixOperation::words()
    }
}

impl fmt::Display for OperationMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.parts().iter().map(|(operation, weight)| format!("{operation} {weight}")).collect();
        f.pad(&parts.join(", "))
    }
}

read_by_text!(OperationMix);
written_as_text!(OperationMix);

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
    /// How many of these there are.
    ends: usize,
    stream: Stream,
}

impl OperationChoice {
    pub(super) fn new(mix: &OperationMix, stream: Stream) -> Self {
        let mut weights = [0.0; MOST_KINDS];
        weights.iter_mut().zip(mix.parts()).for_each(|(slot, (_, weight))| *slot = *weight);
        let most_frequent = (0..mix.count).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
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
        let ends = mix.count.saturating_sub(1);
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
    fn a_mix_is_read_as_it_is_written() {
        for text in
            ["get 95, put 5", "get 100", "range 95, insert 5", "get 40, put 30, insert 20, read-modify-write 10", EIGHT]
        {
            assert_eq!(text.parse::<OperationMix>().unwrap().to_string(), text);
        }
        assert_eq!(" get 33.3,put 33.3 ,range  33.3".parse::<OperationMix>().unwrap().parts().len(), 3);
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, reason) in [
            ("get 95, put 6", "the weights of `get 95, put 6` are 101 in all; they must be 100"),
            ("got 100", "`got` is not an operation; it can be"),
            ("get", "`get` is not an operation with its weight"),
            ("get -5, put 105", "`get -5` is not an operation with its weight"),
            ("get NaN", "`get NaN` is not"),
            ("get 50 50", "`get 50 50` is not"),
            ("get 50, get 50", "get comes twice"),
            // As many kinds as a client has statistics for.
            (
                "get 10, put 10, insert 10, range 10, read-modify-write 10, delete 10, miss 10, contains 10, take 20",
                "a mix has at most 8 operations",
            ),
            ("", "`` is not an operation"),
        ] {
            let error = text.parse::<OperationMix>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

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
