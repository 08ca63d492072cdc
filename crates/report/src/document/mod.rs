//! A report's contents, built once and independent of its format.

mod cells;
mod contents;
mod engine_statistics;
mod repeating;
mod section;
mod sections;
mod trials;

pub(crate) use contents::Document;
pub(crate) use repeating::{command, command_word};
pub(crate) use section::{Block, Links, Paragraph, Section};
pub(crate) use trials::{CellSummary, TrialRow, TrialTable};
