//! The experiment file: its sections and keys, its variants, and the experiments that come with the program.
//!
//! Files build on those before them: `sections` (what a key is) · `document` (where it stands) · `file_error` ·
//! `experiment` · `unknown` · `parse` · `paths`, `variants` · `shipped`, `reference`.

mod document;
mod experiment;
mod file_error;
mod parse;
mod paths;
pub mod reference;
mod sections;
mod shipped;
mod unknown;
mod variants;

pub use experiment::{Experiment, SectionInfo, TopKey, section_of, sections};
pub use file_error::FileError;
pub use parse::MOST_BYTES;
pub use sections::{
    BatchSize, Clients, DURATION, DataKey, DataSection, EngineKey, EngineOptions, EngineSection, FitKey, FitSection,
    LabKey, LabSection, LoadKey, LoadSection, RunKey, RunSection, SettingsKey, SettingsSection,
};
pub use shipped::{SHIPPED, Shipped};
pub use variants::{Variant, overlay};
