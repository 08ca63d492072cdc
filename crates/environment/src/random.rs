//! Random numbers that nobody can know beforehand.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// 64 bits of the kernel's.
///
/// # Errors
/// If the kernel gives none.
pub fn random_bits() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // A request of so few bytes is granted whole.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}
