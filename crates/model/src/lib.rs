//! Identifiers, words and units of experiments, and how a key of the experiment file is defined: what every other crate
//! may speak of. It depends on none of them.

// The code that `#[derive(Keys)]` writes refers to this crate by its name.
extern crate self as kvdyno_model;

mod arrival;
mod closest;
mod count;
mod distribution;
mod engine_name;
mod engine_settings;
mod environment;
mod fnv;
mod index_list;
pub mod key_value;
mod keys;
mod list;
mod numa;
mod operation_mix;
mod pareto;
mod part;
mod power_law;
mod promise;
mod range_lengths;
mod rate;
mod repeat;
mod size;
pub mod text;
mod time;
mod words;
mod workload_name;

pub use arrival::{Arrival, ArrivalKind, ArrivalPeriod};
pub use closest::{closest, did_you_mean, either};
pub use count::{Count, Fraction, Length, Multiple, PositiveFraction};
pub use distribution::{Distribution, DistributionKind};
pub use engine_name::{EngineName, OptionText};
pub use engine_settings::EngineSettings;
pub use environment::{EnvironmentKey, EnvironmentSection};
pub use fnv::fnv1a;
pub use index_list::{Cpus, IndexList};
pub use key_value::{FilePath, KeyValue};
pub use keys::{Definition, KeyPath, KeySection, KeyStep, Otherwise, ValueType};
pub use kvdyno_keys_derive::Keys;
pub use list::List;
pub use numa::{Allocator, NamedAllocator, NumaPolicy};
pub use operation_mix::{MOST_OPERATIONS, MixOperation, OperationMix};
pub use pareto::Pareto;
pub use part::{Deal, DealtPart, Part, WantedParts};
pub use power_law::{MOST_KEY_RANGES, PowerLaw};
pub use promise::{LatencyPromise, PromisedBound, PromisedLatency};
pub use range_lengths::RangeLengths;
pub use rate::{ReadRate, WriteRate};
pub use repeat::Repeat;
pub use schemars;
pub use serde_json::Value as Json;
pub use size::ByteSize;
pub use time::{TimeSpan, part_of_time};
pub use words::*;
pub use workload_name::WorkloadName;
