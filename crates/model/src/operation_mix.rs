//! The operations of a mix with their weights, as an experiment file has them: `get 95, put 5`.

use std::fmt;

use crate::{Json, KeyValue, read_by_text, words, written_as_text};

words! {
    /// An operation of a mix.
    pub enum MixOperation: "an operation", "OPERATION" {
        /// Reads a record by its key.
        Get = "get",
        /// Updates a record: writes a new value. `update` is read as the same.
        Put = "put" or "update",
        /// Writes a new record, after all others in key order.
        Insert = "insert",
        /// Reads a range: seeks a record and steps to the records after it, in key order.
        Range = "range",
        /// Reads a record, and then updates it.
        ReadModifyWrite = "read-modify-write",
        /// Deletes a record; a put writes it again.
        Delete = "delete",
        /// Reads the first record in key order, and deletes one of the oldest records.
        Take = "take",
        /// Reads a key that no record has, between the keys of records.
        Miss = "miss",
        /// Reads the first record in key order, and deletes up to 64 of the oldest records as one range.
        Expire = "expire",
        /// Checks whether a record exists, without reading its value.
        Contains = "contains",
        /// Writes a record if it does not exist; otherwise leaves it unchanged.
        InsertIfAbsent = "insert-if-absent",
        /// Reads and updates a record by one atomic call of the engine.
        AtomicUpdate = "atomic-update",
        /// Reads and updates a record in a transaction, which is retried until it commits.
        TransactionalUpdate = "transactional-update",
    }
}

/// Operations of a mix at the most: a client has statistics for as many kinds.
pub const MOST_OPERATIONS: usize = 8;

/// Operations with their weights, in percent; together they are 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationMix {
    /// In the order of the client's statistics.
    parts: [(MixOperation, f64); MOST_OPERATIONS],
    count: usize,
}

impl OperationMix {
    /// The mix of these parts, at most [`MOST_OPERATIONS`], with weights that add up to 100.
    pub const fn of<const N: usize>(given: [(MixOperation, f64); N]) -> OperationMix {
        let mut parts = [(MixOperation::Get, 0.0); MOST_OPERATIONS];
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

    fn with(mut self, operation: MixOperation, weight: f64) -> Result<OperationMix, String> {
        if self.has(operation) {
            return Err(format!("{operation} comes twice"));
        }
        let free = self.parts.get_mut(self.count).ok_or(format!("a mix has at most {MOST_OPERATIONS} operations"))?;
        *free = (operation, weight);
        self.count += 1;
        Ok(self)
    }
}

/// Tolerated deviation of the weights of a mix from 100 in all: thirds are rounded.
const ROUNDING: f64 = 0.2;

impl KeyValue for OperationMix {
    const PLACEHOLDER: &'static str = "MIX";

    fn describe() -> String {
        format!("operations with their weights in percent, such as \"get 95, put 5\"; {}", MixOperation::describe())
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut mix = OperationMix::of([]);
        for part in text.split(',') {
            let part = part.trim();
            let is_separator = |c: char| c.is_whitespace() || c == '=' || c == ':';
            let (name, weight) = part.split_at(part.find(is_separator).unwrap_or(part.len()));
            let operation = MixOperation::from_text(name)?;
            let weight = weight.trim_start();
            let weight = weight.strip_prefix(['=', ':']).unwrap_or(weight).trim_start();
            let weight = weight.parse().ok().filter(|weight| *weight > 0.0);
            let weight = weight.ok_or_else(|| format!("`{part}` is not an operation with its weight"))?;
            mix = mix.with(operation, weight)?;
        }
        let sum: f64 = mix.parts().iter().map(|part| part.1).sum();
        match (sum - 100.0).abs() <= ROUNDING {
            true => Ok(mix),
            false => Err(format!("the weights of `{text}` are {sum} in all; they must be 100")),
        }
    }

    fn schema() -> Json {
        let words = |operation: &MixOperation| [Some(operation.word()), operation.other_word()];
        let names: Vec<&str> = MixOperation::ALL.iter().flat_map(words).flatten().collect();
        let part = format!("({})( +| *[=:] *)[0-9.]+", names.join("|"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const EIGHT: &str = "get 30, put 20, insert 10, range 10, read-modify-write 10, delete 10, miss 5, contains 5";

    #[test]
    fn a_mix_is_read_as_it_is_written() {
        for text in
            ["get 95, put 5", "get 100", "range 95, insert 5", "get 40, put 30, insert 20, read-modify-write 10", EIGHT]
        {
            assert_eq!(text.parse::<OperationMix>().unwrap().to_string(), text);
        }
        assert_eq!(" get 33.3,put 33.3 ,range  33.3".parse::<OperationMix>().unwrap().parts().len(), 3);
        for text in ["get=90,update=5,insert=5", "get:90, put : 5,insert = 5", "get 90,update 5, insert:5"] {
            assert_eq!(text.parse::<OperationMix>().unwrap().to_string(), "get 90, put 5, insert 5", "{text}");
        }
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
            ("update=50,put=50", "put comes twice"),
            ("get==100", "`get==100` is not an operation with its weight"),
            ("get=,put=100", "`get=` is not"),
            ("=100", "`` is not an operation"),
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

    proptest! {
        #[test]
        fn a_mix_reads_back_whatever_separates_its_words(
            shares in proptest::collection::vec(1u32..1000, 1..=MOST_OPERATIONS),
            separator in select(vec![" ", "=", ":", "  ", " = "]),
        ) {
            let all: u32 = shares.iter().sum();
            let parts = shares.iter().zip(MixOperation::ALL);
            let parts = parts.map(|(share, operation)| (*operation, 100.0 * f64::from(*share) / f64::from(all)));
            let parts: Vec<(MixOperation, f64)> = parts.collect();
            let texts: Vec<String> = parts.iter().map(|(name, weight)| format!("{name}{separator}{weight}")).collect();
            let mix: OperationMix = texts.join(",").parse().unwrap();
            prop_assert_eq!(mix.parts(), &parts[..]);
            prop_assert_eq!(mix.to_string().parse(), Ok(mix));
        }
    }
}
