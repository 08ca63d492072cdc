//! The program that each fuzz target is: under libFuzzer its target, else a reader of the files that are named to it.

use std::env::args_os;
use std::fs;
use std::io;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys;

/// Makes a program of a reader of `kvdyno_torment::inputs`.
#[macro_export]
macro_rules! target {
    ($reader:ident) => {
        #[cfg(feature = "libfuzzer")]
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            kvdyno_torment::inputs::$reader(bytes);
        });

        #[cfg(not(feature = "libfuzzer"))]
        fn main() -> std::io::Result<()> {
            $crate::read_files(kvdyno_torment::inputs::$reader)
        }
    };
}

/// Hands each file that the command line names to a reader, and says whether it took it. The path is told first: a
/// reader that panics has no other word on what it was given.
///
/// # Errors
/// If a file cannot be read.
pub fn read_files(reader: fn(&[u8]) -> bool) -> io::Result<()> {
    for path in args_os().skip(1) {
        eprint!("{}: ", path.display());
        let was_taken = reader(&fs::read(&path)?);
        eprintln!("{}", if was_taken { "taken" } else { "refused" });
    }
    Ok(())
}
