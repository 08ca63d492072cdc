//! The list of the workloads.

use super::definition::WorkloadDefinition;
use super::{fill, mix, multi_read_random, overwrite, ranges, read_random, scans, three_n_plus_one, transfer};

/// Every workload, in the order in which they are listed for people.
pub(super) static WORKLOADS: &[&dyn WorkloadDefinition] = &[
    &fill::FILL_SEQ,
    &fill::FILL_RANDOM,
    &overwrite::OVERWRITE,
    &read_random::READ_RANDOM,
    &scans::READ_SEQ,
    &scans::READ_REVERSE,
    &read_random::READ_WHILE_WRITING,
    &multi_read_random::MULTI_READ_RANDOM,
    &ranges::FWD_RANGE,
    &ranges::REV_RANGE,
    &ranges::FWD_RANGE_WHILE_WRITING,
    &ranges::REV_RANGE_WHILE_WRITING,
    &overwrite::OVERWRITE_SOME,
    &overwrite::OVERWRITE_AND_WAIT,
    &mix::MIX,
    &mix::YCSB[0],
    &mix::YCSB[1],
    &mix::YCSB[2],
    &mix::YCSB[3],
    &mix::YCSB[4],
    &mix::YCSB[5],
    &transfer::TRANSFER,
    &three_n_plus_one::THREE_N_PLUS_ONE,
];
