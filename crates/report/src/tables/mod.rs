//! The tables of a report.

mod amplification;
mod cpu;
mod crossing;
mod environment;
mod fields;
mod limits;
mod load;
mod matrix;
mod of_cells;
mod open_loop;
mod rate_search;
mod relative;
mod run;
mod settings;
mod storage;
mod workload_figures;

pub(crate) use amplification::{load_amplification, run_amplification};
pub(crate) use cpu::run_cpu;
pub(crate) use environment::environment;
pub(crate) use limits::near_limits;
pub(crate) use load::load;
pub(crate) use matrix::matrices;
pub(crate) use open_loop::{misses_rate, open_loop};
pub(crate) use rate_search::rate_searches;
pub(crate) use relative::{Relative, relative_grids, relatives};
pub(crate) use run::{latencies, run};
pub(crate) use settings::{
    Fact, common_work, engine_settings, key_facts, machine_facts, main_settings, processor, versions,
};
pub(crate) use storage::{load_storage, matters, run_storage};
pub(crate) use workload_figures::workload_figures;
