//! Engines as things that a person can get.
//!
//! Each engine has a [`Recipe`], which says through which package client it comes and how it is built. [`install()`]
//! follows it in a folder of its own and moves the result to its folder whole, or leaves nothing behind. The adapters'
//! sources travel inside the program (`sources`), so that nothing else is needed to build them. [`EngineFiles`] says of
//! an engine's file, wherever it came from, which package it is of.

mod archive;
mod client;
mod command;
mod error;
mod install;
mod new_adapter;
mod provenance;
mod recipe;
mod sources;

pub use error::InstallError;
pub use install::{Event, Installation, install};
pub use new_adapter::{Language, NewAdapter, NewAdapterError, new_adapter};
pub use provenance::EngineFiles;
pub use recipe::{EngineVersion, Manual, PackageClient, Recipe, RecipeError, recipe, recipes};
