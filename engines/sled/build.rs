//! Tells the adapter which version of sled Cargo.lock pins.

fn main() -> Result<(), String> {
    kvdyno_abi::build::engine_version("sled")
}
