//! Ownership: everything that kvdyno makes bears a token, and is removed by that token alone, never by its name.
//!
//! A [`Maker`] is the token. It names the run and the process that made something, and differs from that of every other
//! process, past or future. A folder of databases has the token in its lock file ([`crate::lock`]), because it outlives
//! a reboot. Things that end with a reboot (groups, mounts, loop devices, temporary folders) are in the maker's
//! [`Register`], a file in a folder that nobody else can write to. The register also has the inode or device of each,
//! which cannot be faked.

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
