//! The plan: [`check()`] holds an experiment against the engines and the machine before anything is touched, [`fitted`]
//! makes it small enough for both, and a [`Plan`] lists its trials.

mod affordable;
pub mod backing_store;
mod capabilities;
mod check;
mod clients;
mod copies;
pub mod design;
mod environment;
mod extent;
mod fit;
pub mod inspection;
mod parameters;
mod part;
mod plan;
mod roles;
mod space;
mod work;

pub use affordable::AffordableRepeats;
pub use check::{Checked, CheckedVariant, Setup, check, check_alone, check_with};
pub use environment::Environment;
pub use extent::Extent;
pub use fit::{EnginesHere, FitChange, MachineCapacity, fitted, shorten_for_repeats};
pub use parameters::concerns;
pub use part::count_blocks;
pub use plan::{LoadId, Plan, PlannedTrial};
pub use space::{SpaceError, check_space};
