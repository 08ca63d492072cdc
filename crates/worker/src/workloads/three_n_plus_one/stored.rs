//! The cycle lengths that the database has at the end, found again without it.

use kvdyno_dataset::ValueFault;

use super::numbers::NumberCodec;
use super::problem::{cycle_length, highest_on_the_way};
use crate::workloads::parameters::Data;
use crate::workloads::stored::StoredRecords;

/// Two records for each starting point from 2: its own, and that of the highest number on its way.
pub(super) struct CycleRecords {
    numbers: NumberCodec,
    starts: u64,
}

impl CycleRecords {
    pub(super) fn new(data: &Data) -> CycleRecords {
        CycleRecords { numbers: NumberCodec::new(data.spelling, data.key_format), starts: data.records }
    }
}

fn number_of(id: u64) -> u64 {
    let start = 2 + id / 2;
    if id.is_multiple_of(2) { start } else { highest_on_the_way(start) }
}

impl StoredRecords for CycleRecords {
    fn count(&self) -> u64 {
        2 * self.starts.saturating_sub(1)
    }

    fn spell(&self, id: u64, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.numbers.write(number_of(id), &mut NumberCodec::buffer()));
    }

    fn fault(&self, id: u64, _min_version: u64, value: &[u8]) -> Option<ValueFault> {
        let number = number_of(id);
        let (length, expected) = (self.numbers.read(value), cycle_length(number));
        let words = || match length {
            Some(length) => format!("{number} has the cycle length {length} there, and in truth {expected}"),
            None => format!("{number} has no cycle length there: {:02x?}", &value[..value.len().min(80)]),
        };
        (length != Some(expected)).then(|| ValueFault::Wrong(words()))
    }
}
