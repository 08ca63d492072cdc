//! Conducts trials: [`run`] works a plan off, trial by trial, saving each before the next begins.

mod audit;
mod databases;
mod driver;
mod engine_cleanup;
mod pace;
mod progress;
mod runner;
mod stop;
mod trial;

pub use driver::driver_cost;
pub use progress::{Live, Progress};
pub use runner::{RunError, Summary, run};
pub use stop::Stop;
