//! The program as its users have it: each file holds a part of that. They are one test binary, because each binary is
//! linked with everything anew.

#![allow(clippy::unwrap_used)]

mod amplification;
mod audit;
mod backing_store;
mod bad_input;
mod cheats;
mod cpu_time;
mod cycles;
mod damaged_results;
mod databases;
mod deletes;
mod designs;
mod diff;
mod drawn;
mod engine_checks;
mod engine_settings;
mod engine_table;
mod environment;
mod fault_table;
mod faults;
mod for_programs;
mod hostile;
mod install;
mod interference;
mod kept_outside;
mod limits;
mod lost_pipe;
mod memory_limit;
mod new_adapter;
mod numa_guest;
mod own_words;
mod ownership;
mod parts;
mod processes;
mod profile;
mod put_off;
mod rate_search;
mod read_backs;
mod results;
mod resume;
mod role_parts;
mod roles;
mod session_durability;
mod support;
mod syncs;
mod terminal;
mod transfer;
mod updates;
mod value_seed;
mod variants;
mod verification;
mod workloads;
