//! The figures of a trial, each declared once: for tables, CSV, JSON and the documentation. [`declared`] has the
//! declarations; a figure of a new kind of work belongs to the workload's own figures instead.

pub(crate) mod amplification;
mod columns;
pub(crate) mod declared;
mod figure;
mod unit;

pub(crate) use columns::{TrialColumn, columns, reference};
pub(crate) use figure::{Figure, FigureSource};
pub(crate) use unit::Unit;
