//! Tells the adapter which version of redb Cargo.lock pins.

fn main() -> Result<(), String> {
    kvdyno_abi::build::engine_version("redb")
}
