//! Engines behind the ABI, from the host's side.
//!
//! [`catalog`] finds adapters by name or path, [`Adapter`] is a loaded one with everything that it declares checked,
//! [`Choice`] is an adapter with option values, [`Database`], [`Session`] and [`Cursor`] are what it opens. The last
//! three are thin: a call through them is one indirect call.

mod adapter;
pub mod catalog;
mod choice;
mod database;
mod error;
mod exceptions;
pub mod inspect;
pub mod installed;
mod lab;
mod loaded;
mod options;
mod text;

pub use adapter::{Adapter, AdapterError, PresetInfo, Probe};
pub use choice::{Choice, ChoiceError, Resolved};
pub use database::cursors::{Cursor, Record};
pub use database::{Answer, Database, Host, Session};
pub use error::EngineError;
pub use exceptions::guarded;
pub use kvdyno_abi::adapter::{Counters, CursorLimits};
pub use lab::{AbiCode, Compression, Durability, EngineSettings, Hints};
pub use options::{OptionError, OptionInfo, OptionKind, ScaledOption};

/// The raw ABI, for the measured loop.
pub use kvdyno_abi as abi;
