//! The rate at which operations were to come, and the one that was reached.

use crate::{Operations, Side, TrialResult};

impl TrialResult {
    /// The operations at a rate, of all kinds.
    pub fn at_rate(&self) -> impl Iterator<Item = &Operations> {
        self.operations.iter().filter(|one| one.pacing.is_some())
    }

    /// Those that share the rate of a side: of a mix all, else those of the side.
    pub fn sharing_rate(&self, side: Side) -> impl Iterator<Item = &Operations> {
        let workload = &self.workload;
        self.at_rate().filter(move |one| match (workload.rate, &self.search) {
            (Some(_), _) => true,
            (None, Some(_)) if workload.is_searched(side) => workload.is_searched(one.side()),
            _ => one.side() == side,
        })
    }

    /// Records of a side that were to come each second; of a mix, operations. Absent without such a rate, and where
    /// each role has its own.
    pub fn requested_per_s(&self, side: Side) -> Option<f64> {
        let workload = &self.workload;
        let searched = self.search.as_ref().map(|search| search.highest_per_s.unwrap_or(search.least_per_s));
        let of_side = match side {
            Side::Reads => workload.read_rate,
            Side::Writes => workload.write_rate,
        };
        workload.rate.or(of_side).or(searched.filter(|_| workload.is_searched(side)))
    }

    /// Those of them that were done each second.
    pub fn reached_per_s(&self, side: Side) -> f64 {
        let is_of_operations = side == Side::Reads || self.workload.write_rate.is_none();
        let per_s = |one: &Operations| if is_of_operations { one.operations_per_s } else { one.records_per_s };
        self.sharing_rate(side).map(per_s).sum()
    }
}
