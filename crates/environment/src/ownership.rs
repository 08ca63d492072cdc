//! Whose things are: what kvdyno makes bears a token, and is removed by that alone, never by its name.
//!
//! A [`Maker`] is the token: the run, and the process that made something, told apart from every other process that
//! there was or will be. A folder of databases has it in its lock's file ([`crate::lock`]), for it outlives the
//! system's start. What ends with that (groups, mounts, loop devices, temporary folders) is in the maker's
//! [`Register`], a file in a folder that nobody else can write to, together with what cannot be faked of each: inodes
//! and devices.

pub(crate) mod folder;
mod locked;
mod maker;
mod register;
mod thing;

pub use folder::OwnedFolder;
pub(crate) use locked::LockedFile;
pub use maker::{Maker, RunName};
pub(crate) use register::FOLDER_VARIABLE;
pub use register::{ReadRegister, Register, RegisterFolder, register_folders};
pub(crate) use thing::is_still;
pub use thing::{Below, Inode, Thing};
