//! Published figures beside measured ones: [`printed`] has the tables of the reports, [`comparison`] finds for each of
//! their figures the one that was measured, and [`beside`] lays the two side by side.

mod beside;
mod comparison;
mod paper;
mod printed;
mod swapped;

pub(crate) use beside::with_document_against;
pub use beside::{against, can_hold};
pub use paper::Paper;
