//! The workloads: each, or each family of them, in a file or folder of its own, and the [`list`] of all.
//!
//! [`WorkloadDefinition`] is the interface: what a workload asks of its clients ([`role`]), of the engine and of the
//! experiment, what must come out, and the figures of its own. Outside of this folder stands the list of their names.

mod counts;
mod definition;
mod fill;
mod list;
mod load;
mod mix;
mod mixed_role;
mod multi_read_random;
mod overwrite;
pub(crate) mod parameters;
mod present;
mod range_lengths;
mod ranges;
mod read_random;
pub(crate) mod role;
mod scans;
mod spec;
pub(crate) mod stored;
mod three_n_plus_one;
mod transactions;
mod transfer;
mod workload;
mod workload_key;

pub use counts::TrialCounts;
pub use definition::{Removal, VersionsAdded, WorkloadDefinition, WorkloadProfile};
pub use load::LoadDefinition;
pub use mixed_role::MixedRole;
pub use parameters::{Data, Reads, TrialEnd, WorkloadParameters};
pub(crate) use present::present_after;
pub use range_lengths::{likelihoods_of_lengths, sample_lengths};
pub use role::{Role, RoleDefinition};
pub use spec::WorkloadSpec;
pub(crate) use transactions::NEVER_COMMITTED;
pub use workload::Workload;
pub use workload_key::{WorkloadError, WorkloadKey};
