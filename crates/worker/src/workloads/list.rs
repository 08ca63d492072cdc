//! The definition of each workload.

use kvdyno_model::WorkloadName;

use super::definition::WorkloadDefinition;
use super::{fill, mix, multi_read_random, overwrite, ranges, read_random, scans, three_n_plus_one, transfer};

/// The definition that belongs to a name.
pub(super) fn definition(name: WorkloadName) -> &'static dyn WorkloadDefinition {
    match name {
        WorkloadName::FillSeq => &fill::FILL_SEQ,
        WorkloadName::FillRandom => &fill::FILL_RANDOM,
        WorkloadName::Overwrite => &overwrite::OVERWRITE,
        WorkloadName::ReadRandom => &read_random::READ_RANDOM,
        WorkloadName::ReadSeq => &scans::READ_SEQ,
        WorkloadName::ReadReverse => &scans::READ_REVERSE,
        WorkloadName::ReadWhileWriting => &read_random::READ_WHILE_WRITING,
        WorkloadName::MultiReadRandom => &multi_read_random::MULTI_READ_RANDOM,
        WorkloadName::FwdRange => &ranges::FWD_RANGE,
        WorkloadName::RevRange => &ranges::REV_RANGE,
        WorkloadName::FwdRangeWhileWriting => &ranges::FWD_RANGE_WHILE_WRITING,
        WorkloadName::RevRangeWhileWriting => &ranges::REV_RANGE_WHILE_WRITING,
        WorkloadName::OverwriteSome => &overwrite::OVERWRITE_SOME,
        WorkloadName::OverwriteAndWait => &overwrite::OVERWRITE_AND_WAIT,
        WorkloadName::Mix => &mix::MIX,
        WorkloadName::YcsbA => &mix::YCSB[0],
        WorkloadName::YcsbB => &mix::YCSB[1],
        WorkloadName::YcsbC => &mix::YCSB[2],
        WorkloadName::YcsbD => &mix::YCSB[3],
        WorkloadName::YcsbE => &mix::YCSB[4],
        WorkloadName::YcsbF => &mix::YCSB[5],
        WorkloadName::Transfer => &transfer::TRANSFER,
        WorkloadName::ThreeNPlusOne => &three_n_plus_one::THREE_N_PLUS_ONE,
    }
}
