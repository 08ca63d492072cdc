//! The report as its readers have it: each file holds a part of that. They are one test binary, because each binary is
//! linked with everything anew.

#![allow(clippy::unwrap_used, reason = "in tests")]

mod answer;
mod charts;
mod colours;
mod columns;
mod crossing;
mod cycles;
mod exports;
mod formats;
mod hostile;
mod labels;
mod page;
mod schema;
mod screens;
mod support;
mod verdicts;
