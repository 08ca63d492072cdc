//! The workloads: each, or each family of them, in a file or folder of its own, and the [`list`] of all.
//!
//! [`WorkloadDefinition`] is the interface: what a workload asks of its clients ([`role`]), of the engine and of the
//! experiment, what must come out, and the figures of its own. Nothing outside of this folder knows one by name.

mod counts;
mod definition;
mod fill;
mod list;
mod multi_read_random;
mod name;
mod overwrite;
mod parameter;
pub(crate) mod parameters;
mod ranges;
mod read_random;
pub(crate) mod role;
mod scans;
mod spec;
pub(crate) mod stored;
mod three_n_plus_one;

pub use counts::TrialCounts;
pub use definition::WorkloadDefinition;
pub use kvdyno_model::Verify;
pub use name::{UnknownWorkload, WorkloadName};
pub use parameter::{Parameter, WorkloadError};
pub use parameters::{Data, Reads, TrialEnd, WorkloadParameters};
pub use role::{Role, RoleDefinition};
pub use spec::WorkloadSpec;
pub use three_n_plus_one::spelling::Spelling;
