//! Conducts trials: [`run`] works a plan off, trial by trial, saving each before the next begins.

mod audit;
mod begun;
mod databases;
mod driver;
mod engine_cleanup;
mod pace;
mod progress;
mod repeats;
mod runner;
mod stop;
mod trial;

pub use driver::driver_cost;
pub use progress::{Live, Progress};
pub use repeats::StoppingRule;
pub use runner::{RunError, Summary, run};
pub use stop::Stop;
