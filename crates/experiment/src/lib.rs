//! The experiment file: its sections and keys, its variants, and the experiments that come with the program.
//!
//! Files build on those before them: `value_size` · `sections` (what a key is) · `document` (where it stands) ·
//! `file_error` · `experiment` · `unknown` · `parse` · `paths`, `variants` · `shipped`, `reference`.

mod document;
mod experiment;
mod file_error;
mod parse;
mod paths;
pub mod reference;
mod sections;
mod shipped;
mod unknown;
mod value_size;
mod variants;

pub use experiment::{Experiment, SectionInfo, TopKey, section_of, sections};
pub use file_error::FileError;
pub use parse::MOST_BYTES;
pub use sections::{
    BatchSize, Clients, DURATION, DataKey, DataSection, EngineKey, EngineOptions, EngineSection, FitKey, FitSection,
    LabKey, LabSection, LoadKey, LoadSection, RoleKey, RoleSection, RunKey, RunSection, SettingsKey, SettingsSection,
    role_path,
};
pub use shipped::{SHIPPED, Shipped};
pub use value_size::ValueSize;
pub use variants::{Variant, overlay};
