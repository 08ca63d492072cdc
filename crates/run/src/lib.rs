//! Conducts trials: [`run`] works a plan off, trial by trial, saving each before the next begins.

mod audit;
mod begun;
mod databases;
mod driver;
mod engine_cleanup;
mod executor;
mod pace;
mod progress;
mod repeats;
mod runner;
mod stop;
mod trial;

pub use driver::driver_cost;
pub use executor::LabProgram;
pub use progress::{Live, Progress, SoFar};
pub use repeats::{Look, OpenStep, StoppingRule};
pub use runner::{RunError, Summary, run};
pub use stop::Stop;
