//! Tells the adapter which version of fjall Cargo.lock pins.

fn main() -> Result<(), String> {
    kvdyno_abi::build::engine_version("fjall")
}
