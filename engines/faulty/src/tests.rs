//! The faults as a host sees them, through the table. What ends or stops the process is seen from a parent.

mod answers;
mod errors;
mod host;
mod process;
mod store;
