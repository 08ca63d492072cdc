//! The experiment file: its sections and keys, its variants, the units of its values, and the experiments that come with
//! the program.

mod environment_section;
mod experiment;
mod file_error;
mod fit_section;
mod paths;
mod sections;
mod shipped;
mod units;
mod variants;

pub use environment_section::EnvironmentSection;
pub use experiment::Experiment;
pub use file_error::FileError;
pub use fit_section::{FitSection, LeaveOut};
pub use sections::{
    DURATION, DataSection, EngineSection, LabSection, LoadSection, Missing, Order, RunSection, SettingsSection,
    unplaced,
};
pub use shipped::{SHIPPED, Shipped};
pub use units::{Bytes, Span, WriteRate};
pub use variants::{Variant, overlay};
