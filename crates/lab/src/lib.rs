//! The laboratory: an [`Experiment`] file becomes a [`Plan`], [`check`] holds it against the engines and the machine
//! before anything is touched, and [`run`] works it off, trial by trial, saving each before the next begins.

mod capabilities;
mod check;
mod cycles;
mod databases;
mod destroyer;
mod driver;
mod experiment;
mod extent;
mod fit;
mod ground;
pub mod inspection;
mod pace;
mod plan;
mod progress;
mod runner;
mod shipped;
mod space;
mod stage;
mod stop;
mod trial;
mod units;
mod variants;
mod workers;

pub use check::{Checked, Part, Setup, check};
pub use driver::driver_cost;
pub use experiment::{
    DataSection, EngineSection, Experiment, FileError, LabSection, LoadSection, Missing, Order, RunSection,
    SettingsSection,
};
pub use extent::Extent;
pub use fit::{FitSection, LeaveOut, Room};
pub use plan::{Plan, PlannedTrial};
pub use progress::{Live, Progress};
pub use runner::{LabError, Summary, run};
pub use shipped::{SHIPPED, Shipped};
pub use space::{SpaceError, check_space};
pub use stage::{Stage, StageSection};
pub use stop::Stop;
pub use units::{Bytes, Span, WriteRate};
pub use variants::Variant;
