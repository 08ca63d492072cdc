//! The workloads: each, or each family of them, in a file or folder of its own, and the list of all.
//!
//! [`WorkloadDefinition`] is the interface: what a workload asks of its clients ([`role`]), of the engine and of the
//! experiment, what must come out, and the figures of its own. Nothing outside of this folder knows one by name.

mod counts;
mod definition;
mod fill;
mod multi_read_random;
mod name;
mod overwrite;
mod parameter;
mod ranges;
mod read_random;
pub(crate) mod role;
mod scans;
mod spec;
mod three_n_plus_one;

pub use counts::TrialCounts;
pub use definition::WorkloadDefinition;
pub use name::{UnknownWorkload, WorkloadName};
pub use parameter::Parameter;
pub use role::{Role, RoleDefinition};
pub use spec::{Data, Reads, TrialEnd, Verify, WorkloadError, WorkloadSpec};
pub use three_n_plus_one::Spelling;

/// Every workload, in the order in which they are listed for people.
static WORKLOADS: &[&dyn WorkloadDefinition] = &[
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
    &three_n_plus_one::THREE_N_PLUS_ONE,
];
